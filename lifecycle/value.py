"""Retention value: which memories go first when a budget is exceeded.

The order of eviction is that of the need still to be expected, lowest first: a fast trace and a slow one, each a power
law of the time aged x = λ·Δτ,

    N = V / x + s · W / x^f,   V, W = (1 + a + γ)^u · e^(i·ι) · (1 + length/6)^d / ((1 + I)^r · (1 + F)^o)

a spaced uses, γ confirmations, ι importance, length in characters (six make a word). I is interference: Σ likeness of
the younger memories that were ever among the ten most like this one, as in retroactive interference; what newer ones
repeat is both less likely to be needed and in the way of what is needed. F is familiarity: Σ likeness of the ten older
ones that it was most like when it came; what said nothing new is missed less (`resemblance.py`). V and W have
exponents of their own (W has no F): new memories compete by how fresh and how little repeated they are, old ones by
their worth.

Powers of time rather than R·V: at the age at which a full store has to choose, R is e^(−10) and less, and no factor of
a sensible size would change the order by age. That need falls as a power of age: Anderson and Schooler, "Reflections of
the environment in memory", 1991. Kind, trust, links and activation count through λ. The exponents are settings, chosen
with the figures of `scripts/bench/forgetting.py` in sight.
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
        interference: I, the summed likeness (in [0, 1] each) of younger memories.
        familiarity: F, the summed likeness of older ones.
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
    familiarity: Floats
    pinned: Flags
    protected: Flags


@dataclass(frozen=True, slots=True)
class Exponents:
    """How the parts of value count in one of the two traces; `uses` is that of confirmations too."""

    uses: float
    importance: float
    detail: float
    interference: float
    familiarity: float


def exponents(settings: DecaySettings = DEFAULTS) -> tuple[Exponents, Exponents]:
    """Return the exponents of the fast trace and of the slow one."""
    fast = Exponents(
        settings.value_uses,
        settings.value_importance,
        settings.value_detail,
        settings.value_interference,
        settings.value_familiarity,
    )
    slow = Exponents(
        settings.lasting_uses,
        settings.lasting_importance,
        settings.lasting_detail,
        settings.lasting_interference,
        0.0,
    )
    return fast, slow


def log_values(candidates: Candidates, of: Exponents) -> Floats:
    """Return ln V (or ln W), float64 of shape (n,)."""
    worth = of.uses * np.log1p(candidates.spaced_uses + candidates.confirmations)
    worth += of.importance * candidates.importance
    worth += of.detail * np.log1p(candidates.length / _CHARACTERS_PER_WORD)
    worth -= of.interference * np.log1p(candidates.interference)
    worth -= of.familiarity * np.log1p(candidates.familiarity)
    return worth


def keep_scores(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> Floats:
    """Return ln N: the higher, the longer a memory stays. No unit, float64 of shape (n,)."""
    fast, slow = exponents(settings)
    aged = np.log(candidates.rate * (np.maximum(0.0, candidates.elapsed_days) + _FRESH_DAYS))
    soon = log_values(candidates, fast) - aged
    later = settings.lasting_share + log_values(candidates, slow) - settings.lasting_fading * aged
    return np.logaddexp(soon, later)


def exempt(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> Flags:
    """Return which memories are never evicted: pinned, valid decisions and preferences, and the young."""
    young = candidates.age_days < settings.young_days
    return candidates.pinned | candidates.protected | young


def evict_order(candidates: Candidates, settings: DecaySettings = DEFAULTS) -> NDArray[np.intp]:
    """Return the rows that may go, the first to go first; equal scores go in the order of the rows."""
    rows = np.flatnonzero(~exempt(candidates, settings))
    return rows[np.argsort(keep_scores(candidates, settings)[rows], kind="stable")]
