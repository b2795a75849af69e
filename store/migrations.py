"""Numbered migrations: each runs in one transaction with the row that records it, after a backup.

A new store gets them all in one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib import resources

from .. import schemas
from ..schemas.errors import StoreCorruptError, StoreTooNewError
from .backup import Backups
from .database import Database
from .files import had_memories, lost

_log = logging.getLogger(__name__)

RECORD = """
CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of the schema: `sql` may hold several statements."""

    number: int
    name: str
    sql: str


def known_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with this version, in order."""
    folder = resources.files(schemas).joinpath("migrations")
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(_read(entry.name, entry.read_text(encoding="utf-8")) for entry in files)


def migrate(database: Database, backups: Backups, now: int, migrations: tuple[Migration, ...] | None = None) -> int:
    """Bring the schema up to date; returns its number. Safe to call from several processes at once.

    Raises:
        StoreTooNewError: if a newer version of ebbing has written the file; nothing is changed.
        StoreCorruptError: if the file holds no memories although there are backups, or somebody else's tables.
        StoreError: if a migration fails; the file is then as it was before that migration.
    """
    steps = known_migrations() if migrations is None else migrations
    newest = steps[-1].number
    current = _refuse_newer(schema_number(database), newest)
    if current == 0:
        _refuse_strange(database, backups)
        _begin(database, steps, now)
    elif current < newest:
        # A large store takes some seconds, in which nothing else is answered.
        _log.warning("bringing the memory store from schema %d to %d; a copy is made before each step", current, newest)
        for step in steps:
            if step.number > current:
                _apply(database, backups, step, now)
    # Another process, of a newer version, may have gone on in the meantime.
    return _refuse_newer(schema_number(database), newest)


def schema_number(database: Database) -> int:
    """The number of the newest migration recorded in the file; 0 for an empty one."""
    with database.snapshot():
        if not database.row("SELECT 1 FROM sqlite_master WHERE name = 'migration'"):
            return 0
        return int(database.value("SELECT coalesce(max(number), 0) FROM migration"))


def _begin(database: Database, steps: tuple[Migration, ...], now: int) -> None:
    """All steps in one transaction: another process finds a new store whole, or nothing yet."""
    with database.atomic():
        database.execute(RECORD)
        # Somebody else may have made it since it was looked at.
        if not database.row("SELECT 1 FROM migration"):
            for step in steps:
                _take(database, step, now)


def _apply(database: Database, backups: Backups, step: Migration, now: int) -> None:
    with database.atomic():
        if not database.row("SELECT 1 FROM migration WHERE number = ?", (step.number,)):
            backups.make(f"before-{step.number:04d}", now)
            _take(database, step, now)


def _take(database: Database, step: Migration, now: int) -> None:
    # Read to its end: a statement that returns rows would otherwise keep those after it from running.
    list(database.execute(step.sql))
    database.execute("INSERT INTO migration VALUES (?, ?, ?)", (step.number, step.name, now))


def _refuse_newer(current: int, newest: int) -> int:
    if current > newest:
        raise StoreTooNewError(_too_new(current, newest))
    return current


def _refuse_strange(database: Database, backups: Backups) -> None:
    with database.snapshot():
        if schema_number(database):
            return
        if had_memories(database.path):
            raise StoreCorruptError(lost(database.path, backups.list()))
        if database.row("SELECT 1 FROM sqlite_master"):
            raise StoreCorruptError(
                f"{database.path} is a database, but not of ebbing: nothing was changed; "
                "move it away, or point EBBING_HOME at another folder"
            )


def _read(file_name: str, sql: str) -> Migration:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    return Migration(int(number), name, sql)


def _too_new(current: int, newest: int) -> str:
    return (
        f"the memory store was written by a newer ebbing (schema {current}, this version knows {newest}): "
        "upgrade ebbing, for example with `uv tool upgrade ebbing`, or point EBBING_HOME at another folder"
    )
