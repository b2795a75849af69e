"""Retention value: which memories go first when a budget is exceeded.

Value slows a memory's time down: the order of eviction is that of R^(1/V), lowest first, with

    V = (1 + a)^u · (1 + γ)^c · e^(i·ι) · (1 + length/6)^d / (1 + I)^r

a spaced uses, γ confirmations, ι importance, length in characters (six make a word), and I interference: Σ similarity
over all younger memories ever linked to this one, as in retroactive interference. What newer memories resemble is both
less likely to be needed and in the way of what is needed. R^(1/V) rather than R·V: at the age at which a full store has
to choose, R is e^(−10) and less, and no factor of a sensible size would change the order by age. Kind, links and
activation count through λ. The exponents are settings, chosen with the
figures of `scripts/bench/forgetting.py` in sight.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import Kind
from .constants import DEFAULTS, DecaySettings

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

EXEMPT_KINDS = frozenset({Kind.DECISION, Kind.PREFERENCE})
"""Kinds that are never evicted while they are valid."""

_CHARACTERS_PER_WORD = 6.0
_FRESH_DAYS = 0.1  # a memory used this instant has aged by this much: the logarithm needs something


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What eviction looks at: one row a memory, arrays of shape (n,).

    Attributes:
        rate: λ per day.
        elapsed_days: Δτ since the last use or the save.
        age_days: τ since the save.
        spaced_uses: a.
        confirmations: γ.
        importance: ι in [0, 1].
        length: of the verbatim text, in characters.
        interference: I, the summed similarity (in [0, 1] each) of younger memories linked to this one.
        pinned: never fades, never goes.
        protected: a currently valid decision or preference (`EXEMPT_KINDS`).
    """

    rate: Floats
    elapsed_days: Floats
    age_days: Floats
    spaced_uses: Floats
    confirmations: Floats
    importance: Floats
    length: Floats
    interference: Floats
    pinned: Flags
    protected: Flags


def log_values(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> Floats:
    """Return ln V, float64 of shape (n,)."""
    worth = settings.value_uses * np.log1p(candidates.spaced_uses)
    worth += settings.value_confirmations * np.log1p(candidates.confirmations)
    worth += settings.value_importance * candidates.importance
    worth += settings.value_detail * np.log1p(candidates.length / _CHARACTERS_PER_WORD)
    worth -= settings.value_interference * np.log1p(candidates.interference)
    return worth


def keep_scores(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> Floats:
    """Return −ln(−ln R^(1/V)) = ln V − ln(λ·Δτ): the higher, the longer a memory stays. No unit, shape (n,)."""
    aged = candidates.rate * (np.maximum(0.0, candidates.elapsed_days) + _FRESH_DAYS)
    return log_values(candidates, settings) - np.log(aged)


def exempt(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> Flags:
    """Return which memories are never evicted: pinned, valid decisions and preferences, and the young."""
    young = candidates.age_days < settings.young_days
    return candidates.pinned | candidates.protected | young


def evict_order(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> NDArray[np.intp]:
    """Return the rows that may go, the first to go first; equal scores go in the order of the rows."""
    rows = np.flatnonzero(~exempt(candidates, settings))
    return rows[np.argsort(keep_scores(candidates, settings)[rows], kind="stable")]
