"""A small store whose memories can be aged, for tests of what fading does to embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from fake_embedder import FakeEmbedder
from numpy.typing import NDArray

from ebbing.lifecycle.decay import decay
from ebbing.lifecycle.ledger import Ledger
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind, Memory, NewMemory, State
from ebbing.store.codec import decode
from ebbing.store.store import Store

PROJECT = "/projects/fading"
START = 1000 * MICROSECONDS_PER_DAY
DAYS_UNTIL = {State.WARM: 3, State.COLD: 8, State.ARCHIVE: 17, State.FORGOTTEN: 40}
"""Active days after which an unused fact has reached a state."""


class FadingStore:
    """Saves texts with their embeddings; `now` is the instant (µs) that everything believes in."""

    def __init__(self, home: Path, embedder: FakeEmbedder | None = None) -> None:
        self.embedder = embedder or FakeEmbedder()
        spec = self.embedder.spec
        self.store = Store(home, START, model_name=spec.id, dimension=spec.dimension)
        self.ledger = Ledger(self.store)
        self.now = START

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def save(self, *texts: str, scope: str = PROJECT) -> list[Memory]:
        """Store facts as active memories."""
        seqs: list[int] = []
        embeddings = self.embedder.embed_documents(texts)
        with self.store.atomic(durable=False):
            for text, embedding in zip(texts, embeddings, strict=True):
                new = NewMemory(
                    id=new_id(self.now),
                    scope=scope,
                    kind=Kind.FACT,
                    content=text,
                    recorded_at=self.now,
                    gist=text[:60],
                    cue=text[:20],
                    index_text=text,
                )
                seq = self.ledger.saved(new, self.now)
                number = self.store.scopes.ensure(scope)
                self.store.lexical.add(seq, text, "")
                self.store.vectors.put(seq, number, embedding.chunks, 32)
                self.store.tokens.put(seq, self.store.vectors.model, embedding.tokens, embedding.pieces)
                seqs.append(seq)
        return self.store.memories.by_seqs(seqs)

    def work(self, days: int, scope: str = PROJECT) -> None:
        """Let days pass on each of which somebody works in the project."""
        with self.store.atomic(durable=False):
            for _ in range(days):
                self.now += MICROSECONDS_PER_DAY
                self.ledger.activity(scope, self.now)

    def fade_to(self, state: State) -> None:
        """Work for as long as an unused fact takes to reach a state, and move everything to its state."""
        self.work(DAYS_UNTIL[state] - (self.now - START) // MICROSECONDS_PER_DAY)
        decay(self.store, self.now)

    def memory(self, memory: Memory) -> Memory:
        """A memory as it is now."""
        [found] = self.store.memories.by_seqs([memory.seq])
        return found

    def bits(self, *memories: Memory) -> list[int]:
        """The bit widths that memories are stored at."""
        return [row.codes.bit_width for row in self.store.vectors.rows([memory.seq for memory in memories])]

    def vector(self, memory: Memory) -> NDArray[np.float32]:
        """A memory's decoded chunk vectors (c, d)."""
        [row] = self.store.vectors.rows([memory.seq])
        return decode(row.codes)

    def with_tokens(self, memories: Sequence[Memory]) -> list[bool]:
        """Which memories have token embeddings."""
        found = self.store.tokens.get([memory.seq for memory in memories], self.store.vectors.model)
        return [memory.seq in found.seqs for memory in memories]

    def vector_bytes(self) -> int:
        """Bytes of the file's pages that hold embeddings, token embeddings and their indexes."""
        self.store.database.checkpoint()
        return int(
            self.store.database.value(
                "SELECT sum(pgsize) FROM dbstat WHERE name IN ('vector', 'vector_by_rev', 'token', 'piece')"
                " OR name LIKE 'coarse%' OR name LIKE 'sqlite_autoindex_coarse%'"
            )
        )
