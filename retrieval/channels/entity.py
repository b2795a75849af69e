"""Memories that name what the question names: paths, symbols, packages, versions, people; rare names count more."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...encoding.entities import entities
from ...encoding.entity_patterns import NAME
from ..layout import Rows
from ..lexical_evidence import inverse_frequency, rare_share
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 50


class EntityChannel:
    """Σ idf over the entities that a memory shares with the question.

    The feature `named` holds how much of the rare ones each row names, those left out that are only capitalised words.
    """

    name: Final = "entity"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        asked = {entity.value: entity.kind for entity in entities(context.analysis.text)}
        if not asked:
            return nothing()
        size = len(context.layout)
        scores = np.zeros(size, np.float32)
        exact: list[Rows] = []
        for value, seqs in context.store.graph.mentions(list(asked)).items():
            rows = context.layout.rows(np.array(seqs, dtype=np.int64))
            scores[rows] += inverse_frequency(len(rows), size)
            if asked[value] != NAME:
                exact.append(rows)
        return ranked(scores, context.eligible, LIMIT, features={"named": rare_share(exact, size)})
