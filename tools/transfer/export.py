"""export: everything that a store remembers, as lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from ...schemas.errors import InvalidInputError
from ...store.store import Store
from .lines import to_line

_REPORTED = 500


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: records by type, ids that were erased, bytes."""

    records: dict[str, int]
    tombstones: int
    bytes: int


def export(
    store: Store,
    target: BinaryIO,
    scope: str | None = None,
    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None,
) -> Exported:
    """Write a header and one line a record, as of one moment: of every scope, or of one.

    Raises:
        InvalidInputError: if nothing is stored in that scope.
        StoreError: if the store can't be read, or the text of a memory is damaged.
        OSError: if the target can't be written.
    """
    with store.snapshot():
        number = None if scope is None else _number(store, scope)
        header = store.exporting.header(number)
        total, size = sum(header["records"].values()), target.write(to_line(header))
        for done, record in enumerate(store.exporting.records(number), 1):
            size += target.write(to_line(record))
            if done % _REPORTED == 0:
                progress(done, total, "exporting")
    return Exported(header["records"], header["tombstones"], size)


def _number(store: Store, scope: str) -> int:
    number = store.scopes.find(scope)
    if number is None:
        raise InvalidInputError(f"nothing is remembered of {scope[:200]}")
    return number
