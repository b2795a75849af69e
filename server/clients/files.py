"""Reading and replacing clients' files: whole or not at all, with their mode, through their links."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ...schemas.errors import EbbingError, InvalidInputError


def read(path: Path) -> bytes | None:
    """What a file holds; None if there is none.

    Raises:
        InvalidInputError: if it can't be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInputError(f"{path} can't be read: {error.strerror}") from error


def replace(path: Path, before: bytes | None, after: bytes | None) -> None:
    """Let a file hold `after`, or be gone with None; its folders are made.

    Raises:
        EbbingError: if it no longer holds `before`, or can't be written; it is then as it was.
    """
    if read(path) != before:
        raise EbbingError(f"{path} was changed by another program in this moment; run the command again")
    try:
        if after is None:
            path.unlink(missing_ok=True)
        else:
            _write(Path(os.path.realpath(path)), after)
    except OSError as error:
        raise EbbingError(f"{path} can't be written: {error.strerror}") from error


def missing_folders(path: Path) -> list[Path]:
    """The folders above a file that would have to be made, outermost first."""
    missing: list[Path] = []
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    return missing[::-1]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those of the folders that nothing is in any more, innermost first."""
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
    try:
        # Whatever the draft's mode is now, nobody else may read what an old file kept from them.
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _take_after(draft, target.stat())
        os.replace(draft, target)  # noqa: PTH105 - the same in one word
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _take_after(draft: Path, old: os.stat_result) -> None:
    """Give a new file the mode of the old one, and its owner, who may be another user than the one of sudo."""
    draft.chmod(stat.S_IMODE(old.st_mode))
    if sys.platform != "win32" and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.chown(draft, old.st_uid, old.st_gid)
