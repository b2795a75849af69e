"""Recall: the one way from a question to the memories that answer it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..encoding.embedder import Embedder, TextEmbedding
from ..schemas.errors import ModelError
from ..schemas.memory import Memory, State
from ..store.catalog import Columns
from ..store.store import Store
from .analysis import Analysis, analyse
from .channels.base import Context, Ranking, nothing
from .channels.registry import EVIDENCE
from .eligible import eligible
from .evidence import gather
from .frames import Frames
from .fusion import channels_of, fused
from .request import Hit, RecallRequest, RecallResult
from .settings import RecallSettings

__all__ = ["Hit", "RecallRequest", "RecallResult", "Recaller"]

Retention = Callable[[Columns, NDArray[np.int64], int], NDArray[np.float64]]

NO_MODEL: Final = "the embedding model is still loading: answered from words and entities"
_STRENGTH_WINDOW: Final = 0.15
_RETENTION_WEIGHT: Final = 0.08
_IMPORTANCE_WEIGHT: Final = 0.05

_log = logging.getLogger(__name__)


class Recaller:
    """Answers questions from one store. Safe for several threads."""

    def __init__(
        self,
        store: Store,
        embedder: Callable[[], Embedder | None],
        retention: Retention,
        settings: RecallSettings | None = None,
    ) -> None:
        """Prepare to answer.

        Args:
            store: where the memories are.
            embedder: gives the embedder, or None while there is none.
            retention: R of some seqs (n,) at an instant (µs), float64 (n,).
            settings: see `RecallSettings`.
        """
        self._store = store
        self._embedder = embedder
        self._retention = retention
        self._settings = settings or RecallSettings()
        self._frames = Frames(store)

    def recall(self, request: RecallRequest) -> RecallResult:
        """Answer a question.

        Raises:
            StoreError: if the store can't be read.
        """
        analysis = analyse(request.query)
        embedding = self._embedding(request.query)
        with self._store.snapshot():
            context = self._context(request, analysis, embedding)
            names = [name for name in EVIDENCE if name in self._settings.channels]
            evidence = gather(context, names)
            ranking = fused(context, evidence, self._settings)
            hits = self._hits(context, ranking, evidence.rankings, request)
        notices = (NO_MODEL,) if embedding is None else ()
        return RecallResult(hits, 0, str(analysis.query_class), analysis.reasons, notices)

    def _embedding(self, query: str) -> TextEmbedding | None:
        embedder = self._embedder()
        if embedder is None:
            return None
        try:
            return embedder.embed_query(query)
        except ModelError as error:
            _log.warning("recall goes on without embeddings: %s", error)
            return None

    def _context(self, request: RecallRequest, analysis: Analysis, embedding: TextEmbedding | None) -> Context:
        columns = self._store.catalog.columns()
        found = [self._store.scopes.find(key) for key in dict.fromkeys(request.scopes)]
        frame = self._frames.of(columns, [number for number in found if number is not None])
        return Context(
            store=self._store,
            columns=columns,
            matrix=self._store.resident.matrix(),
            frame=frame,
            analysis=analysis,
            eligible=eligible(columns, frame.layout, request),
            embedding=embedding,
            now=request.now,
            seeds=nothing(),
        )

    def _hits(
        self, context: Context, ranking: Ranking, found: Mapping[str, Ranking], request: RecallRequest
    ) -> tuple[Hit, ...]:
        seqs = context.layout.seqs[ranking.rows]
        retention = self._retention(context.columns, seqs, request.now)
        scores = strengthened(ranking.scores, retention, context.columns.importance[seqs])
        order = np.lexsort((seqs, -scores))[: request.limit]
        memories = {memory.seq: memory for memory in self._store.memories.by_seqs(seqs[order].tolist())}
        return tuple(
            Hit(
                memory=memories[int(seqs[place])],
                score=float(scores[place]),
                channels=channels_of(found, int(ranking.rows[place])),
                retention=float(retention[place]),
                text=shown_text(memories[int(seqs[place])]),
            )
            for place in order
            if int(seqs[place]) in memories
        )


def strengthened(
    scores: NDArray[np.float32], retention: NDArray[np.float64], importance: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Scores with 0.08·(R − ½) + 0.05·ι for those within 0.15 of the best (§5 of the design), float64 (k,)."""
    result = scores.astype(np.float64)
    if not len(result):
        return result
    near = result >= result.max() - _STRENGTH_WINDOW
    bonus = _RETENTION_WEIGHT * (retention - 0.5) + _IMPORTANCE_WEIGHT * importance
    return result + np.where(near, bonus, 0.0)


def shown_text(memory: Memory) -> str:
    """A memory's text at its state's resolution: verbatim, gist, cue."""
    if memory.strength.state <= State.WARM:
        return memory.content
    return memory.gist if memory.strength.state == State.COLD else memory.cue
