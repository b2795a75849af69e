"""The files of the spool: their names, their locks, and what the system's errors become."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..hooks.appending import open_locked
from ..hooks.places import write_private
from ..schemas.errors import StoreBusyError, StoreError, StoreFullError, StoreReadOnlyError

EVENTS = "events.jsonl"
BAD = "bad.jsonl"

_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP, errno.EEXIST)


@contextmanager
def translated_files() -> Generator[None]:
    """Turn the file system's errors raised inside into our tree.

    Raises:
        StoreError: the member of the tree that says what happened.
    """
    try:
        yield
    except TimeoutError as error:
        raise StoreBusyError("the spool is busy: another process holds it; try again in a moment") from error
    except OSError as error:
        raise _converted(error) from error


def taking_name(unique: str, offset: int) -> str:
    """The name of a taken file of which `offset` bytes are committed."""
    return f"taking-{unique}-{offset}.jsonl"


def offset_of(path: Path) -> int:
    """How many bytes of a taken file are committed, by its name."""
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def at_offset(path: Path, offset: int) -> Path:
    """The path of a taken file once `offset` bytes of it are committed."""
    return path.with_name(f"{path.stem.rpartition('-')[0]}-{offset}.jsonl")


def size_of(path: Path) -> int:
    """Bytes of a file; 0 if it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def set_apart(path: Path, target: Path, *, wait: float) -> bool:
    """Rename a file that hooks append to, between two of their writes.

    False if it is gone, or stays locked for `wait` seconds.
    """
    if sys.platform == "win32":
        return _renamed_if_closed(path, target)
    try:
        with locked(path, wait=wait):
            path.rename(target)
    except (FileNotFoundError, TimeoutError):
        return False
    # Not under the lock: a hook that waits for it has only a tenth of a second.
    _sync(target)
    _sync(target.parent)
    return True


def replace_locked(path: Path, descriptor: int, content: bytes) -> None:
    """Give a file that we hold locked other content, whole or not at all."""
    if sys.platform == "win32":
        # A file that is open can't be replaced there, and closing it would let a writer in between.
        os.ftruncate(descriptor, 0)
        os.write(descriptor, content)
        return
    write_private(path, content)
    _sync(path.parent)


@contextmanager
def locked(path: Path, *, wait: float) -> Generator[int]:
    """A descriptor of a file that nobody else appends to, takes or rewrites meanwhile.

    Raises:
        TimeoutError: if others held it for `wait` seconds.
        OSError: if it can't be opened.
    """
    descriptor = open_locked(str(path), wait=wait, create=False)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _renamed_if_closed(path: Path, target: Path) -> bool:
    """Windows renames no file that anyone has open, which is all the exclusion that is needed."""
    try:
        path.rename(target)
    except (FileNotFoundError, PermissionError):
        return False
    return True


def _converted(error: OSError) -> StoreError:
    if error.errno in _FULL:
        return StoreFullError("the disk is full: nothing was changed in the spool")
    if error.errno in _FORBIDDEN:
        return StoreReadOnlyError("the spool can't be written: check the permissions of EBBING_HOME")
    return StoreError(f"the spool failed: {errno.errorcode.get(error.errno or 0, type(error).__name__)}")


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        # Another process has taken it from here and is done with it.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
