"""The boundary where SQLite's and the file system's errors become ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import apsw

from ..schemas.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

_FAMILIES: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        StoreBusyError,
        "the memory store is busy: other processes kept it locked; try again in a moment",
    ),
    (
        (apsw.FullError,),
        StoreFullError,
        "the disk is full: nothing was changed; free some space, or erase memories with forget",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        StoreReadOnlyError,
        "the memory store can't be written: check the permissions of EBBING_HOME",
    ),
    (
        (apsw.CorruptError, apsw.NotADBError),
        StoreCorruptError,
        "the memory store is damaged: run `ebbing doctor`, which names the backups to restore from",
    ),
    (
        (apsw.CantOpenError,),
        StoreReadOnlyError,
        "the memory store can't be opened: check that EBBING_HOME exists and can be written",
    ),
    (
        (apsw.IOError,),
        StoreFullError,
        "the memory store can't be read or written: the disk reported an error or is full; nothing was changed",
    ),
)


def convert(error: apsw.Error) -> StoreError:
    """Our error for one of SQLite's; its text names neither statements nor values."""
    for kinds, ours, text in _FAMILIES:
        if isinstance(error, kinds):
            return ours(text)
    return StoreError(f"the memory store failed: {type(error).__name__}")


@contextmanager
def translated() -> Generator[None]:
    """Turn SQLite errors raised inside into our tree.

    Raises:
        StoreError: the member of the tree that says what happened.
    """
    try:
        yield
    except apsw.Error as error:
        raise convert(error) from error
