"""The gist behind the words: BM25 and meaning over gists alone, and from a gist to the memories that it sums up."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ...encoding.associate import GIST
from ..layout import Floats
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 50
_READ: Final = 40
_SOURCES: Final = 30
_OF_SOURCE: Final = 0.8
_WORD: Final = re.compile(r"\w+")


class GistChannel:
    """Ranks the best evidence by its gists, and lets gist memories lead to their sources."""

    name: Final = "gist"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        rows = context.seeds.rows[:_READ]
        if not len(rows):
            return nothing()
        seqs = context.layout.seqs[rows]
        gists = context.store.memories.gists(seqs.tolist())
        words = [_WORD.findall(gists.get(int(seq), "").lower()) for seq in seqs]
        found = _bm25(words, list(context.analysis.terms.words))
        scores = np.zeros(len(context.layout), np.float32)
        scores[rows] = found
        for link in context.store.graph.neighbours(seqs[found > 0].tolist(), _SOURCES):
            if link.relation == GIST:
                source = context.layout.rows(np.array([link.other], dtype=np.int64))
                gist = context.layout.rows(np.array([link.seq], dtype=np.int64))
                scores[source] = np.maximum(scores[source], _OF_SOURCE * link.weight * scores[gist])
        return ranked(scores, context.eligible, LIMIT)


def _bm25(documents: list[list[str]], words: list[str]) -> Floats:
    """BM25+ of each document, float32 (n,): at least 0; all 0 where no word of the question occurs."""
    from rank_bm25 import BM25Plus

    if not words or not any(documents):
        return np.zeros(len(documents), np.float32)
    shared = np.array([bool(set(words) & set(document)) for document in documents])
    scores = np.asarray(BM25Plus(documents).get_scores(words), np.float32)
    return np.where(shared, scores, np.float32(0))
