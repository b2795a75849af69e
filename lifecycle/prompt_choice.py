"""Which lines a soft prompt gets: the worthiest that fit, unlike each other, with some room for every section.

Greedy by marginal relevance (Carbonell and Goldstein 1998), as a product: worth · (1 − 0.6 · likeness to what is chosen
already). Likeness compares words, not embeddings, which change their precision with time and differ between models.
What stands in the prompt already counts a tenth more, so that worths that drift past each other don't swap lines from
day to day; choosing again from the same candidates with the choice as incumbents gives the same choice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .prompt_sections import SHARES, Section

INCUMBENT: Final = 1.1
DIVERSITY: Final = 0.6
SAME: Final = 0.8
"""The likeness from which two lines say the same, if they name the same numbers, names and negations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that may get a line: the line, its size, its worth, and what it says, for comparison."""

    id: str
    section: Section
    line: str
    tokens: int
    worth: float
    words: frozenset[str]
    facts: frozenset[str]

    @property
    def characters(self) -> int:
        """UTF-16 units, as clients count; and the line's end."""
        return utf16_units(self.line) + 1


@dataclass(frozen=True, slots=True)
class Size:
    """How much text: tokens and UTF-16 units."""

    tokens: int
    characters: int

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(self.tokens + other.tokens, self.characters + other.characters)

    def within(self, other: Size) -> bool:
        """Whether it fits."""
        return self.tokens <= other.tokens and self.characters <= other.characters

    def share(self, part: float) -> Size:
        """A part of it."""
        return Size(int(self.tokens * part), int(self.characters * part))


@dataclass(slots=True)
class Choice:
    """The chosen in the order of choosing, and why others were left out, by id."""

    chosen: list[Candidate] = field(default_factory=list[Candidate])
    left_out: dict[str, str] = field(default_factory=dict[str, str])


def choose(
    candidates: Sequence[Candidate], incumbents: Collection[str], room: Size, headings: Mapping[Section, Size]
) -> Choice:
    """Fill `room`; `headings` is what a section's first line costs besides."""
    run = _Run(room, headings, frozenset(incumbents))
    for section in Section:
        own = [candidate for candidate in candidates if candidate.section is section]
        run.fill(own, room.share(SHARES[section]), {})
    taken = {candidate.id for candidate in run.choice.chosen}
    run.fill([candidate for candidate in candidates if candidate.id not in taken], room, run.choice.left_out)
    return run.choice


def likeness(one: Candidate, other: Candidate) -> float:
    """How much two lines share of their words, 0 to 1 (Jaccard)."""
    union = len(one.words | other.words)
    return len(one.words & other.words) / union if union else 0.0


def utf16_units(text: str) -> int:
    """The length of a text as clients count it."""
    return len(text) + sum(character > "\uffff" for character in text)


class _Run:
    """One choosing: what is chosen so far and the room that is left."""

    def __init__(self, room: Size, headings: Mapping[Section, Size], incumbents: frozenset[str]) -> None:
        self._room = room
        self._headings = headings
        self._incumbents = incumbents
        self._used = Size(0, 0)
        self._sections: set[Section] = set()
        self.choice = Choice()

    def fill(self, candidates: Sequence[Candidate], quota: Size, left_out: dict[str, str]) -> None:
        """Take the best of some candidates while they fit in the quota and in the room."""
        waiting = {candidate.id: candidate for candidate in sorted(candidates, key=lambda one: one.id)}
        nearest = {identifier: self._nearest(candidate) for identifier, candidate in waiting.items()}
        spent = Size(0, 0)
        while waiting:
            best = max(waiting.values(), key=lambda one: self._value(one, nearest[one.id][0]))
            del waiting[best.id]
            alike, twin = nearest[best.id]
            cost = self._cost(best)
            if twin is not None and alike >= SAME and best.facts == twin.facts:
                left_out[best.id] = f"says what {twin.id} says"
            elif spent.plus(cost).within(quota) and self._used.plus(cost).within(self._room):
                spent = spent.plus(cost)
                self._take(best, cost)
                left_out.pop(best.id, None)
                _update(nearest, waiting, best)
            else:
                left_out[best.id] = "no room"

    def _value(self, candidate: Candidate, alike: float) -> float:
        kept = INCUMBENT if candidate.id in self._incumbents else 1.0
        return candidate.worth * kept * (1.0 - DIVERSITY * alike)

    def _cost(self, candidate: Candidate) -> Size:
        line = Size(candidate.tokens, candidate.characters)
        return line if candidate.section in self._sections else line.plus(self._headings[candidate.section])

    def _take(self, candidate: Candidate, cost: Size) -> None:
        self._used = self._used.plus(cost)
        self._sections.add(candidate.section)
        self.choice.chosen.append(candidate)

    def _nearest(self, candidate: Candidate) -> tuple[float, Candidate | None]:
        alike = [(likeness(candidate, chosen), chosen) for chosen in self.choice.chosen]
        return max(alike, key=lambda pair: pair[0], default=(0.0, None))


def _update(
    nearest: dict[str, tuple[float, Candidate | None]], waiting: Mapping[str, Candidate], chosen: Candidate
) -> None:
    for identifier, candidate in waiting.items():
        alike = likeness(candidate, chosen)
        if alike > nearest[identifier][0]:
            nearest[identifier] = (alike, chosen)
