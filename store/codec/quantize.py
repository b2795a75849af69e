"""Vectors to codes and back: one packed row and one float32 scale a vector.

A vector x is rotated, each coordinate becomes a level y of its quantizer, and the scale |x|²/⟨y, x⟩ makes ⟨q, y⟩·scale
an unbiased estimate of ⟨q, x⟩ over the choice of rotation, at every bit width (RaBitQ, Gao and Long 2024). Without it
coarse codes score low against fine ones and mixed stores rank by precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import InvalidInputError
from .arrays import ABSMAX_WIDTH, FULL_PRECISION, MATRIX, Bytes, Floats, Positions, as_vectors, check_bit_width, norms
from .lloyd_max import lloyd_max
from .packing import level_table, pack
from .rotation import Rotation, rotation_of, turned

_INT8_STEPS: Final = 128.0  # on each side of zero


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """n encoded vectors of one bit width.

    packed: uint8 (n, d·bit_width/8): little-endian float32 of the vector itself at 32 bits, int8 levels of the rotated
    vector at 8 bits, packed Lloyd–Max codes of it at 4, 2 and 1. scale: float32 (n,), 1 at 32 bits.
    Raises InvalidInputError when shapes, types or scales can't be codes.
    """

    bit_width: int
    packed: Bytes
    scale: Floats

    def __post_init__(self) -> None:
        check_bit_width(self.bit_width)
        if self.packed.ndim != MATRIX or self.packed.dtype != np.uint8 or self.packed.shape[1] % self.bit_width:
            raise InvalidInputError(f"packed codes must be uint8 (n, d·{self.bit_width}/8), d a multiple of 8")
        if self.scale.shape != (len(self.packed),) or not np.isfinite(self.scale).all():
            raise InvalidInputError("codes need one finite scale for each row")

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def dimension(self) -> int:
        """The number of coordinates of the encoded vectors."""
        return self.packed.shape[1] * 8 // self.bit_width

    def take(self, rows: Positions) -> Codes:
        """The codes of the rows named by index or mask, in that order."""
        return Codes(self.bit_width, self.packed[rows], self.scale[rows])

    @classmethod
    def from_rows(cls, bit_width: int, dimension: int, rows: Sequence[bytes], scales: Sequence[float]) -> Self:
        """Codes from stored blobs and scales. Raises InvalidInputError when a blob has another length."""
        width = dimension * bit_width // 8
        if any(len(row) != width for row in rows):
            raise InvalidInputError(f"a stored code of {dimension} coordinates at {bit_width} bits has {width} bytes")
        packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), width)
        return cls(bit_width, packed, np.array(scales, dtype=np.float32))


def encode(vectors: NDArray[np.floating], bit_width: int, *, rotation: Rotation | None = None) -> Codes:
    """Codes of vectors (n, d) at 32, 8, 4, 2 or 1 bits a coordinate. Any norm above zero; n may be 0.

    `rotation` defaults to the one that all stored codes share. Raises InvalidInputError for an unknown bit width, a
    dimension that is not a multiple of 8, values that are not finite, and vectors without a direction.
    """
    check_bit_width(bit_width)
    rows = as_vectors(vectors)
    lengths = norms(rows)
    if bit_width == FULL_PRECISION:
        raw = rows.astype("<f4", copy=False).view(np.uint8)
        return Codes(bit_width, raw, np.ones(len(rows), dtype=np.float32))
    return _encoded(turned(rows) if rotation is None else rotation.apply(rows), lengths, bit_width)


def recode(codes: Codes, bit_width: int) -> Codes:
    """Codes at another bit width of the vectors that `codes` stand for, `codes` itself at the same one.

    Up to rounding what encoding the decoded vectors gives, but both are rotated alike, so nothing is turned back and
    forth. Raises InvalidInputError for an unknown bit width.
    """
    check_bit_width(bit_width)
    if bit_width == codes.bit_width:
        return codes
    if FULL_PRECISION in (bit_width, codes.bit_width):
        return encode(decode(codes), bit_width)
    rotated = levels(codes.packed, codes.bit_width) * codes.scale[:, np.newaxis]
    return _encoded(rotated, norms(rotated), bit_width)


def decode(codes: Codes, *, rotation: Rotation | None = None) -> Floats:
    """Vectors (n, d) float32 whose inner product with q is the estimate that `score` gives; exact at 32 bits.

    Their norm is above the original's by one over the cosine between vector and code: normalise to compare directions.
    """
    if codes.bit_width == FULL_PRECISION:
        return levels(codes.packed, FULL_PRECISION).copy()
    scaled = levels(codes.packed, codes.bit_width) * codes.scale[:, np.newaxis]
    return (rotation or rotation_of(codes.dimension)).invert(scaled)


def levels(packed: Bytes, bit_width: int) -> Floats:
    """The unscaled level of every coordinate, float32 (n, d)."""
    if bit_width == FULL_PRECISION:
        return np.ascontiguousarray(packed).view("<f4").astype(np.float32, copy=False)
    if bit_width == ABSMAX_WIDTH:
        return packed.view(np.int8) + np.float32(0.5)
    return level_table(bit_width)[packed].reshape(len(packed), packed.shape[1] * 8 // bit_width)


def _encoded(rotated: Floats, lengths: NDArray[np.float64], bit_width: int) -> Codes:
    packed = _int8_levels(rotated) if bit_width == ABSMAX_WIDTH else _lloyd_max_codes(rotated, lengths, bit_width)
    overlap = np.einsum("ij,ij->i", levels(packed, bit_width), rotated, dtype=np.float64)
    return Codes(bit_width, packed, (lengths**2 / overlap).astype(np.float32))


def _int8_levels(rotated: Floats) -> Bytes:
    """Steps of peak/128, each read as its middle, so that no coordinate loses its sign to a zero level."""
    peak = np.abs(rotated).max(axis=1, keepdims=True)
    steps = np.floor(rotated * (np.float32(_INT8_STEPS) / peak))
    return np.clip(steps, -_INT8_STEPS, _INT8_STEPS - 1.0).astype(np.int8).view(np.uint8)


def _lloyd_max_codes(rotated: Floats, lengths: NDArray[np.float64], bit_width: int) -> Bytes:
    """Codes of coordinates brought to unit variance: those of a rotated unit vector spread like N(0, 1/d)."""
    to_unit_variance = np.asarray(math.sqrt(rotated.shape[1]) / lengths, dtype=np.float32)
    unit = rotated * to_unit_variance[:, np.newaxis]
    boundaries = lloyd_max(bit_width).boundaries.astype(np.float32)
    codes = np.searchsorted(boundaries, unit, side="right")
    return pack(codes.astype(np.uint8), bit_width)
