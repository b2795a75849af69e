"""Every embedding of a store at one moment, as arrays that never change: what recall scores without the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .codec import Codes
from .codec.arrays import Bytes, Floats, Positions
from .codec.signs import as_words

BLOCK_ROWS: Final = 4096
_WIDTH: Final = 8

Words = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True, eq=False)
class CodeBlocks:
    """8-bit codes of r rows in blocks, so that a change of some rows copies the blocks they are in and no more.

    blocks: uint8 (block_rows, d) each, the last of at least one row (there may be none); scale: float32 (r,).
    """

    dimension: int
    block_rows: int
    blocks: tuple[Bytes, ...]
    scale: Floats

    def __len__(self) -> int:
        return len(self.scale)

    def take(self, rows: Positions) -> Codes:
        """The codes of the rows named by index, in that order."""
        packed = np.empty((len(rows), self.dimension), np.uint8)
        for number, places in _by_block(rows, self.block_rows):
            inside = rows[places] - number * self.block_rows
            if isinstance(places, slice):
                # The rows are there, so "clip" changes nothing but lets numpy write them where they are wanted.
                np.take(self.blocks[number], inside, axis=0, out=packed[places], mode="clip")
            else:
                packed[places] = self.blocks[number][inside]
        return Codes(_WIDTH, packed, self.scale[rows])

    def whole(self) -> Codes:
        """All of them; a copy when there are several blocks."""
        if len(self.blocks) == 1:
            return Codes(_WIDTH, self.blocks[0], self.scale)
        packed = np.concatenate([np.zeros((0, self.dimension), np.uint8), *self.blocks])
        return Codes(_WIDTH, packed, self.scale)


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
    codes: CodeBlocks
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


def _by_block(rows: Positions, block_rows: int) -> list[tuple[int, slice | Positions]]:
    """The blocks that rows lie in, each with the places of its rows in `rows`."""
    if not len(rows):
        return []
    numbers = rows // block_rows
    if (np.diff(numbers) >= 0).all():
        edges = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        return [
            (int(numbers[start]), slice(start, end)) for start, end in zip(edges, [*edges[1:], len(rows)], strict=True)
        ]
    return [(number, np.flatnonzero(numbers == number)) for number in np.unique(numbers).tolist()]
