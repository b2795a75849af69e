"""Leases: one process at a time does a thing, and a crashed holder is forgotten when its time is over."""

from __future__ import annotations

from .database import Database


class Leases:
    """Named leases with an expiry."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def acquire(self, name: str, holder: str, now: int, duration: int) -> bool:
        """Take or renew a lease until `now + duration` (µs); False while somebody else holds it.

        A lease that ends later than any could that was taken by now comes from a clock that ran ahead, and is over.
        """
        with self._database.atomic():
            self._database.execute(
                "INSERT INTO lease VALUES (?1, ?2, ?3 + ?4) ON CONFLICT (name) DO UPDATE"
                " SET holder = excluded.holder, expires_at = excluded.expires_at"
                " WHERE lease.holder = ?2 OR lease.expires_at <= ?3"
                " OR lease.expires_at > ?3 + 2 * ?4",
                (name, holder, now, duration),
            )
            return self._database.changes() > 0

    def release(self, name: str, holder: str) -> None:
        """Give a lease back; nothing happens when it is not held by `holder`."""
        with self._database.atomic():
            self._database.execute("DELETE FROM lease WHERE name = ? AND holder = ?", (name, holder))

    def holder(self, name: str, now: int) -> str | None:
        """Who holds a lease at `now`, or None."""
        found = self._database.value("SELECT holder FROM lease WHERE name = ? AND expires_at > ?", (name, now))
        return None if found is None else str(found)
