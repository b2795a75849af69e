"""A seeded orthogonal rotation that needs no stored matrix.

Two rounds of: random signs, normalised Walsh–Hadamard transform in blocks, permutation. After it the coordinates of
any unit vector look like draws from N(0, 1/d), which is what the Lloyd–Max levels are made for (the randomised
Hadamard transform of Ailon and Chazelle 2009; the permutation lets blocks mix).

The randomness is the byte stream of SHAKE-256 over a label with dimension, seed and round, so it is the same in every
process, on every platform and with every version of numpy. The arithmetic is only additions and multiplications by
constants in a fixed order, so float32 results are equal bit for bit too (a matrix product would not be).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import InvalidInputError
from .arrays import MATRIX, Floats, Positions

ROTATION_SEED: Final = 1885
_BLOCK: Final = 128
_ROUNDS: Final = 2
_COLUMNS_AT_ONCE: Final = 512  # a (384, 512) float32 work array stays in the second-level cache


@dataclass(frozen=True, slots=True)
class _Round:
    signs: Floats  # (d, 1), each +1 or -1
    order: Positions  # (d,)
    inverse_order: Positions  # (d,)


@dataclass(frozen=True, slots=True)
class Rotation:
    """The rotation of `dimension` coordinates that belongs to `seed`; any dimension ≥ 1.

    The block is 128, or the greatest power of two within a smaller dimension. Where blocks do not fill the dimension,
    one more block over the last coordinates overlaps its neighbour: still orthogonal, nothing padded.

    Raises InvalidInputError for a dimension below 1.
    """

    dimension: int
    seed: int = ROTATION_SEED
    _rounds: tuple[_Round, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise InvalidInputError(f"a rotation needs a dimension of at least 1, not {self.dimension}")
        rounds = tuple(_draw_round(self.dimension, self.seed, number) for number in range(_ROUNDS))
        object.__setattr__(self, "_rounds", rounds)

    def apply(self, vectors: NDArray[np.floating]) -> Floats:
        """Rotated float32 (n, d) of float (n, d). Raises InvalidInputError on another dimension."""
        return self._in_chunks(vectors, inverse=False)

    def invert(self, vectors: NDArray[np.floating]) -> Floats:
        """Undo `apply`, up to float32 rounding: (n, d) to (n, d). Raises InvalidInputError on another dimension."""
        return self._in_chunks(vectors, inverse=True)

    def _in_chunks(self, vectors: NDArray[np.floating], *, inverse: bool) -> Floats:
        if vectors.ndim != MATRIX or vectors.shape[1] != self.dimension:
            raise InvalidInputError(f"vectors must have shape (n, {self.dimension}), not {vectors.shape}")
        turn = self._backward if inverse else self._forward
        result = np.empty(vectors.shape, dtype=np.float32)
        for start in range(0, len(vectors), _COLUMNS_AT_ONCE):
            rows = slice(start, start + _COLUMNS_AT_ONCE)
            result[rows] = turn(np.array(vectors[rows].T, dtype=np.float32, order="C")).T
        return result

    def _forward(self, columns: Floats) -> Floats:
        for step in self._rounds:
            columns *= step.signs
            for span in _spans(self.dimension):
                _hadamard(columns[span], _block(self.dimension))
            columns = columns[step.order]
        return columns

    def _backward(self, columns: Floats) -> Floats:
        for step in reversed(self._rounds):
            columns = columns[step.inverse_order]
            for span in reversed(_spans(self.dimension)):
                _hadamard(columns[span], _block(self.dimension))
            columns *= step.signs
        return columns


@cache
def rotation_of(dimension: int) -> Rotation:
    """The rotation that all stored codes of this dimension share."""
    return Rotation(dimension)


def turned(rows: Floats) -> Floats:
    """What the rotation that all stored codes share makes of float32 (n, d): (n, d), not to be written to.

    A single row is kept for a moment: one vector is searched by its signs, scored twice and stored, each time turned.
    """
    if len(rows) != 1:
        return rotation_of(rows.shape[1]).apply(rows)
    return _turned_row(rows.shape[1], rows.tobytes())


@lru_cache(maxsize=8)
def _turned_row(dimension: int, row: bytes) -> Floats:
    found = rotation_of(dimension).apply(np.frombuffer(row, dtype=np.float32)[np.newaxis])
    found.flags.writeable = False
    return found


def _draw_round(dimension: int, seed: int, number: int) -> _Round:
    label = f"ebbing rotation d={dimension} seed={seed} round={number}"
    stream = hashlib.shake_256(label.encode()).digest(9 * dimension)
    keys = np.frombuffer(stream, dtype="<u8", count=dimension)
    order = np.argsort(keys, kind="stable")
    bits = np.frombuffer(stream, dtype=np.uint8, offset=8 * dimension) & 1
    signs = (1.0 - 2.0 * bits).astype(np.float32)[:, np.newaxis]
    return _Round(signs=signs, order=order, inverse_order=np.argsort(order))


def _block(dimension: int) -> int:
    return min(_BLOCK, 1 << (dimension.bit_length() - 1))


def _spans(dimension: int) -> tuple[slice, ...]:
    block = _block(dimension)
    whole = slice(0, dimension // block * block)
    return (whole,) if whole.stop == dimension else (whole, slice(dimension - block, dimension))


def _hadamard(rows: Floats, block: int) -> None:
    """Normalised Walsh–Hadamard of each block of rows (k·block, n), in place."""
    half = 1
    while half < block:
        pairs = rows.reshape(-1, 2, half, rows.shape[1])
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        half *= 2
    rows *= np.float32(1.0 / math.sqrt(block))
