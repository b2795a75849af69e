"""What to keep when a store is full: the product's policy and the ones it is compared with.

Every policy gives each kept item a score and the lowest goes. A use is a confirmed citation, for all of them: nothing
is reinforced by being retrieved. Published retention curves are compared by their exponents, since the values
themselves reach zero long before a store is full.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from _stream import Floats, Neighbours, Rows, Stream

from ebbing.lifecycle.clock import tau_series
from ebbing.lifecycle.constants import DEFAULTS
from ebbing.lifecycle.feedback import starting_trust
from ebbing.lifecycle.strength import decay_rates, kind_base, next_spacing, stabilities
from ebbing.lifecycle.value import Candidates, evict_order
from ebbing.schemas.memory import Kind

DAY: Final = 86_400_000_000
HOUR: Final = 3_600_000_000
LINKS: Final = 10
NEVER: Final = 1 << 40


class Policy(Protocol):
    """Sees the stream go by and names what to drop."""

    def used(self, row: int, now: int) -> None:
        """Item `row` was cited when item `now` arrived."""
        ...

    def saved(self, row: int, kept: Rows) -> None:
        """Item `row` was added to the kept ones."""
        ...

    def victim(self, kept: Rows, now: int) -> int:
        """Place in `kept` of the item to drop."""
        ...


@dataclass(slots=True, eq=False)
class Scored:
    """Common part: counts uses and drops the item with the lowest score."""

    stream: Stream
    times: Rows = field(init=False)
    last: Rows = field(init=False)
    uses: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.times = self.stream.times
        self.last = np.arange(self.times.size, dtype=np.int64)
        self.uses = np.zeros(self.times.size)

    def used(self, row: int, now: int) -> None:
        self.last[row] = now
        self.uses[row] += 1

    def saved(self, row: int, kept: Rows) -> None:
        pass

    def victim(self, kept: Rows, now: int) -> int:
        return int(np.argmin(self.scores(kept, now)))

    def scores(self, kept: Rows, now: int) -> Floats:
        raise AssertionError(self, kept, now)

    def idle(self, kept: Rows, now: int, unit: int = DAY) -> Floats:
        return np.maximum(0, self.times[now] - self.times[self.last[kept]]) / unit


class Fifo(Scored):
    """First in, first out."""

    def scores(self, kept: Rows, now: int) -> Floats:
        return kept.astype(np.float64)


class Lru(Scored):
    """Least recently used; being saved counts as a use."""

    def scores(self, kept: Rows, now: int) -> Floats:
        return self.last[kept].astype(np.float64)


class Lfu(Scored):
    """Least frequently used, among equals the least recently used."""

    def scores(self, kept: Rows, now: int) -> Floats:
        return self.uses[kept] * self.times.size + self.last[kept]


class Random(Scored):
    """Any, by a seeded lot."""

    def victim(self, kept: Rows, now: int) -> int:
        return int(np.random.default_rng(now).integers(kept.size))


class Hours(Scored):
    """The strength of SuperLocalMemory V3.3 as published: S = max(0.1, 2·ln(1 + uses)) with time in hours."""

    def scores(self, kept: Rows, now: int) -> Floats:
        strength = np.maximum(0.1, 2.0 * np.log1p(self.uses[kept]))
        return -self.idle(kept, now, HOUR) / strength


@dataclass(slots=True, eq=False)
class ScrapMem(Scored):
    """ScrapMem: strength S_i = ln(1 + uses) + association + activation, a fade λ_i = e^(−1/(1 + S_i)) a day.

    Activation spreads from each new item to its kept neighbours and dies away with two weeks.
    """

    near: Neighbours
    degree: Floats = field(init=False)
    level: Floats = field(init=False)
    level_at: Rows = field(init=False)

    def __post_init__(self) -> None:
        Scored.__post_init__(self)
        self.degree = np.zeros(self.times.size)
        self.level = np.zeros(self.times.size)
        self.level_at = self.times.copy()

    def saved(self, row: int, kept: Rows) -> None:
        rows, similarity = linked(self.near, row, kept)
        self.degree[row] = similarity.sum()
        self.degree[rows] += similarity
        self.level[rows] = self._level(rows, row) + similarity
        self.level_at[rows] = self.times[row]

    def scores(self, kept: Rows, now: int) -> Floats:
        association = -np.expm1(-self.degree[kept])
        activation = -np.expm1(-self._level(kept, now))
        return -self.idle(kept, now) / (1.0 + np.log1p(self.uses[kept]) + association + activation)

    def _level(self, rows: Rows, now: int) -> Floats:
        days = np.maximum(0, self.times[now] - self.level_at[rows]) / DAY
        return self.level[rows] * np.exp(-days / 14.0)


@dataclass(slots=True, eq=False)
class Fsrs(Scored):
    """FSRS-6 with its published default parameters; saving is the first review, each use a review graded "good".

    R = (1 + f·t/S)^(−w20), so that the order of R is that of t/S. Formula: the FSRS-6 algorithm page of
    open-spaced-repetition.
    """

    stability: Floats = field(init=False)
    difficulty: Floats = field(init=False)

    _W: Final = (
        *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796),
        *(1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542),
    )
    _GOOD: Final = 3

    def __post_init__(self) -> None:
        Scored.__post_init__(self)
        self.stability = np.full(self.times.size, self._W[self._GOOD - 1])
        self.difficulty = np.full(self.times.size, self._first_difficulty(self._GOOD))

    def _first_difficulty(self, grade: int) -> float:
        return float(np.clip(self._W[4] - np.exp(self._W[5] * (grade - 1)) + 1, 1, 10))

    def used(self, row: int, now: int) -> None:
        w, stability = self._W, float(self.stability[row])
        days = max(0, int(self.times[now] - self.times[self.last[row]])) / DAY
        if days < 1:
            growth = np.exp(w[17] * w[18]) * stability ** -w[19]
            self.stability[row] = stability * max(1.0, growth)
        else:
            retrievability = (1 + (0.9 ** (-1 / w[20]) - 1) * days / stability) ** -w[20]
            gain = np.exp(w[8]) * (11 - self.difficulty[row]) * stability ** -w[9]
            self.stability[row] = stability * (1 + gain * np.expm1(w[10] * (1 - retrievability)))
        # A "good" leaves difficulty where it is but for its reversion to that of a first "easy".
        self.difficulty[row] = w[7] * self._first_difficulty(4) + (1 - w[7]) * self.difficulty[row]
        Scored.used(self, row, now)

    def scores(self, kept: Rows, now: int) -> Floats:
        return -self.idle(kept, now) / self.stability[kept]


@dataclass(slots=True, eq=False)
class Ours(Scored):
    """The product's: its clock, strength, retention value and exemptions, each item a fact said by an agent."""

    near: Neighbours
    tau: Floats = field(init=False)
    spaced: Floats = field(init=False)
    interference: Floats = field(init=False)
    familiarity: Floats = field(init=False)
    length: Floats = field(init=False)

    def __post_init__(self) -> None:
        Scored.__post_init__(self)
        self.tau = tau_series(self.times)
        self.spaced = np.zeros(self.times.size)
        self.interference = np.zeros(self.times.size)
        self.familiarity = np.zeros(self.times.size)
        self.length = np.array([len(text) for text in self.stream.texts], dtype=np.float64)

    def used(self, row: int, now: int) -> None:
        previous = int(self.times[self.last[row]]) if self.uses[row] else None
        self.spaced[row] += next_spacing(previous, int(self.times[now]))
        Scored.used(self, row, now)

    def saved(self, row: int, kept: Rows) -> None:
        rows, similarity = linked(self.near, row, kept)
        self.interference[rows] += similarity
        self.familiarity[row] = similarity.sum()

    def victim(self, kept: Rows, now: int) -> int:
        none, no = np.zeros(kept.size), np.zeros(kept.size, dtype=np.bool_)
        base = np.full(kept.size, kind_base(Kind.FACT))
        spaced = self.spaced[kept]
        days = stabilities(
            base,
            spaced_uses=spaced,
            importance=none,
            confirmations=none,
            arousal=none,
            association=none,
            activation=none,
        )
        candidates = Candidates(
            rate=decay_rates(days, np.full(kept.size, starting_trust("agent"))),
            elapsed_days=self.tau[now] - self.tau[self.last[kept]],
            age_days=self.tau[now] - self.tau[kept],
            spaced_uses=spaced,
            confirmations=none,
            importance=none,
            length=self.length[kept],
            interference=self.interference[kept],
            familiarity=self.familiarity[kept],
            pinned=no,
            protected=no,
        )
        return int(evict_order(candidates, DEFAULTS)[0])


