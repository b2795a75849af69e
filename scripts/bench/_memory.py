"""Data sets of memories and questions, loaded into stores through the product's own write path."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from _embeddings import cached

from ebbing.encoding.associate import associate, nearest
from ebbing.encoding.embedder import Embedder, TextEmbedding
from ebbing.encoding.shape import shape_of
from ebbing.encoding.trace import trace
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import to_datetime
from ebbing.schemas.memory import Kind, NewMemory, Provenance, Strength
from ebbing.store.store import Store

SCOPE: Final = "bench"
_BATCH: Final = 500
_BIT_WIDTH: Final = 32
_ROLE: Final = re.compile(r"(user|assistant): ")
# Trust by who speaks: what the user said, what an agent said (DESIGN: trust starts by source).
_TRUST: Final = {"user": 1.0, "assistant": 0.6}
_ACTOR: Final = {"user": "user", "assistant": "agent"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the seqs of the memories that answer it, and when it was asked (µs), if that matters."""

    text: str
    relevant: frozenset[int]
    category: str
    asked_at: int | None
    embedding: TextEmbedding


@dataclass(frozen=True, slots=True)
class Loaded:
    """One scope with its questions."""

    name: str
    store: Store
    questions: Sequence[Question]


def load(path: Path, embedder: Embedder, home: Path, *, merged: bool = False) -> list[Loaded]:
    """Load every store of a data set into one of its own below `home`, or all of them into one scope of one."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    groups = [stores] if merged else [[one] for one in stores]
    return [_load_group(group, embedder, home / f"store-{number}") for number, group in enumerate(groups)]


def _load_group(group: list[dict[str, Any]], embedder: Embedder, home: Path) -> Loaded:
    store = Store(home, 0, model_name=embedder.spec.id, dimension=embedder.spec.dimension)
    questions: list[Question] = []
    for data in group:
        seqs = _write(store, data, embedder)
        questions += _questions(data, seqs, embedder)
    return Loaded("+".join(data["id"] for data in group), store, questions)


def _write(store: Store, data: dict[str, Any], embedder: Embedder) -> dict[str, int]:
    items: list[dict[str, Any]] = data["items"]
    embeddings = cached(embedder, [item["text"] for item in items])
    seqs: dict[str, int] = {}
    for start in range(0, len(items), _BATCH):
        with store.atomic(durable=False):
            for place, item in enumerate(items[start : start + _BATCH], start):
                seqs[item["id"]] = _save(store, _memory(data["id"], item, place), next(embeddings))
    return seqs


def _memory(name: str, item: dict[str, Any], place: int) -> NewMemory:
    text = item["text"]
    recorded = instant(item["time"])
    recorded = place if recorded is None else recorded
    traced = trace(text, to_datetime(recorded))
    role = _ROLE.match(text)
    session = None if item["session"] is None else f"{name} {item['session']}"
    return NewMemory(
        id=new_id(place * 1000),
        scope=SCOPE,
        kind=Kind.EPISODE,
        content=text,
        recorded_at=recorded,
        gist=traced.gist,
        cue=traced.cue,
        index_text=traced.index_text,
        trigram_text=traced.trigram_text,
        entities=traced.entities,
        slots=traced.slots,
        trust=_TRUST[role.group(1)] if role else _TRUST["assistant"],
        provenance=Provenance(actor=_ACTOR[role.group(1)] if role else "agent", session=session),
        shape=shape_of(text, traced.index_text),
    )


def _save(store: Store, new: NewMemory, embedding: TextEmbedding) -> int:
    seq = store.memories.insert(new, Strength(bit_width=_BIT_WIDTH))
    store.lexical.add(seq, new.index_text, new.trigram_text)
    store.graph.mention(seq, new.entities)
    store.vectors.put(seq, store.scopes.ensure(new.scope), embedding.chunks, _BIT_WIDTH)
    store.tokens.put(seq, store.vectors.model, embedding.tokens, embedding.pieces)
    associate(store, seq, new, nearest(store, new.scope, embedding.vector))
    return seq


def _questions(data: dict[str, Any], seqs: dict[str, int], embedder: Embedder) -> Iterator[Question]:
    embeddings = cached(embedder, [query["text"] for query in data["queries"]], query=True)
    for query, embedding in zip(data["queries"], embeddings, strict=True):
        yield Question(
            text=query["text"],
            relevant=frozenset(seqs[item] for item in query["relevant"]),
            category=query.get("category") or "all",
            asked_at=instant(query.get("time")),
            embedding=embedding,
        )


def instant(text: str | None) -> int | None:
    """An instant (µs) from ISO 8601 or "March-15-2024"; None for anything else."""
    if text is None:
        return None
    for read in (datetime.fromisoformat, _in_words):
        with suppress(ValueError):
            when = read(text)
            return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1_000_000)
    return None


def _in_words(text: str) -> datetime:
    return datetime.strptime(text, "%B-%d-%Y").replace(tzinfo=UTC)
