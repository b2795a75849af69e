"""Recall: the one way from a question to the memories that answer it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..encoding.ahead import Ahead
from ..encoding.embedder import Embedder, TextEmbedding
from ..schemas.errors import ModelError
from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Memory, State
from ..store.catalog import Columns
from ..store.store import Store
from .analysis import analyse
from .answering import Answer, answer
from .cache import Recent
from .chains import replacements
from .channels.base import Context
from .floor import is_below
from .frames import Frames
from .fusion import channels_of
from .inquiry import context_for
from .learned import Learned, Multipliers, of_class
from .request import Hit, RecallRequest, RecallResult
from .settings import RecallSettings

__all__ = ["Hit", "RecallRequest", "RecallResult", "Recaller"]

Retention = Callable[[Columns, NDArray[np.int64], int], NDArray[np.float64]]

NO_MODEL: Final = "the embedding model is still loading: answered from words and entities"
UNIT: Final = 6.0
"""Log-odds of the model that count as a relevance of 1: about the range of a pool."""
_STRENGTH_WINDOW: Final = 0.15
_RETENTION_WEIGHT: Final = 0.08
_IMPORTANCE_WEIGHT: Final = 0.05

_KEPT_EMBEDDINGS: Final = 64
_KEPT_ANSWERS: Final = 8

_log = logging.getLogger(__name__)


class Recaller:
    """Answers questions from one store. Safe for several threads."""

    def __init__(
        self,
        store: Store,
        embedder: Callable[[], Embedder | None],
        retention: Retention,
        settings: RecallSettings | None = None,
        learned: Learned | None = None,
    ) -> None:
        """Prepare to answer.

        Args:
            store: where the memories are.
            embedder: gives the embedder, or None while there is none.
            retention: R of some seqs (n,) at an instant (µs), float64 (n,).
            settings: see `RecallSettings`.
            learned: gives what feedback has taught of the channels, asked at each recall; None for nothing.
        """
        self._store = store
        self._embedder = embedder
        self._retention = retention
        self._settings = settings or RecallSettings()
        self._learned = learned or dict[str, Multipliers]
        self._frames = Frames(store)
        self._embeddings: Recent[tuple[str, str], TextEmbedding] = Recent(_KEPT_EMBEDDINGS)
        self._answers: Recent[tuple[object, ...], Answer] = Recent(_KEPT_ANSWERS)

    def recall(self, request: RecallRequest) -> RecallResult:
        """Answer a question.

        Raises:
            StoreError: if the store can't be read.
        """
        try:
            return self._recall(request, self._question(request.query))
        except ModelError as error:
            _log.warning("recall goes on without embeddings: %s", error)
            return self._recall(request, None)

    def prepare(self) -> None:
        """Make ready what the next recall of the scopes that were asked for last needs and no question changes.

        Raises:
            StoreError: if the store can't be read.
        """
        self._frames.refresh(self._store.catalog.columns())

    def _recall(self, request: RecallRequest, question: TextEmbedding | Ahead[TextEmbedding] | None) -> RecallResult:
        analysis = analyse(request.query)
        floors = self._settings.floors
        with self._store.snapshot():
            context = context_for(self._store, self._frames, request, analysis, question)
            learned = of_class(self._learned(), analysis.query_class)
            key = (*self._key(request, context), *sorted(learned.items()))
            found = self._answers.get(key, lambda: answer(context, self._settings, request.limit, learned))
            below = floors is not None and is_below(context, found.evidence, found.model, floors)
            hits = () if below else self._hits(context, found, request)
        return RecallResult(
            hits=hits,
            below_floor=min(request.limit, len(found.ranking)) if below else 0,
            query_class=str(analysis.query_class),
            reasons=(*analysis.reasons, *_explained(context, found)),
            notices=(NO_MODEL,) if question is None else (),
        )

    def _key(self, request: RecallRequest, context: Context) -> tuple[object, ...]:
        """What an answer depends on: the question, what may be shown, what is remembered, and today's date."""
        return (
            request.query,
            tuple(sorted(request.scopes)),
            request.limit,
            self._store.meta.answering_revision(),
            context.eligible.tobytes(),
            context.question is None,
            request.now // MICROSECONDS_PER_DAY,
        )

    def _question(self, query: str) -> TextEmbedding | Ahead[TextEmbedding] | None:
        """The embedding of a question, or the making of it: the words can be looked up meanwhile."""
        embedder = self._embedder()
        if embedder is None:
            return None
        key = (embedder.spec.id, query)
        kept = self._embeddings.peek(key)
        return kept or Ahead(lambda: self._embeddings.get(key, lambda: embedder.embed_query(query)))

    def _hits(self, context: Context, found: Answer, request: RecallRequest) -> tuple[Hit, ...]:
        ranking = found.ranking
        seqs = context.layout.seqs[ranking.rows]
        retention = self._retention(context.columns, seqs, request.now)
        scores = strengthened(ranking.scores, retention, context.columns.importance[seqs])
        # Stable: equal scores keep their order, and the places kept for associations stay at the end.
        order = np.argsort(-scores, kind="stable")[: request.limit]
        memories = {memory.seq: memory for memory in self._store.memories.by_seqs(seqs[order].tolist())}
        return tuple(
            Hit(
                memory=(memory := memories[int(seqs[place])]),
                score=float(scores[place]),
                channels=channels_of(found.found, int(ranking.rows[place])),
                retention=float(retention[place]),
                text=shown_text(memory),
                parts=found.parts.of(int(ranking.rows[place])),
                superseded_by=replacements(self._store.memories, memory) if request.include_superseded else (),
            )
            for place in order
            if int(seqs[place]) in memories
        )


def _explained(context: Context, found: Answer) -> list[str]:
    """What each channel contributed, for people."""
    kind = "turns of named speakers" if context.frame.dialogue else "plain memories"
    asked = [
        f"{name}: {len(ranking)}" if len(ranking) else f"{name}: abstained" for name, ranking in found.found.items()
    ]
    return [f"weights for {kind}", *asked]


def strengthened(
    scores: NDArray[np.float32], retention: NDArray[np.float64], importance: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Scores with 0.08·(R − ½) + 0.05·ι for those within 0.15 of the best, float64 (k,)."""
    result = scores.astype(np.float64) / UNIT
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
