"""Whether a database file that nobody is using is whole: backups, and copies that somebody wants back."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import apsw

from ..schemas.errors import StoreCorruptError, StoreError, StoreTooNewError
from .connections import load_vec, run
from .errors import DAMAGED, translated
from .files import backups_of
from .migrations import known_migrations
from .placeholders import marks, slices


@contextmanager
def opened(path: Path, *, without_log: bool = False) -> Generator[apsw.Connection]:
    """A connection that can't write, not even beside the file; it can leave the log there out of account.

    Raises:
        apsw.Error: what SQLite says.
    """
    # Without a log there is nothing beside the file to be read, and nothing may come to lie there.
    log = path.with_name(path.name + "-wal")
    has_log = not without_log and log.is_file() and log.stat().st_size
    lasting = "" if has_log else "&immutable=1"
    name = f"file:{quote(str(path.resolve()))}?mode=ro{lasting}"
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        yield connection
    finally:
        connection.close(force=True)


@contextmanager
def checked(copy: Path) -> Generator[tuple[apsw.Connection, int, int]]:
    """A connection to a sound copy of a store, its schema and how many memories it holds.

    Raises:
        StoreCorruptError: if it is damaged or not of ebbing.
        StoreTooNewError: if a newer version wrote it.
        StoreError: if it can't be read.
    """
    with translated(), opened(copy) as source:
        try:
            load_vec(source)
            schema = _schema(source)
            if schema and next(run(source, "PRAGMA integrity_check(1)")) != ("ok",):
                schema = 0
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError):
            schema = 0
        if not schema:
            raise StoreCorruptError(f"{copy} is damaged, or not a copy of ebbing's store: nothing was changed")
        newest = known_migrations()[-1].number
        if schema > newest:
            raise StoreTooNewError(f"{copy} was written by a newer ebbing (schema {schema}, this one knows {newest})")
        [memories] = next(run(source, "SELECT count(*) FROM memory"))
        yield source, schema, int(memories)


def newest_sound_backup(database: Path) -> Path | None:
    """The newest backup of a database that could be put in its place; None where there is none."""
    for backup in reversed(backups_of(database)):
        with suppress(OSError):
            found = backup.stat()
            if _is_sound(backup, found.st_mtime_ns, found.st_size):
                return backup
    return None


@lru_cache(maxsize=16)
def _is_sound(backup: Path, _changed_at: int, _size: int) -> bool:
    """Whether a backup is sound; each call that meets the damage asks, and reading all of one takes a while."""
    try:
        with checked(backup):
            return True
    except (StoreError, OSError):
        return False


def way_back(database: Path) -> str:
    """What to do about a database that can't be repaired: the command that puts the newest sound backup there."""
    backup = newest_sound_backup(database)
    if backup is None:
        return (
            "there is no sound backup: move the file with its -wal and -shm out of the folder to begin a new store, and"
            " keep it for recovery"
        )
    return (
        f"end all clients and run `ebbing restore {backup}`, which keeps the file for recovery; by hand, move"
        f" {database.name}-wal and {database.name}-shm out of the folder before you put the backup there"
    )


def with_way_back(error: StoreCorruptError, database: Path) -> StoreCorruptError:
    """The error with the newest sound backup named, where it tells of damage."""
    if DAMAGED not in str(error):
        return error
    return StoreCorruptError(f"{error}; {way_back(database)}")


def schema_of(path: Path) -> int:
    """The number of the newest migration in a copy of a store; 0 where that can't be read."""
    try:
        with opened(path) as source:
            return _schema(source)
    except apsw.Error:
        return 0


def knows_any(path: Path, ids: Collection[str]) -> bool:
    """Whether a copy of a store, as far as it can be read, has a memory with any of some ids."""
    try:
        with opened(path) as source:
            return any(
                next(run(source, f"SELECT 1 FROM memory WHERE id IN ({marks(some)})", some), None)
                for some in slices(sorted(ids))
            )
    except apsw.Error:
        return False


def _schema(connection: apsw.Connection) -> int:
    tables = run(connection, "SELECT count(*) FROM sqlite_master WHERE name IN ('migration', 'memory', 'journal')")
    if next(tables) != (3,):
        return 0
    [number] = next(run(connection, "SELECT coalesce(max(number), 0) FROM migration"))
    return int(number)
