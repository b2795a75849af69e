"""Numbered migrations: each runs in one transaction with the row that records it, after a backup."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from .. import schemas
from ..schemas.errors import StoreTooNewError
from .backup import Backups
from .database import Database

_RECORD = """
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
        StoreError: if a migration fails; the file is then as it was before that migration.
    """
    steps = known_migrations() if migrations is None else migrations
    newest = steps[-1].number
    current = schema_number(database)
    if current > newest:
        raise StoreTooNewError(_too_new(current, newest))
    for step in steps:
        if step.number > current:
            _apply(database, backups, step, now)
    return newest


def schema_number(database: Database) -> int:
    """The number of the newest migration recorded in the file; 0 for an empty one."""
    with database.snapshot():
        if not database.row("SELECT 1 FROM sqlite_master WHERE name = 'migration'"):
            return 0
        return int(database.value("SELECT coalesce(max(number), 0) FROM migration"))


def _apply(database: Database, backups: Backups, step: Migration, now: int) -> None:
    if step.number > 1:
        backups.make(f"before-{step.number:04d}", now)
    with database.atomic():
        database.execute(_RECORD)
        if database.row("SELECT 1 FROM migration WHERE number = ?", (step.number,)):
            return
        database.execute(step.sql)
        database.execute("INSERT INTO migration VALUES (?, ?, ?)", (step.number, step.name, now))


def _read(file_name: str, sql: str) -> Migration:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    return Migration(int(number), name, sql)


def _too_new(current: int, newest: int) -> str:
    return (
        f"the memory store was written by a newer ebbing (schema {current}, this version knows {newest}): "
        "upgrade ebbing, for example with `uv tool upgrade ebbing`, or point EBBING_HOME at another folder"
    )
