"""What every function of the codec agrees on: array types, bit widths and the check of incoming vectors."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import InvalidInputError

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Positions = NDArray[np.intp]

MATRIX: Final = 2  # axes of an (n, d) array
FULL_PRECISION: Final = 32
ABSMAX_WIDTH: Final = 8
BIT_WIDTHS: Final = (32, 8, 4, 2, 1)
LLOYD_MAX_WIDTHS: Final = (4, 2, 1)

# Outside this range a float32 scale would overflow or lose its digits.
_NORM_RANGE: Final = (1e-30, 1e30)


def as_vectors(vectors: NDArray[np.floating]) -> Floats:
    """The same rows as C-contiguous float32 (n, d), n may be 0.

    Raises InvalidInputError when the array is not two-dimensional, d is 0 or not a multiple of 8, or a value is
    not finite in float32.
    """
    if vectors.ndim != MATRIX:
        raise InvalidInputError(f"vectors must have shape (n, d), not {vectors.shape}")
    if vectors.shape[1] == 0 or vectors.shape[1] % 8:
        raise InvalidInputError(f"the dimension must be a positive multiple of 8, not {vectors.shape[1]}")
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise InvalidInputError("vectors must be finite: a value is NaN or infinite")
    return rows


def norms(rows: Floats) -> Doubles:
    """Euclidean norms (n,), float64.

    Raises InvalidInputError for a vector without a direction (all zeros) or with a norm that float32 can't scale.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if ((lengths < _NORM_RANGE[0]) | (lengths > _NORM_RANGE[1])).any():
        raise InvalidInputError("a vector is zero or its norm is out of range: it has no usable direction")
    return lengths


def check_bit_width(bit_width: int, allowed: tuple[int, ...] = BIT_WIDTHS) -> None:
    """Raises InvalidInputError when `bit_width` is not one of `allowed`."""
    if bit_width not in allowed:
        raise InvalidInputError(f"bit_width must be one of {allowed}, not {bit_width}")
