"""The gist behind the words: BM25 and meaning over gists alone, and from a gist to the memories that it sums up."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ...encoding.associate import GIST
from ...store.codec import score
from ..layout import Floats, Rows
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 50
_READ: Final = 40
_SOURCES: Final = 30
_OF_SOURCE: Final = 0.8
_WORD: Final = re.compile(r"\w+")


class GistChannel:
    """Ranks the best evidence by its gists, and lets gist memories lead to their sources, whether shown or not.

    The feature `led` tells which rows a gist memory has led to: 1, else 0.
    """

    name: Final = "gist"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        rows = np.union1d(context.seeds.rows[:_READ], _gists(context))
        if not len(rows):
            return nothing()
        seqs = context.layout.seqs[rows]
        gists = context.store.memories.gists(seqs.tolist())
        words = [_WORD.findall(gists.get(int(seq), "").lower()) for seq in seqs]
        found = _bm25(words, list(context.analysis.terms.words))
        scores = np.zeros(len(context.layout), np.float32)
        scores[rows] = found
        led = np.zeros(len(context.layout), np.float32)
        for link in context.store.graph.neighbours(seqs[found > 0].tolist(), _SOURCES):
            if link.relation == GIST:
                source = context.layout.rows(np.array([link.other], dtype=np.int64))
                gist = context.layout.rows(np.array([link.seq], dtype=np.int64))
                led[source] = np.maximum(led[source], context.columns.gist[link.seq])
                scores[source] = np.maximum(scores[source], _OF_SOURCE * link.weight * scores[gist])
        return ranked(scores, context.eligible, LIMIT, features={"led": led})


def _gists(context: Context) -> Rows:
    """The rows of gist memories to read: those nearest to the question, or without an embedding the newest."""
    layout, matrix = context.layout, context.matrix
    known = np.flatnonzero(context.columns.gist[layout.seqs])
    if len(known) <= _READ:
        return known
    seqs = layout.seqs[known]
    held = np.flatnonzero(np.isin(matrix.seqs, seqs))
    if context.embedding is None or not len(held):
        return known[np.argsort(-seqs, kind="stable")[:_READ]]
    near = score(context.embedding.chunks, matrix.codes.take(held)).max(axis=0)
    best = held[np.argsort(-near, kind="stable")[:_READ]]
    return np.unique(layout.rows(matrix.seqs[best].astype(np.int64)))


def _bm25(documents: list[list[str]], words: list[str]) -> Floats:
    """BM25+ of each document, float32 (n,): at least 0; all 0 where no word of the question occurs."""
    from rank_bm25 import BM25Plus

    if not words or not any(documents):
        return np.zeros(len(documents), np.float32)
    shared = np.array([bool(set(words) & set(document)) for document in documents])
    scores = np.asarray(BM25Plus(documents).get_scores(words), np.float32)
    return np.where(shared, scores, np.float32(0))
