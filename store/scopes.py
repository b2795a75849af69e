"""Scopes: one row a project (or `global`), with its activity clock."""

from __future__ import annotations

from ..schemas.activity import ActivityClock
from .database import Database


class Scopes:
    """The scopes of the store, by key."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def ensure(self, key: str) -> int:
        """The row id of a scope, made on first use, inside the caller's transaction."""
        with self._database.part():
            self._database.execute("INSERT INTO scope (key) VALUES (?) ON CONFLICT DO NOTHING", (key,))
            return int(self._database.value("SELECT id FROM scope WHERE key = ?", (key,)))

    def find(self, key: str) -> int | None:
        """The row id of a scope, or None if nothing was ever stored under this key."""
        found = self._database.value("SELECT id FROM scope WHERE key = ?", (key,))
        return None if found is None else int(found)

    def keys(self) -> dict[int, str]:
        """Every scope's key by row id."""
        return {int(number): str(key) for number, key in self._database.rows("SELECT id, key FROM scope ORDER BY id")}

    def clock(self, scope: int) -> ActivityClock | None:
        """A scope's activity clock, or None before its first activity."""
        found = self._database.row(
            "SELECT clock_origin, clock_closed, clock_start, clock_end, clock_latest FROM scope WHERE id = ?", (scope,)
        )
        return None if found is None or found[0] is None else ActivityClock(*found)

    def clocks(self) -> dict[int, ActivityClock]:
        """The activity clocks of all scopes that have one, by row id."""
        rows = self._database.rows(
            "SELECT id, clock_origin, clock_closed, clock_start, clock_end, clock_latest FROM scope"
            " WHERE clock_origin IS NOT NULL"
        )
        return {int(number): ActivityClock(*clock) for number, *clock in rows}

    def set_clock(self, scope: int, clock: ActivityClock | None) -> None:
        """Store a scope's activity clock."""
        values = (None, 0.0, None, None, None) if clock is None else _columns(clock)
        with self._database.part():
            self._database.execute(
                "UPDATE scope SET clock_origin = ?, clock_closed = ?, clock_start = ?, clock_end = ?, clock_latest = ?"
                " WHERE id = ?",
                (*values, scope),
            )


def _columns(clock: ActivityClock) -> tuple[int, float, int, int, int]:
    return clock.origin, clock.closed_days, clock.segment_start, clock.segment_end, clock.latest
