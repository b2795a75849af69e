"""Whether a question is about anything remembered: a calibrated floor under which recall says "nothing relevant".

A logistic model over figures that mean the same in small and large scopes. `scripts/fit_weights.py` fits it on
questions about a store against questions about others, and sets it so that few answerable ones fall below.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .channels.base import Context, Ranking
from .evidence import Evidence
from .weights import INTERACTION

FEATURES: Final = ("interaction", "known", "words", "words_alone", "meaning_alone")
_FILE: Final = Path(__file__).with_name("floor.json")
# A memory that has this share of the question's words (by rarity) is an answer whatever the model says.
_COVERED: Final = 0.8
# So rare is a name that about a square root of the memories has.
_RARE: Final = 0.5
# Rarity means little among few memories: there a shared word or a fair cosine is enough.
_SMALL: Final = 50
_LEAST_COSINE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Floor:
    """A linear model over some figures of a question; below `least` it abstains."""

    weights: Mapping[str, float]
    bias: float
    least: float

    def value(self, figures: Mapping[str, float]) -> float:
        """The log-odds that the question is about what is remembered."""
        return self.bias + sum(weight * figures[name] for name, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class Floors:
    """For turns of named speakers, for everything else, and for answers from words alone."""

    dialogue: Floor
    plain: Floor
    words: Floor

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Floors:
        """All three from the data file's JSON object."""
        made = {name: Floor(one["weights"], float(one["bias"]), float(one["least"])) for name, one in data.items()}
        return cls(made["dialogue"], made["plain"], made["words"])


@cache
def fitted_floors() -> Floors:
    """The floors that ship with the package."""
    return Floors.parse(json.loads(_FILE.read_text(encoding="utf-8")))


def figures_of(context: Context, evidence: Evidence, ranking: Ranking) -> dict[str, float]:
    """What the floor looks at: the best of each kind of evidence that counts, and how much of the words is known."""
    features, late, counted = evidence.features, ranking.features.get(INTERACTION), _counted(context)
    best = {
        name: float(features[name].max(where=counted, initial=0.0)) if name in features else 0.0
        for name in ("words", "words_alone", "meaning_alone")
    }
    known = float(features["known"].max(initial=0.0)) if "known" in features else 0.0
    return {**best, "known": known, INTERACTION: 0.0 if late is None else float(late.max(initial=0.0))}


def is_below(context: Context, evidence: Evidence, ranking: Ranking, floors: Floors) -> bool:
    """Whether everything found is too weak to be called relevant."""
    return margin(context, evidence, ranking, floors) < 0


def margin(context: Context, evidence: Evidence, ranking: Ranking, floors: Floors) -> float:
    """How far above the floor the best of what was found is, in log-odds; below 0 recall says "nothing relevant".

    Infinite where a memory has most of the question's words or a name of it, or lies in a time that it names.
    """
    figures = figures_of(context, evidence, ranking)
    if is_certain(context, evidence):
        return math.inf
    if len(context.layout) < _SMALL:
        related = figures["words_alone"] > 0 or figures["meaning_alone"] >= _LEAST_COSINE
        return math.inf if related else -math.inf
    floor = floors.words
    if context.embedding is not None and "meaning_alone" in evidence.features:
        floor = floors.dialogue if context.frame.dialogue else floors.plain
    return floor.value(figures) - floor.least


def is_certain(context: Context, evidence: Evidence) -> bool:
    """Whether a memory that counts has most of the question's words or a name of it, or is of a time that it names."""
    named = _reaches(context, evidence, "substring", _RARE)
    covered = _reaches(context, evidence, "covered", _COVERED)
    return named or covered or bool("temporal" in evidence.rankings and len(evidence.rankings["temporal"]))


def _reaches(context: Context, evidence: Evidence, name: str, least: float) -> bool:
    return name in evidence.features and bool((_counted(context) & (evidence.features[name] >= least)).any())


def _counted(context: Context) -> NDArray[np.bool_]:
    """Which rows tell that a question is about what is remembered, bool (n,).

    Besides what may be shown that is what was replaced and what others speak for, since they answer in its place.
    """
    columns = context.columns
    return context.eligible | (columns.superseded | columns.hidden)[context.layout.seqs]
