"""The spool: lines that hooks append, taken in batches by whichever server gets to them first.

A file that is being taken is renamed to `taking-<id>-<offset>.jsonl`: the offset says how much of it is committed, so
that a crash at any point only means reading some events again, which the store recognises by their ids. The lock on a
taken file tells a live taker from a dead one. Lines that can't be read move to `bad.jsonl`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from ..hooks.appending import append, append_or_set_beside, lock_current
from ..hooks.places import make_private_folder
from ..schemas.errors import StoreBusyError
from ..schemas.ids import new_id
from .spool_event import SpoolEvent, read_line, write_line
from .spool_files import (
    BAD,
    EVENTS,
    at_offset,
    offset_of,
    set_apart,
    size_of,
    taking_name,
    translated_files,
)
from .spool_purge import plain, purge_file, remove_orphaned_drafts

_WAITING = "events*.jsonl"
_TAKEN = "taking-*.jsonl"
_LINE_FILES = (_WAITING, _TAKEN, BAD)
_PURGE_PASSES = 5
_BATCH_BYTES = 8 << 20
_WAIT_SECONDS = 2.0

__all__ = ["Batch", "Spool", "SpoolEvent"]


class Batch:
    """Some lines of a taken file, held by this process until `done` or `release`; a context manager that releases.

    Attributes:
        lines: the events, oldest first.
        bad: the lines that aren't events; `done` sets them aside.
    """

    __slots__ = ("_end", "_file", "_path", "_wait", "bad", "lines")

    def __init__(self, path: Path, file: BinaryIO, *, limit: int, wait: float) -> None:
        """Read up to `limit` lines of a locked file, from the offset in its name."""
        self._path = path
        self._wait = wait
        self._file = file
        file.seek(offset_of(path))
        raw = list(_some(file, limit))
        self._end = file.tell()
        read = [read_line(line) for line in raw]
        self.lines: tuple[SpoolEvent, ...] = tuple(event for event in read if event is not None)
        self.bad: tuple[bytes, ...] = tuple(line for line, event in zip(raw, read, strict=True) if event is None)

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release: what isn't done is taken again."""
        self.release()

    def done(self) -> None:
        """Forget these lines: the caller has committed the events.

        Raises:
            StoreError: if the bad lines can't be set aside; nothing was forgotten then.
        """
        with translated_files():
            self._keep_bad_lines()
            is_all = self._end >= os.fstat(self._file.fileno()).st_size
            self.release()
            # Between these two another process may read the file again; it may then be done with it first.
            if is_all:
                self._path.unlink(missing_ok=True)
            elif self._path.exists():
                self._path.rename(at_offset(self._path, self._end))

    def release(self) -> None:
        """Let go of the file; without `done`, its lines are taken again."""
        self._file.close()

    def _keep_bad_lines(self) -> None:
        if self.bad:
            lines = b"".join(line.rstrip(b"\r\n") + b"\n" for line in self.bad)
            append(str(self._path.with_name(BAD)), lines, wait=self._wait)


class Spool:
    """The folder that hooks append to."""

    def __init__(self, folder: Path, *, wait: float = _WAIT_SECONDS) -> None:
        """Nothing is read or made yet; the folder may not exist. A file's lock is waited for `wait` seconds."""
        self.folder = folder
        self._wait = wait

    def take(self, limit: int = 1000) -> Batch | None:
        """Up to `limit` lines that no other process holds, oldest file first; None when there are none.

        What a dead process had taken comes first.

        Raises:
            StoreError: if the files can't be read.
        """
        with translated_files():
            for path in self._files(_TAKEN):
                if batch := self._claimed(path, limit):
                    return batch
            for path in self._files(_WAITING):
                taken = self.folder / taking_name(_fresh_id(), 0)
                if set_apart(path, taken, wait=self._wait) and (batch := self._claimed(taken, limit)):
                    return batch
        return None

    def append(self, events: Iterable[SpoolEvent]) -> None:
        """Put events into the spool as a hook does.

        Raises:
            StoreError: if they can't be written; then none was.
            InvalidInputError: if a payload holds something JSON has no form for.
        """
        lines = b"".join(write_line(event) for event in events)
        if not lines:
            return
        with translated_files():
            make_private_folder(str(self.folder))
            append_or_set_beside(str(self.folder / EVENTS), lines, unique=_fresh_id(), wait=self._wait)

    def purge(self, texts: Iterable[str]) -> int:
        """Remove the lines that contain one of the texts, also among those set aside; how many those were.

        Raises:
            StoreBusyError: if another process held a file for too long; call again.
            StoreError: if a file can't be rewritten.
        """
        wanted = plain(texts)
        if not wanted:
            return 0
        removed = 0
        with translated_files():
            for _ in range(_PURGE_PASSES):
                found, missed = self._purge_pass(wanted)
                removed += found
                if not missed:
                    remove_orphaned_drafts(self.folder)
                    return removed
        raise StoreBusyError("the spool is busy: its files keep being taken; try again in a moment")

    def pending_bytes(self) -> int:
        """Bytes of lines that wait to be committed."""
        waiting = sum(size_of(path) for path in self._files(_WAITING))
        return waiting + sum(max(0, size_of(path) - offset_of(path)) for path in self._files(_TAKEN))

    def bad_bytes(self) -> int:
        """Bytes of lines that couldn't be read and were set aside."""
        return size_of(self.folder / BAD)

    def files(self) -> list[Path]:
        """Every file that holds lines: waiting, taken, set aside."""
        return [path for pattern in _LINE_FILES for path in self._files(pattern)]

    def _claimed(self, path: Path, limit: int) -> Batch | None:
        """The next lines of a taken file; None if another process holds it or nothing is left in it."""
        try:
            file = path.open("r+b")
        except FileNotFoundError:
            return None
        if not lock_current(file.fileno(), str(path)):
            file.close()
            return None
        batch = Batch(path, file, limit=limit, wait=self._wait)
        if batch.lines or batch.bad:
            return batch
        batch.done()
        return None

    def _purge_pass(self, wanted: Sequence[str]) -> tuple[int, bool]:
        """Lines removed, and whether a file was renamed before its lock was had, so that another pass is needed."""
        removed, missed = 0, False
        for pattern in _LINE_FILES:
            # Listed one pattern after the other: lines only ever move on to a later one.
            for path in self._files(pattern):
                try:
                    removed += purge_file(path, wanted, wait=self._wait)
                except FileNotFoundError:
                    missed = True
        return removed, missed

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self.folder.glob(pattern))


def _some(file: BinaryIO, limit: int) -> Iterator[bytes]:
    """The next `limit` lines that aren't blank, fewer where holding them would take much memory."""
    size = 0
    while limit and size < _BATCH_BYTES and (line := file.readline()):
        if line.strip():
            limit, size = limit - 1, size + len(line)
            yield line


def _fresh_id() -> str:
    return new_id(time.time_ns() // 1000)
