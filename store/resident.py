"""Every stored embedding at 8 bits, resident, so that recall can score a whole scope without touching the file.

It follows the database like the catalog: a refresh reads the vectors written since the last revision seen, so changes
by other processes arrive with the next read. A vector stored at fewer bits stays what its code says; one stored at 32
bits is read at 8 (fidelity .9999).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codec import Codes, decode, encode
from .database import Database
from .vectors import Vectors

_WIDTH = 8
_GROWTH = 1.25

Change = tuple[int, int, int, bytes, bytes]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One moment of the resident embeddings: row i of `codes` (8 bits) is a chunk of memory `seqs[i]` (ascending).

    `seqs` has shape (r,) int64. `starts` (m,) are the rows where a memory begins and `owners` (m,) its seq.
    `revision` is the store's when it was read; `structure` changes whenever the rows do.
    """

    revision: int
    structure: int
    seqs: NDArray[np.int64]
    codes: Codes
    starts: NDArray[np.intp]
    owners: NDArray[np.int64]

    def rows_of(self, seqs: Sequence[int] | NDArray[np.int64]) -> NDArray[np.intp]:
        """The first row of each of some memories, (n,); −1 for one without an embedding."""
        wanted = np.asarray(seqs, dtype=np.int64)
        places = np.searchsorted(self.owners, wanted)
        inside = np.minimum(places, max(0, len(self.owners) - 1))
        found = (self.owners[inside] == wanted) if len(self.owners) else np.zeros(len(wanted), np.bool_)
        return np.where(found, self.starts[inside] if len(self.starts) else -1, -1)


class ResidentVectors:
    """Keeps a `Matrix` up to date. Safe for several threads; what was handed out does not change afterwards."""

    def __init__(self, database: Database, vectors: Vectors) -> None:
        """Read through `vectors`; nothing is read yet."""
        self._database = database
        self._vectors = vectors
        self._guard = threading.Lock()
        self._packed = np.zeros((0, vectors.dimension), np.uint8)
        self._scale = np.zeros(0, np.float32)
        self._matrix = self._view(0, 0, np.zeros(0, np.int64))

    def matrix(self) -> Matrix:
        """The embeddings as of the latest committed change (or of the caller's open snapshot)."""
        with self._guard, self._database.snapshot():
            revision = int(self._database.value("SELECT value FROM meta WHERE key = 'rev'"))
            if revision != self._matrix.revision:
                self._refresh(revision)
            return self._matrix

    def _refresh(self, revision: int) -> None:
        known = self._matrix if revision > self._matrix.revision else self._view(0, 0, np.zeros(0, np.int64))
        changed = self._vectors.changed_since(known.revision)
        gone = [seq for (seq,) in self._database.execute("SELECT seq FROM tombstone WHERE rev > ?", (known.revision,))]
        seqs = known.seqs
        stale = np.isin(seqs, [*gone, *(row[0] for row in changed if len(seqs) and row[0] <= seqs[-1])])
        if stale.any() or any(row[0] < seqs[-1] for row in changed if len(seqs)):
            self._matrix = self._merged(revision, ~stale, changed)
        elif changed:
            self._matrix = self._appended(revision, seqs, changed)
        else:
            self._matrix = self._view(revision, known.structure, seqs)

    def _appended(self, revision: int, seqs: NDArray[np.int64], changed: list[Change]) -> Matrix:
        added, codes = _read(changed, self._vectors.dimension)
        size = len(seqs) + len(added)
        if size > len(self._packed):
            room = int(size * _GROWTH) + 64
            self._packed, self._scale = _grown(self._packed, len(seqs), room), _grown(self._scale, len(seqs), room)
        self._packed[len(seqs) : size] = codes.packed
        self._scale[len(seqs) : size] = codes.scale
        return self._view(revision, revision, np.concatenate([seqs, added]))

    def _merged(self, revision: int, kept: NDArray[np.bool_], changed: list[Change]) -> Matrix:
        added, codes = _read(changed, self._vectors.dimension)
        count = len(kept)
        seqs = np.concatenate([self._matrix.seqs[kept], added])
        order = np.argsort(seqs, kind="stable")
        self._packed = np.concatenate([self._packed[:count][kept], codes.packed])[order]
        self._scale = np.concatenate([self._scale[:count][kept], codes.scale])[order]
        return self._view(revision, revision, seqs[order])

    def _view(self, revision: int, structure: int, seqs: NDArray[np.int64]) -> Matrix:
        starts = np.flatnonzero(np.diff(seqs, prepend=-1))
        codes = Codes(_WIDTH, self._packed[: len(seqs)], self._scale[: len(seqs)])
        return Matrix(revision, structure, seqs, codes, starts, seqs[starts])


def _read(changed: list[Change], dimension: int) -> tuple[NDArray[np.int64], Codes]:
    """Seqs (r,) and 8-bit codes of stored rows, in their order."""
    seqs = np.repeat([row[0] for row in changed], [row[2] for row in changed]).astype(np.int64)
    packed = np.zeros((len(seqs), dimension), np.uint8)
    scale = np.ones(len(seqs), np.float32)
    widths = np.repeat([row[1] for row in changed], [row[2] for row in changed])
    for width in sorted({row[1] for row in changed}):
        blobs = [row for row in changed if row[1] == width]
        raw = np.frombuffer(b"".join(row[3] for row in blobs), np.uint8).reshape(-1, dimension * width // 8)
        codes = Codes(width, raw, np.frombuffer(b"".join(row[4] for row in blobs), np.float32))
        eight = codes if width == _WIDTH else encode(decode(codes), _WIDTH)
        packed[widths == width], scale[widths == width] = eight.packed, eight.scale
    return seqs, Codes(_WIDTH, packed, scale)


def _grown(column: NDArray[Any], count: int, size: int) -> NDArray[Any]:
    """A larger array that starts with the first `count` rows."""
    grown = np.zeros((size, *column.shape[1:]), column.dtype)
    grown[:count] = column[:count]
    return grown
