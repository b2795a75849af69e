"""A damaged file written anew from its sound tables, without indexes: on a copy, only put back when it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import apsw

from ..schemas.errors import StoreCorruptError
from .backup import REPAIRED
from .blueprint import DERIVED, blueprint, is_base_table
from .connections import load_vec, run
from .errors import convert_os
from .faults import LOST
from .files import BACKUP_FOLDER
from .restore import Restored, rewrite

_DERIVED: Final = " OR ".join(f"name LIKE '{name.replace('_', '!_')}%' ESCAPE '!'" for name in DERIVED)


def refile(database: Path, now: int) -> Restored:
    """Write a damaged database anew, as of `now` (µs), while nobody else uses it; what was there is kept.

    The indexes of words and embeddings come out empty: whoever calls this fills them.

    Raises:
        StoreCorruptError: if a table is damaged that can't be had from others; nothing was changed.
        StoreBusyError: if another process has the database open.
        StoreError: if something can't be read or written; nothing was changed.
    """
    folder = database.parent / BACKUP_FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=REPAIRED, dir=folder))
        try:
            return rewrite(database, now, lambda target: _mended(target, work))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise convert_os(error, "the store could not be repaired") from error


def _mended(target: apsw.Connection, work: Path) -> Path:
    """A sound file made of what a database holds."""
    path = work / "memory.db"
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    copy = apsw.Connection(str(path))
    try:
        with copy.backup("main", target, "main") as backup:
            while not backup.done:
                backup.step(-1)
    finally:
        copy.close(force=True)
    _strip(path)
    _complete(path)
    return path


def _strip(path: Path) -> None:
    """Take everything that can be made again out of the schema, and write the rest into a new file."""
    connection = apsw.Connection(str(path))
    try:
        load_vec(connection)
        run(connection, "PRAGMA writable_schema = ON")
        run(connection, f"DELETE FROM sqlite_schema WHERE {_DERIVED} OR tbl_name LIKE 'coarse!_%' ESCAPE '!'")
        run(connection, "DELETE FROM sqlite_schema WHERE type IN ('trigger', 'view')")
        run(connection, "DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        for name, sql in blueprint([]).items():
            if is_base_table(name, sql):
                run(connection, "UPDATE sqlite_schema SET sql = ? WHERE name = ? AND sql <> ?", (sql, name, sql))
        run(connection, "PRAGMA writable_schema = RESET")
        list(run(connection, "VACUUM"))
    finally:
        connection.close(force=True)


def _complete(path: Path) -> None:
    connection = apsw.Connection(str(path))
    try:
        load_vec(connection)
        models = [(int(number), int(size)) for number, size in run(connection, "SELECT id, dimension FROM model")]
        present = {str(name) for (name,) in run(connection, "SELECT name FROM sqlite_master")}
        for name, sql in blueprint(models).items():
            if name not in present and is_base_table(name, sql):
                raise StoreCorruptError(f"the table {name} is lost")
            if name not in present:
                list(run(connection, sql))
                # The tables that serve a virtual one come with it.
                present = {str(one) for (one,) in run(connection, "SELECT name FROM sqlite_master")}
        [lost] = next(run(connection, f"SELECT count(*) FROM ({LOST})"))
        if lost:
            raise StoreCorruptError(f"{lost:,} memories would be lost")
    finally:
        connection.close(force=True)
