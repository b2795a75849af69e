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

from .codec import Codes, decode, encode, sign_bits_of
from .codec.arrays import Bytes
from .codec.signs import as_words
from .database import NOTHING, WRITING, Database
from .vector_rows import StoredVectors
from .vectors import Vectors

_WIDTH: Final = 8
_GROWTH: Final = 1.25
_SPARE_ROWS: Final = 64
_READ_AT_ONCE: Final = 2048  # memories: float32 of the store is only ever in memory in such pieces

Words = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One moment of the resident embeddings: row i of `codes` (8 bits) is a chunk of memory `seqs[i]` (ascending).

    `seqs` has shape (r,) int64. `words` (w, r) holds the sign bits of the rows, word by word: w · 8 · itemsize = d.
    `starts` (m,) are the rows where a memory begins and `owners` (m,) its seq. `revision` is the store's when it was
    read; `structure` changes whenever the rows do.
    """

    revision: int
    structure: int
    seqs: NDArray[np.int64]
    codes: Codes
    words: Words
    starts: NDArray[np.intp]
    owners: NDArray[np.int64]

    def rows_of(self, seqs: Sequence[int] | NDArray[np.int64]) -> NDArray[np.intp]:
        """The first row of each of some memories, (n,); −1 for one without an embedding."""
        wanted = np.asarray(seqs, dtype=np.int64)
        places = np.searchsorted(self.owners, wanted)
        inside = np.minimum(places, max(0, len(self.owners) - 1))
        found = (self.owners[inside] == wanted) if len(self.owners) else np.zeros(len(wanted), np.bool_)
        return np.where(found, self.starts[inside] if len(self.starts) else -1, -1)

    def hamming(self, bits: Bytes) -> NDArray[np.uint16]:
        """Distance of a query's sign bits (d/8,) to every row, uint16 (r,): half a millisecond for 100,000 rows."""
        query = as_words(bits[np.newaxis])[0]
        counts = np.bitwise_count(self.words[0] ^ query[0]).astype(np.uint16)
        for word, own in zip(query[1:], self.words[1:], strict=True):
            counts += np.bitwise_count(own ^ word)
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Embeddings by ascending seq: seqs (r,), 8-bit codes (r, d) and scales (r,), sign words (w, r)."""

    seqs: NDArray[np.int64]
    packed: Bytes
    scale: NDArray[np.float32]
    words: Words


class ResidentVectors:
    """Keeps a `Matrix` up to date. Safe for several threads; what was handed out does not change afterwards."""

    def __init__(self, database: Database, vectors: Vectors) -> None:
        """Read through `vectors`; nothing is read yet."""
        self._database = database
        self._vectors = vectors
        self._guard = threading.Lock()
        # The arrays of which the matrix is the first part: what follows is room to grow.
        self._kept: _Rows = self._read([])
        self._matrix: Matrix = self._view(0, 0, self._kept, 0)

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
                revision = int(self._database.value("SELECT value FROM meta WHERE key = 'rev'"))
                # A snapshot older than what another thread has read is no reason to read everything again.
                if revision > self._matrix.revision or (revision < self._matrix.revision and found == NOTHING):
                    self._refresh(revision)
            return self._matrix

    def _refresh(self, revision: int) -> None:
        if revision < self._matrix.revision:
            self._kept = self._read([])
            self._matrix = self._view(0, 0, self._kept, 0)
        known = self._matrix
        read = [self._read(groups) for groups in self._vectors.changed_since(known.revision, _READ_AT_ONCE)]
        fresh = _joined([*read, self._read([])])
        changed = fresh.seqs.tolist() + self._vectors.gone_since(known.revision)
        stale = _rows_with(known.seqs, changed)
        if len(stale) == 0 and len(fresh.seqs) == 0:
            self._matrix = replace(known, revision=revision)
        elif len(stale) == 0 and (len(known.seqs) == 0 or fresh.seqs[0] > known.seqs[-1]):
            self._append(revision, fresh)
        elif np.array_equal(known.seqs[stale], fresh.seqs):
            self._rewrite(revision, stale, fresh)
        else:
            self._merge(revision, stale, fresh)

    def _append(self, revision: int, fresh: _Rows) -> None:
        """New rows after the others; what was handed out ends before them."""
        count, size = len(self._matrix.seqs), len(self._matrix.seqs) + len(fresh.seqs)
        if size > len(self._kept.seqs):
            self._kept = _grown(self._kept, count, int(size * _GROWTH) + _SPARE_ROWS)
        kept = self._kept
        kept.seqs[count:size] = fresh.seqs
        kept.packed[count:size], kept.scale[count:size] = fresh.packed, fresh.scale
        kept.words[:, count:size] = fresh.words
        self._matrix = self._view(revision, revision, kept, size)

    def _rewrite(self, revision: int, places: NDArray[np.intp], fresh: _Rows) -> None:
        """The same rows with other codes, in copies of the arrays: who has the old ones keeps them."""
        known = self._matrix
        if np.array_equal(known.codes.packed[places], fresh.packed):
            self._matrix = replace(known, revision=revision)
            return
        packed, scale, words = known.codes.packed.copy(), known.codes.scale.copy(), known.words.copy()
        packed[places], scale[places], words[:, places] = fresh.packed, fresh.scale, fresh.words
        self._kept = _Rows(known.seqs, packed, scale, words)
        self._matrix = replace(known, revision=revision, codes=Codes(_WIDTH, packed, scale), words=words)

    def _merge(self, revision: int, stale: NDArray[np.intp], fresh: _Rows) -> None:
        """Rows in between, or fewer of them: everything in a new order."""
        known = self._matrix
        rest = np.delete(np.arange(len(known.seqs)), stale)
        codes = known.codes.take(rest)
        joined = _joined([_Rows(known.seqs[rest], codes.packed, codes.scale, known.words[:, rest]), fresh])
        order = np.argsort(joined.seqs, kind="stable")
        words = np.ascontiguousarray(joined.words[:, order])
        self._kept = _Rows(joined.seqs[order], joined.packed[order], joined.scale[order], words)
        self._matrix = self._view(revision, revision, self._kept, len(order))

    def _view(self, revision: int, structure: int, kept: _Rows, size: int) -> Matrix:
        seqs = kept.seqs[:size]
        starts = np.flatnonzero(np.diff(seqs, prepend=-1))
        codes = Codes(_WIDTH, kept.packed[:size], kept.scale[:size])
        return Matrix(revision, structure, seqs, codes, kept.words[:, :size], starts, seqs[starts])

    def _read(self, groups: Sequence[StoredVectors]) -> _Rows:
        """Stored rows at 8 bits, by seq."""
        seqs = np.concatenate([np.zeros(0, np.int64), *(group.seqs for group in groups)])
        packed = np.zeros((len(seqs), self._vectors.dimension), np.uint8)
        scale = np.ones(len(seqs), np.float32)
        order = np.argsort(seqs, kind="stable")
        place_of = np.empty_like(order)
        place_of[order] = np.arange(len(order))
        start = 0
        for group in groups:
            eight = group.codes if group.codes.bit_width == _WIDTH else encode(decode(group.codes), _WIDTH)
            places = place_of[start : start + len(eight)]
            packed[places], scale[places] = eight.packed, eight.scale
            start += len(eight)
        words = as_words(sign_bits_of(Codes(_WIDTH, packed, scale)))
        return _Rows(seqs[order], packed, scale, np.ascontiguousarray(words.T))


def _joined(parts: Sequence[_Rows]) -> _Rows:
    return _Rows(
        np.concatenate([part.seqs for part in parts]),
        np.concatenate([part.packed for part in parts]),
        np.concatenate([part.scale for part in parts]),
        np.concatenate([part.words for part in parts], axis=1),
    )


def _grown(rows: _Rows, count: int, size: int) -> _Rows:
    """Arrays for `size` rows that start with the first `count` of `rows`."""
    grown = _Rows(
        np.zeros(size, np.int64),
        np.zeros((size, rows.packed.shape[1]), np.uint8),
        np.zeros(size, np.float32),
        np.zeros((len(rows.words), size), rows.words.dtype),
    )
    grown.seqs[:count], grown.packed[:count], grown.scale[:count] = (
        rows.seqs[:count],
        rows.packed[:count],
        rows.scale[:count],
    )
    grown.words[:, :count] = rows.words[:, :count]
    return grown


def _rows_with(seqs: NDArray[np.int64], wanted: Sequence[int]) -> NDArray[np.intp]:
    """Where any of `wanted` stands in ascending `seqs`, ascending."""
    some = np.unique(np.asarray(wanted, dtype=np.int64))
    first, last = np.searchsorted(seqs, some, "left"), np.searchsorted(seqs, some, "right")
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    return np.repeat((first - before).astype(np.intp), lengths) + np.arange(int(lengths.sum()), dtype=np.intp)
