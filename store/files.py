"""The database file among its neighbours: private from its first byte, and never made anew in place of a lost one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..schemas.errors import StoreCorruptError
from .errors import convert_os, translated

BACKUP_FOLDER: Final = "backups"
PROMPT_FOLDER: Final = "soft-prompts"
BACKUP_FILES: Final = "memory-*.db"
_OTHERS: Final = 0o077
_PRIVATE: Final = 0o600


def prepare(path: Path) -> None:
    """Make the database's folder (0700) and file (0600) before SQLite does, which would follow the umask.

    A file that others can read, as a copied backup may be, becomes private too.

    Raises:
        StoreCorruptError: if the file is missing or empty, but its log, backups or soft prompts say that there was one;
            if its log is missing, or that of another database.
        StoreFullError: if the disk has no room for it.
        StoreReadOnlyError: if the folder or file can't be made or written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        refuse_lost(path)
        refuse_strange(path)
        _make(path)
        for file in (path, *_beside(path)):
            _hide(file)
    except OSError as error:
        raise convert_os(error, "the memory store can't be written") from error


def refuse_lost(path: Path) -> None:
    """Let nobody begin an empty store where a full one was lost.

    SQLite would: it takes a missing or empty file for a new database and deletes the log that lies beside it.

    Raises:
        StoreCorruptError: if the file is missing or empty although its log or its backups are there; says the way out.
    """
    # The log is looked at first: another process may be making file and log, in that order, right now.
    has_log = any(_size(file) for file in _beside(path) if file.name.endswith("-wal"))
    if (has_log or had_memories(path)) and not _size(path):
        raise StoreCorruptError(lost(path, backups_of(path)))


def had_memories(path: Path) -> bool:
    """Whether what lies around a database says that it once held memories: backups, soft prompts made of them."""
    prompts = (path.parent / PROMPT_FOLDER).glob("*.md")
    return bool(backups_of(path)) or any(_size(prompt) for prompt in prompts)


def refuse_strange(path: Path) -> None:
    """See `log_check.refuse_strange_log`; a database that isn't there has no log.

    Raises:
        StoreCorruptError: if the log beside a database is not its own, or is missing.
    """
    # Not at the top: what opens databases is above this.
    from .log_check import refuse_strange_log

    if _size(path):
        with translated():
            refuse_strange_log(path)


def lost(path: Path, backups: list[Path]) -> str:
    """What to say and advise when memories were kept at `path` and are not there any more."""
    # Not at the top: what looks into backups opens databases, which is above this.
    from .soundness import newest_sound_backup

    said = f"the memory store {path} is missing or empty, although there was one"
    backup = newest_sound_backup(path)
    away = f"move {path.name}-wal and {path.name}-shm out of the folder if they are there"
    if backup is not None:
        return (
            f"{said}: end all ebbing processes and run `ebbing restore {backup}`; by hand, {away} and copy that"
            f" file to {path}; to begin an empty store instead, move {backup.parent} out of the folder"
        )
    if (path.parent / PROMPT_FOLDER).is_dir():
        away = f"{away}, and {path.parent / PROMPT_FOLDER}"
    if backups:
        away = f"{away}, and {backups[-1].parent} with its backups, of which none is sound"
    return f"{said}: put {path.name} back where it was; to begin an empty store instead, {away}"


def backups_of(path: Path) -> list[Path]:
    """The backups of a database file, oldest first."""
    return sorted((path.parent / BACKUP_FOLDER).glob(BACKUP_FILES))


def _make(path: Path) -> None:
    # An existing file is not opened: closing it would let go of the locks that SQLite holds on it for this process,
    # and another process could then remove the log under our feet.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _PRIVATE))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _beside(path: Path) -> Iterator[Path]:
    return (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _hide(path: Path) -> None:
    # Another process may just have removed its log, and a file of somebody else's is not ours to change.
    with suppress(FileNotFoundError, PermissionError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