@dataclass(slots=True, eq=False)
class Belady(Scored):
    """The oracle: drops what is needed furthest in the future, among the never needed the oldest."""

    needs: dict[int, list[int]] = field(init=False)
    next_need: Rows = field(init=False)

    def __post_init__(self) -> None:
        Scored.__post_init__(self)
        self.needs = defaultdict(list)
        for query in reversed(self.stream.queries):
            for row in query.relevant:
                self.needs[row].append(query.at)
        self.next_need = np.full(self.times.size, NEVER, dtype=np.int64)
        for row, when in self.needs.items():
            self.next_need[row] = when.pop()

    def used(self, row: int, now: int) -> None:
        when = self.needs[row]
        if self.next_need[row] <= now:
            self.next_need[row] = when.pop() if when else NEVER

    def scores(self, kept: Rows, now: int) -> Floats:
        return kept - self.next_need[kept].astype(np.float64) * self.times.size


def linked(near: Neighbours, row: int, kept: Rows) -> tuple[Rows, Floats]:
    """The ten most similar kept items that a new one would be linked to when saved, and their similarity."""
    there = np.isin(near.rows[row], kept)
    return near.rows[row][there][:LINKS], near.similarity[row][there][:LINKS]


def policies(stream: Stream, near: Neighbours) -> dict[str, Policy]:
    """A fresh instance of every policy, by the name it has in the figures."""
    return {
        "random": Random(stream),
        "fifo": Fifo(stream),
        "lru": Lru(stream),
        "lfu": Lfu(stream),
        "hours": Hours(stream),
        "scrapmem": ScrapMem(stream, near),
        "fsrs": Fsrs(stream),
        "ours": Ours(stream, near),
        "belady": Belady(stream),
    }
