"""Cosine of a question with every memory, alone and together with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.codec import score, sign_bits
from ..store.resident import Matrix
from .layout import Floats, Layout, Rows

DECAY: Final[Mapping[int, float]] = {-1: 0.6, 1: 0.4, -2: 0.3, 2: 0.2}
# The mean cosine of neighbours in a session: the norm of a sum of neighbours needs no more than that.
_NEIGHBOUR_COSINE: Final = 0.25
_SCORED_WHOLE: Final = 4096
_NEAREST: Final = 2048


@dataclass(frozen=True, slots=True, eq=False)
class SemanticEvidence:
    """What the embedding of a question says of n rows.

    Attributes:
        alone: float32 (n,), cosine with the memory (the best of its chunks); 0 where there is no embedding.
        near: float32 (n,), cosine with the memory and its neighbours, decayed.
    """

    alone: Floats
    near: Floats


def norms_of(layout: Layout) -> Floats:
    """float32 (n,): the expected norm of each row's vector plus its neighbours', decayed."""
    ones = np.ones(len(layout), np.float32)
    total = layout.spread(ones, DECAY)
    squares = ones.copy()
    for offset, factor in DECAY.items():
        squares += (np.float32(factor) * layout.near[offset]) ** 2
    return np.sqrt((1 - _NEIGHBOUR_COSINE) * squares + _NEIGHBOUR_COSINE * total**2).astype(np.float32)


def semantic_evidence(
    layout: Layout, norms: Floats, rows: Rows, matrix: Matrix, query: NDArray[np.float32]
) -> SemanticEvidence:
    """Score n rows against a query's unit chunk vectors (c, d); a question of several chunks takes the best.

    `rows` (m,) are those of the matrix's memories, −1 for one that is not in the layout.
    """
    alone = np.zeros(len(layout), np.float32)
    here = rows >= 0
    if here.any():
        alone[rows[here]] = best_of_chunks(matrix, cosines(matrix, query))[here]
    return SemanticEvidence(alone, layout.spread(alone, DECAY) / norms)


def best_of_chunks(matrix: Matrix, scores: Floats) -> Floats:
    """The best of each memory's rows, float32 (m,), given a score for each row of the matrix."""
    return scores if len(matrix.starts) == len(scores) else np.maximum.reduceat(scores, matrix.starts)


def cosines(matrix: Matrix, query: NDArray[np.float32]) -> Floats:
    """The best cosine of a query's unit chunk vectors (c, d) with every row of the matrix, float32 (r,).

    Beyond some thousand rows only the 2,048 nearest by sign bits are scored; for the others the share of equal sign
    bits gives the angle (Goemans and Williamson 1995), which is within about 0.08 of the cosine.
    """
    size = len(matrix.seqs)
    if size <= _SCORED_WHOLE:
        return score(query, matrix.codes.whole()).max(axis=0)
    distance = np.min([matrix.hamming(bits) for bits in sign_bits(query)], axis=0)
    angles = np.arange(matrix.codes.dimension + 1) * (np.pi / matrix.codes.dimension)
    result = np.cos(angles).astype(np.float32)[distance]
    near = np.sort(np.argpartition(distance, _NEAREST)[:_NEAREST])
    result[near] = score(query, matrix.codes.take(near)).max(axis=0)
    return result
