"""Whole copies of the database file, made while others use it; the newest few are kept."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from ..schemas.errors import StoreCorruptError
from ..schemas.instants import to_datetime
from .connections import load_vec, run
from .database import Database
from .errors import DAMAGED, convert_os, translated
from .files import BACKUP_FILES

KEPT: Final = 5
_UNFINISHED: Final = "memory-*.partial*"
_DRAFT: Final = "erasing-"
REPAIRED: Final = "repairing-"
"""How the name of a folder begins in which `refile` works."""
_DRAFT_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A backup that is being rewritten: the home that its copy lies in, and which file it was copied from."""

    backup: Path
    home: Path
    copy: Path
    was: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Backups:
    """The folder of backups of one database."""

    database: Database
    folder: Path
    kept: int = KEPT

    def make(self, label: str, now: int) -> Path:
        """Copy the database into a new 0600 file named after the instant (µs) and label; prune the oldest.

        Nobody writes meanwhile. Inside a transaction the copy shows what was there before it.

        Raises:
            StoreFullError: if there is no room for the copy; a partial copy is removed.
            StoreReadOnlyError: if the folder can't be made or written.
            StoreCorruptError: if the database is damaged: such a copy would push the good ones out.
            StoreError: if the database can't be read.
        """
        stamp = to_datetime(now).strftime("%Y%m%dT%H%M%S%f")
        target = self.folder / f"memory-{stamp}-{label}.db"
        try:
            with self.database.atomic(durable=False):
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._write(target)
                self._prune()
        except OSError as error:
            raise convert_os(error, "the backup could not be written") from error
        return target

    def write_to(self, target: Path) -> None:
        """Copy the database into a 0600 file of the caller's choice, whole or not at all; one of that name is replaced.

        Raises:
            StoreFullError: if there is no room for the copy.
            StoreReadOnlyError: if it can't be written there.
            StoreCorruptError: if the database is damaged.
        """
        partial = target.with_name(f"{target.name}.partial")
        try:
            with self.database.atomic(durable=False):
                try:
                    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
                    with translated():
                        self._copy(partial)
                    partial.replace(target)
                finally:
                    for left in target.parent.glob(f"{partial.name}*"):
                        left.unlink(missing_ok=True)
        except OSError as error:
            raise convert_os(error, "the backup could not be written") from error

    def list(self) -> list[Path]:
        """The backups, oldest first."""
        return sorted(self.folder.glob(BACKUP_FILES))

    @contextmanager
    def draft(self, backup: Path) -> Generator[Draft]:
        """A copy of a backup in a folder of its own, as a home whose store can be opened and changed; gone at the end.

        Raises:
            FileNotFoundError: if the backup is gone.
            OSError: if it can't be copied.
        """
        self._remove_old_drafts()
        home = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self.folder))
        try:
            was = _identity(backup)
            copy = home / self.database.path.name
            os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            shutil.copyfile(backup, copy)
            yield Draft(backup, home, copy, was)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def put_back(self, draft: Draft) -> bool:
        """Let a draft, whose store is closed, take its backup's place; False if that is gone or another one by now.

        Raises:
            OSError: if it can't be put there.
            StoreError: if the write lock can't be had.
        """
        with self.database.atomic(durable=False):
            try:
                if _identity(draft.backup) != draft.was:
                    return False
            except FileNotFoundError:
                return False
            draft.copy.replace(draft.backup)
        return True

    def is_draft(self, path: Path) -> bool:
        """Whether a file lies in the folder of a draft, which is gone in a moment."""
        return any(parent.parent == self.folder and parent.name.startswith(_DRAFT) for parent in path.parents)

    def _remove_old_drafts(self) -> None:
        for folder in (found for name in (_DRAFT, REPAIRED) for found in self.folder.glob(f"{name}*")):
            with suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime > _DRAFT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def _write(self, target: Path) -> None:
        self._remove_old_drafts()
        # Nobody else is copying, since copies are made under the write lock: these are of processes that died.
        self._remove_unfinished()
        partial = target.with_suffix(".partial")
        try:
            os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            with translated():
                self._copy(partial)
            partial.replace(target)
        finally:
            self._remove_unfinished()

    def _copy(self, target: Path) -> None:
        # A connection of its own: SQLite does not copy from one that is writing, and this thread's is.
        source = apsw.Connection(str(self.database.path), flags=apsw.SQLITE_OPEN_READWRITE)
        copy = apsw.Connection(str(target))
        try:
            with copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(-1)
            _refuse_damaged(copy)
        finally:
            copy.close(force=True)
            source.close(force=True)

    def _prune(self) -> None:
        for old in self.list()[: -self.kept]:
            old.unlink(missing_ok=True)

    def _remove_unfinished(self) -> None:
        for path in self.folder.glob(_UNFINISHED):
            path.unlink(missing_ok=True)


def _refuse_damaged(copy: apsw.Connection) -> None:
    load_vec(copy)
    if next(run(copy, "PRAGMA quick_check(1)"), ("ok",)) != ("ok",):
        raise StoreCorruptError(DAMAGED)


def _identity(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
