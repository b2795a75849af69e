"""Measures of answers, and intervals of what one way of answering is worth over another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

K: Final = 10
_RESAMPLES: Final = 2_000


def measure(relevant: frozenset[int], found: Sequence[int]) -> tuple[float, float, float, float, float]:
    """R@5, R@10, hit@10, reciprocal rank within ten, nDCG@10."""
    right = np.array([seq in relevant for seq in found[:K]] + [False] * (K - len(found[:K])))
    discount = 1 / np.log2(np.arange(2, K + 2))
    ideal = discount[: min(K, len(relevant))].sum()
    first = int(np.argmax(right)) if right.any() else -1
    return (
        right[:5].sum() / len(relevant),
        right.sum() / len(relevant),
        float(right.any()),
        1 / (1 + first) if first >= 0 else 0.0,
        float(discount[right].sum() / ideal),
    )


def means(measured: Mapping[int, tuple[float, ...]], numbers: Sequence[int]) -> tuple[float, ...]:
    """The mean of each measure over some questions."""
    return tuple(float(value) for value in np.mean([measured[number] for number in numbers], axis=0))


def interval(differences: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of the mean of paired differences (q,), by resampling the questions; always the same."""
    values = np.asarray(differences, np.float64)
    if not len(values):
        return 0.0, 0.0
    chosen = np.random.default_rng(0).integers(0, len(values), (_RESAMPLES, len(values)))
    low, high = np.quantile(values[chosen].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def compared(full: Mapping[int, float], other: Mapping[int, float]) -> tuple[float, float, float]:
    """How many points `full` is above `other` over the same questions, and the 95 % interval of that."""
    differences = 100 * np.array([full[number] - other[number] for number in sorted(full)])
    return float(differences.mean()), *interval(differences)
