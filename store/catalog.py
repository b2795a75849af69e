"""The catalog: what ranking needs to know of every memory, resident in numpy arrays and indexed by seq.

It follows the database: a refresh reads the rows whose revision is newer than the last one seen, so changes by other
processes arrive with the next read.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import Kind
from .database import NOTHING, WRITING, Database
from .errors import intact
from .meta import revision_of

KINDS: tuple[Kind, ...] = tuple(Kind)
FOREVER = np.iinfo(np.int64).max
_NO_GROUP = -1
_GROWTH = 1.25
_SPARE_ROWS = 64
_ROWS_AT_ONCE = 2048

_COLUMNS: dict[str, type[np.generic]] = {
    "scope": np.int32,
    "kind": np.int8,
    "session": np.int32,
    "speaker": np.int32,
    "state": np.int8,
    "bit_width": np.int8,
    "recorded_at": np.int64,
    "valid_from": np.int64,
    "valid_to": np.int64,
    "expires_at": np.int64,
    "superseded": np.bool_,
    "forgotten": np.bool_,
    "pinned": np.bool_,
    "hidden": np.bool_,
    "gist": np.bool_,
    "words": np.int32,
    "flags": np.int8,
    "time_words": np.int8,
    "importance": np.float32,
    "trust": np.float32,
    "anchor_tau": np.float64,
    "rate": np.float64,
}

_SELECT = f"""
SELECT m.seq, m.scope, m.kind, m.session, m.speaker, s.state, s.bit_width, m.recorded_at,
       coalesce(m.valid_from, m.recorded_at), coalesce(m.valid_to, {FOREVER}), coalesce(m.expires_at, {FOREVER}),
       m.superseded_by IS NOT NULL, m.forgotten_at IS NOT NULL OR m.evicted_at IS NOT NULL OR m.merged_into IS NOT NULL,
       m.pinned, m.merged_into IS NOT NULL OR m.dormant, m.gist_of IS NOT NULL,
       m.words, m.flags, m.time_words, m.importance, m.trust, s.anchor_tau, s.rate
