"""FRQAD: the Fisher–Rao distance between a query and a quantized copy, each seen as a Gaussian.

Few bits mean little certainty: a copy at b bits is a Gaussian around its decoded direction with σ = σ_obs·(32/b)^κ, the
query one around itself with a smaller σ. The distance is the geodesic of diagonal Gaussians (Atkinson and Mitchell
1981). It answers *which copy of one memory is the better witness*. Across different memories any penalty for bits only
costs recall, so ranking uses the unbiased estimate of the codec instead.

Monotone in b. A wider Gaussian is not always farther: with s the query's σ and A_i = Δ_i²/2 + s², coordinate i moves
away with growing σ only while σ² ≥ A_i. The sum over coordinates does whenever σ² ≥ mean(A) = s² + |Δ|²/(2d): the
weight t/sinh(t) of a coordinate falls as A_i grows, so by Chebyshev's sum inequality the coordinates that approach
never outweigh the others. |Δ|² ≤ 4 between directions, so s² ≤ σ_obs² − 2/d is enough for every pair, and that is the
most the query's σ is allowed. The defaults are σ_obs = 2/√d and s = √2/√d.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import InvalidInputError

Doubles = NDArray[np.float64]

KAPPA: Final = 0.5
_FULL_PRECISION: Final = 32.0


def geodesic(
    mean_a: NDArray[np.floating],
    sigma_a: NDArray[np.floating],
    mean_b: NDArray[np.floating],
    sigma_b: NDArray[np.floating],
) -> Doubles:
    """Fisher–Rao distance of diagonal Gaussians, float64 (n,).

    Means (n, d), standard deviations (n, d) or (n, 1), all broadcast against each other: √Σ 2·arccosh²(1 + z_i) with
    z = (Δ²/2 + (σ_a − σ_b)²)/(2·σ_a·σ_b), from arccosh(1 + z) = log1p(z + √(z·(z + 2))), which keeps its digits near 0.
    Raises InvalidInputError when a value is not finite or a σ is not above 0.
    """
    means = [np.asarray(mean, dtype=np.float64) for mean in (mean_a, mean_b)]
    sigmas = [np.asarray(sigma, dtype=np.float64) for sigma in (sigma_a, sigma_b)]
    if not all(np.isfinite(values).all() for values in means + sigmas) or any((s <= 0.0).any() for s in sigmas):
        raise InvalidInputError("Gaussians need finite means and finite standard deviations above 0")
    apart = (means[0] - means[1]) ** 2 / 2.0 + (sigmas[0] - sigmas[1]) ** 2
    z = apart / (2.0 * sigmas[0] * sigmas[1])
    return np.sqrt(2.0 * np.sum(np.log1p(z + np.sqrt(z * (z + 2.0))) ** 2, axis=-1))


def effective_sigma(bit_widths: NDArray[np.integer], sigma_observed: float, *, kappa: float = KAPPA) -> Doubles:
    """σ_obs·(32/b)^κ, float64, same shape as `bit_widths`. Raises InvalidInputError for widths outside 1 to 32."""
    widths = np.asarray(bit_widths, dtype=np.float64)
    if ((widths < 1.0) | (widths > _FULL_PRECISION)).any():
        raise InvalidInputError("bit widths must lie between 1 and 32")
    return sigma_observed * (_FULL_PRECISION / widths) ** kappa


def frqad(
    queries: NDArray[np.floating],
    copies: NDArray[np.floating],
    bit_widths: NDArray[np.integer],
    *,
    sigma_observed: float | None = None,
    sigma_query: float | None = None,
    kappa: float = KAPPA,
) -> Doubles:
    """Distance of query and copy, float64 (n,), smaller is better; for equal directions it never falls with fewer bits.

    queries (n, d) or (1, d) for all, decoded copies (n, d), bit_widths (n,). Norms do not matter. `sigma_query` is
    lowered to √(σ_obs² − 2/d) where it is above. Raises InvalidInputError for vectors without a direction, values that
    are not finite, bit widths outside 1 to 32, and σ_obs² ≤ 2/d, which could not be monotone.
    """
    dimension = copies.shape[-1]
    observed = 2.0 / math.sqrt(dimension) if sigma_observed is None else sigma_observed
    room = observed * observed - 2.0 / dimension
    if not room > 0.0:
        raise InvalidInputError("σ_obs must be above √(2/d), or fewer bits could come out nearer")
    own = math.sqrt(room) if sigma_query is None else min(sigma_query, math.sqrt(room))
    spread = effective_sigma(bit_widths, observed, kappa=kappa)[:, np.newaxis]
    return geodesic(_directions(queries), np.full((1, 1), own), _directions(copies), spread)


def choose_copy(
    queries: NDArray[np.floating], copies: NDArray[np.floating], bit_widths: NDArray[np.integer]
) -> NDArray[np.intp]:
    """Which of m copies of the same memory is nearest to its query by FRQAD, intp (n,); the first on a tie.

    queries (n, d), decoded copies (n, m, d), bit_widths (n, m). Raises InvalidInputError like `frqad`.
    """
    columns = [frqad(queries, copies[:, index], bit_widths[:, index]) for index in range(copies.shape[1])]
    return np.argmin(np.stack(columns, axis=1), axis=1)


def _directions(vectors: NDArray[np.floating]) -> Doubles:
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0.0).any():
        raise InvalidInputError("a vector is zero or not finite: it has no direction")
    return rows / lengths
