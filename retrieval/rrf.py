"""Weighted reciprocal rank fusion with the published weights, kept for comparison.

score = Σ weight / (k + rank), k = 15 (Cormack, Clarke and Büttcher 2009; weights of SuperLocalMemory V3.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from .channels.base import Ranking

K: Final = 15
WEIGHTS: Final[Mapping[str, float]] = {
    "semantic": 1.2,
    "lexical": 1.0,
    "entity": 1.0,
    "temporal": 1.0,
    "activation": 1.0,
    "gist": 0.8,
    "hopfield": 0.8,
}


def reciprocal_ranks(found: Mapping[str, Ranking], size: int, limit: int) -> Ranking:
    """The rankings fused over `size` rows, best `limit` first; equal scores in the order of the rows."""
    scores = np.zeros(size, np.float32)
    for name, ranking in found.items():
        scores[ranking.rows] += np.float32(WEIGHTS[name]) / (K + 1 + np.arange(len(ranking), dtype=np.float32))
    rows = np.flatnonzero(scores)
    rows = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    return Ranking(rows, scores[rows])
