"""Which of the memories shown a user takes: a model of choice, and what one choice teaches about its parameters. Pure.

The utility of a memory is what recall's fitted model makes of it, with each channel's contribution multiplied. A user
is more or less guided by that (heat), and may take what stands first because it stands there (place):

    u = e^heat · (Σ e^θ · part + rest) − place · ln rank        P(taken) = e^u / Σ e^u      (Luce 1959, Plackett 1975)

Heat and place explain whatever can be explained without any taste, so that one who answers at random, or takes the
first, teaches nothing else. What is known of (heat, place, θ) is a normal distribution: its mean goes to the mode of
each choice's posterior, its precision grows by the Fisher information there (online Laplace; Opper 1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HEAT: Final = "heat"
PLACE: Final = "place"
REST: Final = "rest"
"""What no channel contributed: part of the model's scores, never multiplied."""

Differences = Mapping[str, float]
"""What each channel, `REST` and `PLACE` contributed to the memory taken, less what they contributed to another."""

_STEPS: Final = 2
_LONGEST: Final = 0.1
_HOTTEST: Final = 3.0
_FARTHEST: Final = 50.0
"""In log-odds: what is farther apart has long been certain."""
_SURPRISE: Final = 1e-300
_NUISANCES: Final = 2


@dataclass(frozen=True, slots=True)
class Belief:
    """A normal distribution of named parameters: their means, and their covariance row by row."""

    names: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], mean: Floats, covariance: Floats) -> Self:
        """The distribution with a mean (p,) and a covariance (p, p), made symmetric."""
        rows = ((covariance + covariance.T) / 2.0).tolist()
        return cls(tuple(names), tuple(mean.tolist()), tuple(tuple(row) for row in rows))

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """What `dataclasses.asdict` and JSON made of one.

        Raises:
            ValueError: for what is none: of the wrong shape, or not of finite numbers.
        """
        names = tuple(str(name) for name in data["names"])
        mean, covariance = np.array(data["mean"], np.float64), np.array(data["covariance"], np.float64)
        size = len(names)
        is_shaped = mean.shape == (size,) and covariance.size == size * size and len(covariance) == size
        if not is_shaped or not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise ValueError("no distribution of these parameters")
        return cls(names, tuple(mean.tolist()), tuple(tuple(row) for row in covariance.tolist()))

    def over(self, names: Sequence[str], variances: Sequence[float]) -> tuple[Floats, Floats]:
        """Mean (p,) and covariance (p, p) of these parameters; those not known yet have mean 0 and their variance."""
        mean, covariance = np.zeros(len(names)), np.diag(np.asarray(variances, np.float64))
        places = [names.index(name) for name in self.names]
        mean[places] = self.mean
        if places:
            covariance[np.ix_(places, places)] = self.covariance
        return mean, covariance


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The memory taken less each other: parts (n, channels), rest (n,) and place (n,), float64."""

    parts: Floats
    rest: Floats
    place: Floats

    @classmethod
    def of(cls, differences: Sequence[Differences], channels: Sequence[str]) -> Self:
        """A choice by the differences to the other memories, at least one."""
        rows = [[one.get(name, 0.0) for name in (*channels, REST, PLACE)] for one in differences]
        table = np.clip(np.array(rows, np.float64), -_FARTHEST, _FARTHEST)
        return cls(table[:, :-2], table[:, -2], table[:, -1])


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What a choice tells: a step of the mean (p,), Fisher information (p, p), and ln P(taken) as it was foreseen."""

    step: Floats
    information: Floats
    foreseen: float


def told(choice: Choice, mean: Floats, covariance: Floats, weight: float = 1.0) -> Told:
    """What a choice of some weight tells, given a normal prior of (heat, place, θ…), or of the first two alone.

    No θ moves by more than 0.1.
    """
    chances, slopes = _foreseen(choice, mean)
    foreseen = float(np.log(max(_SURPRISE, 1.0 - float(chances.sum()))))
    step, information = np.zeros(len(mean)), np.zeros_like(covariance)
    for _ in range(_STEPS):
        chances, slopes = _foreseen(choice, mean + step)
        centre = chances @ slopes
        information = weight * ((slopes * chances[:, None]).T @ slopes - np.outer(centre, centre))
        toward = weight * (covariance @ centre) - step
        step = step + solved(np.eye(len(mean)) + covariance @ information, toward)
        longest = float(np.abs(step[_NUISANCES:]).max(initial=0.0))
        step[_NUISANCES:] *= min(1.0, _LONGEST / longest) if longest else 1.0
    return Told(step, information, foreseen)


def learned_from(covariance: Floats, information: Floats) -> Floats:
    """The covariance (p, p) after some Fisher information: (Σ⁻¹ + I)⁻¹, without inverting what may be singular."""
    return solved(np.eye(len(covariance)) + covariance @ information, covariance)


def solved(matrix: Floats, right: Floats) -> Floats:
    """What the matrix (p, p) makes `right` (p,) or (p, q) of."""
    return np.asarray(np.linalg.solve(matrix, right), np.float64)


def _foreseen(choice: Choice, point: Floats) -> tuple[Floats, Floats]:
    """The chance of each of the others (n,), and how fast the parameters take the one taken from it (n, p)."""
    heat = float(np.exp(min(_HOTTEST, float(point[0]))))
    theta = point[_NUISANCES:]
    parts = choice.parts * np.exp(theta) if len(theta) else choice.parts
    guided = heat * (parts.sum(axis=1) + choice.rest)
    ahead = guided + point[1] * choice.place
    # Shifted by the best, which may be the memory taken itself at 0, so that nothing overflows.
    best = max(0.0, float((-ahead).max()))
    odds = np.exp(-ahead - best)
    chances = odds / (odds.sum() + np.exp(-best))
    columns = [guided[:, None], choice.place[:, None], *([heat * parts] if len(theta) else [])]
    return chances, np.concatenate(columns, axis=1)
