"""The catalog: what ranking needs to know of every memory, resident in numpy arrays and indexed by seq.

It follows the database: a refresh reads the rows whose revision is newer than the last one seen, so changes by other
processes arrive with the next read.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import Kind
from .database import NOTHING, WRITING, Database

KINDS: tuple[Kind, ...] = tuple(Kind)
FOREVER = np.iinfo(np.int64).max
_NO_GROUP = -1
_GROWTH = 1.25
_SPARE_ROWS = 64

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
        return self.alive & np.isin(self.scope, np.asarray(scopes, dtype=np.int32))


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
            revision = int(self._database.value("SELECT value FROM meta WHERE key = 'rev'"))
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
        rows = list(self._database.execute(_SELECT, (known.revision,)))
        gone = list(self._database.execute("SELECT seq FROM tombstone WHERE rev > ?", (known.revision,)))
        size = max(len(known.alive), 1 + max((row[0] for row in rows), default=-1))
        seqs, *values = zip(*rows, strict=True) if rows else ((), *([()] * len(_COLUMNS)))
        places = np.array(seqs, dtype=np.int64)
        dead = np.array([seq for (seq,) in gone if seq < size], dtype=np.int64)
        changed: dict[str, NDArray[Any]] = {
            name: _merged(getattr(known, name), size, places, np.array(self._numbered(name, column), dtype), kept, name)
            for (name, dtype), column in zip(_COLUMNS.items(), values, strict=True)
        }
        living = np.concatenate([np.ones(len(places), np.bool_), np.zeros(len(dead), np.bool_)])
        alive = _merged(known.alive, size, np.concatenate([places, dead]), living, kept, "alive")
        structure = known.structure if alive is known.alive else revision
        return replace(known, revision=revision, structure=structure, alive=alive, **changed)

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


def _merged(
    known: NDArray[Any],
    size: int,
    places: NDArray[np.int64],
    values: NDArray[Any],
    kept: dict[str, NDArray[Any]],
    name: str,
) -> NDArray[Any]:
    """`known` with `values` at `places`, `size` long; itself if that is what it is already.

    Nothing of `known` is written to, since readers keep what they were handed. What is new comes after it in the same
    array, if there is room.
    """
    count = len(known)
    inside, after = places < count, places >= count
    column = known
    if not np.array_equal(known[places[inside]], values[inside]):
        column = known.copy()
        column[places[inside]] = values[inside]
    if size > count or column is not known:
        room = kept.get(name)
        if column is not known or room is None or len(room) < size:
            room = np.zeros(int(size * _GROWTH) + _SPARE_ROWS, dtype=known.dtype)
            room[:count] = column
        room[places[after]] = values[after]
        kept[name] = room
        column = room[:size]
        column.flags.writeable = False
    return column
