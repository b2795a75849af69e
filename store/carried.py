"""What moves from one store to another: which tables and columns are carried, and how their values are written in JSON.

What isn't named here is derived or belongs to one file alone: `LEFT` says why, and a test holds both to the schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .database import Database

Record = dict[str, Any]

FORMAT: Final = 1
"""The number of the format that is written; a higher one can't be read."""

CARRIED: Final[tuple[str, ...]] = (
    "scope",
    "meta",
    "memory",
    "strength",
    "attic",
    "memory_entity",
    "link",
    "journal",
    "pending",
)

LEFT: Final[Mapping[str, str]] = {
    "entity": "named by the memories that mention them",
    "resemblance": "counted anew by the daily run, from the texts",
    "vector": "computed again from the text, by whatever model the other store has",
    "token": "as above",
    "piece": "counts of the rows of `token`",
    "model": "belongs to the vectors",
    "coarse": "an index of the vectors",
    "lexical": "an index of the texts",
    "substring": "an index of the texts",
    "tombstone": "tells the processes of one store which row numbers are gone; ids that were erased are in the journal",
    "lease": "held by processes of one store",
    "migration": "the header names the schema",
    "sqlite": "SQLite's own",
}
"""Tables (by the beginning of their names) that are not carried, and why."""

_LOCAL: Final[Mapping[str, frozenset[str]]] = {
    # Row numbers and revisions count one file's changes; the hash follows from the text.
    "scope": frozenset({"id"}),
    "memory": frozenset({"seq", "scope", "content", "content_hash"}),
    "strength": frozenset({"seq", "rev"}),
}
JSON_COLUMNS: Final = frozenset({"entities", "slots", "tags"})
LOCAL_META: Final = ("rev*", "store", "coarse_*", "lexical.*", "merging.*", "gists.*")
"""Patterns of keys of `meta` that belong to one file."""

_FLAGS: Final = ("pending",)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type as declared (INTEGER, REAL or TEXT), and whether it may be null or left out."""

    name: str
    type: str
    nullable: bool
    optional: bool


def columns(database: Database, table: str) -> tuple[Column, ...]:
    """The columns of a table that are carried as they are, in the order of the schema."""
    rows = database.rows(f"PRAGMA table_info({table})")
    return tuple(
        Column(name, kind, not required, default is not None or not required)
        for _, name, kind, required, default, _ in rows
        if name not in _LOCAL[table]
    )


def flags(database: Database) -> tuple[str, ...]:
    """The tables that hold nothing but the row numbers of memories: a memory stands in such a table or it doesn't."""
    known = {str(name) for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return tuple(name for name in _FLAGS if name in known)


def to_json(column: str, value: Any) -> Any:
    """A column's value as it stands in a record."""
    return json.loads(value) if column in JSON_COLUMNS else value


def from_json(column: str, value: Any) -> Any:
    """A record's value as it stands in the column."""
    return json.dumps(value, ensure_ascii=False) if column in JSON_COLUMNS else value
