"""Which of several copies of one memory to keep, by FRQAD: the distance that takes few bits for little certainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import InvalidInputError
from ..store.codec import Codes, decode
from ..store.frqad import frqad


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
