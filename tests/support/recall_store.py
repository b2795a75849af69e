"""A small store with a recaller over it, for tests of recall."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from fake_embedder import FakeEmbedder
from numpy.typing import NDArray

from ebbing.encoding.associate import associate, nearest
from ebbing.encoding.embedder import Embedder
from ebbing.encoding.shape import shape_of
from ebbing.encoding.words import index_text, trigram_text
from ebbing.retrieval.recaller import Recaller
from ebbing.retrieval.request import RecallRequest, RecallResult
from ebbing.retrieval.settings import RecallSettings
from ebbing.schemas.ids import new_id
from ebbing.schemas.memory import Entity, Kind, NewMemory, Provenance, State, Strength
from ebbing.store.catalog import Columns
from ebbing.store.store import Store

DAY = 86_400_000_000
NOW = 1000 * DAY


class RecallStore:
    """Saves texts with all their indexes and asks questions at the instant `NOW`."""

    def __init__(self, home: Path, embedder: Embedder | None = None, settings: RecallSettings | None = None) -> None:
        self.home = home
        self.embedder: Embedder = embedder or FakeEmbedder()
        self.settings = settings
        self.store = Store(home, 0, model_name=self.embedder.spec.id, dimension=self.embedder.spec.dimension)
        self.with_model = True
        self.strengths: dict[int, float] = {}
        """Retention by seq; 1 for those not named."""
        self.recaller = self.recaller_with(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def reopened(self) -> RecallStore:
        """The same file, opened as another process would."""
        return RecallStore(self.home, self.embedder, self.settings)

    def recaller_with(self, settings: RecallSettings | None) -> Recaller:
        """A recaller over the same store with other settings."""
        return Recaller(
            self.store, lambda: self.embedder if self.with_model else None, self._retention, settings or self.settings
        )

    def save(
        self,
        text: str,
        *,
        scope: str = "p",
        kind: Kind = Kind.FACT,
        recorded_at: int = DAY,
        session: str | None = None,
        state: State = State.ACTIVE,
        gist: str = "",
        cue: str = "",
        entities: tuple[tuple[str, str], ...] = (),
        trust: float = 0.6,
        importance: float = 0.0,
        valid_from: int | None = None,
        valid_to: int | None = None,
        expires_at: int | None = None,
    ) -> int:
        """Store a text with its words, vectors, tokens, entities and links; returns its seq."""
        embedding = self.embedder.embed_documents([text])[0]
        new = NewMemory(
            id=new_id(recorded_at),
            scope=scope,
            kind=kind,
            content=text,
            recorded_at=recorded_at,
            gist=gist or text,
            cue=cue or text,
            index_text=index_text(text),
            trigram_text=trigram_text(text),
            entities=tuple(Entity(*pair) for pair in entities),
            trust=trust,
            importance=importance,
            provenance=Provenance(session=session),
            shape=shape_of(text, index_text(text)),
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
        )
        with self.store.atomic(durable=False):
            seq = self.store.memories.insert(new, Strength(state=state))
            self.store.lexical.add(seq, new.index_text, new.trigram_text)
            self.store.graph.mention(seq, new.entities)
            self.store.vectors.put(seq, self.store.scopes.ensure(scope), embedding.chunks, 32)
            self.store.tokens.put(seq, self.store.vectors.model, embedding.tokens, embedding.pieces)
            associate(self.store, seq, new, nearest(self.store, new.scope, embedding.vector))
        return seq

    def supersede(self, old: int, new: int, at: int) -> None:
        """Mark one memory as replaced by another at an instant."""
        (later,) = self.store.memories.by_seqs([new])
        self.store.memories.change(old, superseded_by=later.id, valid_to=at)

    def ask(
        self, query: str, *, with_model: bool = True, settings: RecallSettings | None = None, **more: Any
    ) -> RecallResult:
        """Ask a question of the scope "p"."""
        self.with_model = with_model
        recaller = self.recaller if settings is None else self.recaller_with(settings)
        request: dict[str, Any] = {"scopes": ("p",), "now": NOW, **more}
        return recaller.recall(RecallRequest(query=query, **request))

    def _retention(self, columns: Columns, seqs: NDArray[np.int64], now: int) -> NDArray[np.float64]:
        return np.array([self.strengths.get(int(seq), 1.0) for seq in seqs], dtype=np.float64)
