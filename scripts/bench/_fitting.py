"""Fit the weights of recall: a listwise softmax over evidence, and the logistic floor under which recall abstains.

Both go by what the product's own channels say (see `_examples`), so what is fitted is what answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from _examples import Example, Examples, off_topic
from _memory import Loaded
from numpy.typing import NDArray

from ebbing.retrieval.evidence import combined
from ebbing.retrieval.floor import FEATURES, Floor, Floors
from ebbing.retrieval.layout import Rows
from ebbing.retrieval.settings import RecallSettings
from ebbing.retrieval.weights import INTERACTION, Weights, WeightSet

DIALOGUE: Final = (
    *("words", "session", "meaning", "date", "who", "question", "first_person", "when", "length", "answered"),
    "substring",
)
PLAIN: Final = ("words", "words_alone", "session", "meaning", "meaning_alone", "date", "trust", "substring")
# Chats hardly ever name what an engineer would look up, so what an exact name is worth is not fitted: as much as a
# sixth of a pool's range, which is what fitting gives to names that are found by part.
SET: Final = {"named": 1.0}
DIALOGUE_FLOOR: Final = FEATURES
PLAIN_FLOOR: Final = ("known", "words_alone", "meaning_alone")
WORDS_FLOOR: Final = ("known", "words", "words_alone")
# Features of another magnitude are fitted in these units, so that one penalty suits all.
_UNITS: Final = {"meaning": 4.0, "meaning_alone": 4.0, INTERACTION: 8.0}
_POOL: Final = 100
_STEPS: Final = 100
_STEP: Final = 0.08
_L2: Final = 1e-3
_FLOOR_L2: Final = 1e-3
_NEWTON: Final = 50
FALSE_ABSTENTION: Final = 0.03

Matrix = NDArray[np.float64]


def fit_weights(chosen: Sequence[Example], names: Sequence[str]) -> WeightSet:
    """Fit the first stage on all candidates, then the final one on the pool that it chooses."""
    tables = [_table(one.features, names) for one in chosen]
    first = _listwise(tables, [one.relevant for one in chosen], [one.weight for one in chosen])
    weights = {**_named(names, first), **SET}
    pools = [_pool(one, weights, _POOL) for one in chosen]
    found = [np.flatnonzero(np.isin(pool, one.relevant)) for one, pool in zip(chosen, pools, strict=True)]
    kept = [place for place, answers in enumerate(found) if len(answers)]
    final = _listwise(
        [_table(chosen[place].features, (INTERACTION, *names))[pools[place]] for place in kept],
        [found[place] for place in kept],
        [chosen[place].weight for place in kept],
    )
    return WeightSet(weights, {**_named((INTERACTION, *names), final), **SET})


def fit_floor(
    loaded: Sequence[Loaded],
    read: Examples,
    weights: Weights,
    names: Sequence[str],
    *,
    false_abstention: float = FALSE_ABSTENTION,
) -> Floor:
    """Fit the floor on each store's own questions against those of the others, 200 at most a store.

    The share of false abstention is one of all answerable questions, those that the floor never judges included.
    """
    own = [one for store in loaded for one in read.own(store)]
    others = [one for store in loaded for one in read.of(store, off_topic(loaded, store))]
    figures = [_figures(one, weights) for one in (*own, *others)]
    rows = np.array([[one[name] for name in names] for one in figures])
    labels = np.repeat([1, 0], [len(own), len(others)])
    centre, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    solved = _logistic((rows - centre) / spread, labels)
    scaled = solved[:-1] / spread
    bias = float(solved[-1] - scaled @ centre)
    values = np.where([one.certain for one in (*own, *others)], np.inf, rows @ scaled + bias)
    least = float(np.quantile(values[labels == 1], false_abstention, method="lower"))
    return Floor({name: float(value) for name, value in zip(names, scaled, strict=True)}, bias, least)


def _figures(one: Example, weights: Weights) -> dict[str, float]:
    """What the floor looks at, with the late interaction of the pool that the weights choose."""
    first = (weights.dialogue if one.dialogue else weights.plain).first
    settings = RecallSettings()
    pool = _pool(one, first, settings.wide_pool if one.wide else settings.pool)
    return {**one.figures, INTERACTION: float(one.features[INTERACTION][pool].max(initial=0.0))}


def _pool(one: Example, weights: Mapping[str, float], limit: int) -> Rows:
    """The places of the best candidates by some weights."""
    scores = combined(one.features, weights, len(one.features[INTERACTION]))
    return np.argsort(-scores, kind="stable")[:limit]


def as_json(weights: Weights) -> dict[str, Any]:
    """The data file of the weights."""
    sets = {"dialogue": weights.dialogue, "plain": weights.plain}
    return {name: {"first": _rounded(one.first), "final": _rounded(one.final)} for name, one in sets.items()}


def floors_json(floors: Floors) -> dict[str, Any]:
    """The data file of the floors."""
    sets = {"dialogue": floors.dialogue, "plain": floors.plain, "words": floors.words}
    return {
        name: {"weights": _rounded(one.weights), "bias": round(one.bias, 4), "least": round(one.least, 4)}
        for name, one in sets.items()
    }


def _table(features: Mapping[str, NDArray[np.float32]], names: Sequence[str]) -> Matrix:
    size = max(len(values) for values in features.values())
    columns = [features.get(name, np.zeros(size)) * _UNITS.get(name, 1.0) for name in names]
    return np.stack(columns, axis=1).astype(np.float64)


def _named(names: Sequence[str], values: Matrix) -> dict[str, float]:
    return {name: float(value) * _UNITS.get(name, 1.0) for name, value in zip(names, values, strict=True)}


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


def _listwise(tables: Sequence[Matrix], answers: Sequence[NDArray[np.intp]], weights: Sequence[float]) -> Matrix:
    """Minimise the mean of −log softmax over evidence with Adam, steps of 0.08 falling linearly, from zero."""
    rows = np.concatenate(tables)
    lengths = np.array([len(table) for table in tables])
    starts = np.cumsum(lengths) - lengths
    question = np.repeat(np.arange(len(tables)), lengths)
    evidence = np.concatenate([start + found for start, found in zip(starts, answers, strict=True)])
    importance = np.repeat(weights, [len(found) for found in answers])
    importance /= importance.sum()
    of_question = np.bincount(question[evidence], weights=importance, minlength=len(tables))
    target = importance @ rows[evidence]
    solved, mean, square = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        scores = rows @ solved
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
        shares /= np.add.reduceat(shares, starts)[question]
        gradient = (shares * of_question[question]) @ rows - target + 2 * _L2 * solved
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        pace = _STEP * (1 - (step - 1) / _STEPS)
        solved = solved - pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return solved


# Typed here: numpy leaves the result of its solver partly unknown.
_solve = cast("Callable[[Matrix, Matrix], Matrix]", np.linalg.solve)


def _logistic(rows: Matrix, labels: NDArray[np.int64]) -> Matrix:
    """Weights and bias (f + 1,) of a logistic regression by Newton's method, both classes weighing the same."""
    table: Matrix = np.column_stack([rows, np.ones(len(rows))])
    positive = float((labels == 1).mean())
    share: Matrix = np.where(labels == 1, 0.5 / positive, 0.5 / (1 - positive))
    penalty: Matrix = _FLOOR_L2 * len(labels) * np.eye(table.shape[1])
    solved: Matrix = np.zeros(len(table.T))
    for _ in range(_NEWTON):
        odds: Matrix = table @ solved
        guess: Matrix = 1 / (1 + np.exp(-odds))
        gradient: Matrix = table.T @ ((guess - labels) * share) + penalty @ solved
        curvature: Matrix = (table.T * (share * guess * (1 - guess))) @ table + penalty
        solved = solved - _solve(curvature, gradient)
    return solved
