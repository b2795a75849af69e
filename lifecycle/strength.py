"""Strength: from a memory's history to its stability, and from stability to retention.

    a = Σ (1 − e^(−gap / 1 day)) over uses, the first counting 1              spaced uses
    L = 1 − exp(−Σ w·R) over linked memories                                  association (ScrapMem)
    ρ = 1 − exp(−Σ e^(−Δτ / 14)) over activations by spreading                activation (ScrapMem)
    S = max(0.1, S_kind · (1 + 2·ln(1 + a) + 1.5·ι + γ + 0.5·ε + 0.5·L + 0.25·ρ))
    λ = (1 + κ·(1 − trust)) / S,  R = e^(−λ·Δτ)                               SuperLocalMemory V3.3, Ebbinghaus

R in L is the linked memory's retention with *its own* L taken as 0. That keeps every figure a function of the history
and the clock alone: no fixed point to iterate, and no trace of how often the daily run happened.

Functions named in the plural are the batch form: float64 arrays of one shape in, float64 out, no loop over rows.
"""

from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Kind
from .constants import DEFAULTS, DecaySettings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def kind_base(kind: Kind, settings: DecaySettings = DEFAULTS) -> float:
    """Return the base stability in days of a kind of memory."""
    return {
        Kind.OBSERVATION: settings.base_observation,
        Kind.EPISODE: settings.base_episode,
        Kind.FACT: settings.base_fact,
        Kind.PROCEDURE: settings.base_procedure,
        Kind.DECISION: settings.base_decision,
        Kind.PREFERENCE: settings.base_preference,
    }[kind]


def next_spacing(previous_use_at: int | None, at: int, settings: DecaySettings = DEFAULTS) -> float:
    """Return what a use at `at` (µs) adds to spaced uses: 1 for the first, 1 − e^(−gap/spacing_days) for later ones."""
    if previous_use_at is None:
        return 1.0
    gap_days = max(0, at - previous_use_at) / MICROSECONDS_PER_DAY
    return -expm1(-gap_days / settings.spacing_days)


