"""Cosine of a question with every memory, alone and together with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.codec import score, sign_bits
from ..store.resident import Matrix
from .layout import Floats, Layout

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


def semantic_evidence(layout: Layout, norms: Floats, matrix: Matrix, query: NDArray[np.float32]) -> SemanticEvidence:
    """Score n rows against a query's unit chunk vectors (c, d); a question of several chunks takes the best."""
    alone = np.zeros(len(layout), np.float32)
    inside = matrix.owners < len(layout.row_of)
    rows = np.where(inside, layout.row_of[np.where(inside, matrix.owners, 0)], -1) if len(matrix.owners) else None
    if rows is not None and (rows >= 0).any():
        best = np.maximum.reduceat(cosines(matrix, query), matrix.starts)
        alone[rows[rows >= 0]] = best[rows >= 0]
    return SemanticEvidence(alone, layout.spread(alone, DECAY) / norms)


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
