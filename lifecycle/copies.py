"""Which of several copies of one memory to keep, by FRQAD: the distance that takes few bits for little certainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..encoding.likeness import Likeness
from ..schemas.errors import InvalidInputError
from ..schemas.memory import Memory
from ..store.codec import Codes, decode
from ..store.frqad import frqad
from .constants import DEFAULTS, DecaySettings
from .strength import kind_base


def pick_copy(copies: Sequence[Codes], reference: NDArray[np.float32] | None = None) -> int:
    """The index of the copy nearest to what was embedded, the first on a tie.

    Args:
        copies: of one memory, or of near-duplicates of each other; each has one row for each chunk.
        reference: the exact chunk vectors (c, d). None takes the finest copy for it, which for copies of one memory
            is the best that is known.

    Copies with another number of chunks than the reference lose. Distances of chunks are averaged.
    Raises InvalidInputError when there is no copy, or like `frqad`.
    """
    if not copies:
        raise InvalidInputError("there is no copy to pick from")
    finest = max(copies, key=lambda codes: codes.bit_width)
    target = decode(finest) if reference is None else reference
    return int(np.argmin([_distance(target, codes) for codes in copies]))


def _distance(target: NDArray[np.float32], codes: Codes) -> float:
    if len(codes) != len(target):
        return float("inf")
    return float(frqad(target, decode(codes), np.full(len(codes), codes.bit_width)).mean())


def choose_keeper(
    one: Memory,
    other: Memory,
    found: Likeness,
    codes: Mapping[int, Codes],
    settings: DecaySettings = DEFAULTS,
) -> Memory:
    """Which of two memories that say the same speaks for both.

    In this order: the pinned one, the one that says more, the kind that lasts longer, the better trusted one, the one
    whose embedding is the better witness (by FRQAD, where they are kept at different precision), the less faded one,
    the one with more evidence, the older one. `codes` are their embeddings by seq, where they have any.
    """
    finer = _better_witness(one, other, codes)

    def merits(memory: Memory, *, says_more: bool) -> tuple[float, ...]:
        return (
            memory.pinned,
            says_more,
            kind_base(memory.kind, settings),
            memory.trust,
            finer is memory,
            -int(memory.strength.state),
            memory.confirmations,
            memory.strength.uses,
            -memory.seq,
        )

    first = merits(one, says_more=found is Likeness.COVERS)
    return one if first > merits(other, says_more=found is Likeness.COVERED) else other


def _better_witness(one: Memory, other: Memory, codes: Mapping[int, Codes]) -> Memory | None:
    """The one of two memories whose embedding is nearer to what was embedded; None where there is no difference."""
    if one.seq not in codes or other.seq not in codes:
        return next((memory for memory in (one, other) if memory.seq in codes), None)
    both = codes[one.seq], codes[other.seq]
    if both[0].bit_width == both[1].bit_width or len(both[0]) != len(both[1]):
        return None
    return (one, other)[pick_copy(both)]
