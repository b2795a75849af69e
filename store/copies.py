"""Which memories may say the same: by equal texts and by the links that saving has made to what is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..schemas.memory import Event, Kind
from .database import Database
from .placeholders import marks, slices

_EVENTS: Final = ", ".join(f"'{kind}'" for kind in Kind if kind.is_event)


def _standing(table: str) -> str:
    """A condition: the memory is known rather than something that happened, and nothing has taken it out."""
    return (
        f"{table}.kind NOT IN ({_EVENTS}) AND {table}.merged_into IS NULL AND {table}.superseded_by IS NULL"
        f" AND {table}.forgotten_at IS NULL AND {table}.evicted_at IS NULL AND {table}.expires_at IS NULL"
    )


class Copies:
    """Looks for candidates of merging, and for what was merged."""

    def __init__(self, database: Database) -> None:
        """Read through `database`."""
        self._database = database

    def standing(self, ids: Sequence[str]) -> dict[str, int]:
        """The seqs by id of those memories that may be merged at all."""
        found: dict[str, int] = {}
        with self._database.snapshot():
            for some in slices(ids):
                rows = self._database.execute(
                    f"SELECT m.id, m.seq FROM memory m WHERE m.id IN ({marks(some)}) AND {_standing('m')}", some
                )
                found.update({str(name): int(seq) for name, seq in rows})
        return found

    def with_equal_text(self, seqs: Sequence[int]) -> list[tuple[int, int]]:
        """(seq, other) for memories of which an earlier one of their scope has the same text: the first such."""
        found: list[tuple[int, int]] = []
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    "SELECT a.seq, (SELECT b.seq FROM memory b WHERE b.scope = a.scope"
                    f" AND b.content_hash = a.content_hash AND b.seq < a.seq AND {_standing('b')}"
                    " ORDER BY b.seq LIMIT 1)"
                    f" AS other FROM memory a WHERE a.seq IN ({marks(some)}) AND other IS NOT NULL",
                    some,
                )
                found += [(int(seq), int(other)) for seq, other in rows]
        return found

    def linked(self, seqs: Sequence[int], relation: str, least: float) -> tuple[list[tuple[int, int]], set[int]]:
        """(seq, other) for links of a relation of at least some weight; and which of the seqs have any such link."""
        found: list[tuple[int, int]] = []
        having: set[int] = set()
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    f"SELECT seq, other, weight FROM link WHERE seq IN ({marks(some)}) AND relation = ?",
                    (*some, relation),
                )
                for seq, other, weight in rows:
                    having.add(int(seq))
                    if weight >= least:
                        found.append((int(seq), int(other)))
        return found, having

    def first_saved_after(self, number: int) -> int | None:
        """The seq of the first memory that was saved after a journal entry, or None: seqs grow as entries do."""
        return self._database.value(
            # The unary plus keeps SQLite on the entries behind that one.
            "SELECT m.seq FROM journal j JOIN memory m ON m.id = j.memory WHERE j.id > ? AND +j.event = ?"
            " ORDER BY j.id LIMIT 1",
            (number, str(Event.SAVED)),
        )

    def merged_into(self, ids: Sequence[str]) -> list[int]:
        """The memories (seqs) that some others (by id) speak for, directly or through another."""
        found: list[int] = []
        with self._database.snapshot():
            for some in slices(ids):
                rows = self._database.execute(
                    "WITH RECURSIVE spoken (id, seq) AS (SELECT id, seq FROM memory"
                    f" WHERE merged_into IN ({marks(some)})"
                    " UNION SELECT m.id, m.seq FROM memory m JOIN spoken ON m.merged_into = spoken.id)"
                    " SELECT seq FROM spoken",
                    some,
                )
                found += [int(seq) for (seq,) in rows]
        return sorted(set(found))

    def count(self) -> int:
        """How many memories were merged into others."""
        return int(self._database.value("SELECT count(*) FROM memory WHERE merged_into IS NOT NULL"))
