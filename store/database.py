"""The one door to SQLite: connections, transactions, retries.

A connection belongs to one thread at a time: the first use in a thread takes one from a small pool, and nested calls
share it, so that everything a caller does inside `atomic()` is one transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from ..schemas.closing import Closing
from ..schemas.errors import StoreBusyError, StoreError
from . import files
from .connections import Bindings, ending, open_connection, patient, run, savepoint, set_pragma
from .errors import BUSY, CLOSED, convert, translated

Row = tuple[Any, ...]
T = TypeVar("T")

_IDLE_CONNECTIONS: Final = 4

NOTHING = apsw.SQLITE_TXN_NONE
READING = apsw.SQLITE_TXN_READ
WRITING = apsw.SQLITE_TXN_WRITE


class Database(Closing):
    """One SQLite file, shared by the threads of this process and by other processes."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = 10_000) -> None:
        """Prepare the file's folder (0700) and file (0600); nothing is read yet.

        Raises:
            StoreCorruptError: if the file is missing or empty although its log or its backups are there.
            StoreFullError: if the disk has no room for it.
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
        files.prepare(path)

    def close(self, *, wait_seconds: float = 0.3) -> None:
        """Close the connections nobody uses; those in use are interrupted and close when they come back.

        A write that is under way gets `wait_seconds` to end by itself; after that its transaction is rolled back.
        """
        finished = self._writer.acquire(timeout=wait_seconds)
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
            self._opened.difference_update(idle)
            # Under the guard: a connection that comes back now is closed only after it was interrupted.
            for connection in self._opened:
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

        `durable=False` skips the fsync at commit: for bookkeeping whose loss in a power cut costs nothing. The
        outermost call decides.

        Raises:
            StoreBusyError: if others held the write lock for longer than the busy timeout.
            StoreError: what SQLite reported, in our terms; everything inside is rolled back. Also when begun inside
                of a snapshot, which another process's write in between would make fail.
        """
        with self.connection() as connection, translated():
            if self._is_inside(connection):
                with self._nested(connection):
                    yield
                return
            with self._turn():
                set_pragma(connection, "synchronous", "FULL" if durable else "NORMAL")
                run(connection, "BEGIN IMMEDIATE")
                with self._outermost(), ending(connection):
                    yield
                    self._refuse_closed()
                    self._refuse_broken()

    @contextmanager
    def part(self) -> Generator[None]:
        """A part of the caller's transaction, or one of its own where there is none.

        Cheaper than a nested `atomic`, since it has no savepoint: when something is raised inside, what was written
        until then can only be undone by a transaction around it. Whoever swallows the error can't commit.

        Raises:
            StoreError: like `atomic`.
        """
        held = self._begun()
        if held is None:
            with self.atomic():
                yield
            return
        _refuse_reading(held)
        try:
            yield
        except BaseException as error:
            self._local.broken = True
            if isinstance(error, apsw.Error):
                raise convert(error) from error
            raise

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """One read transaction: every read inside sees the same moment.

        Raises:
            StoreError: what SQLite reported, in our terms.
        """
        if self._begun() is not None:
            with translated():
                yield
            return
        with self.connection() as connection, translated():
            run(connection, "BEGIN")
            with self._outermost(), ending(connection):
                yield

    def execute(self, statement: str, bindings: Bindings = ()) -> apsw.Cursor:
        """Run one statement inside `atomic()` or `snapshot()`, whose connection it needs.

        Raises:
            StoreError: if called outside both, or if the store was closed meanwhile.
        """
        return run(self._held(), statement, bindings)

    def executemany(self, statement: str, rows: Sequence[Bindings]) -> None:
        """Run one statement for each of `rows`, inside `atomic()`.

        Raises:
            StoreError: if called outside of a transaction, or if the store was closed meanwhile.
        """
        self._held().executemany(statement, rows)  # pyright: ignore[reportUnknownMemberType] - see run

    def rows(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of a query, in a snapshot of its own unless one is open."""
        return self._read(statement, bindings, list)

    def row(self, statement: str, bindings: Bindings = ()) -> Row | None:
        """The first row of a query, or None."""
        return self._read(statement, bindings, apsw.Cursor.fetchone)

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
        """Copy the write-ahead log into the file and empty it; whether it was emptied (readers may hold it).

        Raises:
            StoreError: what SQLite reported, in our terms, such as a full disk.
        """
        with self.connection() as connection, translated():
            try:
                connection.wal_checkpoint(mode=mode)
            except (apsw.BusyError, apsw.LockedError):
                return False
        return True

    def tidy_log(self) -> bool:
        """`checkpoint` in nobody's way: what can be copied without a lock is copied first, and nobody is waited for.

        Raises:
            StoreError: what SQLite reported, in our terms, such as a full disk.
        """
        self.checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
        with self.connection() as connection:
            connection.set_busy_handler(None)
            try:
                return self.checkpoint()
            finally:
                connection.set_busy_handler(patient(self._busy_timeout_ms / 1000))

    def _read(self, statement: str, bindings: Bindings, take: Callable[[apsw.Cursor], T]) -> T:
        if self._begun() is None:
            with self.snapshot():
                return take(self.execute(statement, bindings))
        with translated():
            return take(self.execute(statement, bindings))

    def _held(self) -> apsw.Connection:
        held = self._begun()
        if held is None:
            raise StoreError("a statement was run outside of a transaction")
        self._refuse_closed()
        return held

    def _begun(self) -> apsw.Connection | None:
        """This thread's connection if it has begun a transaction, which must then still be open."""
        held: apsw.Connection | None = getattr(self._local, "connection", None)
        return held if held is not None and self._is_inside(held) else None

    def _is_inside(self, connection: apsw.Connection) -> bool:
        """Whether this thread has begun a transaction, which must then still be open.

        Raises:
            StoreError: if SQLite has ended it, as it does on some errors: what a caller who went on were to write now
                would be kept, although the rest of its transaction is gone.
        """
        inside = bool(getattr(self._local, "inside", False))
        if inside and not connection.in_transaction:
            raise StoreError("the transaction was rolled back: nothing of it was stored")
        return inside

    @contextmanager
    def _outermost(self) -> Generator[None]:
        self._local.inside = True
        self._local.broken = False
        try:
            yield
        finally:
            self._local.inside = False

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(CLOSED)

    def _refuse_broken(self) -> None:
        if self._local.broken:
            raise StoreError("a part of the transaction failed: nothing of it was stored")

    @contextmanager
    def _turn(self) -> Generator[None]:
        """Wait for the other threads of this process, for no longer than for other processes."""
        if not self._writer.acquire(timeout=self._busy_timeout_ms / 1000):
            raise StoreBusyError(BUSY)
        try:
            self._refuse_closed()
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _nested(self, connection: apsw.Connection) -> Generator[None]:
        _refuse_reading(connection)
        broken = self._local.broken
        try:
            with savepoint(connection):
                yield
        except BaseException:
            self._local.broken = broken
            raise

    def _take(self) -> apsw.Connection:
        with self._guard:
            self._refuse_closed()
            if self._idle:
                return self._idle.pop()
        with translated():
            connection = open_connection(self.path, self._busy_timeout_ms)
        with self._guard:
            closed = self._closed
            if not closed:
                self._opened.add(connection)
        if closed:
            connection.close(force=True)
            raise StoreError(CLOSED)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._guard:
            # One whose transaction could not be ended is of no use to the next caller: closing it rolls back.
            if not self._closed and not connection.in_transaction and len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
            self._opened.discard(connection)
        connection.close(force=True)


def _refuse_reading(connection: apsw.Connection) -> None:
    if connection.txn_state() != WRITING:
        raise StoreError("a write was begun inside of a snapshot")
