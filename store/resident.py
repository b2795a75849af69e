"""Every stored embedding at 8 bits with its sign bits, resident, so that recall scores a scope without the file.

It follows the database like the catalog: a refresh reads the vectors written since the last revision seen, so changes
by other processes arrive with the next read. A vector stored at fewer bits stays what its code says; one stored at 32
bits is read at 8 (fidelity .9999), so re-quantizing from 32 to 8 changes nothing here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .codec import Codes, recode, sign_bits_of
from .codec.arrays import Bytes, Floats, Positions
from .codec.signs import as_words
from .database import NOTHING, WRITING, Database
from .matrix import BLOCK_ROWS, CodeBlocks, Matrix, Words
from .meta import revision_of
from .vector_rows import StoredVectors
from .vectors import Vectors

__all__ = ["Matrix", "ResidentVectors"]

_WIDTH: Final = 8
_GROWTH: Final = 1.25
_SPARE_ROWS: Final = 64
_READ_AT_ONCE: Final = 512  # memories: float32 of the store is only ever in memory in such pieces


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Embeddings by ascending seq: seqs (r,), 8-bit codes (r, d) and scales (r,), sign words (w, r)."""

    seqs: NDArray[np.int64]
    packed: Bytes
    scale: Floats
    words: Words


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """The arrays of which a matrix shows the first rows: blocks are whole, the others have spare rows to grow into.

    Rows that were handed out in a matrix are never written to.
    """

    seqs: NDArray[np.int64]
    scale: Floats
    words: Words
    blocks: list[Bytes]
    block_rows: int

    def grown(self, count: int, size: int) -> _Room:
        """Room for `size` rows that begins with the first `count` of this one."""
        words = np.zeros((len(self.words), size), self.words.dtype)
        grown = _Room(np.zeros(size, np.int64), np.zeros(size, np.float32), words, self.blocks.copy(), self.block_rows)
        grown.seqs[:count], grown.scale[:count], grown.words[:, :count] = (
            self.seqs[:count],
            self.scale[:count],
            self.words[:, :count],
        )
        return grown

    def put(self, count: int, fresh: _Rows) -> None:
        """Write rows after the first `count`, where there is room for them in all but the blocks."""
        size = count + len(fresh.seqs)
        self.seqs[count:size], self.scale[count:size], self.words[:, count:size] = fresh.seqs, fresh.scale, fresh.words
        for start in range(count // self.block_rows * self.block_rows, size, self.block_rows):
            first, last = max(start, count), min(start + self.block_rows, size)
            if start == len(self.blocks) * self.block_rows:
                self.blocks.append(np.zeros((self.block_rows, fresh.packed.shape[1]), np.uint8))
            self.blocks[start // self.block_rows][first - start : last - start] = fresh.packed[
                first - count : last - count
            ]


class ResidentVectors:
    """Keeps a `Matrix` up to date. Safe for several threads; what was handed out does not change afterwards."""

    def __init__(self, database: Database, vectors: Vectors, *, block_rows: int = BLOCK_ROWS) -> None:
        """Read through `vectors`, into blocks of `block_rows`; nothing is read yet."""
        self._database = database
        self._vectors = vectors
        self._block_rows = block_rows
        self._guard = threading.Lock()
        self._room, self._matrix = self._empty()

    @property
    def loaded(self) -> bool:
        """Whether it has been read before, so that a refresh only reads what changed since."""
        return self._matrix.revision > 0

    def matrix(self) -> Matrix:
        """The embeddings as of the latest committed change (or of the caller's open snapshot, or newer).

        Inside a write transaction it is what was committed when last read: what may still be rolled back, under a
        revision that another change will get, must not stay resident.
        """
        found = self._database.transaction()
        with self._guard, self._database.snapshot():
            if found != WRITING:
                revision = revision_of(self._database)
                # A snapshot older than what another thread has read is no reason to read everything again.
                if revision > self._matrix.revision or (revision < self._matrix.revision and found == NOTHING):
                    self._refresh(revision)
            return self._matrix

    def _refresh(self, revision: int) -> None:
        if revision < self._matrix.revision:
            self._room, self._matrix = self._empty()
        known = self._matrix
        read = [self._read(groups) for groups in self._vectors.changed_since(known.revision, _READ_AT_ONCE)]
        fresh = _joined([*read, self._read([])])
        changed = fresh.seqs.tolist() + self._vectors.gone_since(known.revision)
        stale = _rows_with(known.seqs, changed)
        if len(stale) == 0 and len(fresh.seqs) == 0:
            self._matrix = replace(known, revision=revision)
        elif np.array_equal(known.seqs[stale], fresh.seqs):
            self._rewrite(revision, stale, fresh)
        else:
            self._splice(revision, stale, fresh)

    def _rewrite(self, revision: int, places: Positions, fresh: _Rows) -> None:
        """The same rows with other codes, in copies of the blocks they are in: who has the old ones keeps them."""
        known, room = self._matrix, self._room
        if np.array_equal(known.codes.take(places).packed, fresh.packed):
            self._matrix = replace(known, revision=revision)
            return
        scale, words = room.scale.copy(), room.words
        scale[places] = fresh.scale
        # Fewer bits leave the signs as they were; another embedding doesn't.
        if not np.array_equal(words[:, places], fresh.words):
            words = words.copy()
            words[:, places] = fresh.words
        blocks: list[Bytes] = list(room.blocks)
        for number in np.unique(places // self._block_rows).tolist():
            inside = places // self._block_rows == number
            block = np.array(blocks[number], np.uint8)
            block[places[inside] - number * self._block_rows] = fresh.packed[inside]
            blocks[number] = block
        self._room = _Room(room.seqs, scale, words, blocks, self._block_rows)
        size = len(known.seqs)
        self._matrix = replace(known, revision=revision, codes=self._codes(size), words=words[:, :size])

    def _splice(self, revision: int, stale: Positions, fresh: _Rows) -> None:
        """New rows, or fewer of them: the blocks before the first change stay, the rest is made anew."""
        known, count = self._matrix, len(self._matrix.seqs)
        first = min([count, *stale[:1].tolist(), *np.searchsorted(known.seqs, fresh.seqs[:1]).tolist()])
        start, rows = count, fresh
        if first < count:
            start = first // self._block_rows * self._block_rows
            rest = np.setdiff1d(np.arange(start, count), stale)
            kept = _Rows(known.seqs[rest], known.codes.take(rest).packed, known.codes.scale[rest], known.words[:, rest])
            rows = _ordered(_joined([kept, fresh]))
        size = start + len(rows.seqs)
        if first < count or size > len(self._room.seqs):
            self._room = self._room.grown(start, int(size * _GROWTH) + _SPARE_ROWS)
            del self._room.blocks[-(-start // self._block_rows) :]
        self._room.put(start, rows)
        self._matrix = self._view(revision, revision, size)

    def _view(self, revision: int, structure: int, size: int) -> Matrix:
        room = self._room
        seqs = room.seqs[:size]
        starts = np.flatnonzero(np.diff(seqs, prepend=-1))
        return Matrix(revision, structure, seqs, self._codes(size), room.words[:, :size], starts, seqs[starts])

    def _codes(self, size: int) -> CodeBlocks:
        blocks = [
            self._room.blocks[start // self._block_rows][: size - start] for start in range(0, size, self._block_rows)
        ]
        return CodeBlocks(self._vectors.dimension, self._block_rows, tuple(blocks), self._room.scale[:size])

    def _empty(self) -> tuple[_Room, Matrix]:
        nothing = self._read([])
        self._room = _Room(nothing.seqs, nothing.scale, nothing.words, [], self._block_rows)
        return self._room, self._view(0, 0, 0)

    def _read(self, groups: Sequence[StoredVectors]) -> _Rows:
        """Stored rows at 8 bits, by seq."""
        codes = [recode(group.codes, _WIDTH) for group in groups]
        packed = np.concatenate([np.zeros((0, self._vectors.dimension), np.uint8), *(each.packed for each in codes)])
        scale = np.concatenate([np.zeros(0, np.float32), *(each.scale for each in codes)])
        words = np.ascontiguousarray(as_words(sign_bits_of(Codes(_WIDTH, packed, scale))).T)
        seqs = np.concatenate([np.zeros(0, np.int64), *(group.seqs for group in groups)])
        return _ordered(_Rows(seqs, packed, scale, words))


def _joined(parts: Sequence[_Rows]) -> _Rows:
    return _Rows(
        np.concatenate([part.seqs for part in parts]),
        np.concatenate([part.packed for part in parts]),
        np.concatenate([part.scale for part in parts]),
        np.concatenate([part.words for part in parts], axis=1),
    )


def _ordered(rows: _Rows) -> _Rows:
    """By seq, the rows of one memory in the order they have."""
    if (np.diff(rows.seqs) >= 0).all():
        return rows
    order = np.argsort(rows.seqs, kind="stable")
    return _Rows(rows.seqs[order], rows.packed[order], rows.scale[order], np.ascontiguousarray(rows.words[:, order]))


def _rows_with(seqs: NDArray[np.int64], wanted: Sequence[int]) -> Positions:
    """Where any of `wanted` stands in ascending `seqs`, ascending."""
    some = np.unique(np.asarray(wanted, dtype=np.int64))
    first, last = np.searchsorted(seqs, some, "left"), np.searchsorted(seqs, some, "right")
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    return np.repeat((first - before).astype(np.intp), lengths) + np.arange(int(lengths.sum()), dtype=np.intp)
