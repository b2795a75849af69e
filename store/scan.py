"""Searching the database's own files for bytes, without letting go of the locks that SQLite holds on them.

A process that opens and closes one of these files by itself drops all its locks on it, SQLite's too (POSIX). Another
process that ends then takes itself for the last one and removes the log, and what this process writes after that is
lost. So the bytes are read through SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import apsw

from .database import Database

_BLOCK: Final = 1 << 20
_FILE: Final = 0
_LOG: Final = 1


def files_holding(database: Database, probes: Sequence[bytes]) -> list[Path]:
    """Which of the database file and its write-ahead log contain any of some byte strings.

    Raises:
        StoreError: if they can't be read.
    """
    log = database.path.with_name(database.path.name + "-wal")
    wanted = [probe for probe in probes if probe]
    with database.snapshot(), database.connection() as connection:
        # A snapshot begins with its first read, which also opens the log.
        database.value("SELECT count(*) FROM sqlite_master")
        return [
            path
            for path, which in ((database.path, _FILE), (log, _LOG))
            if any(probe in window for window in _windows(connection, path, which, wanted) for probe in wanted)
        ]


def _windows(connection: apsw.Connection, path: Path, which: int, probes: Sequence[bytes]) -> Iterator[bytes]:
    """The file's bytes in blocks, each with enough of the one before to find what lies across them."""
    size = path.stat().st_size if path.exists() else 0
    overlap = max((len(probe) for probe in probes), default=1) - 1
    kept = b""
    for offset in range(0, size, _BLOCK):
        _, block = connection.read("main", which, offset, min(_BLOCK, size - offset))
        window = kept + block
        yield window
        kept = window[len(window) - overlap :] if overlap else b""
