"""Memories that name what the question names: paths, symbols, packages, versions, people; rare names count more."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...encoding.entities import entities
from ..lexical_evidence import inverse_frequency
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 50


class EntityChannel:
    """Σ idf over the entities that a memory shares with the question."""

    name: Final = "entity"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        values = [entity.value for entity in entities(context.analysis.text)]
        if not values:
            return nothing()
        size = len(context.layout)
        scores = np.zeros(size, np.float32)
        for seqs in context.store.graph.mentions(values).values():
            rows = context.layout.rows(np.array(seqs, dtype=np.int64))
            scores[rows] += inverse_frequency(len(rows), size)
        return ranked(scores, context.eligible, LIMIT)
