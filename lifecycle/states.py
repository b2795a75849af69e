"""States and the precision they are stored at, with a dead band so that a memory doesn't flicker at a threshold.

For thresholds T and half-width h, a memory leaves a state downwards when R < T − h and upwards when R ≥ T + h; inside
the band it stays where it is. Both rules are one clamp: with

    floor   = how many thresholds have R < T − h   (no state above it is still allowed)
    ceiling = how many thresholds have R < T + h   (no state below it is still allowed)

the next state is clamp(current, floor, ceiling). Under decay floor and ceiling only rise, so one evaluation after a
year gives what 365 would have given. A use sets R to 1, which is evaluated at the use: the daily run sees decay only.
"""

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import State
from .constants import DEFAULTS, DecaySettings
from .strength import tau_until


def thresholds(settings: DecaySettings = DEFAULTS) -> tuple[float, float, float, float]:
    """Return the retention below which a memory leaves active, warm, cold and archive."""
    return settings.active_above, settings.warm_above, settings.cold_above, settings.archive_above


def next_state(current: State, retention: float, *, pinned: bool = False, settings: DecaySettings = DEFAULTS) -> State:
    """Return the state after `retention` was seen in state `current`; pinned memories are active, always."""
    if pinned:
        return State.ACTIVE
    floor = sum(retention < bound - settings.hysteresis for bound in thresholds(settings))
    ceiling = sum(retention < bound + settings.hysteresis for bound in thresholds(settings))
    return State(min(max(current, floor), ceiling))


def next_states(
    current: NDArray[np.int8],
    retention: NDArray[np.float64],
    pinned: NDArray[np.bool_],
    settings: DecaySettings = DEFAULTS,
) -> NDArray[np.int8]:
    """Return `next_state` of many memories, as int8 of shape (n,)."""
    bounds = np.array(thresholds(settings)[::-1])
    floor = 4 - np.searchsorted(bounds - settings.hysteresis, retention, side="right")
    ceiling = 4 - np.searchsorted(bounds + settings.hysteresis, retention, side="right")
    state = np.clip(current, floor, ceiling)
    return np.where(pinned, State.ACTIVE, state).astype(np.int8)


def next_demotion(
    state: State, rate: float, elapsed_days: float, settings: DecaySettings = DEFAULTS
) -> tuple[State, float] | None:
    """Return the state an unused memory reaches next and the days of τ until then, or None when forgotten.

    Args:
        state: where the memory is now.
        rate: λ per day; association and activation are held at what they are now.
        elapsed_days: Δτ since the last use or the save.
        settings: thresholds and hysteresis.
    """
    if state is State.FORGOTTEN:
        return None
    leaves_below = thresholds(settings)[state] - settings.hysteresis
    return State(state + 1), tau_until(leaves_below, rate, elapsed_days)


def bit_widths(settings: DecaySettings = DEFAULTS) -> NDArray[np.int8]:
    """Return the bits per dimension of each state, int8, shape (5,), indexed by state."""
    widths = (
        settings.bits_active,
        settings.bits_warm,
        settings.bits_cold,
        settings.bits_archive,
        settings.bits_forgotten,
    )
    return np.array(widths, dtype=np.int8)


def effective_bits(state: State, *, hot: bool = False, settings: DecaySettings = DEFAULTS) -> int:
    """Return the bits per dimension to store an embedding at: its state's, and at least warm's while it is hot."""
    bits = int(bit_widths(settings)[state])
    return max(bits, settings.bits_warm) if hot else bits


def effective_bit_widths(
    states: NDArray[np.int8], hot: NDArray[np.bool_], settings: DecaySettings = DEFAULTS
) -> NDArray[np.int8]:
    """Return `effective_bits` of many memories, int8, shape (n,)."""
    bits = bit_widths(settings)[states]
    return np.where(hot, np.maximum(bits, np.int8(settings.bits_warm)), bits)
