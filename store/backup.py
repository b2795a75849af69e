"""Whole copies of the database file, made while others use it; the newest few are kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from ..schemas.errors import StoreFullError
from ..schemas.instants import to_datetime
from .database import Database
from .errors import translated

KEPT = 5


@dataclass(frozen=True, slots=True)
class Backups:
    """The folder of backups of one database."""

    database: Database
    folder: Path
    kept: int = KEPT

    def make(self, label: str, now: int) -> Path:
        """Copy the database into a new 0600 file named after the instant (µs) and label; prune the oldest.

        Raises:
            StoreFullError: if the copy can't be written; a partial copy is removed.
            StoreError: if the database can't be read.
        """
        stamp = to_datetime(now).strftime("%Y%m%dT%H%M%S%f")
        target = self.folder / f"memory-{stamp}-{label}.db"
        partial = target.with_suffix(".partial")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with translated():
                self._copy(partial)
            partial.replace(target)
        except OSError as error:
            msg = f"the backup could not be written ({error.strerror}): free some disk space; nothing was changed"
            raise StoreFullError(msg) from error
        finally:
            partial.unlink(missing_ok=True)
        self._prune()
        return target

    def list(self) -> list[Path]:
        """The backups, oldest first."""
        return sorted(self.folder.glob("memory-*.db"))

    def remove_all_with(self, texts: Sequence[str]) -> list[Path]:
        """Delete backups that hold any of some texts, which erasing has promised away; returns which."""
        probes = [text.encode("utf-8")[:48] for text in texts if text]
        removed = [path for path in self.list() if any(probe in path.read_bytes() for probe in probes)]
        for path in removed:
            path.unlink(missing_ok=True)
        return removed

    def _copy(self, target: Path) -> None:
        copy = apsw.Connection(str(target))
        try:
            with self.database.connection() as source, copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(-1)
        finally:
            copy.close(force=True)

    def _prune(self) -> None:
        for old in self.list()[: -self.kept]:
            old.unlink(missing_ok=True)
