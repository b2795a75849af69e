"""Why a memory is in its state: every figure that its stability, retention and state come from, as of one instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..schemas.activity import ActivityClock
from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Memory, State
from ..store.journal import Entry
from ..store.store import Store
from . import clock as activity
from . import fold, strength
from .activation import associations, retention_alone, taus
from .constants import DEFAULTS, DecaySettings
from .heat import Heat, is_hot
from .states import effective_bits, next_demotion, next_state, thresholds

_HISTORY: Final = 200


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A linked memory by id: the sum of its links' weights, and its R with its own L taken as 0."""

    id: str
    weight: float
    retention: float


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The state that comes next if nobody uses the memory: in days of τ, and in wall days busy and idle."""

    state: State
    tau_days: float
    active_days: float
    idle_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that a memory's state depends on at `at` (µs).

    Attributes:
        memory: as stored; its figures are those of the last event or daily run.
        at: the instant.
        tau: the scope's activity clock, days.
        elapsed_days: Δτ since the last use or the save.
        association: L as it is now, in the steps in which it counts.
        activation: ρ as it is now, in the same steps.
        neighbours: what L is made of, the strongest first.
        terms: the six weighted terms, and S in days.
        rate: λ per day.
        retention: R, 1 for a pinned memory.
        thresholds: R below which a memory leaves active, warm, cold, archive; `hysteresis` is the band around each.
        state: what the next daily run makes of it.
        hot: whether it is shown so often that its embedding keeps at least the precision of warm.
        bit_width: what its embedding should have.
        upcoming: what comes next, unless it is pinned, out of recall or forgotten already.
        evicted_at: when the budget or an expiry took it out (µs), or None.
        history: the journal's entries about it, oldest first.
    """

    memory: Memory
    at: int
    tau: float
    elapsed_days: float
    association: float
    activation: float
    neighbours: tuple[Neighbour, ...]
    terms: strength.Terms
    rate: float
    retention: float
    thresholds: tuple[float, float, float, float]
    hysteresis: float
    state: State
    hot: bool
    bit_width: int
    upcoming: Upcoming | None
    evicted_at: int | None
    history: tuple[Entry, ...]


def explain(store: Store, memory: Memory, now: int, settings: DecaySettings = DEFAULTS) -> Explanation:
    """Explain a memory as of `now` (µs).

    Raises:
        StoreError: if the store can't be read.
    """
    with store.snapshot():
        number = store.scopes.find(memory.scope)
        clock = None if number is None else store.scopes.clock(number)
        association, neighbours = _association(store, memory, now, settings)
        evicted_at = store.evictions.evicted_at(memory.seq)
        history = store.journal.of_memory(memory.id, _HISTORY)
    tau = activity.tau(clock, now, settings)
    figures = replace(memory.strength, association=association)
    terms = fold.terms(fold.Facts.of(memory, settings), figures, tau, settings)
    rate = strength.decay_rate(terms.stability_days, memory.trust, settings)
    elapsed = max(0.0, tau - figures.anchor_tau)
    retention = 1.0 if memory.pinned else strength.retention(rate, elapsed)
    gone = memory.forgotten_at is not None or evicted_at is not None or memory.merged_into is not None
    state = figures.state if gone else next_state(figures.state, retention, pinned=memory.pinned, settings=settings)
    heat = Heat(figures.heat_day, figures.heat_mask) if figures.heat_mask else None
    hot = is_hot(heat, activity.active_day(clock, now), settings)
    reached = strength.activation(fold.trace(figures.activation, figures.activation_tau), tau, settings)
    return Explanation(
        memory=memory,
        at=now,
        tau=tau,
        elapsed_days=elapsed,
        association=association,
        activation=fold.in_steps(reached),
        neighbours=neighbours,
        terms=terms,
        rate=rate,
        retention=retention,
        thresholds=thresholds(settings),
        hysteresis=settings.hysteresis,
        state=state,
        hot=hot,
        bit_width=effective_bits(state, hot=hot, settings=settings),
        upcoming=None if gone or memory.pinned else _upcoming(state, rate, elapsed, _rest(clock, now), settings),
        evicted_at=evicted_at,
        history=tuple(history),
    )


def _rest(clock: ActivityClock | None, now: int) -> float:
    """The wall days for which a scope stays active though nobody works in it any more: what is left of a day."""
    if clock is None:
        return 0.0
    return max(0, clock.segment_end - max(now, clock.latest)) / MICROSECONDS_PER_DAY


def _association(
    store: Store, memory: Memory, now: int, settings: DecaySettings
) -> tuple[float, tuple[Neighbour, ...]]:
    weights: dict[int, float] = {}
    for links in store.figures.links(store.figures.of([memory.seq])):
        for other, weight in zip(links.other.tolist(), links.weight.tolist(), strict=True):
            weights[other] = weights.get(other, 0.0) + weight
    figures = store.figures.of([memory.seq, *weights])
    tau = taus(store, figures.scope, now, settings)
    alone = figures.table(retention_alone(figures, tau, settings))
    found = associations(store, store.figures.of([memory.seq]), alone)
    names = store.memories.ids(list(weights))
    neighbours = [Neighbour(names[seq], weight, float(alone[seq])) for seq, weight in weights.items() if seq in names]
    neighbours.sort(key=lambda neighbour: (-neighbour.weight * neighbour.retention, neighbour.id))
    return fold.in_steps(float(found[0])) if len(found) else 0.0, tuple(neighbours)


def _upcoming(state: State, rate: float, elapsed: float, rest: float, settings: DecaySettings) -> Upcoming | None:
    coming = next_demotion(state, rate, elapsed, settings)
    if coming is None:
        return None
    after, days = coming
    busy = activity.wall_days_busy(days, settings)
    # Idle or not, the day after the last activity counts in full.
    idle = (
        busy
        if busy <= rest
        else rest + activity.wall_days_idle(days - rest * (1.0 + 1.0 / settings.wall_days_per_day), settings)
    )
    return Upcoming(after, days, busy, idle)
