"""Small named values, and the revision counter by which other processes notice changes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from .database import Database
from .errors import intact

_ASIDE: Final = "rev.aside"


class Meta:
    """Key-value rows of the store."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def get(self, key: str) -> str | None:
        """The value of a key, or None."""
        found = self._database.value("SELECT value FROM meta WHERE key = ?", (key,))
        return None if found is None else str(found)

    def set(self, key: str, value: str) -> None:
        """Write a value."""
        with self._database.part():
            self._database.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
            )

    def revision(self) -> int:
        """The number of the last change to any memory."""
        return revision_of(self._database)

    def answering_revision(self) -> int:
        """The number of the last change that an answer depends on: `revision` less the changes made `aside`."""
        found = self._database.value(
            "SELECT CAST(value AS INTEGER) - (SELECT coalesce(sum(value), 0) FROM meta WHERE key = ?)"
            " FROM meta WHERE key = 'rev'",
            (_ASIDE,),
        )
        return int(found)

    @contextmanager
    def aside(self) -> Generator[None]:
        """Changes inside, in the caller's transaction, are of figures that no answer depends on, such as heat."""
        before = self.revision()
        yield
        made = self.revision() - before
        if made:
            self._database.execute(
                "INSERT INTO meta VALUES (?, ?)"
                " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + excluded.value",
                (_ASIDE, str(made)),
            )

    def next_revision(self) -> int:
        """Count one change, inside the caller's transaction, and return its number."""
        with self._database.part():
            changed = self._database.execute(
                "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'rev' RETURNING value"
            ).fetchone()
        with intact():
            return int(changed[0])  # type: ignore[index]


def revision_of(database: Database) -> int:
    """The number of the last change to any memory.

    Raises:
        StoreCorruptError: if it is lost.
    """
    found = database.value("SELECT value FROM meta WHERE key = 'rev'")
    with intact():
        return int(found)
