"""How much each channel counts for a class of question, learned from which of the memories shown proved useful.

A multiplier e^θ a channel, θ = what is common to all classes + what is particular to one, each with a normal prior, so
that a class with few signals learns from the others. Two models foresee every signal before it is learned from: this
one, and one without θ, both with a heat and a place of their own (`choices`). The ratio of their likelihoods says how
much the learned multipliers are to be believed,

    e^(ω·θ),   ω = max(0, (r − 1) / (r + 1)),   r = Π P(signal | learned) / P(signal | default)

what Bayes' rule gives the one more than the other. By Ville's inequality (1939) r seldom comes far above 1 if there is
nothing to learn. ln r stays in bounds so that a change of taste is noticed (Herbster and Warmuth 1998), multipliers
stay in [1/3, 3].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import exp, isfinite, log, tanh
from typing import Any, Final

import numpy as np

from .choices import HEAT, PLACE, REST, Belief, Choice, Differences, Floats, learned_from, solved, told

EVERY: Final = "every"
"""In place of a class: all of them, for those without signals of their own."""

# Standard deviations before any signal: of heat and place, of what classes have in common, of what is particular.
_HEAT: Final = 0.7
_PLACE: Final = 1.0
_COMMON: Final = 0.4
_PARTICULAR: Final = 0.1
# Added to every variance with each signal: tastes change, and what was learned ten thousand signals ago counts less.
_DRIFT: Final = 1e-7
_LEAST, _MOST = -3.0, 6.0
_LARGEST: Final = log(3.0)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One signal about a question of some class: the choices it tells of, and its weight (1, less for a weak signal).

    Each choice is one useful memory by its differences to the others shown that were said to be of no use.
    """

    query_class: str
    choices: tuple[tuple[Differences, ...], ...]
    weight: float = 1.0

    def as_data(self) -> dict[str, Any]:
        """The lesson for the journal, from which it is read back exactly."""
        choices = [[dict(difference) for difference in choice] for choice in self.choices]
        return {"class": self.query_class, "weight": self.weight, "choices": choices}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Lesson:
        """The lesson that a journal entry holds."""
        return cls(data["class"], tuple(tuple(choice) for choice in data.get("choices", ())), float(data["weight"]))


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """What is particular to one class: the summed weight of its signals, and what is known of its θ."""

    signals: float = 0.0
    own: Belief = field(default_factory=Belief)


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned: the weight of all signals, ln r, the common model, the one without θ, and the classes."""

    signals: float = 0.0
    evidence: float = 0.0
    common: Belief = field(default_factory=Belief)
    plain: Belief = field(default_factory=Belief)
    classes: Mapping[str, ClassWeights] = field(default_factory=dict[str, ClassWeights])

    @property
    def belief(self) -> float:
        """ω: how much of what was learned is believed, 0 to 1."""
        return max(0.0, tanh(self.evidence / 2.0))

    def multipliers(self) -> dict[str, dict[str, float]]:
        """By class and channel, with `EVERY` for the classes not named; 1 is the default. Empty without signals."""
        if not self.signals:
            return {}
        common = dict(zip(self.common.names, self.common.mean, strict=True))
        channels = [name for name in self.common.names if name not in (HEAT, PLACE)]
        own = {name: dict(zip(one.own.names, one.own.mean, strict=True)) for name, one in self.classes.items()}
        return {
            name: {channel: self._multiplier(common[channel] + offsets.get(channel, 0.0)) for channel in channels}
            for name, offsets in ({EVERY: dict[str, float]()} | own).items()
        }

    def as_data(self) -> dict[str, Any]:
        """For the store."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Learned:
        """What `as_data` wrote.

        Raises:
            ValueError: for what it never writes.
        """
        classes = {
            name: ClassWeights(one["signals"], Belief.of_data(one["own"])) for name, one in data["classes"].items()
        }
        common, plain = Belief.of_data(data["common"]), Belief.of_data(data["plain"])
        signals, evidence = float(data["signals"]), float(data["evidence"])
        if not (isfinite(signals) and isfinite(evidence)):
            raise ValueError("figures of learning must be finite")
        return cls(signals, evidence, common, plain, classes)

    def _multiplier(self, offset: float) -> float:
        return exp(min(_LARGEST, max(-_LARGEST, self.belief * offset)))


def taught(known: Learned, lesson: Lesson) -> Learned:
    """What is known after a lesson; one without choices teaches nothing. Several choices share its weight."""
    choices = [choice for choice in lesson.choices if choice]
    if not choices or lesson.weight <= 0.0:
        return known
    for choice in choices:
        known = _after(known, lesson.query_class, choice, lesson.weight / len(choices))
    return known


def _after(known: Learned, query_class: str, differences: Sequence[Differences], weight: float) -> Learned:
    told_of = {name for one in differences for name in one} | set(known.common.names)
    channels = sorted(told_of - {HEAT, PLACE, REST})
    choice = Choice.of(differences, channels)
    own = known.classes.get(query_class, ClassWeights())
    common, particular, foreseen = _learned(known.common, own.own, choice, channels, weight)
    plain, by_default = _plain(known.plain, choice, weight)
    evidence = known.evidence + weight * (foreseen - by_default)
    return replace(
        known,
        signals=known.signals + weight,
        evidence=min(_MOST, max(_LEAST, evidence)),
        common=common,
        plain=plain,
        classes={**known.classes, query_class: ClassWeights(own.signals + weight, particular)},
    )


def _learned(
    common: Belief, own: Belief, choice: Choice, channels: Sequence[str], weight: float
) -> tuple[Belief, Belief, float]:
    """The common belief and the one of a class after a choice, and ln P of the choice before it.

    Only the sum of both enters the choice; each takes of its step as much as it has of the sum's variance.
    """
    names = (HEAT, PLACE, *channels)
    mean, covariance = common.over(names, [_HEAT**2, _PLACE**2, *[_COMMON**2] * len(channels)])
    own_mean, own_covariance = own.over(channels, [_PARTICULAR**2] * len(channels))
    covariance += _DRIFT * np.eye(len(covariance))
    own_covariance += _DRIFT * np.eye(len(own_covariance))
    both, offset = covariance.copy(), mean.copy()
    both[2:, 2:] += own_covariance
    offset[2:] += own_mean
    tells = told(choice, offset, both, weight)
    share = solved(both, tells.step)
    gain = solved(np.eye(len(both)) + tells.information @ both, tells.information)
    after = Belief.of(names, mean + covariance @ share, _less(covariance, gain))
    particular = Belief.of(channels, own_mean + own_covariance @ share[2:], _less(own_covariance, gain[2:, 2:]))
    return after, particular, tells.foreseen


def _plain(plain: Belief, choice: Choice, weight: float) -> tuple[Belief, float]:
    mean, covariance = plain.over((HEAT, PLACE), [_HEAT**2, _PLACE**2])
    covariance += _DRIFT * np.eye(len(covariance))
    tells = told(choice, mean, covariance, weight)
    after = Belief.of((HEAT, PLACE), mean + tells.step, learned_from(covariance, tells.information))
    return after, tells.foreseen


def _less(covariance: Floats, gain: Floats) -> Floats:
    return covariance - covariance @ gain @ covariance
