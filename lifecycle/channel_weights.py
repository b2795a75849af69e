"""How much each channel counts for a class of question: learned from which of the shown memories turned out useful.

A multiplier e^θ a channel, at first 1. A signal says that one memory was better than others shown with it; of each such
pair, d is the difference of what each channel contributed, in log-odds of the fitted model, so that by the model

    P(better) = σ(Σ e^θ · d)                                   pairwise logistic, Bradley and Terry 1952
    θ ← θ + w · (1 − P) · e^θ · d / H,   H = 200 · max(Ī, 0.02) + Σ I,   I = w · (e^θ · d)² / 4

a Newton step with Böhning's bound of the curvature (1992), averaged over the pairs of a signal. Ī is the mean of I over
the signals so far: the defaults weigh as much as 200 signals of the kind that come in, so after n of them the data have
the weight n / (200 + n), and one signal moves a multiplier by a few percent at most. Multipliers stay in [1/3, 3].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, log
from typing import Any, Final

PRIOR_SIGNALS: Final = 200.0
LEAST_INFORMATION: Final = 0.02
LARGEST: Final = log(3.0)
REST: Final = "rest"
"""What no channel contributed: part of the model's scores, never multiplied."""

Differences = Mapping[str, float]
"""What each channel contributed to the better memory, less what it contributed to the other."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One signal about a question of some class: the pairs it decides, and its weight (1, less for a weak signal)."""

    query_class: str
    pairs: tuple[Differences, ...]
    weight: float = 1.0

    def as_data(self) -> dict[str, Any]:
        """The lesson for the journal, from which it is read back exactly."""
        return {"class": self.query_class, "weight": self.weight, "pairs": [dict(pair) for pair in self.pairs]}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Lesson:
        """The lesson that a journal entry holds."""
        return cls(data["class"], tuple(data["pairs"]), float(data["weight"]))


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """What was learned for one class: summed weight of the signals, θ and Σ I by channel."""

    signals: float = 0.0
    offsets: Mapping[str, float] = field(default_factory=dict[str, float])
    information: Mapping[str, float] = field(default_factory=dict[str, float])

    def multipliers(self) -> dict[str, float]:
        """By channel; 1 is the default."""
        return {name: exp(offset) for name, offset in self.offsets.items()}

    def as_data(self) -> dict[str, Any]:
        """For the store."""
        return asdict(self)


Learned = Mapping[str, ClassWeights]
"""By class of question."""


def taught(known: Learned, lesson: Lesson) -> dict[str, ClassWeights]:
    """What is known after a lesson; one without pairs teaches nothing."""
    if not lesson.pairs or lesson.weight <= 0.0:
        return dict(known)
    before = known.get(lesson.query_class, ClassWeights())
    return {**known, lesson.query_class: _after(before, lesson)}


def parse(data: Mapping[str, Any]) -> dict[str, ClassWeights]:
    """What `as_data` of each class wrote."""
    return {name: ClassWeights(**one) for name, one in data.items()}


def _after(before: ClassWeights, lesson: Lesson) -> ClassWeights:
    signals = before.signals + lesson.weight
    channels = sorted(before.offsets.keys() | {name for pair in lesson.pairs for name in pair} - {REST})
    scale = {name: exp(before.offsets.get(name, 0.0)) for name in channels}
    surprises = [1.0 - _probability(pair, scale) for pair in lesson.pairs]
    offsets: dict[str, float] = {}
    information: dict[str, float] = {}
    for name in channels:
        told = [scale[name] * pair.get(name, 0.0) for pair in lesson.pairs]
        gradient = lesson.weight * _mean([surprise * value for surprise, value in zip(surprises, told, strict=True)])
        gathered = before.information.get(name, 0.0) + lesson.weight * _mean([value * value for value in told]) / 4.0
        prior = PRIOR_SIGNALS * max(gathered / signals, LEAST_INFORMATION)
        moved = before.offsets.get(name, 0.0) + gradient / (prior + gathered)
        offsets[name] = min(LARGEST, max(-LARGEST, moved))
        information[name] = gathered
    return ClassWeights(signals, offsets, information)


def _probability(pair: Differences, scale: Mapping[str, float]) -> float:
    margin = sum(scale.get(name, 1.0) * value for name, value in pair.items())
    # Beyond this the exponential overflows and the probability has long been 0 or 1.
    return 1.0 / (1.0 + exp(-min(500.0, max(-500.0, margin))))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
