"""One connection: opened as this store needs it, with transactions and savepoints that always end."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import apsw
import sqlite_vec

Bindings = Sequence[Any] | dict[str, Any]

OCCURRENCES: Final = "occurrences"
"""An SQL function over an FTS5 table: how often the phrase that was asked for occurs in the row."""

_CACHE_KIB: Final = 8_192
_QUICK: Final = 0.002
_QUICK_TRIES: Final = 100
_SLOW: Final = 0.01
_PRAGMAS: Final[tuple[tuple[str, str | int], ...]] = (
    ("journal_mode", "WAL"),
    ("foreign_keys", "ON"),
    ("secure_delete", "ON"),
    ("cache_size", -_CACHE_KIB),
    ("temp_store", "MEMORY"),
)


def open_connection(path: Path, busy_timeout_ms: int) -> apsw.Connection:
    """Open an existing file with the vector extension, which SQLite may not make anew if it has vanished.

    Raises:
        apsw.Error: what SQLite says.
    """
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_handler(patient(busy_timeout_ms / 1000))
        load_vec(connection)
        # Only heeded before the journal mode makes the first page; later it would be a write, under the write lock.
        if not connection.pragma("page_count"):  # pyright: ignore[reportUnknownMemberType] - see run
            set_pragma(connection, "auto_vacuum", "INCREMENTAL")
        for name, value in _PRAGMAS:
            set_pragma(connection, name, value)
        # After the pragmas, since it reads the schema, and what is wrong with the file is theirs to say.
        connection.register_fts5_function(OCCURRENCES, _occurrences)  # pyright: ignore[reportUnknownMemberType] - see run
    except BaseException:
        connection.close(force=True)
        raise
    return connection


def load_vec(connection: apsw.Connection) -> None:
    """Load the vector extension.

    Raises:
        apsw.Error: what SQLite says.
    """
    connection.enable_load_extension(enable=True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(enable=False)


def _occurrences(row: apsw.FTS5ExtensionApi, *_: object) -> int:
    return row.inst_count


def patient(seconds: float) -> Callable[[int], bool]:
    """What to do while others hold a lock: look again every two milliseconds, and less often after a while.

    SQLite's own waits grow to a tenth of a second, which would miss the short pauses between others' transactions.
    """

    def wait(tries: int) -> bool:
        slow = max(0, tries - _QUICK_TRIES)
        if (tries - slow) * _QUICK + slow * _SLOW >= seconds:
            return False
        time.sleep(_SLOW if slow else _QUICK)
        return True

    return wait


def run(connection: apsw.Connection, statement: str, bindings: Bindings = ()) -> apsw.Cursor:
    """Run one statement; its rows are read from the cursor."""
    # apsw's stubs name collections.abc.Buffer, which Python 3.11 lacks, so pyright knows its parameters only in part.
    return connection.execute(statement, bindings)  # pyright: ignore[reportUnknownMemberType]


def set_pragma(connection: apsw.Connection, name: str, value: str | int) -> None:
    """Set a pragma."""
    connection.pragma(name, value)  # pyright: ignore[reportUnknownMemberType]


@contextmanager
def ending(connection: apsw.Connection) -> Generator[None]:
    """Commit the open transaction, or roll it back when something was raised inside."""
    try:
        yield
        run(connection, "COMMIT")
    except BaseException:
        _undo(connection, "ROLLBACK")
        raise


@contextmanager
def savepoint(connection: apsw.Connection) -> Generator[None]:
    """A savepoint, released at the end or rolled back when something was raised inside."""
    run(connection, "SAVEPOINT nested")
    try:
        yield
    except BaseException:
        _undo(connection, "ROLLBACK TO nested", "RELEASE nested")
        raise
    run(connection, "RELEASE nested")


def _undo(connection: apsw.Connection, *statements: str) -> None:
    """Roll back what SQLite has not rolled back itself, as it does on some errors, such as a full disk."""
    # What raised first is what the caller should see; a connection that can't even roll back is not used again.
    with suppress(apsw.Error):
        for statement in statements:
            if connection.in_transaction:
                run(connection, statement)
