"""Whether the write-ahead log beside a database is its own, and whether one that it needs is missing.

SQLite asks neither: it deletes nothing and warns of nothing, it applies whatever log lies there. A copy that is put in
the place of a database by hand then gets pages of another one, and a log that was taken away takes what was saved
last along. File formats: sqlite.org/fileformat2.html and sqlite.org/walformat.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from ..schemas.errors import StoreCorruptError
from .connections import load_vec, run
from .soundness import newest_sound_backup, opened

_LOG_HEADER: Final = struct.Struct(">IIIIIIII")
_FRAME: Final = struct.Struct(">IIIIII")
_INDEX_HEADER: Final = struct.Struct("=IIIBBHIIIIIIII")
_INDEX_VERSION: Final = 3_007_000
_MAGIC: Final = 0x377F0682
_COMPARED: Final = 64
_FRAMES: Final = 200_000
_SHRUNK: Final = 0.75


def refuse_strange_log(database: Path) -> None:
    """Open no database with the log of another, nor one whose log was taken away.

    Raises:
        StoreCorruptError: saying what is so and what to do; nothing was changed.
        OSError: if a file can't be read.
    """
    log = database.with_name(database.name + "-wal")
    if not log.exists():
        _refuse_lost_log(database)
    elif log.stat().st_size and database.stat().st_size and _is_strange(database, log):
        raise StoreCorruptError(
            f"{log} is not the log of {database}, which was probably replaced by hand: end all ebbing processes and"
            f" move {log.name} and {database.name}-shm out of the folder, or run `ebbing restore` with the copy that"
            " you want, which does so itself; nothing was changed"
        )


def _refuse_lost_log(database: Path) -> None:
    lost = _unsaved_frames(database.with_name(database.name + "-shm"))
    if not lost:
        return
    backup = newest_sound_backup(database)
    other = "" if backup is None else f", or run `ebbing restore {backup}`"
    raise StoreCorruptError(
        f"{database.name}-wal is missing, and with it what was saved last ({lost:,} pages): put it back into"
        f" {database.parent}; if it is gone for good, move {database.name}-shm out of the folder and run"
        f" `ebbing doctor --fix`{other}; nothing was changed"
    )


def _unsaved_frames(index: Path) -> int:
    """How many frames the log held that the database has not got, by what the last process left of its index."""
    # SQLite holds locks on this file while it is in use, which is never without a log beside it.
    with suppress(FileNotFoundError):
        data = index.read_bytes()[:100]
        size = _INDEX_HEADER.size
        if len(data) == 100 and data[:size] == data[size : 2 * size]:  # noqa: PLR2004 - the header and what follows it
            version, _, _, made, _, _, frames, *_ = _INDEX_HEADER.unpack(data[:size])
            [saved] = struct.unpack_from("=I", data, 2 * size)
            if version == _INDEX_VERSION and made:
                return max(0, int(frames) - int(saved))
    return 0


def _is_strange(database: Path, log: Path) -> bool:
    first, images, size = _committed(log)
    if not first:
        return False
    with opened(database, without_log=True) as connection:
        own, count = _identity(connection), _page_count(connection)
    if own is None:
        # Nothing has been copied from the log yet, or the file itself is damaged.
        return False
    with opened(database) as connection:
        if _identity(connection) != own:
            return True
    if _is_being_copied(database, first, images):
        return False
    # Put there since the log was written last: opening a log may change when its inode was, but not its content.
    newer = database.stat().st_ctime_ns > log.stat().st_mtime_ns
    return (newer or size < count * _SHRUNK) and _is_whole(database, alone=True) and not _is_whole(database)


def _committed(log: Path) -> tuple[int, list[bytes], int]:
    """The lowest page that a log has committed, all it was in turn, and how many pages the database has at the end."""
    with log.open("rb") as file:
        head = file.read(_LOG_HEADER.size)
        if len(head) < _LOG_HEADER.size:
            return 0, [], 0
        magic, _, page_size, _, *salts, _, _ = _LOG_HEADER.unpack(head)
        if magic & ~1 != _MAGIC:
            return 0, [], 0
        frames, size = _finished(_frames(file, page_size, salts))
        first = min((page for page, _ in frames), default=0)
        places = [place for page, place in frames if page == first]
        return first, [_at(file, place, page_size) for place in places[-_COMPARED:]], size


def _finished(frames: Iterator[tuple[int, int, int]]) -> tuple[list[tuple[int, int]], int]:
    """(page, place) of the frames of transactions that have ended, and the size of the database after the last."""
    done: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    size = 0
    for place, page, after in frames:
        waiting.append((page, place))
        if after:
            done += waiting
            waiting, size = [], after
    return done, size


def _frames(file: BinaryIO, page_size: int, salts: list[int]) -> Iterator[tuple[int, int, int]]:
    """(place of the page in the file, its number, pages of the database after a commit or 0) of each valid frame."""
    for _ in range(_FRAMES):
        head = file.read(_FRAME.size)
        if len(head) < _FRAME.size:
            return
        page, after, *rest = _FRAME.unpack(head)
        if rest[:2] != salts:
            return
        yield file.tell(), page, after
        file.seek(page_size, 1)


def _at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


def _is_being_copied(database: Path, page: int, images: list[bytes]) -> bool:
    """Whether the first page of the log, which is copied first, is in the database as it once stood in the log."""
    if not images[-1]:
        # Another process has emptied the log meanwhile, which it only does when all of it is copied.
        return True
    # Through SQLite, whose locks would not survive our closing the file; nothing is run, so the log isn't read.
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        size = len(images[-1])
        return connection.read("main", 0, (page - 1) * size, size)[1] in images
    finally:
        connection.close()


def _identity(connection: apsw.Connection) -> str | None:
    """The name that the store got when it was made; None where it can't be read."""
    with suppress(apsw.Error):
        for (name,) in run(connection, "SELECT value FROM meta WHERE key = 'store'"):
            return str(name)
    return None


def _page_count(connection: apsw.Connection) -> int:
    with suppress(apsw.Error):
        return int(next(run(connection, "PRAGMA page_count"))[0])
    return 0


def _is_whole(database: Path, *, alone: bool = False) -> bool:
    with suppress(apsw.Error), opened(database, without_log=alone) as connection:
        load_vec(connection)
        return next(run(connection, "PRAGMA integrity_check(1)")) == ("ok",)
    return False
