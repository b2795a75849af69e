"""Stores whose rows hold anything that their columns may hold, whichever columns there are."""

from __future__ import annotations

import json
import random
import uuid
from typing import Any

from ebbing.schemas.memory import Event, Kind
from ebbing.store.attic import pack
from ebbing.store.carried import columns, flags
from ebbing.store.graph import Link
from ebbing.store.memories import content_hash
from ebbing.store.store import Store

_TEXTS = (
    "",
    "plain",
    "日本語の設定",
    "שלום",
    "e\u0301",
    "a\x00b",
    "line\r\nbreak\u2028\x85",
    "🐟",
    "\" ' \\ %s ? :x",
    "NaN",
)
_EARLIEST, _LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999


def fill(store: Store, rng: random.Random, memories: int) -> None:
    """Add scopes, memories with everything that hangs on them, links and journal entries."""
    database = store.database
    with store.atomic(durable=False):
        scopes = [_scope(store, rng, number) for number in range(rng.randint(1, 3))]
        seqs = [_memory(store, rng, rng.choice(scopes)) for _ in range(memories)]
        for _ in range(2 * memories):
            relation = rng.choice(["similar", "gist", "日"])
            store.graph.connect([Link(rng.choice(seqs), rng.choice(seqs), relation, rng.random())])
        ids = [str(identifier) for (identifier,) in database.execute("SELECT id FROM memory")]
        for _ in range(3 * memories):
            _journal(store, rng, scopes, [*ids, str(uuid.UUID(int=rng.getrandbits(128)))])
        store.meta.set("last_run", str(rng.randint(0, 10**15)))


def text(rng: random.Random) -> str:
    """A few words of any writing."""
    return " ".join(rng.choices(_TEXTS, k=rng.randint(0, 5)))


def _scope(store: Store, rng: random.Random, number: int) -> int:
    key = f"/projects/{number} {text(rng)}"
    scope = store.scopes.ensure(key)
    if rng.random() < 0.7:
        values = [rng.randint(_EARLIEST, _LATEST), rng.random() * 1e4, *(rng.randint(0, 10**16) for _ in range(3))]
        store.database.execute(
            "UPDATE scope SET clock_origin = ?, clock_closed = ?, clock_start = ?, clock_end = ?, clock_latest = ?"
            " WHERE id = ?",
            (*values, scope),
        )
    return scope


def _memory(store: Store, rng: random.Random, scope: int) -> int:
    content = text(rng)
    entities = [[text(rng), text(rng)] for _ in range(rng.randint(0, 3))]
    values = _values(store, rng, "memory") | {
        "id": str(uuid.UUID(int=rng.getrandbits(128))),
        "scope": scope,
        "kind": str(rng.choice(list(Kind))),
        "content": content,
        "content_hash": content_hash(content),
        "entities": json.dumps(entities, ensure_ascii=False),
        "slots": json.dumps([[text(rng), "is", text(rng), rng.random() < 0.5]] * rng.randint(0, 2), ensure_ascii=False),
        "tags": json.dumps([text(rng)], ensure_ascii=False),
        "event_id": str(uuid.UUID(int=rng.getrandbits(128))) if rng.random() < 0.3 else None,
    }
    seq = _insert(store, "memory", values)
    figures = _values(store, rng, "strength") | {"seq": seq, "rev": store.meta.next_revision()}
    _insert(store, "strength", figures | {"state": rng.randint(0, 4), "bit_width": rng.choice([2, 4, 8, 32])})
    if rng.random() < 0.4:
        store.database.execute("UPDATE memory SET content = NULL WHERE seq = ?", (seq,))
        store.database.execute("INSERT INTO attic VALUES (?, ?, ?, ?)", (seq, *pack(content), rng.randint(0, 10**15)))
    _mention(store, seq, entities if rng.random() < 0.8 else [["other", text(rng)]])
    for flag in flags(store.database):
        if rng.random() < 0.5:
            store.database.execute(f"INSERT INTO {flag} VALUES (?)", (seq,))  # noqa: S608 - names of the schema
    return seq


def _mention(store: Store, seq: int, entities: list[list[str]]) -> None:
    for kind, value in entities:
        store.database.execute("INSERT INTO entity (kind, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (kind, value))
        store.database.execute(
            "INSERT INTO memory_entity SELECT id, ? FROM entity WHERE kind = ? AND value = ? ON CONFLICT DO NOTHING",
            (seq, kind, value),
        )


def _journal(store: Store, rng: random.Random, scopes: list[int], ids: list[str]) -> None:
    data = {text(rng): rng.choice([None, True, 3, 0.1, text(rng), [text(rng), 2], {"a": -1e-9}])}
    store.database.execute(
        "INSERT INTO journal (at, event, scope, memory, ref, data) VALUES (?, ?, ?, ?, ?, ?)",
        (
            rng.choice([7, rng.randint(0, 10**16)]),
            str(rng.choice([event for event in Event if event is not Event.ERASED])),
            rng.choice([None, *scopes]),
            rng.choice([None, *ids]),
            rng.choice([None, text(rng)]),
            json.dumps(data),
        ),
    )


def _values(store: Store, rng: random.Random, table: str) -> dict[str, Any]:
    return {
        column.name: None if column.nullable and rng.random() < 0.3 else _value(rng, column.type)
        for column in columns(store.database, table)
    }


def _value(rng: random.Random, kind: str) -> Any:
    if kind == "INTEGER":
        return rng.choice([0, 1, rng.randint(0, 10**15)])
    return rng.random() if kind == "REAL" else text(rng)


def _insert(store: Store, table: str, values: dict[str, Any]) -> int:
    names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    statement = f"INSERT INTO {table} ({names}) VALUES ({places}) RETURNING rowid"  # noqa: S608 - names of the schema
    [(row,)] = store.database.execute(statement, values)
    return int(row)
