"""How far an estimated similarity may be from the exact one."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import InvalidInputError
from .arrays import ABSMAX_WIDTH, FULL_PRECISION, Doubles, check_bit_width
from .lloyd_max import lloyd_max

_INT8_STEPS: Final = 128.0


@cache
def expected_cosine(bit_width: int, dimension: int) -> float:
    """The cosine c between a vector and its code, from the quantizer's mean squared error for N(0, 1).

    At a Lloyd–Max optimum E[xy] = E[y²] = 1 − MSE, so c = √(1 − MSE). A uniform quantizer of step Δ adds Δ²/12, and at
    8 bits Δ is the greatest of `dimension` normal magnitudes over 128. 1 at 32 bits.
    Raises InvalidInputError for an unknown bit width.
    """
    check_bit_width(bit_width)
    if bit_width == FULL_PRECISION:
        return 1.0
    if bit_width == ABSMAX_WIDTH:
        return 1.0 / math.sqrt(1.0 + _mean_squared_peak(dimension) / _INT8_STEPS**2 / 12.0)
    return math.sqrt(1.0 - lloyd_max(bit_width).mse)


def estimate_sigma(
    scores: NDArray[np.floating], bit_width: int, dimension: int, *, cosine: float | None = None
) -> Doubles:
    """Standard deviation of the estimates `scores` of cosines of unit vectors, float64, same shape; 0 at 32 bits.

    √((1 − c²)/c²/(d − 1)) · √(1 − s²): the error of the code is a direction orthogonal to the vector, and only the
    query's part in that space, √(1 − s²), sees it. c is `cosine`, by default `expected_cosine`.
    Raises InvalidInputError for an unknown bit width, a dimension below 2 or a cosine outside (0, 1].
    """
    check_bit_width(bit_width)
    c = expected_cosine(bit_width, dimension) if cosine is None else cosine
    if dimension <= 1 or not 0.0 < c <= 1.0:
        raise InvalidInputError("σ needs a dimension of at least 2 and a cosine in (0, 1]")
    s = np.clip(np.asarray(scores, dtype=np.float64), -1.0, 1.0)
    return math.sqrt((1.0 - c * c) / (c * c) / (dimension - 1)) * np.sqrt(1.0 - s * s)


def _mean_squared_peak(dimension: int) -> float:
    """E[M²] of the greatest of `dimension` magnitudes of N(0, 1): ∫ 2m·(1 − P(|x| ≤ m)^d) dm, by the midpoint rule."""
    step = 1.0 / 256.0
    points = ((index + 0.5) * step for index in range(int(10.0 / step)))
    return math.fsum(2.0 * m * (1.0 - math.erf(m / math.sqrt(2.0)) ** dimension) * step for m in points)
