"""What memories do for each other: association L over the graph, activation ρ by spreading.

A shown memory tells the few that it is linked to most strongly, which is bounded work. The daily run computes both anew
for all memories, in numpy. Until then a new link counts for nothing: a save would have to rewrite the dozen memories
that it links to, for at most a day. L and ρ are counted in steps, so that a memory whose neighbours have hardly changed
is not written again, and what is kept depends on history and clock alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.catalog import KINDS
from ..store.figures import Figures, Rewrite
from ..store.store import Store
from . import clock as activity
from . import strength as formulas
from .constants import DEFAULTS, DecaySettings
from .fold import STEPS, trace

LINKS_SEEN: Final = 64
LINKS_FOLLOWED: Final = 3
REACHED: Final = 12
"""A shown memory activates the strongest 3 of its 64 newest links; one recall activates at most 12 memories."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Refreshed:
    """Figures of all memories as of one instant: arrays of shape (n,) in the order of the `Figures` they are made of.

    Attributes:
        association: L in steps of 1/32.
        stability: days.
        rate: λ per day.
        retention: R; 1 for pinned memories.
    """

    association: Floats
    stability: Floats
    rate: Floats
    retention: Floats


def taus(store: Store, scope: NDArray[np.int64], now: int, settings: DecaySettings = DEFAULTS) -> Floats:
    """τ (days) at `now` (µs) of the scopes (row ids) of some memories, float64 (n,)."""
    clocks = store.scopes.clocks()
    by_scope = np.zeros(1 + int(scope.max(initial=0)))
    for number in np.unique(scope).tolist():
        by_scope[number] = activity.tau(clocks.get(number), now, settings)
    return by_scope[scope]


def retention_alone(figures: Figures, tau: Floats, settings: DecaySettings = DEFAULTS) -> Floats:
    """R of memories with their own L taken as 0, float64 (n,): what they give to those linked to them.

    Pinned memories give 1, forgotten and evicted ones nothing.
    """
    _, rate = _folded(figures, np.zeros(len(figures)), tau, settings)
    return _retention(figures, rate, tau) * ~figures.gone


def associations(store: Store, figures: Figures, alone: Floats) -> Floats:
    """L of memories from all their links, float64 (n,); `alone` (seqs,) is `retention_alone` spread out by seq."""
    found = np.zeros(len(figures))
    for links in store.figures.links(figures):
        inside = links.other < len(alone)
        rows = np.searchsorted(figures.seq, links.owner[inside])
        weights = links.weight[inside] * alone[links.other[inside]]
        found += np.bincount(rows, weights=weights, minlength=len(figures))
    return -np.expm1(-found)


def refreshed(store: Store, figures: Figures, now: int, settings: DecaySettings = DEFAULTS) -> Refreshed:
    """L, S, λ and R of all memories at `now` (µs). `figures` are those of the whole store."""
    tau = taus(store, figures.scope, now, settings)
    alone = figures.table(retention_alone(figures, tau, settings))
    association = in_steps(associations(store, figures, alone))
    stability, rate = _folded(figures, association, tau, settings)
    return Refreshed(association, stability, rate, _retention(figures, rate, tau))


def in_steps(values: Floats) -> Floats:
    """Values in [0, 1] rounded to the nearest 1/32."""
    return np.round(values * STEPS) / STEPS


def spread(store: Store, shown: Sequence[int]) -> dict[int, float]:
    """How much each memory gains by others being shown: seq → amount in (0, 1], the link's weight.

    A shown memory gains nothing itself: being shown is no use. A memory reached twice gains the larger amount.
    """
    reached: dict[int, float] = {}
    for seq in shown:
        links: dict[int, float] = {}
        for other, weight in store.figures.newest_links(seq, LINKS_SEEN):
            links[other] = max(weight, links.get(other, 0.0))
        for other, weight in _strongest(links, LINKS_FOLLOWED):
            reached[other] = max(weight, reached.get(other, 0.0))
    outside = {seq: weight for seq, weight in reached.items() if seq not in set(shown) and weight > 0.0}
    return {seq: min(1.0, weight) for seq, weight in _strongest(outside, REACHED)}


def activate(store: Store, amounts: Mapping[int, float], now: int, settings: DecaySettings = DEFAULTS) -> None:
    """Add to the activation of some memories (by seq) at `now` (µs), in the caller's transaction."""
    figures = store.figures.of(list(amounts))
    tau = taus(store, figures.scope, now, settings)
    traces = [
        formulas.activated(trace(level, level_tau), at, settings, amount=amounts[seq])
        for seq, level, level_tau, at in zip(
            figures.seq.tolist(),
            figures.activation.tolist(),
            figures.activation_tau.tolist(),
            tau.tolist(),
            strict=True,
        )
    ]
    levels = (np.array([one.level for one in traces]), np.array([one.tau for one in traces]))
    _rewrite(store, figures, figures.association, levels, tau, settings)


def rewrites(figures: Figures) -> list[Rewrite]:
    """What is to be written so that memories have these figures."""
    columns = (
        figures.seq,
        figures.revision,
        figures.state,
        figures.association,
        figures.activation,
        figures.activation_tau,
        figures.stability,
        figures.rate,
    )
    return [Rewrite(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]


def _rewrite(
    store: Store,
    figures: Figures,
    association: Floats,
    levels: tuple[Floats, Floats],
    tau: Floats,
    settings: DecaySettings,
) -> None:
    stability, rate = _folded(figures, association, tau, settings, levels)
    changed = replace(
        figures,
        association=association,
        activation=levels[0],
        activation_tau=levels[1],
        stability=stability,
        rate=rate,
    )
    store.figures.rewrite(rewrites(changed))


def _folded(
    figures: Figures,
    association: Floats,
    tau: Floats,
    settings: DecaySettings,
    levels: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats]:
    """S (days) and λ (per day), with ρ in steps."""
    level, level_tau = levels or (figures.activation, figures.activation_tau)
    base = np.array([formulas.kind_base(kind, settings) for kind in KINDS])
    days = formulas.stabilities(
        base[figures.kind],
        spaced_uses=figures.spaced_uses,
        importance=figures.importance,
        confirmations=figures.confirmations,
        arousal=figures.arousal,
        association=association,
        activation=in_steps(formulas.activations(level, level_tau, tau, settings)),
        settings=settings,
    )
    return days, formulas.decay_rates(days, figures.trust, settings)


def _retention(figures: Figures, rate: Floats, tau: Floats) -> Floats:
    return np.where(figures.pinned, 1.0, formulas.retentions(rate, tau - figures.anchor_tau))


def _strongest(weights: Mapping[int, float], count: int) -> list[tuple[int, float]]:
    return sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
