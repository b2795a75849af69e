"""The meaning of the question: cosine with every memory, alone and with its neighbours."""

from __future__ import annotations

from typing import Final

from ..semantic_evidence import semantic_evidence
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 100


class SemanticChannel:
    """Exact cosines over the resident embeddings; abstains without a model."""

    name: Final = "semantic"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        if context.question is None or not len(context.matrix.seqs):
            return nothing()
        frame, matrix = context.frame, context.matrix
        rows, embedding = frame.rows_of(matrix), context.embedding
        if embedding is None:
            return nothing()
        found = semantic_evidence(frame.layout, frame.norms, rows, matrix, embedding.chunks)
        features = {"meaning": found.near, "meaning_alone": found.alone}
        return ranked(found.near, context.eligible, LIMIT, features=features)