def spaced_uses(uses: Ints, settings: DecaySettings = DEFAULTS) -> float:
    """Return a over all uses (µs, int64, shape (n,), in the order recorded): the sum of their `next_spacing`."""
    if uses.size == 0:
        return 0.0
    gap_days = np.maximum(np.diff(uses), 0) / MICROSECONDS_PER_DAY
    return 1.0 + float(-np.expm1(-gap_days / settings.spacing_days).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What each term adds to the bracket of S (no unit), and S itself, so that a state can be explained."""

    base_days: float
    uses: float
    importance: float
    confirmations: float
    arousal: float
    association: float
    activation: float
    stability_days: float


def stability_terms(
    base_days: float,
    *,
    spaced_uses: float = 0.0,
    importance: float = 0.0,
    confirmations: float = 0.0,
    arousal: float = 0.0,
    association: float = 0.0,
    activation: float = 0.0,
    settings: DecaySettings = DEFAULTS,
) -> Terms:
    """Return the six weighted terms and S in days. ι, ε, L and ρ lie in [0, 1]; a and γ are ≥ 0."""
    uses = settings.weight_uses * log1p(spaced_uses)
    weighted_importance = settings.weight_importance * importance
    weighted_confirmations = settings.weight_confirmations * confirmations
    weighted_arousal = settings.weight_arousal * arousal
    weighted_association = settings.weight_association * association
    weighted_activation = settings.weight_activation * activation
    bracket = (
        1.0
        + uses
        + weighted_importance
        + weighted_confirmations
        + weighted_arousal
        + weighted_association
        + weighted_activation
    )
    return Terms(
        base_days=base_days,
        uses=uses,
        importance=weighted_importance,
        confirmations=weighted_confirmations,
        arousal=weighted_arousal,
        association=weighted_association,
        activation=weighted_activation,
        stability_days=max(settings.stability_floor, base_days * bracket),
    )


def stability(
    base_days: float,
    *,
    spaced_uses: float = 0.0,
    importance: float = 0.0,
    confirmations: float = 0.0,
    arousal: float = 0.0,
    association: float = 0.0,
    activation: float = 0.0,
    settings: DecaySettings = DEFAULTS,
) -> float:
    """Return S in days: `stability_terms` without the parts."""
    return stability_terms(
        base_days,
        spaced_uses=spaced_uses,
        importance=importance,
        confirmations=confirmations,
        arousal=arousal,
        association=association,
        activation=activation,
        settings=settings,
    ).stability_days


def stabilities(
    base_days: Floats,
    *,
    spaced_uses: Floats,
    importance: Floats,
    confirmations: Floats,
    arousal: Floats,
    association: Floats,
    activation: Floats,
    settings: DecaySettings = DEFAULTS,
) -> Floats:
    """Return S in days for many memories: float64 arrays of shape (n,) in, one out."""
    bracket = 1.0 + settings.weight_uses * np.log1p(spaced_uses)
    bracket += settings.weight_importance * importance
    bracket += settings.weight_confirmations * confirmations
    bracket += settings.weight_arousal * arousal
    bracket += settings.weight_association * association
    bracket += settings.weight_activation * activation
    return np.maximum(settings.stability_floor, base_days * bracket)


def decay_rate(stability_days: float, trust: float, settings: DecaySettings = DEFAULTS) -> float:
    """Return λ per day: (1 + κ·(1 − trust)) / S, trust in [0, 1]."""
    return (1.0 + settings.trust_kappa * (1.0 - trust)) / stability_days


def decay_rates(stability_days: Floats, trust: Floats, settings: DecaySettings = DEFAULTS) -> Floats:
    """Return λ per day for many memories."""
    return (1.0 + settings.trust_kappa * (1.0 - trust)) / stability_days


def retention(rate: float, elapsed_days: float) -> float:
    """Return R = e^(−λ·Δτ), Δτ in days since the last use or the save; a negative Δτ counts as none."""
    return exp(-rate * max(0.0, elapsed_days))


def retentions(rates: Floats, elapsed_days: Floats) -> Floats:
    """Return R for many memories."""
    return np.exp(-rates * np.maximum(0.0, elapsed_days))


def fade_factor(rate: float) -> float:
    """Return e^(−λ), what one day leaves of R: ScrapMem's fade factor, near 1 for strong memories."""
    return exp(-rate)


def tau_until(target: float, rate: float, elapsed_days: float) -> float:
    """Return the days of τ until an unused memory's R falls to `target`; 0 if it has, infinite if it never does."""
    if target <= 0.0 or rate <= 0.0:
        return inf
    return max(0.0, -log(target) / rate - max(0.0, elapsed_days))


def association(weighted_retention: float) -> float:
    """Return L = 1 − exp(−Σ w·R), given the sum over linked memories."""
    return -expm1(-weighted_retention)


def associations(owner: Ints, weight: Floats, linked_retention: Floats, count: int) -> Floats:
    """Return L of memories 0 … count − 1 from their links.

    Args:
        owner: row of the memory that each link belongs to, int64, shape (links,).
        weight: strength of each link, ≥ 0, shape (links,).
        linked_retention: R of the memory at the other end, its own L taken as 0, shape (links,).
        count: number of memories.

    Returns:
        float64, shape (count,); 0 where there are no links.
    """
    sums = np.bincount(owner, weights=weight * linked_retention, minlength=count)
    return -np.expm1(-sums)


@dataclass(frozen=True, slots=True)
class Activation:
    """All past activations as one decayed sum: `level` at the activity clock's `tau` (days)."""

    level: float
    tau: float


def activated(
    trace: Activation | None, tau: float, settings: DecaySettings = DEFAULTS, *, amount: float = 1.0
) -> Activation:
    """Return the trace after one more activation at `tau`: x(τ) = x₀·e^(−(τ − τ₀)/14) + amount, in (0, 1]."""
    if trace is None:
        return Activation(level=amount, tau=tau)
    tau = max(tau, trace.tau)
    return Activation(level=trace.level * exp((trace.tau - tau) / settings.activation_days) + amount, tau=tau)


def activation(trace: Activation | None, tau: float, settings: DecaySettings = DEFAULTS) -> float:
    """Return ρ = 1 − e^(−x(τ)); 0 for a memory that was never activated."""
    if trace is None:
        return 0.0
    elapsed = max(0.0, tau - trace.tau)
    return -expm1(-trace.level * exp(-elapsed / settings.activation_days))


def activations(level: Floats, level_tau: Floats, tau: Floats, settings: DecaySettings = DEFAULTS) -> Floats:
    """Return ρ of many memories; level 0 stands for a memory that was never activated."""
    elapsed = np.maximum(0.0, tau - level_tau)
    return -np.expm1(-level * np.exp(-elapsed / settings.activation_days))
