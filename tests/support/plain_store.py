"""A store without a model, and memories to put into it, for tests of the store itself."""

from __future__ import annotations

from pathlib import Path

from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Entity, Kind, NewMemory, Provenance, Strength
from ebbing.store.store import Store

NOW = 20_000 * MICROSECONDS_PER_DAY
DIMENSION = 64
PROJECT = "/projects/plain"
FRESH = Strength(stability=14.0, rate=1 / 14)


def open_store(home: Path, *, model: str = "small", busy_timeout_ms: int = 10_000) -> Store:
    """The store of a folder, as of `NOW`, for embeddings of 64 coordinates."""
    return Store(home, NOW, model_name=model, dimension=DIMENSION, busy_timeout_ms=busy_timeout_ms)


def memory_of(text: str, *, scope: str = PROJECT, session: str | None = None, at: int = NOW) -> NewMemory:
    """A memory that says `text`, its words being its entities too."""
    return NewMemory(
        id=new_id(at),
        scope=scope,
        kind=Kind.FACT,
        content=text,
        recorded_at=at,
        gist=text,
        cue=text[:20],
        index_text=text,
        trigram_text=text,
        entities=tuple(Entity("word", word) for word in text.split()),
        provenance=Provenance(session=session),
    )


def save(store: Store, text: str, *, scope: str = PROJECT, session: str | None = None) -> int:
    """Store a memory with its words and entities; returns its seq."""
    new = memory_of(text, scope=scope, session=session)
    with store.atomic(durable=False):
        seq = store.memories.insert(new, FRESH)
        store.lexical.add(seq, new.index_text, new.trigram_text)
        store.graph.mention(seq, new.entities)
    return seq
