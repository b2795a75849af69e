"""Heat: a memory shown on several of the last active days keeps its precision, whatever its retention says."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .constants import DEFAULTS, DecaySettings


@dataclass(frozen=True, slots=True)
class Heat:
    """On which of the last active days a memory was shown.

    Attributes:
        last_day: the last active day (`clock.active_day`) on which it was shown.
        mask: bit i is set if it was shown on day last_day − i; no more bits than `heat_window`.
    """

    last_day: int
    mask: int


def shown(heat: Heat | None, day: int, settings: DecaySettings = DEFAULTS) -> Heat:
    """Return the heat after being shown on active day `day`; a day before the last counts as the last."""
    if heat is None:
        return Heat(last_day=day, mask=1)
    passed = min(max(0, day - heat.last_day), settings.heat_window)
    window = (1 << settings.heat_window) - 1
    return Heat(last_day=max(day, heat.last_day), mask=(heat.mask << passed & window) | 1)


def is_hot(heat: Heat | None, day: int, settings: DecaySettings = DEFAULTS) -> bool:
    """Return whether a memory was shown on `heat_days` of the last `heat_window` active days, `day` included."""
    if heat is None:
        return False
    passed = min(max(0, day - heat.last_day), settings.heat_window)
    window = (1 << settings.heat_window) - 1
    return (heat.mask << passed & window).bit_count() >= settings.heat_days


def are_hot(
    last_day: NDArray[np.int64], mask: NDArray[np.int64], day: int, settings: DecaySettings = DEFAULTS
) -> NDArray[np.bool_]:
    """Return `is_hot` of many memories, bool of shape (n,); mask 0 stands for one that was never shown."""
    passed = np.clip(day - last_day, 0, settings.heat_window)
    # Dropping the days that left the window and then counting needs no left shift, which could overflow.
    kept = np.int64((1 << settings.heat_window) - 1) >> passed
    return np.bitwise_count(mask & kept) >= settings.heat_days
