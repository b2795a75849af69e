"""The one door to SQLite: connections, transactions, retries.

A connection belongs to one thread at a time: the first use in a thread takes one from a small pool, and nested calls
share it, so that everything a caller does inside `atomic()` is one transaction.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw
import sqlite_vec

from ..schemas.errors import StoreError, StoreReadOnlyError
from .errors import translated

Row = tuple[Any, ...]
Bindings = Sequence[Any] | dict[str, Any]

_IDLE_CONNECTIONS = 4
_CACHE_KIB = 16_384

NOTHING = apsw.SQLITE_TXN_NONE
READING = apsw.SQLITE_TXN_READ
WRITING = apsw.SQLITE_TXN_WRITE


class Database:
    """One SQLite file, shared by the threads of this process and by other processes."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = 10_000) -> None:
        """Prepare the file's folder (0700) and file (0600); nothing is read yet.

        Raises:
            StoreReadOnlyError: if the folder or file can't be made.
        """
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._local = threading.local()
        self._idle: list[apsw.Connection] = []
        self._opened: set[apsw.Connection] = set()
        self._guard = threading.Lock()
        self._writer = threading.RLock()
        self._closed = False
        _make_private(path)

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self, *, wait_seconds: float = 0.3) -> None:
        """Close the connections nobody uses; those in use are interrupted and close when they come back.

        A write that is under way gets `wait_seconds` to end by itself; after that its transaction is rolled back.
        """
        finished = self._writer.acquire(timeout=wait_seconds)
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = self._opened.difference(idle)
            self._opened = busy
        for connection in busy:
            connection.interrupt()
        for connection in idle:
            connection.close(force=True)
        if finished:
            self._writer.release()

    @contextmanager
    def connection(self) -> Generator[apsw.Connection]:
        """This thread's connection, taken from the pool by the outermost call."""
        held: apsw.Connection | None = getattr(self._local, "connection", None)
        if held is not None:
            yield held
            return
        taken = self._take()
        self._local.connection = taken
        try:
            yield taken
        finally:
            self._local.connection = None
            self._give_back(taken)

    @contextmanager
    def atomic(self, *, durable: bool = True) -> Generator[None]:
        """One write transaction (BEGIN IMMEDIATE); nested calls are savepoints of it.

        `durable=False` skips the fsync at commit: for bookkeeping whose loss in a power cut costs nothing.

        Raises:
            StoreError: what SQLite reported, in our terms; everything inside is rolled back.
        """
        with self.connection() as connection, translated():
            if connection.in_transaction:
                with _savepoint(connection):
                    yield
                return
            with self._writer:
                _pragma(connection, "synchronous", "FULL" if durable else "NORMAL")
                _run(connection, "BEGIN IMMEDIATE")
                with _ending(connection):
                    yield

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """One read transaction: every read inside sees the same moment.

        Raises:
            StoreError: what SQLite reported, in our terms.
        """
        with self.connection() as connection, translated():
            if connection.in_transaction:
                yield
                return
            _run(connection, "BEGIN")
            with _ending(connection):
                yield

    def execute(self, statement: str, bindings: Bindings = ()) -> apsw.Cursor:
        """Run one statement inside `atomic()` or `snapshot()`, whose connection it needs.

        Raises:
            StoreError: if called outside both.
        """
        held: apsw.Connection | None = getattr(self._local, "connection", None)
        if held is None:
            msg = "a statement was run outside of a transaction"
            raise StoreError(msg)
        return _run(held, statement, bindings)

    def executemany(self, statement: str, rows: Sequence[Bindings]) -> None:
        """Run one statement for each of `rows`, inside `atomic()`.

        Raises:
            StoreError: if called outside of a transaction.
        """
        held: apsw.Connection | None = getattr(self._local, "connection", None)
        if held is None:
            msg = "statements were run outside of a transaction"
            raise StoreError(msg)
        held.executemany(statement, rows)  # pyright: ignore[reportUnknownMemberType] - see _run

    def rows(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of a query, in a snapshot of its own unless one is open."""
        with self.snapshot():
            return list(self.execute(statement, bindings))

    def row(self, statement: str, bindings: Bindings = ()) -> Row | None:
        """The first row of a query, or None."""
        with self.snapshot():
            return self.execute(statement, bindings).fetchone()

    def value(self, statement: str, bindings: Bindings = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.row(statement, bindings)
        return None if found is None else found[0]

    def changes(self) -> int:
        """How many rows the last statement of this thread's transaction changed."""
        with self.connection() as connection:
            return connection.changes()

    def transaction(self) -> int:
        """What this thread has open: NOTHING, READING (a snapshot that has been read from) or WRITING."""
        held: apsw.Connection | None = getattr(self._local, "connection", None)
        return NOTHING if held is None else held.txn_state()

    def release(self, pages: int) -> int:
        """Give up to `pages` unused pages back to the disk, in a write transaction; returns how many.

        The file shrinks with the next checkpoint.
        """
        with self.atomic(durable=False):
            before = int(self.value("PRAGMA freelist_count"))
            list(self.execute(f"PRAGMA incremental_vacuum({pages})"))
            return before - int(self.value("PRAGMA freelist_count"))

    def size(self) -> int:
        """Bytes of the file and its write-ahead log."""
        beside = self.path.with_name(self.path.name + "-wal")
        return sum(path.stat().st_size for path in (self.path, beside) if path.exists())

    def checkpoint(self, mode: int = apsw.SQLITE_CHECKPOINT_TRUNCATE) -> bool:
        """Copy the write-ahead log into the file and empty it; whether it was emptied (readers may hold it)."""
        with self.connection() as connection:
            try:
                connection.wal_checkpoint(mode=mode)
            except (apsw.BusyError, apsw.LockedError):
                return False
        return True

    def _take(self) -> apsw.Connection:
        with self._guard:
            if self._closed:
                msg = "the memory store is closed"
                raise StoreError(msg)
            if self._idle:
                return self._idle.pop()
        with translated():
            connection = self._open()
        with self._guard:
            self._opened.add(connection)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._guard:
            if not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
            self._opened.discard(connection)
        connection.close(force=True)

    def _open(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(self._busy_timeout_ms)
        connection.enable_load_extension(enable=True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(enable=False)
        # Only heeded by a file without tables, and before the journal mode makes the first page.
        _pragma(connection, "auto_vacuum", "INCREMENTAL")
        _pragma(connection, "journal_mode", "WAL")
        _pragma(connection, "foreign_keys", "ON")
        _pragma(connection, "secure_delete", "ON")
        _pragma(connection, "cache_size", -_CACHE_KIB)
        _pragma(connection, "temp_store", "MEMORY")
        return connection


def _run(connection: apsw.Connection, statement: str, bindings: Bindings = ()) -> apsw.Cursor:
    # apsw's stubs name collections.abc.Buffer, which Python 3.11 lacks, so pyright knows its parameters only in part.
    return connection.execute(statement, bindings)  # pyright: ignore[reportUnknownMemberType]


def _pragma(connection: apsw.Connection, name: str, value: str | int) -> None:
    connection.pragma(name, value)  # pyright: ignore[reportUnknownMemberType]


@contextmanager
def _ending(connection: apsw.Connection) -> Generator[None]:
    """Commit the open transaction, or roll it back when something was raised inside."""
    try:
        yield
        _run(connection, "COMMIT")
    except BaseException:
        # SQLite itself rolls back on some errors, such as a full disk.
        if connection.in_transaction:
            _run(connection, "ROLLBACK")
        raise


@contextmanager
def _savepoint(connection: apsw.Connection) -> Generator[None]:
    _run(connection, "SAVEPOINT nested")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            _run(connection, "ROLLBACK TO nested")
            _run(connection, "RELEASE nested")
        raise
    _run(connection, "RELEASE nested")


def _make_private(path: Path) -> None:
    """Make the folder 0700 and the file 0600 before SQLite does, which would follow the umask."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        msg = f"the memory store can't be written ({error.strerror}): check EBBING_HOME and its permissions"
        raise StoreReadOnlyError(msg) from error
