"""Putting a copy of the database in the place of the database, while nobody else uses it; what was there is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from ..schemas.errors import InvalidInputError, StoreBusyError, StoreCorruptError
from ..schemas.instants import to_datetime
from .connections import load_vec, run, set_pragma
from .errors import convert_os, translated
from .files import BACKUP_FOLDER
from .log_check import refuse_strange_log
from .soundness import checked

_IN_USE: Final = (
    "another process has the store open, most likely the server of a client that runs: end it and try again;"
    " nothing was changed"
)
_HEADER_BYTES: Final = 100
_BESIDE: Final = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put there: its schema and how many memories it holds; where what it replaced is kept, if it was there.

    `returned` are the ids of memories that had been erased on purpose and are there again.
    """

    schema: int
    memories: int
    kept: Path | None
    returned: tuple[str, ...]


def restore(copy: Path, database: Path, now: int) -> Restored:
    """Make the database what a copy of it is, as of `now` (µs).

    The copy is checked first. A database that can be read is overwritten in one transaction under a lock that nobody
    else can share; a missing or unreadable one is replaced, its log moved out of the way.

    Raises:
        InvalidInputError: if the copy is the database itself, or not there.
        StoreCorruptError: if the copy is damaged or not of ebbing.
        StoreTooNewError: if a newer version wrote it.
        StoreBusyError: if another process has the database open.
        StoreError: if something can't be read or written. In every case the database is as it was.
    """
    if not copy.is_file():
        raise InvalidInputError(f"{copy} is not a file")
    if database.exists() and copy.samefile(database):
        raise InvalidInputError(f"{copy} is the store itself")
    try:
        with checked(copy) as (source, schema, memories):
            database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (database.parent / BACKUP_FOLDER).mkdir(mode=0o700, exist_ok=True)
            kept, erased = _put(source, database, to_datetime(now).strftime("%Y%m%dT%H%M%S%f"))
            here = {str(identifier) for (identifier,) in run(source, "SELECT id FROM memory")}
    except OSError as error:
        raise convert_os(error, "the store could not be restored") from error
    return Restored(schema, memories, kept, tuple(sorted(erased & here)))


def rewrite(database: Path, now: int, mend: Callable[[apsw.Connection], Path]) -> Restored:
    """Make the database what `mend` makes of it, a sound file elsewhere, while nobody uses it; the old one is kept.

    Raises:
        StoreCorruptError: if it can't be read at all, or `mend` gives up; nothing was changed.
        StoreBusyError: if another process has the database open.
        StoreError: if something can't be read or written. In every case the database is as it was.
        OSError: as above.
    """
    if not _looks_readable(database):
        raise StoreCorruptError("the file is no database any more")
    with translated(), _alone(database) as target, checked(mend(target)) as (source, schema, memories):
        kept = _keep(target, database.parent / BACKUP_FOLDER, to_datetime(now).strftime("%Y%m%dT%H%M%S%f"))
        _copy(target, source)
        return Restored(schema, memories, kept, ())


def _put(source: apsw.Connection, database: Path, stamp: str) -> tuple[Path | None, set[str]]:
    """Overwrite or replace the database; where it is kept, and which ids had been erased in it."""
    if database.is_file() and _looks_readable(database) and _has_own_log(database):
        try:
            with _alone(database) as target:
                kept = _keep(target, database.parent / BACKUP_FOLDER, stamp)
                erased = _erased(target)
                _copy(target, source)
                return kept, erased
        except (apsw.NotADBError, apsw.CorruptError):
            # Not even its first page can be read, so nobody else is reading it either.
            pass
    kept = _move_aside(database, stamp)
    _replace(source, database)
    return kept, set()


def _has_own_log(database: Path) -> bool:
    """Whether the log beside a database belongs to it: another one must not be copied into it, not even to be kept."""
    try:
        refuse_strange_log(database)
    except StoreCorruptError:
        return False
    return True


def _looks_readable(database: Path) -> bool:
    """Whether SQLite would know the file for a database: beside one that it doesn't know it deletes the log."""
    with database.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    return head.startswith(b"SQLite format 3\0") and head[18:20] in (b"\x01\x01", b"\x02\x02")


@contextmanager
def _alone(database: Path) -> Generator[apsw.Connection]:
    """A connection that locks everybody else out until it is closed, without a log beside the file."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        try:
            set_pragma(connection, "locking_mode", "EXCLUSIVE")
            # Leaving the log's mode copies the log into the file, and is only allowed to the one user of a file.
            set_pragma(connection, "journal_mode", "DELETE")
            run(connection, "BEGIN EXCLUSIVE")
            run(connection, "COMMIT")
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreBusyError(_IN_USE) from error
        # What is left of the log's index still tells of a log, which nobody would find.
        with suppress(OSError):
            database.with_name(database.name + "-shm").unlink()
        yield connection
    finally:
        connection.close(force=True)


def _copy(target: apsw.Connection, source: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(-1)


def _keep(target: apsw.Connection, folder: Path, stamp: str) -> Path:
    """Copy what is there into the folder of backups; a damaged one under a name that is not a backup's."""
    path = folder / f"memory-{stamp}-before-restore.db"
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    copy = apsw.Connection(str(path))
    try:
        _copy(copy, target)
        load_vec(copy)
        sound = next(run(copy, "PRAGMA quick_check(1)")) == ("ok",)
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError):
        sound = False
    finally:
        copy.close(force=True)
    return path if sound else path.rename(folder / f"damaged-{stamp}.db")


def _erased(target: apsw.Connection) -> set[str]:
    with suppress(apsw.SQLError, apsw.CorruptError):
        rows = run(target, "SELECT memory FROM journal WHERE event = 'erased' AND data = '{}'")
        return {str(identifier) for (identifier,) in rows}
    return set()


def _move_aside(database: Path, stamp: str) -> Path | None:
    """Move a file that can't be read, and a log that belongs to it, among the backups; where it is."""
    kept = database.parent / BACKUP_FOLDER / f"damaged-{stamp}.db"
    moved = [_moved(database, kept, ending) for ending in _BESIDE]
    return kept if any(moved) else None


def _moved(database: Path, kept: Path, ending: str) -> bool:
    found = database.with_name(database.name + ending)
    if not found.exists():
        return False
    if found.stat().st_size:
        found.rename(kept.with_name(kept.name + ending))
        return True
    found.unlink()
    return False


def _replace(source: apsw.Connection, database: Path) -> None:
    partial = database.with_name(f"{database.name}.partial")
    for leftover in _drafts(partial):
        leftover.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    copy = apsw.Connection(str(partial))
    try:
        _copy(copy, source)
    finally:
        copy.close(force=True)
    for leftover in _drafts(partial)[1:]:
        leftover.unlink(missing_ok=True)
    partial.replace(database)


def _drafts(partial: Path) -> list[Path]:
    return [partial.with_name(partial.name + ending) for ending in (*_BESIDE, "-journal")]
