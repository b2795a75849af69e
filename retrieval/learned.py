"""What each channel contributes to a score, and scores anew when the channels count more or less than by default.

The multipliers come from outside, by class of question. Without any, or with all of them 1, nothing is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from .bonus import shares_of
from .channels.base import Ranking
from .layout import Floats, Rows
from .weights import INTERACTION, WeightSet

Multipliers = Mapping[str, float]
"""By channel; one that is not named counts 1."""

Learned = Callable[[], Mapping[str, Multipliers]]
"""Gives the multipliers by class of question, as they are now; those of `EVERY` count where a class is not named."""

EVERY: Final = "every"

CHANNEL_OF: Final[Mapping[str, str]] = {
    "words": "lexical",
    "words_alone": "lexical",
    "substring": "lexical",
    "named": "entity",
    "session": "lexical",
    "answered": "lexical",
    "meaning": "semantic",
    "meaning_alone": "semantic",
    "date": "temporal",
    "when": "temporal",
    INTERACTION: "interaction",
}
"""Features that tell of no channel (trust, length, who speaks) always count as fitted; their part is the rest."""

REST: Final = "rest"


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Contributions to the scores of some rows (p,), by channel, each float32 (p,), in log-odds of the model.

    `values` make up the model's scores; `bonus` is what the associative channels may add to them by default.
    """

    rows: Rows
    values: Mapping[str, Floats] = field(default_factory=dict[str, Floats])
    bonus: Mapping[str, Floats] = field(default_factory=dict[str, Floats])

    def of(self, row: int) -> dict[str, float]:
        """The contributions to one row's score; empty for a row that the model did not rank."""
        places = np.flatnonzero(self.rows == row)
        if not len(places):
            return {}
        names = sorted(self.values.keys() | self.bonus.keys())
        told = {
            name: [from_[name][places[0]] for from_ in (self.values, self.bonus) if name in from_] for name in names
        }
        return {name: float(sum(values)) for name, values in told.items()}


def parts_of(model: Ranking, features: Mapping[str, Floats], weights: WeightSet) -> Parts:
    """What each evidence channel contributes to the rows of the model's ranking."""
    values: dict[str, Floats] = {}
    for name, weight in weights.final.items():
        told = model.features.get(name) if name == INTERACTION else features.get(name)
        channel = CHANNEL_OF.get(name)
        if told is None or channel is None:
            continue
        share = np.float32(weight) * (told if name == INTERACTION else told[model.rows])
        values[channel] = values[channel] + share if channel in values else share
    rest = model.scores - sum(values.values(), np.zeros(len(model), np.float32))
    return Parts(model.rows, {**values, REST: np.asarray(rest, np.float32)})


def with_bonus_parts(
    parts: Parts, model: Ranking, found: Mapping[str, Ranking], shares: Multipliers, cap: float
) -> Parts:
    """The same with what the associative channels may add by default, before its bound."""
    most = cap * float(model.scores[0] - model.scores[-1]) if len(model) else 0.0
    added = {name: np.asarray(most * told, np.float32) for name, told in shares_of(parts.rows, found, shares).items()}
    return replace(parts, bonus=added)


def reweighted(model: Ranking, parts: Parts, multipliers: Multipliers) -> Ranking:
    """The model's ranking with each channel's contribution to it multiplied; itself where nothing was learned.

    The bonus is left alone: it has its bound, and `multiplied` makes its shares count more or less.
    """
    changed = {name: value for name, value in multipliers.items() if value != 1.0 and name in parts.values}
    if not changed:
        return model
    scores = model.scores.copy()
    for name, value in sorted(changed.items()):
        scores += np.float32(value - 1.0) * parts.values[name]
    order = np.argsort(-scores, kind="stable")
    features = {name: told[order] for name, told in model.features.items() if len(told) == len(order)}
    return Ranking(model.rows[order], scores[order], features)


def of_class(learned: Mapping[str, Multipliers], query_class: str) -> Multipliers:
    """The multipliers for a class of question."""
    return learned.get(query_class, learned.get(EVERY, {}))


def multiplied(shares: Mapping[str, float], multipliers: Multipliers) -> Mapping[str, float]:
    """A route's shares of the bonus, each times its channel's multiplier."""
    return {name: share * multipliers.get(name, 1.0) for name, share in shares.items()}
