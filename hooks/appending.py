"""Appending lines to a file that several processes append to while another takes it away.

A writer opens the file, locks it, and makes sure that the path still names what it holds: whoever takes the file
renames it under the same lock, so that a line is either in the file that was taken or in the next one.
"""

from __future__ import annotations

import os
import sys
import time

_PAUSE_SECONDS = 0.004


def append(path: str, lines: bytes, *, wait: float) -> None:
    """Append whole lines (each ending in a newline) to `path`, all or none.

    A half-written line that a killed writer left is ended first, so that it spoils no other.

    Raises:
        TimeoutError: if others held the lock for `wait` seconds.
        OSError: if the lines can't be written, such as on a full disk; the file is then as it was.
    """
    descriptor = open_locked(path, wait=wait, create=True)
    try:
        _write_whole(descriptor, lines)
    finally:
        os.close(descriptor)


def append_or_set_beside(path: str, lines: bytes, *, unique: str, wait: float) -> None:
    """Append to `path`, or to a file of our own beside it where its lock can't be had within `wait` seconds.

    Raises:
        OSError: if neither can be written.
    """
    try:
        append(path, lines, wait=wait)
    except TimeoutError:
        stem, suffix = os.path.splitext(path)
        append(f"{stem}-{unique}{suffix}", lines, wait=wait)


def open_locked(path: str, *, wait: float, create: bool) -> int:
    """A descriptor of the file that `path` names, locked until it is closed.

    Raises:
        TimeoutError: if others held the lock for `wait` seconds.
        FileNotFoundError: if there is no such file and `create` is false.
        OSError: if it can't be opened.
    """
    from .places import open_private

    deadline = time.monotonic() + wait
    while True:
        descriptor = open_private(path, os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0))
        if lock_current(descriptor, path):
            return descriptor
        os.close(descriptor)
        if time.monotonic() >= deadline:
            raise TimeoutError(path)
        time.sleep(_PAUSE_SECONDS)


def lock_current(descriptor: int, path: str) -> bool:
    """Lock an open file without waiting; whether that worked and `path` still names it."""
    try:
        _lock(descriptor)
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except (BlockingIOError, PermissionError, FileNotFoundError):
        return False


def _write_whole(descriptor: int, lines: bytes) -> None:
    size = os.fstat(descriptor).st_size
    data = memoryview(lines if _ends_a_line(descriptor, size) else b"\n" + lines)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _ends_a_line(descriptor: int, size: int) -> bool:
    if not size:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


if sys.platform == "win32":
    import msvcrt

    # Windows' locks also stop others from reading the bytes, so the byte that stands for the file lies far behind it.
    _LOCKED_BYTE = 0x7FFF_FFF0

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
