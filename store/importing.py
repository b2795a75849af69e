"""Records of another store into this one: rows as they were, under row numbers of this store's own."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..schemas.memory import Entity
from .attic import pack
from .carried import Column, Record, columns, flags, from_json
from .database import Database
from .faults import LOST
from .graph import Graph
from .memories import content_hash
from .meta import Meta
from .scopes import Scopes

_EVICTED = '{"why": "evicted"}'
_LEFT_OUT = '{"why": "left out"}'


@dataclass(frozen=True, slots=True)
class Shift:
    """What must be added to another store's readings of a scope's clock: days of τ, and active days."""

    tau: float = 0.0
    days: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a memory was put, and whether its words have to be indexed."""

    seq: int
    reworded: bool


class Importing:
    """Writes records that have been checked; every writing method belongs into the caller's transaction."""

    def __init__(self, database: Database, meta: Meta, scopes: Scopes) -> None:
        """Write through `database`."""
        self._database = database
        self._meta = meta
        self._scopes = scopes
        self._graph = Graph(database)

    def columns(self) -> dict[str, tuple[Column, ...]]:
        """The columns that records of a type may have, by table; `flags` may be true of a memory or left out."""
        found = {table: columns(self._database, table) for table in ("scope", "memory", "strength")}
        flagged = (Column(name, "FLAG", nullable=False, optional=True) for name in flags(self._database))
        return {**found, "flags": tuple(flagged)}

    def ids(self) -> set[str]:
        """The ids of all memories."""
        return {str(identifier) for (identifier,) in self._database.rows("SELECT id FROM memory")}

    def events(self) -> dict[str, str]:
        """The ids of the memories that deliveries became, by event id."""
        rows = self._database.rows("SELECT event_id, id FROM memory WHERE event_id IS NOT NULL")
        return {str(event): str(identifier) for event, identifier in rows}

    def erased(self) -> set[str]:
        """The ids of memories that somebody erased on purpose and that are not there again."""
        rows = self._database.rows(
            "SELECT memory FROM journal WHERE event = 'erased' AND data NOT IN (?, ?)"
            " AND memory NOT IN (SELECT id FROM memory)",
            (_EVICTED, _LEFT_OUT),
        )
        return {str(identifier) for (identifier,) in rows}

    def history(self, memory: str | None = None) -> Counter[bytes]:
        """How often each entry stands in the journal, by its digest: of one memory, or of everything."""
        of_memory, bindings = ("", ()) if memory is None else (" WHERE memory = ?", (memory,))
        rows = self._database.rows(
            "SELECT at, event, (SELECT key FROM scope WHERE id = journal.scope), memory, ref, data FROM journal"
            + of_memory,
            bindings,
        )
        names = ("at", "event", "scope", "memory", "ref")
        return Counter(digest({**dict(zip(names, row[:-1], strict=True)), "data": json.loads(row[-1])}) for row in rows)

    def untold(self) -> set[str]:
        """The ids of memories that the journal tells of, that are not here, and that nobody has removed."""
        return {str(identifier) for (identifier,) in self._database.rows(LOST)}

    def leave_out(self, memories: Collection[str], at: int) -> None:
        """Write down that memories were left out, as of `at` (µs): otherwise they would be missed as lost."""
        self._database.executemany(
            "INSERT INTO journal (at, event, memory, data) VALUES (?, 'erased', ?, ?)",
            [(at, memory, _LEFT_OUT) for memory in sorted(memories)],
        )

    def scope(self, record: Record) -> None:
        """A scope, with its clock unless it has one here."""
        number = self._scopes.ensure(record["key"])
        if self._scopes.clock(number) is None:
            self._update("scope", {name: value for name, value in record.items() if name != "type"}, "id", number)

    def meta(self, record: Record) -> None:
        """A small value, unless there is one here."""
        self._database.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (record["key"], record["value"])
        )

    def memory(self, record: Record, shift: Shift) -> Placed:
        """A memory with its figures, in the place of the one with its id."""
        before = self._database.row("SELECT seq, content_hash, version, tags FROM memory WHERE id = ?", (record["id"],))
        text = record["content"]
        marks = flags(self._database)
        values = {name: from_json(name, value) for name, value in record.items() if name not in {*_APART, *marks}}
        values["scope"] = self._scopes.ensure(record["scope"])
        values["content"] = None if "attic" in record else text
        values["content_hash"] = content_hash(text)
        if before is None:
            seq = self._insert("memory", values)
        else:
            seq = int(before[0])
            # Whoever has read the row that was here must notice that it is another now.
            values["version"] = max(values.get("version", 1), before[2] + 1)
            self._update("memory", values, "seq", seq)
        self._stow(seq, text, record.get("attic"))
        self._strength(seq, record["strength"], shift)
        for name in marks:
            self._database.execute(f"DELETE FROM {name} WHERE seq = ?", (seq,))
            if record.get(name):
                self._database.execute(f"INSERT INTO {name} VALUES (?)", (seq,))
        mentions = record.get("mentions", record.get("entities", []))
        self._graph.mention(seq, [Entity(kind, value) for kind, value in mentions])
        told = (values["content_hash"], values.get("tags", "[]" if before is None else before[3]))
        return Placed(seq, reworded=before is None or (before[1], before[3]) != told)

    def links(self, record: Record) -> int:
        """A memory's links; returns how many led to a memory that is not here."""
        unknown = 0
        for other, relation, weight in record["links"]:
            # From both ends, like all: a file may have lost the line that tells of the other one.
            self._database.execute(
                "INSERT INTO link SELECT e.seq, e.other, ?3, ?4 FROM"
                " (SELECT m.seq, o.seq AS other FROM memory m, memory o WHERE m.id = ?1 AND o.id = ?2"
                " UNION SELECT o.seq, m.seq FROM memory m, memory o WHERE m.id = ?1 AND o.id = ?2) AS e WHERE true"
                " ON CONFLICT DO UPDATE SET weight = max(weight, excluded.weight)",
                (record["memory"], other, relation, weight),
            )
            unknown += not self._database.changes()
        return unknown

    def journal(self, record: Record) -> None:
        """An entry, after those that are here."""
        scope = None if record["scope"] is None else self._scopes.ensure(record["scope"])
        self._database.execute(
            "INSERT INTO journal (at, event, scope, memory, ref, data) VALUES (?, ?, ?, ?, ?, ?)",
            (record["at"], record["event"], scope, record["memory"], record["ref"], json.dumps(record["data"])),
        )

    def _stow(self, seq: int, text: str, attic: Mapping[str, int] | None) -> None:
        self._database.execute("DELETE FROM attic WHERE seq = ?", (seq,))
        if attic is not None:
            self._database.execute("INSERT INTO attic VALUES (?, ?, ?, ?)", (seq, *pack(text), attic["moved_at"]))

    def _strength(self, seq: int, figures: Mapping[str, Any], shift: Shift) -> None:
        values = {**figures, "seq": seq, "rev": self._meta.next_revision()}
        for name in ("anchor_tau", "activation_tau"):
            values[name] = values.get(name, 0.0) + shift.tau
        values["heat_day"] = values.get("heat_day", 0) + shift.days
        width = self._database.value("SELECT bit_width FROM vector WHERE seq = ?", (seq,))
        if width is not None:
            values["bit_width"] = width
        self._database.execute("DELETE FROM strength WHERE seq = ?", (seq,))
        self._insert("strength", values)

    def _insert(self, table: str, values: Mapping[str, Any]) -> int:
        names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
        row = self._database.execute(
            f"INSERT INTO {table} ({names}) VALUES ({places}) RETURNING rowid", dict(values)
        ).fetchone()
        return int(row[0])  # type: ignore[index]

    def _update(self, table: str, values: Mapping[str, Any], key: str, number: int) -> None:
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        self._database.execute(f"UPDATE {table} SET {assignments} WHERE {key} = :row", {**values, "row": number})


_APART = frozenset({"type", "scope", "content", "strength", "attic", "mentions"})


def digest(record: Mapping[str, Any]) -> bytes:
    """16 bytes that are the same for the same journal entry, whatever store it stands in."""
    entry = [record[name] for name in ("at", "event", "scope", "memory", "ref", "data")]
    return hashlib.blake2b(json.dumps(entry, sort_keys=True).encode(), digest_size=16).digest()
