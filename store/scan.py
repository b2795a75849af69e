"""Searching the database's own files for bytes, without letting go of the locks that SQLite holds on them.

A process that opens and closes one of these files by itself drops all its locks on it, SQLite's too (POSIX). Another
process that ends then takes itself for the last one and removes the log, and what this process writes after that is
lost. So the bytes are read through SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from .database import Database
from .traces import Traces

_BLOCK: Final = 1 << 20
_FILE: Final = 0
_LOG: Final = 1


def found_in_files(database: Database, traces: Traces) -> dict[Path, set[bytes]]:
    """The windows that stand in the database file and in its write-ahead log, by file.

    Raises:
        StoreError: if they can't be read.
    """
    log = database.path.with_name(database.path.name + "-wal")
    with database.snapshot(), database.connection() as connection:
        # A snapshot begins with its first read, which also opens the log.
        database.value("SELECT count(*) FROM sqlite_master")
        return {
            path: traces.found_in(_blocks(connection, path, which))
            for path, which in ((database.path, _FILE), (log, _LOG))
        }


def _blocks(connection: apsw.Connection, path: Path, which: int) -> Iterator[bytes]:
    size = path.stat().st_size if path.exists() else 0
    for offset in range(0, size, _BLOCK):
        yield connection.read("main", which, offset, min(_BLOCK, size - offset))[1]
