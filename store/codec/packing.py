"""Codes of 4, 2 or 1 bits packed into bytes, first coordinate in the lowest bits, and tables to read them back."""

from __future__ import annotations

from functools import cache

import numpy as np

from .arrays import LLOYD_MAX_WIDTHS, Bytes, Floats, check_bit_width
from .lloyd_max import lloyd_max


def pack(codes: Bytes, bit_width: int) -> Bytes:
    """Pack codes (n, d), each below 2^bit_width, into (n, d·bit_width/8). d is a multiple of 8 (see `as_vectors`).

    Raises InvalidInputError when `bit_width` is not 4, 2 or 1.
    """
    shifts = _shifts(bit_width)
    groups = codes.reshape(len(codes), codes.shape[1] // len(shifts), len(shifts))
    return np.bitwise_or.reduce(groups << shifts, axis=2)


def unpack(packed: Bytes, bit_width: int) -> Bytes:
    """Undo `pack`: (n, w) bytes to (n, w·8/bit_width) codes. Raises InvalidInputError like `pack`."""
    shifts = _shifts(bit_width)
    codes = (packed[:, :, np.newaxis] >> shifts) & np.uint8((1 << bit_width) - 1)
    return codes.reshape(len(packed), packed.shape[1] * len(shifts))


@cache
def level_table(bit_width: int) -> Floats:
    """The Lloyd–Max levels that each byte stands for: float32 (256, 8/bit_width), read-only."""
    every_byte = np.arange(256, dtype=np.uint8)[:, np.newaxis]
    table = lloyd_max(bit_width).centroids.astype(np.float32)[unpack(every_byte, bit_width)]
    table.setflags(write=False)
    return table


def _shifts(bit_width: int) -> Bytes:
    check_bit_width(bit_width, LLOYD_MAX_WIDTHS)
    return np.arange(0, 8, bit_width, dtype=np.uint8)
