"""Observations that consolidation has not looked at yet.

A row is written together with its observation and removed together with what came of it, so that a process killed in
between leaves an observation either untouched or done with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .database import Database

_PLACES = 500


class Pending:
    """The rows of `pending`."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def count(self) -> int:
        """How many observations wait."""
        return int(self._database.value("SELECT count(*) FROM pending"))

    def groups(self) -> list[tuple[int, str | None]]:
        """(scope row id, session) of what waits, those with the oldest event first."""
        rows = self._database.rows(
            "SELECT m.scope, m.session FROM pending p CROSS JOIN memory m USING (seq)"
            " GROUP BY m.scope, m.session ORDER BY min(m.recorded_at), min(m.seq)"
        )
        return [(int(scope), None if session is None else str(session)) for scope, session in rows]

    def of_group(self, scope: int, session: str | None, limit: int) -> list[int]:
        """The oldest observations (seqs) that wait in a session of a scope, in the order in which they happened."""
        rows = self._database.rows(
            "SELECT p.seq FROM pending p CROSS JOIN memory m USING (seq) WHERE m.scope = ? AND m.session IS ?"
            " ORDER BY m.recorded_at, m.seq LIMIT ?",
            (scope, session, limit),
        )
        return [int(seq) for (seq,) in rows]

    def has_all(self, seqs: Sequence[int]) -> bool:
        """Whether all of some observations still wait."""
        found = 0
        with self._database.snapshot():
            for start in range(0, len(seqs), _PLACES):
                some = seqs[start : start + _PLACES]
                places = ",".join("?" * len(some))
                found += int(self._database.value(f"SELECT count(*) FROM pending WHERE seq IN ({places})", some))
        return found == len(set(seqs))

    def done(self, seqs: Sequence[int]) -> None:
        """Take observations off, in the transaction that writes what came of them."""
        with self._database.atomic():
            self._database.executemany("DELETE FROM pending WHERE seq = ?", [(seq,) for seq in seqs])

    def replace(self, seqs: Iterable[int]) -> None:
        """Make exactly these wait."""
        with self._database.atomic():
            self._database.execute("DELETE FROM pending")
            self._database.executemany("INSERT INTO pending VALUES (?)", [(seq,) for seq in seqs])
