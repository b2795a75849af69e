"""One event into the figures of a memory: what the ledger does when something happens, and rebuilding does again.

Pure, and the only place where events become figures: replaying a journal gives what living through it gave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..schemas.memory import Kind, Memory, NewMemory, Strength
from . import strength as formulas
from .constants import DEFAULTS, DecaySettings
from .heat import Heat, shown

STEPS: Final = 32
"""L and ρ count in steps of 1/32, each at most 1.6 % of stability: what has hardly changed needs no writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What stability and rate depend on beside the figures: base stability in days, ι, ε, γ, trust."""

    base_days: float
    importance: float
    arousal: float
    confirmations: int
    trust: float

    @classmethod
    def of(cls, memory: Memory | NewMemory, settings: DecaySettings = DEFAULTS) -> Facts:
        """The facts of a memory, stored or on its way."""
        return cls(
            base_days=formulas.kind_base(Kind(memory.kind), settings),
            importance=memory.importance,
            arousal=memory.arousal,
            confirmations=memory.confirmations if isinstance(memory, Memory) else 0,
            trust=memory.trust,
        )


def used(figures: Strength, at: int, tau: float, settings: DecaySettings = DEFAULTS) -> Strength:
    """Figures after a use at `at` (µs), the scope's τ being `tau`: spaced uses grow, retention starts anew."""
    return replace(
        figures,
        uses=figures.uses + 1,
        spaced_uses=figures.spaced_uses + formulas.next_spacing(figures.last_use_at, at, settings),
        last_use_at=at if figures.last_use_at is None else max(at, figures.last_use_at),
        anchor_tau=tau,
    )


def reused(figures: Strength, share: float, tau: float) -> Strength:
    """Figures after a weak use that counts `share` of one, the scope's τ being `tau`.

    So much is added to spaced uses, and so much of the time since the last use is made up for. It is none of the uses
    that somebody reported.
    """
    anchor = figures.anchor_tau + share * max(0.0, tau - figures.anchor_tau)
    return replace(figures, spaced_uses=figures.spaced_uses + share, anchor_tau=anchor)


def merged(figures: Strength, copy: Strength) -> Strength:
    """Figures after a near-duplicate with the figures `copy` was merged into the memory: what was done to it counts.

    Uses add up. How far apart uses of the two lay is not known, so the spaced ones are those of the one with more.
    """
    uses = [at for at in (figures.last_use_at, copy.last_use_at) if at is not None]
    return replace(
        figures,
        state=min(figures.state, copy.state),
        uses=figures.uses + copy.uses,
        spaced_uses=max(figures.spaced_uses, copy.spaced_uses),
        last_use_at=max(uses, default=None),
        anchor_tau=max(figures.anchor_tau, copy.anchor_tau),
    )


def warmed(figures: Strength, day: int, settings: DecaySettings = DEFAULTS) -> Strength:
    """Figures after being shown on active day `day` of the memory's scope."""
    before = Heat(figures.heat_day, figures.heat_mask) if figures.heat_mask else None
    heat = shown(before, day, settings)
    return replace(figures, heat_day=heat.last_day, heat_mask=heat.mask)


def activated(figures: Strength, amount: float, tau: float, settings: DecaySettings = DEFAULTS) -> Strength:
    """Figures after an activation of `amount` in (0, 1] reached the memory at `tau`."""
    after = formulas.activated(trace(figures.activation, figures.activation_tau), tau, settings, amount=amount)
    return replace(figures, activation=after.level, activation_tau=after.tau)


def trace(level: float, tau: float) -> formulas.Activation | None:
    """All past activations as one decayed sum; None where there were none."""
    return formulas.Activation(level, tau) if level else None


def in_steps(value: float) -> float:
    """A value in [0, 1] rounded to the nearest of the steps in which L and ρ count."""
    return round(value * STEPS) / STEPS


def terms(facts: Facts, figures: Strength, tau: float, settings: DecaySettings = DEFAULTS) -> formulas.Terms:
    """The six terms of stability at `tau`, and S in days."""
    reached = formulas.activation(trace(figures.activation, figures.activation_tau), tau, settings)
    return formulas.stability_terms(
        facts.base_days,
        spaced_uses=figures.spaced_uses,
        importance=facts.importance,
        confirmations=float(facts.confirmations),
        arousal=facts.arousal,
        association=figures.association,
        activation=in_steps(reached),
        settings=settings,
    )


def folded(facts: Facts, figures: Strength, tau: float, settings: DecaySettings = DEFAULTS) -> Strength:
    """Figures with stability and rate made from everything else that is known at `tau`."""
    days = terms(facts, figures, tau, settings).stability_days
    return replace(figures, stability=days, rate=formulas.decay_rate(days, facts.trust, settings))
