"""The boundary where SQLite's and the file system's errors become ours."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import apsw

from ..schemas.errors import (
    InvalidInputError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

BUSY: Final = "the memory store is busy: other processes kept it locked; try again in a moment"
CLOSED: Final = "the memory store is closed"
_FULL: Final = "the disk is full: nothing was changed; free some space, or erase memories with forget"
DAMAGED: Final = (
    "the memory store is damaged: tell the user to run `ebbing doctor --fix`, which repairs what follows from something"
    " else, or names the backup to restore"
)

_FAMILIES: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
    ((apsw.BusyError, apsw.LockedError), StoreBusyError, BUSY),
    ((apsw.FullError,), StoreFullError, _FULL),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        StoreReadOnlyError,
        "the memory store can't be written: check the permissions of EBBING_HOME",
    ),
    ((apsw.CorruptError, apsw.NotADBError), StoreCorruptError, DAMAGED),
    (
        (apsw.CantOpenError,),
        StoreReadOnlyError,
        "the memory store can't be opened: check that EBBING_HOME exists and can be written",
    ),
    ((apsw.InterruptError, apsw.ConnectionClosedError), StoreError, "the memory store was closed during this call"),
)
# What the system says when SQLite reads: the bytes are gone or can't be had. Everything else happens when it writes.
_READING: Final = frozenset(
    {
        apsw.SQLITE_IOERR_READ,
        apsw.SQLITE_IOERR_SHORT_READ,
        apsw.SQLITE_IOERR_CORRUPTFS,
        apsw.SQLITE_IOERR_DATA,
        apsw.SQLITE_IOERR_FSTAT,
        apsw.SQLITE_IOERR_ACCESS,
    }
)
# Our statements are fixed: what they can't find or open was there once.
_BROKEN_SCHEMA: Final = (
    "vtable constructor failed",
    "sqlite-vec error",
    "vec0",
    "blob",
    "no such table",
    "no such column",
    "fts5:",
)
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def convert(error: apsw.Error) -> StoreError:
    """Our error for one of SQLite's; its text names neither statements nor values."""
    if isinstance(error, apsw.IOError):
        return _convert_io(error)
    if isinstance(error, apsw.SQLError) and any(sign in str(error) for sign in _BROKEN_SCHEMA):
        return StoreCorruptError(DAMAGED)
    for kinds, ours, text in _FAMILIES:
        if isinstance(error, kinds):
            return ours(text)
    return StoreError(f"the memory store failed: {type(error).__name__}")


def convert_os(error: OSError, what: str) -> StoreError:
    """Our error for one of the system's; `what` says what could not be done."""
    if error.errno in _NO_ROOM:
        return StoreFullError(f"{what} ({error.strerror}): free some disk space; nothing was changed")
    return StoreReadOnlyError(f"{what} ({error.strerror}): check EBBING_HOME and its permissions")


@contextmanager
def translated() -> Generator[None]:
    """Turn SQLite errors raised inside into our tree.

    Raises:
        StoreError: the member of the tree that says what happened; a text that is no text any more is damage.
        InvalidInputError: if a value that was to be stored or looked for is no valid Unicode.
    """
    try:
        yield
    except apsw.Error as error:
        raise convert(error) from error
    except UnicodeDecodeError as error:
        raise StoreCorruptError(DAMAGED) from error
    except UnicodeEncodeError as error:
        raise InvalidInputError("a name or text holds half a character: give it in valid Unicode") from error


@contextmanager
def intact() -> Generator[None]:
    """Take what goes wrong inside, where stored values are read as what they stand for, as damage of the store.

    Raises:
        StoreCorruptError: if a value is not what was stored.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, InvalidInputError) as e:
        raise StoreCorruptError(DAMAGED) from e


def _convert_io(error: apsw.IOError) -> StoreError:
    if getattr(error, "extendedresult", 0) in _READING:
        return StoreCorruptError(f"the disk could not read the memory store; {DAMAGED}")
    return StoreFullError("the disk reported an error or is full: nothing was changed; free some space and try again")
