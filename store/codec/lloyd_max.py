"""The scalar quantizer with the least squared error for N(0, 1) (Lloyd 1982, Max 1960), computed when first asked for.

Boundaries lie midway between centroids, each centroid is the mean of its cell. Iterating the two conditions from any
ordered start converges to the one solution there is for the normal density (it is log-concave).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from ...schemas.errors import InvalidInputError
from .arrays import Doubles

_MOST_BITS: Final = 4
_STILL: Final = 1e-15  # the step at which iteration stops; the solution is then good to 1e-12
_MOST_STEPS: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class ScalarQuantizer:
    """Levels for N(0, 1), float64.

    Ascending `centroids` (2^b,), `boundaries` (2^b − 1,) midway between them, and the mean squared error `mse`.
    """

    centroids: Doubles
    boundaries: Doubles
    mse: float


@cache
def lloyd_max(bit_width: int) -> ScalarQuantizer:
    """The quantizer with 2^bit_width levels, good to 1e-12. Raises InvalidInputError outside 1 to 4 bits."""
    if not 1 <= bit_width <= _MOST_BITS:
        raise InvalidInputError(f"Lloyd–Max levels exist here for 1 to 4 bits, not {bit_width}")
    half = _positive_centroids(1 << (bit_width - 1))
    edges = _edges(half)
    mass = [2.0 * (_tail(low) - _tail(high)) for low, high in pairwise(edges)]
    centroids = np.array([-level for level in reversed(half)] + half)
    return ScalarQuantizer(
        centroids=centroids,
        boundaries=(centroids[:-1] + centroids[1:]) / 2.0,
        # E[x·y] = E[y²] at the optimum, so the error is 1 − E[y²].
        mse=1.0 - math.fsum(level * level * share for level, share in zip(half, mass, strict=True)),
    )


def _positive_centroids(count: int) -> list[float]:
    centroids = [(index + 0.5) * 3.0 / count for index in range(count)]
    for _ in range(_MOST_STEPS):
        edges = _edges(centroids)
        moved = [_cell_mean(low, high) for low, high in pairwise(edges)]
        step = max(abs(new - old) for new, old in zip(moved, centroids, strict=True))
        centroids = moved
        if step < _STILL:
            break
    return centroids


def _edges(centroids: list[float]) -> list[float]:
    inner = [(low + high) / 2.0 for low, high in pairwise(centroids)]
    return [0.0, *inner, math.inf]


def _cell_mean(low: float, high: float) -> float:
    return (_density(low) - _density(high)) / (_tail(low) - _tail(high))


def _density(x: float) -> float:
    return math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)


def _tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2.0))
