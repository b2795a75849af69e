"""The rows of a store as records that another store can take in, always in the same order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..schemas.errors import StoreCorruptError
from .attic import unpack
from .carried import FORMAT, LOCAL_META, Column, Record, columns, flags, to_json
from .database import Database
from .migrations import schema_number

_BATCH = 500
_OF_SCOPE = "(?1 IS NULL OR {} = ?1)"


class Exporting:
    """Reads everything that is carried; every method needs a snapshot, so that all of it is of one moment."""

    def __init__(self, database: Database) -> None:
        """Read through `database`."""
        self._database = database

    def header(self, scope: int | None = None) -> Record:
        """What the file is, and how many records of each type it has: of everything, or of one scope (by row id)."""
        of_memory, of_journal = _OF_SCOPE.format("scope"), _in_journal()
        counts = {
            "scope": f"SELECT count(*) FROM scope WHERE {_OF_SCOPE.format('id')}",
            "meta": f"SELECT count(*) FROM meta WHERE {_carried_meta()} AND ?1 IS NULL",
            "memory": f"SELECT count(*) FROM memory WHERE {of_memory}",
            "links": f"SELECT count(DISTINCT link.seq) {_LINKS}",
            "journal": f"SELECT count(*) FROM journal WHERE {of_journal}",
        }
        found = {name: int(self._database.value(statement, (scope,))) for name, statement in counts.items()}
        erased = f"SELECT count(DISTINCT memory) FROM journal WHERE event = 'erased' AND {of_journal}"
        return {
            "type": "ebbing-export",
            "format": FORMAT,
            "schema": schema_number(self._database),
            "records": found,
            "tombstones": int(self._database.value(erased, (scope,))),
        }

    def records(self, scope: int | None = None) -> Iterator[Record]:
        """Scopes, small values, memories, links, the journal.

        Raises:
            StoreCorruptError: naming the memory whose text is damaged.
        """
        yield from self._scopes(scope)
        if scope is None:
            yield from self._meta()
        yield from self._memories(scope)
        yield from self._links(scope)
        yield from self._journal(scope)

    def _scopes(self, scope: int | None) -> Iterator[Record]:
        wanted = columns(self._database, "scope")
        names = ", ".join(column.name for column in wanted)
        rows = self._database.rows(f"SELECT {names} FROM scope WHERE {_OF_SCOPE.format('id')} ORDER BY id", (scope,))
        for row in rows:
            yield {"type": "scope", **dict(zip((column.name for column in wanted), row, strict=True))}

    def _meta(self) -> Iterator[Record]:
        for key, value in self._database.rows(f"SELECT key, value FROM meta WHERE {_carried_meta()} ORDER BY key"):
            yield {"type": "meta", "key": key, "value": value}

    def _memories(self, scope: int | None) -> Iterator[Record]:
        memory, strength = columns(self._database, "memory"), columns(self._database, "strength")
        names = [f"m.{column.name}" for column in memory] + [f"s.{column.name}" for column in strength]
        select = (
            f"SELECT m.seq, k.key, m.content, a.codec, a.body, a.moved_at, {', '.join(names)}"
            " FROM memory m JOIN strength s USING (seq) JOIN scope k ON k.id = m.scope LEFT JOIN attic a USING (seq)"
            f" WHERE m.seq > ?2 AND {_OF_SCOPE.format('m.scope')} ORDER BY m.seq LIMIT {_BATCH}"
        )
        last = 0
        while rows := self._database.rows(select, (scope, last)):
            seqs = [row[0] for row in rows]
            mentions, flagged = self._mentions(seqs), self._flagged(seqs)
            for row in rows:
                record = _memory(row, memory, strength, mentions.get(row[0], []))
                yield record | {name: True for name, those in flagged.items() if row[0] in those}
            last = rows[-1][0]

    def _flagged(self, seqs: Sequence[int]) -> dict[str, set[int]]:
        places = ",".join("?" * len(seqs))
        return {
            name: {row[0] for row in self._database.rows(f"SELECT seq FROM {name} WHERE seq IN ({places})", seqs)}
            for name in flags(self._database)
        }

    def _mentions(self, seqs: Sequence[int]) -> dict[int, list[list[str]]]:
        found: dict[int, list[list[str]]] = {}
        rows = self._database.execute(
            "SELECT seq, kind, value FROM memory_entity JOIN entity ON entity.id = memory_entity.entity"
            f" WHERE seq IN ({','.join('?' * len(seqs))}) ORDER BY seq, kind, value",
            seqs,
        )
        for seq, kind, value in rows:
            found.setdefault(seq, []).append([kind, value])
        return found

    def _links(self, scope: int | None) -> Iterator[Record]:
        rows = self._database.execute(
            f"SELECT m.id, o.id, relation, weight {_LINKS} ORDER BY link.seq, link.other, relation", (scope,)
        )
        gathered: Record = {}
        for memory, other, relation, weight in rows:
            if gathered and gathered["memory"] != memory:
                yield gathered
                gathered = {}
            gathered = gathered or {"type": "links", "memory": memory, "links": []}
            gathered["links"].append([other, relation, weight])
        if gathered:
            yield gathered

    def _journal(self, scope: int | None) -> Iterator[Record]:
        rows = self._database.execute(
            "SELECT at, event, (SELECT key FROM scope WHERE id = journal.scope), memory, ref, data FROM journal"
            f" WHERE {_in_journal()} ORDER BY id",
            (scope,),
        )
        for at, event, key, memory, ref, data in rows:
            yield {
                "type": "journal",
                "at": at,
                "event": event,
                "scope": key,
                "memory": memory,
                "ref": ref,
                "data": json.loads(data),
            }


_LINKS = (
    "FROM link JOIN memory m ON m.seq = link.seq JOIN memory o ON o.seq = link.other"
    " WHERE ?1 IS NULL OR (m.scope = ?1 AND o.scope = ?1)"
)


def _in_journal() -> str:
    return "(?1 IS NULL OR scope = ?1 OR memory IN (SELECT id FROM memory WHERE scope = ?1))"


def _carried_meta() -> str:
    return " AND ".join(f"key NOT GLOB '{pattern}'" for pattern in LOCAL_META)


def _memory(
    row: Sequence[Any], memory: Sequence[Column], strength: Sequence[Column], mentions: list[list[str]]
) -> Record:
    _, scope, content, codec, body, moved_at = row[:6]
    values, figures = row[6 : 6 + len(memory)], row[6 + len(memory) :]
    own = {column.name: to_json(column.name, value) for column, value in zip(memory, values, strict=True)}
    record: Record = {"type": "memory", "id": own.pop("id"), "scope": scope}
    record["content"] = _text(record["id"], codec, body) if content is None else content
    record |= own
    record["strength"] = {column.name: value for column, value in zip(strength, figures, strict=True)}
    if content is None:
        record["attic"] = {"moved_at": moved_at}
    if mentions != sorted({(kind, value): [kind, value] for kind, value in own["entities"]}.values()):
        record["mentions"] = mentions
    return record


def _text(identifier: str, codec: str | None, body: bytes | None) -> str:
    try:
        return unpack(codec, body)
    except StoreCorruptError as error:
        raise StoreCorruptError(f"memory {identifier}: {error}") from error