FROM strength s CROSS JOIN memory m USING (seq) WHERE s.rev > ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One moment of the catalog. Every array has shape (n,), n above the largest seq; `alive` is False in gaps.

    scope int32, kind int8 (index into KINDS), session and speaker int32 (−1 for none; equal numbers mean the same
    one), state int8, bit_width int8; recorded_at, valid_from, valid_to, expires_at int64 µs; superseded, forgotten,
    pinned, hidden (others are shown instead), gist bool; words int32; flags, time_words int8; importance, trust
    float32; anchor_tau, rate float64.
    `structure` is the revision of the last change to which memories there are: what depends only on that (the order
    within sessions) stays valid while it stays the same.
    """

    revision: int
    structure: int
    alive: NDArray[np.bool_]
    scope: NDArray[np.int32]
    kind: NDArray[np.int8]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    state: NDArray[np.int8]
    bit_width: NDArray[np.int8]
    recorded_at: NDArray[np.int64]
    valid_from: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    expires_at: NDArray[np.int64]
    superseded: NDArray[np.bool_]
    forgotten: NDArray[np.bool_]
    pinned: NDArray[np.bool_]
    hidden: NDArray[np.bool_]
    gist: NDArray[np.bool_]
    words: NDArray[np.int32]
    flags: NDArray[np.int8]
    time_words: NDArray[np.int8]
    importance: NDArray[np.float32]
    trust: NDArray[np.float32]
    anchor_tau: NDArray[np.float64]
    rate: NDArray[np.float64]

    def in_scopes(self, scopes: Sequence[int]) -> NDArray[np.bool_]:
        """Which seqs are alive in any of some scopes (row ids), bool (n,)."""
        found = np.zeros(len(self.alive), np.bool_)
        for scope in scopes:
            found |= self.scope == scope
        return self.alive & found


class Catalog:
    """Keeps `Columns` up to date. Safe for several threads; what was handed out does not change afterwards."""

    def __init__(self, database: Database) -> None:
        """Read through `database`; nothing is read yet."""
        self._database = database
        self._guard = threading.Lock()
        self._columns = _empty()
        # The arrays of which the columns are the first part: what follows is room to grow.
        self._kept: dict[str, NDArray[Any]] = {}
        self._names: dict[str, int] = {}

    def columns(self) -> Columns:
        """The catalog as of the latest committed change (or of the caller's open snapshot, or newer).

        Inside a write transaction it holds what that has written. That is read again each time: it may still be rolled
        back, and another change will then get its revision.
        """
        found = self._database.transaction()
        with self._guard, self._database.snapshot():
            revision = revision_of(self._database)
            known = self._columns.revision
            if found == WRITING:
                return self._columns if revision == known else self._refreshed(revision, {})
            # A snapshot older than what another thread has read is no reason to read everything again.
            if revision > known or (revision < known and found == NOTHING):
                self._kept = self._kept if revision > known else {}
                self._columns = self._refreshed(revision, self._kept)
            return self._columns

    def name_of_session(self, session: str) -> int:
        """The number that stands for a session in the `session` column; −1 if no memory has it."""
        return self._names.get(f"session {session}", _NO_GROUP)

    def name_of_speaker(self, speaker: str) -> int:
        """The number that stands for a speaker in the `speaker` column; −1 if no memory has it."""
        return self._names.get(f"speaker {speaker}", _NO_GROUP)

    def speakers(self) -> dict[str, int]:
        """Every speaker's number by name."""
        return {
            name.removeprefix("speaker "): number for name, number in self._names.items() if name.startswith("speaker ")
        }

    def _refreshed(self, revision: int, kept: dict[str, NDArray[Any]]) -> Columns:
        """The columns with what changed since; they grow in place in the arrays of `kept`, which gets those made."""
        known = self._columns if revision > self._columns.revision else _empty()
        seqs, values = self._read(known.revision)
        gone = list(self._database.execute("SELECT seq FROM tombstone WHERE rev > ?", (known.revision,)))
        size = max(len(known.alive), 1 + int(seqs.max(initial=-1)))
        dead = np.array([seq for (seq,) in gone if seq < size], dtype=np.int64)
        into = _Merge(len(known.alive), size, seqs, kept)
        changed: dict[str, NDArray[Any]] = {
            name: into.merged(name, getattr(known, name), column) for name, column in zip(_COLUMNS, values, strict=True)
        }
        living = np.concatenate([np.ones(len(seqs), np.bool_), np.zeros(len(dead), np.bool_)])
        both = _Merge(len(known.alive), size, np.concatenate([seqs, dead]), kept)
        alive = both.merged("alive", known.alive, living)
        structure = known.structure if alive is known.alive else revision
        return replace(known, revision=revision, structure=structure, alive=alive, **changed)

    def _read(self, revision: int) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
        """The seqs and columns of the rows that changed after a revision."""
        cursor = self._database.execute(_SELECT, (revision,))
        nothing: list[NDArray[Any]] = [np.zeros(0, np.int64), *(np.zeros(0, dtype) for dtype in _COLUMNS.values())]
        parts: list[list[NDArray[Any]]] = []
        # Some at a time: as Python's numbers they take twenty times the room.
        while rows := list(islice(cursor, _ROWS_AT_ONCE)):
            with intact():
                parts.append(self._columns_of(rows))
        seqs, *values = parts[0] if len(parts) == 1 else map(np.concatenate, zip(nothing, *parts, strict=True))
        return seqs, values

    def _columns_of(self, rows: Sequence[Sequence[Any]]) -> list[NDArray[Any]]:
        seqs, *values = zip(*rows, strict=True)
        columns = zip(_COLUMNS.items(), values, strict=True)
        return [
            np.array(seqs, dtype=np.int64),
            *(np.array(self._numbered(name, column), dtype) for (name, dtype), column in columns),
        ]

    def _numbered(self, name: str, column: Sequence[Any]) -> Sequence[Any]:
        if name == "kind":
            numbers = {str(kind): number for number, kind in enumerate(KINDS)}
            return [numbers[kind] for kind in column]
        if name in ("session", "speaker"):
            return [_NO_GROUP if value is None else self._number(f"{name} {value}") for value in column]
        return column

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))


def _empty() -> Columns:
    columns: dict[str, Any] = {name: np.zeros(0, dtype) for name, dtype in _COLUMNS.items()}
    return Columns(revision=0, structure=0, alive=np.zeros(0, np.bool_), **columns)


class _Merge:
    """Puts values at some places of columns that are to be `size` long. Nothing of a known column is written to.

    Readers keep what they were handed. What is new comes after it in the same array of `kept`, if there is room.
    """

    def __init__(self, count: int, size: int, places: NDArray[np.int64], kept: dict[str, NDArray[Any]]) -> None:
        self._size = size
        self._kept = kept
        self._inside, self._after = np.flatnonzero(places < count), np.flatnonzero(places >= count)
        self._old, self._new = places[self._inside], places[self._after]

    def merged(self, name: str, known: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """A column with `values` at the places; itself if that is what it is already."""
        column, count = known, len(known)
        fresh = values[self._inside]
        if bool((known[self._old] != fresh).any()):
            column = known.copy()
            column[self._old] = fresh
        if self._size == count and column is known:
            return column
        room = self._kept.get(name)
        if column is not known or room is None or len(room) < self._size:
            room = np.zeros(int(self._size * _GROWTH) + _SPARE_ROWS, dtype=known.dtype)
            room[:count] = column
        room[self._new] = values[self._after]
        self._kept[name] = room
        column = room[: self._size]
        column.flags.writeable = False
        return column
