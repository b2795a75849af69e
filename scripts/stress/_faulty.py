"""An ebbing whose disk fails now and then: python _faulty.py SEED [arguments of ebbing].

SQLite's writes, truncations and syncs go through a VFS that lets some of them fail, half of the failing writes after a
part was written; renames and syncs of the other files fail as often. Whatever fails says why, as a full disk or a
broken one would.
"""

from __future__ import annotations

import errno
import functools
import os
import random
import sys
from collections.abc import Callable
from typing import Any, Final

import apsw

from ebbing.server.cli import main

WRITES: Final = 0.002
SYNCS: Final = 0.01
_FILES: Final = ("replace", "rename", "fsync")


class FaultyFile(apsw.VFSFile):
    """A file that can't always be written."""

    def __init__(self, base: str, rng: random.Random, name: Any, flags: list[int]) -> None:
        """Open `name` with the VFS `base`."""
        super().__init__(base, name, flags)
        self._rng = rng

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        """Write, or write half of it, or nothing."""
        if self._rng.random() < WRITES:
            if self._rng.random() < 1 / 2:
                super().xWrite(data[: len(data) // 2], offset)  # pyright: ignore[reportUnknownMemberType]
            raise apsw.FullError
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType]

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        """Truncate, or not."""
        if self._rng.random() < SYNCS:
            raise apsw.IOError
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        """Sync, or not."""
        if self._rng.random() < SYNCS:
            raise apsw.IOError
        super().xSync(flags)


class FaultyVFS(apsw.VFS):
    """The system's own VFS with files that fail."""

    def __init__(self, rng: random.Random) -> None:
        """Become what every connection uses."""
        self._base = apsw.vfs_names()[0]
        self._rng = rng
        super().__init__("faulty", self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802 - SQLite's name
        """Open a file."""
        return FaultyFile(self._base, self._rng, name, flags)


def flaky(rng: random.Random, call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the system that fails now and then."""

    @functools.wraps(call)
    def failing(*arguments: Any, **named: Any) -> Any:
        if rng.random() < SYNCS:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return call(*arguments, **named)

    return failing


def run() -> int:
    """Be ebbing; returns its exit code."""
    rng = random.Random(int(sys.argv.pop(1)))  # noqa: S311 - which write fails is no secret
    vfs = FaultyVFS(rng)
    for name in _FILES:
        setattr(os, name, flaky(rng, getattr(os, name)))
    try:
        return main()
    finally:
        vfs.unregister()


if __name__ == "__main__":
    sys.exit(run())
