"""The append-only journal: everything that happened to memories, from which derived figures can be replayed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..schemas.memory import Event
from .database import Database
from .errors import intact
from .spool_purge import contains, plain

ERASED: Final = (
    "SELECT DISTINCT memory FROM journal WHERE event = 'erased' AND data = '{}'"
    " AND memory NOT IN (SELECT id FROM memory)"
)
"""The ids of memories that were erased on purpose: what the budget removes, and gists that are retired, say why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: `memory` is an id, `ref` the recall, run or delivery it belongs to."""

    at: int
    event: Event
    scope: int | None = None
    memory: str | None = None
    ref: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    number: int = 0


class Journal:
    """Append to and read the journal."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def append(self, *entries: Entry) -> None:
        """Write entries, inside the caller's transaction."""
        rows = [
            (entry.at, str(entry.event), entry.scope, entry.memory, entry.ref, json.dumps(dict(entry.data)))
            for entry in entries
        ]
        with self._database.part():
            self._database.executemany(
                "INSERT INTO journal (at, event, scope, memory, ref, data) VALUES (?, ?, ?, ?, ?, ?)", rows
            )

    def of_memory(self, memory: str, limit: int = 200) -> list[Entry]:
        """A memory's history, oldest first; the newest `limit` entries."""
        rows = self._database.rows(
            f"{_SELECT} WHERE memory = ? ORDER BY id DESC LIMIT ?",
            (memory, limit),
        )
        return _entries(reversed(rows))

    def of_ref(self, ref: str) -> list[Entry]:
        """The entries that belong to one recall, run or delivery, oldest first."""
        return _entries(self._database.rows(f"{_SELECT} WHERE ref = ? ORDER BY id", (ref,)))

    def latest(self, event: Event) -> Entry | None:
        """The newest entry of one kind, or None."""
        row = self._database.row(f"{_SELECT} WHERE event = ? ORDER BY id DESC LIMIT 1", (str(event),))
        return None if row is None else _entries([row])[0]

    def newest(self, event: Event, limit: int) -> list[Entry]:
        """The newest entries of one kind, newest first."""
        rows = self._database.rows(f"{_SELECT} WHERE event = ? ORDER BY id DESC LIMIT ?", (str(event), limit))
        return _entries(rows)

    def after(self, number: int, limit: int = 1000) -> list[Entry]:
        """Entries numbered above `number`, in the order written: read on from the last one's number."""
        return _entries(self._database.rows(f"{_SELECT} WHERE id > ? ORDER BY id LIMIT ?", (number, limit)))

    def about(self, events: Collection[Event], after: int, limit: int = 500) -> list[Entry]:
        """Entries of some kinds about one memory each, numbered above `after`, in the order written."""
        rows = self._database.rows(
            # The unary plus keeps SQLite on the rows behind the last one read instead of all of a kind.
            f"{_SELECT} WHERE id > ? AND +event IN ({','.join('?' * len(events))}) AND memory IS NOT NULL"
            " ORDER BY id LIMIT ?",
            (after, *sorted(map(str, events)), limit),
        )
        return _entries(rows)

    def shown_between(self, scope: int, since: int, until: int, limit: int = 200) -> list[Entry]:
        """What recalls of a scope showed from `since` to `until` (µs), oldest first; the first `limit` of it."""
        rows = self._database.rows(
            # The event stands in the text: a bound one would not reach the index that holds only such entries.
            f"{_SELECT} WHERE event = 'shown' AND scope = ? AND at BETWEEN ? AND ? ORDER BY at, id LIMIT ?",
            (scope, since, until, limit),
        )
        return _entries(rows)

    def disputed(self) -> dict[str, int]:
        """Ids of memories that proved wrong and were not confirmed since: the numbers of the entries that say so."""
        rows = self._database.rows(
            "SELECT memory, number FROM (SELECT memory, max(id) AS number FROM journal"
            " WHERE event = ? AND memory IS NOT NULL GROUP BY memory) AS said WHERE NOT EXISTS"
            " (SELECT 1 FROM journal WHERE memory = said.memory AND event = ? AND id > said.number)",
            (str(Event.CONTRADICTED), str(Event.CONFIRMED)),
        )
        return {str(memory): int(number) for memory, number in rows}

    def erase(self, memory: str) -> None:
        """Blank what the entries of one memory say: that it existed stays, its words and figures go."""
        with self._database.atomic():
            self._database.execute("UPDATE journal SET data = '{}' WHERE memory = ?", (memory,))

    def erased(self) -> set[str]:
        """The ids of memories that somebody erased, rather than the budget, and that are not there again."""
        return {str(identifier) for (identifier,) in self._database.rows(ERASED)}

    def hush(self, texts: Sequence[str]) -> None:
        """Take the notes that hold any of some texts out of all entries; what happened stays."""
        wanted = plain(texts)
        with self._database.atomic():
            noted = self._database.execute('SELECT id, data FROM journal WHERE data LIKE \'%"note": "%\'')
            held = [(number,) for number, data in noted if contains(data.encode("utf-8", "replace"), wanted)]
            self._database.executemany("UPDATE journal SET data = json_remove(data, '$.note') WHERE id = ?", held)

    def count(self, event: Event) -> int:
        """How many entries of one kind there are."""
        return int(self._database.value("SELECT count(*) FROM journal WHERE event = ?", (str(event),)))

    def batches(self, events: Sequence[Event], limit: int) -> list[tuple[int, Event, int]]:
        """(instant (µs), event, memories) of the newest runs that did such a thing to memories, newest first."""
        rows = self._database.rows(
            f"SELECT max(at), event, count(*) FROM journal WHERE event IN ({','.join('?' * len(events))})"
            " GROUP BY event, ref ORDER BY max(id) DESC LIMIT ?",
            (*map(str, events), limit),
        )
        return [(int(at), Event(event), int(count)) for at, event, count in rows]


_SELECT = "SELECT id, at, event, scope, memory, ref, data FROM journal"


def _entries(rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
    with intact():
        return [_entry(row) for row in rows]


def _entry(row: tuple[Any, ...]) -> Entry:
    number, at, event, scope, memory, ref, data = row
    return Entry(at, Event(event), scope, memory, ref, json.loads(data), number)
