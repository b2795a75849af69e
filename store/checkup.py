"""Looks at a store without changing it: what `ebbing doctor` reports of the database and its indexes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from .errors import translated
from .faults import Fault, faults
from .journal import ERASED
from .migrations import known_migrations

_SAID = 20
_COARSE = "coarse_{}"


@dataclass(frozen=True, slots=True)
class CoarseIndex:
    """The coarse index of one model: the rows it holds (None if the table is gone) and the rows it should hold."""

    model: str
    rows: int | None
    expected: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a lease and until when (µs since the epoch)."""

    name: str
    holder: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found. Everything after `integrity` is empty when the schema isn't the one this version knows.

    Attributes:
        schema: the number of the newest migration in the file, 0 for an empty one.
        known_schema: the number this version knows.
        integrity: SQLite's complaints, empty when the file is sound.
        memories: how many memories there are.
        unindexed: how many memories have no words in the lexical index.
        orphaned: how many entries of the lexical index belong to no memory.
        coarse: one entry for each model.
        leases: those that are recorded, expired ones too.
        latest_activity: the latest instant (µs) that each scope's clock has seen.
        faults: what is wrong with rows and indexes.
        erased: the ids of memories that somebody erased.
    """

    schema: int
    known_schema: int
    integrity: tuple[str, ...] = ()
    memories: int = 0
    unindexed: int = 0
    orphaned: int = 0
    coarse: tuple[CoarseIndex, ...] = ()
    leases: tuple[Lease, ...] = ()
    latest_activity: tuple[tuple[str, int], ...] = ()
    faults: tuple[Fault, ...] = ()
    erased: tuple[str, ...] = ()


def versions() -> dict[str, str]:
    """The versions of SQLite, its driver and the vector extension, as they run here.

    Raises:
        StoreError: if the extension can't be loaded.
    """
    connection = apsw.Connection(":memory:")
    try:
        with translated():
            _load_extension(connection)
            vec = _value(connection, "SELECT vec_version()")
    finally:
        connection.close()
    return {"sqlite": apsw.sqlite_lib_version(), "apsw": apsw.apsw_version(), "sqlite-vec": str(vec)}


def examine(path: Path) -> Checkup:
    """Look at a database file through a connection that can't write.

    Raises:
        StoreCorruptError: if it isn't a database, or is too damaged to be looked at.
        StoreError: if it can't be read.
    """
    known = known_migrations()[-1].number
    with _reading(path) as connection:
        schema = _schema(connection)
        integrity = _integrity(connection)
        if schema != known:
            return Checkup(schema, known, integrity)
        found = tuple(faults(connection))
        if any(fault.part == "schema" and not fault.derivable for fault in found):
            return Checkup(schema, known, integrity, faults=found)
        return Checkup(
            schema,
            known,
            integrity,
            memories=_value(connection, "SELECT count(*) FROM memory"),
            unindexed=_counted(connection, "memory WHERE seq NOT IN (SELECT id FROM lexical_docsize)") or 0,
            orphaned=_counted(connection, "lexical_docsize WHERE id NOT IN (SELECT seq FROM memory)") or 0,
            coarse=tuple(_coarse(connection)),
            leases=tuple(Lease(*row) for row in _rows(connection, "SELECT name, holder, expires_at FROM lease")),
            latest_activity=tuple(
                (key, at)
                for key, at in _rows(connection, "SELECT key, clock_latest FROM scope WHERE clock_latest IS NOT NULL")
            ),
            faults=found,
            erased=tuple(_texts(connection, ERASED)),
        )


def backups_in(home: Path) -> list[Path]:
    """The backups in a home folder, oldest first, without opening the database."""
    return sorted((home / "backups").glob("memory-*.db"))


@contextmanager
def _reading(path: Path) -> Generator[apsw.Connection]:
    with translated():
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _load_extension(connection)
            _rows(connection, "BEGIN")
            yield connection
        finally:
            connection.close(force=True)


def _load_extension(connection: apsw.Connection) -> None:
    connection.enable_load_extension(enable=True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(enable=False)


def _integrity(connection: apsw.Connection) -> tuple[str, ...]:
    try:
        return tuple(text for text in _texts(connection, f"PRAGMA integrity_check({_SAID})") if text != "ok")
    except apsw.SQLError as error:
        # An index that can't even be opened.
        return (str(error),)


def _schema(connection: apsw.Connection) -> int:
    if not _rows(connection, "SELECT 1 FROM sqlite_master WHERE name = 'migration'"):
        return 0
    return int(_value(connection, "SELECT coalesce(max(number), 0) FROM migration"))


def _coarse(connection: apsw.Connection) -> Generator[CoarseIndex]:
    tables = set(_texts(connection, "SELECT name FROM sqlite_master WHERE name LIKE 'coarse%'"))
    expected = (
        "SELECT m.id, m.name, coalesce(sum(v.chunks), 0)"
        " FROM model m LEFT JOIN vector v ON v.model = m.id GROUP BY m.id"
    )
    for number, name, rows in _rows(connection, expected):
        table = _COARSE.format(number)
        found = _counted(connection, table) if table in tables else None
        yield CoarseIndex(name, found, rows)


def _counted(connection: apsw.Connection, source: str) -> int | None:
    """How many rows there are; None where they can't be read, which the faults tell of."""
    try:
        return int(_value(connection, f"SELECT count(*) FROM {source}"))
    except apsw.Error:
        return None


def _rows(connection: apsw.Connection, statement: str) -> list[tuple[Any, ...]]:
    # apsw's stubs name a type that Python 3.11 lacks, so pyright knows its parameters only in part.
    return list(connection.execute(statement))  # pyright: ignore[reportUnknownMemberType]


def _texts(connection: apsw.Connection, statement: str) -> list[str]:
    return [str(row[0]) for row in _rows(connection, statement)]


def _value(connection: apsw.Connection, statement: str) -> Any:
    return _rows(connection, statement)[0][0]
