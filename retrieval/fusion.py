"""From evidence to a ranking: the fitted model over a pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .channels.base import Context, Ranking
from .evidence import Evidence, combined, combined_at, interaction
from .layout import Floats, Rows
from .settings import RecallSettings
from .weights import INTERACTION, WeightSet

# What late interaction gives on average at a cosine: for memories whose token embeddings have faded.
_INTERACTION_AT_ZERO: Final = np.float32(0.35)
_INTERACTION_PER_COSINE: Final = np.float32(0.45)


def best_rows(scores: Floats, allowed: NDArray[np.bool_], limit: int) -> Ranking:
    """The best `limit` allowed rows of dense scores (n,), of any sign; equal scores in the order of the rows."""
    rows = np.flatnonzero(allowed)
    if len(rows) > limit:
        edge = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= edge]
    rows = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    return Ranking(rows, scores[rows])


def fused(context: Context, evidence: Evidence, settings: RecallSettings) -> Ranking:
    """The pool ranked by the fitted model.

    Raises:
        StoreError: if the store can't be read.
    """
    weights = weights_for(context, settings)
    size = len(context.layout)
    room = settings.wide_pool if context.analysis.query_class.is_wide else settings.pool
    allowed = context.eligible & touched(evidence, size)
    pool = best_rows(combined(evidence.features, weights.first, size), allowed, room)
    late = pool_interaction(context, evidence, pool.rows, settings)
    scores = combined_at(evidence.features, weights.final, pool.rows) + np.float32(_weight(weights)) * late
    order = np.argsort(-scores, kind="stable")
    return Ranking(pool.rows[order], np.asarray(scores[order], np.float32), {INTERACTION: late[order]})


def weights_for(context: Context, settings: RecallSettings) -> WeightSet:
    """The fitted weights that apply to a question's scope."""
    return settings.weights.dialogue if context.frame.dialogue else settings.weights.plain


def touched(evidence: Evidence, size: int) -> NDArray[np.bool_]:
    """Which rows any evidence speaks for, bool (n,): others share no word and have no embedding."""
    result = np.zeros(size, np.bool_)
    for name in ("words", "substring", "named", "session", "meaning", "date"):
        if name in evidence.features:
            result |= evidence.features[name] > 0
    return result


def pool_interaction(context: Context, evidence: Evidence, pool: Rows, settings: RecallSettings) -> Floats:
    """Late interaction of a pool (p,), float32 (p,), estimated from the cosine where no token embeddings are left.

    Raises:
        StoreError: if the store can't be read.
    """
    if not settings.interaction or "meaning_alone" not in evidence.features:
        return np.zeros(len(pool), np.float32)
    found = interaction(context, pool)
    cosine = evidence.features["meaning_alone"][pool]
    return np.where(np.isnan(found), _INTERACTION_AT_ZERO + _INTERACTION_PER_COSINE * cosine, found)


def _weight(weights: WeightSet) -> float:
    return weights.final.get(INTERACTION, 0.0)


def channels_of(rankings: Mapping[str, Ranking], row: int) -> tuple[str, ...]:
    """The channels that found a row, in the order of the mapping."""
    return tuple(name for name, ranking in rankings.items() if bool((ranking.rows == row).any()))
