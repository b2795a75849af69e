"""Upkeep of what embeddings leave behind: the coarse index made whole and dense, unused pages given to the disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .database import Database
from .vectors import Vectors

_PAGES_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done: index rows made anew, index rows moved out of sparse shards, bytes given back to the disk."""

    rebuilt: int
    moved: int
    released_bytes: int


def upkeep(database: Database, vectors: Vectors, stopped: Callable[[], bool] = lambda: False) -> Upkeep:
    """Bring the coarse index in order and shrink the file, in short transactions that others fit between.

    Raises:
        StoreError: if the store can't be written; what was done stays done.
    """
    rebuilt = vectors.rebuild(stopped) if vectors.index_rows() != vectors.expected_index_rows() else 0
    moved = vectors.compact(stopped)
    before = database.size()
    while not stopped() and database.release(_PAGES_AT_ONCE):
        pass
    database.tidy_log()
    return Upkeep(rebuilt, moved, max(0, before - database.size()))
