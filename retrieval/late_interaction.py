"""Late interaction: each word piece of the question finds its best match in a memory or its neighbours (MaxSim).

After Khattab and Zaharia (2020), with each piece weighted by its rarity and neighbours decayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.codec import score
from ..store.tokens import StoredTokens, Tokens
from .layout import Floats, Layout, Rows

DECAY: Final[Mapping[int, float]] = {-1: 0.85, -2: 0.75, -3: 0.65, 1: 0.75, 2: 0.65, 3: 0.6}
_LEAST_NEIGHBOUR: Final = 0.2
_WORD_BUDGET: Final = 3_000_000
_MISSING: Final = np.float32(np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class QueryTokens:
    """A question's token vectors (t, d) and the weight of each (t,), summing to 1."""

    vectors: Floats
    weights: Floats


def query_tokens(vectors: Floats, pieces: NDArray[np.int32], tokens: Tokens, model: int) -> QueryTokens:
    """Weigh a question's pieces by rarity: idf = ln(1 + (N − df + ½)/(df + ½)) over the stored token embeddings."""
    items, total = tokens.items_with(pieces, model)
    weights = np.log1p((np.maximum(total - items, 0) + 0.5) / (items + 0.5)).astype(np.float32)
    return QueryTokens(vectors, weights / weights.sum())


def late_interaction(layout: Layout, pool: Rows, query: QueryTokens, tokens: Tokens, model: int) -> Floats:
    """MaxSim of the rows in `pool` (p,) with their neighbours, float32 (p,); NaN where no tokens are stored.

    The rows come best first: when their texts are so long that they exceed a bound on the work, the last go without.
    """
    members = np.array(sorted({0, *DECAY.keys() & layout.offsets}))
    around = pool[:, np.newaxis] + members
    factor = np.stack([_factors(layout, pool, int(offset)) for offset in members], axis=1)
    factor = _within_budget(layout, around, factor)
    rows = np.unique(around[factor > 0])
    best = _best_matches(layout, rows, query, tokens.get(layout.seqs[rows].tolist(), model))
    places = np.minimum(np.searchsorted(rows, around), max(0, len(rows) - 1))
    if not len(rows):
        return np.full(len(pool), _MISSING)
    found = np.where(factor[:, :, np.newaxis] > 0, best[places] * factor[:, :, np.newaxis], -1.0)
    # Not through BLAS: on so few numbers it is no faster, and it once warned of a value that no replay showed.
    total = np.einsum("pt,t->p", np.nan_to_num(found, nan=-1.0).max(axis=1), query.weights)
    middle = int(np.searchsorted(members, 0))
    own = best[places[:, middle]]
    missing = np.isnan(own).any(axis=1) | (factor[:, middle] == 0)
    return np.where(missing, _MISSING, total).astype(np.float32)


def _factors(layout: Layout, pool: Rows, offset: int) -> Floats:
    if offset == 0:
        return np.ones(len(pool), np.float32)
    near = layout.near[offset][pool]
    return np.where(near >= _LEAST_NEIGHBOUR, near * np.float32(DECAY[offset]), 0.0).astype(np.float32)


def _within_budget(layout: Layout, around: NDArray[np.intp], factor: Floats) -> Floats:
    """Drop the last rows of the pool once the words to compare exceed the budget."""
    safe = np.clip(around, 0, len(layout) - 1)
    work = np.cumsum((layout.words[safe] * (factor > 0)).sum(axis=1))
    return factor * (work <= max(_WORD_BUDGET, work[0] if len(work) else 0))[:, np.newaxis]


def _best_matches(layout: Layout, rows: Rows, query: QueryTokens, stored: StoredTokens) -> Floats:
    """Each row's best match of each query piece, float32 (r, t); NaN for rows without tokens."""
    result = np.full((len(rows), len(query.weights)), _MISSING)
    if len(stored.seqs):
        starts = np.flatnonzero(np.diff(stored.seqs, prepend=-1))
        best = np.maximum.reduceat(score(query.vectors, stored.codes), starts, axis=1).T
        result[np.searchsorted(rows, layout.row_of[stored.seqs[starts]])] = best
    return result
