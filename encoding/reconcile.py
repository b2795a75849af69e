"""Reconciling: what a new piece of knowledge does to what is known already.

Same text → NOOP. Same slot, same value → UPDATE. Same slot, other value or flipped polarity → SUPERSEDE, if the new one
speaks of everything that the old one states. Cosine alone never supersedes, since paraphrases and updates overlap; what
is near but unsettled is added, and named as a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..schemas.memory import Kind, Slot
from .statements import Comparison, about_one, compare, same_text, shares_slot, tokens_of

CONFLICT_COSINE = 0.8
LONGEST_REPLACED = 400
"""Characters; a longer text says more than its slots show, so it is never replaced unasked."""
_MOST_CONFLICTS = 3
_CHANGE = re.compile(r"\b(?:now|no longer|instead of|any ?more)\b", re.IGNORECASE)
_NEGATIONS = frozenset(
    {
        *("not", "no", "never", "without", "cannot", "can't", "can’t", "don't", "don’t"),
        *("doesn't", "doesn’t", "isn't", "isn’t", "aren't", "won't", "won’t"),
    }
)


class Operation(StrEnum):
    """What becomes of the new one."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The new piece of knowledge; one of less `authority` than a stored one never replaces it."""

    kind: Kind
    content: str
    slots: tuple[Slot, ...] = ()
    authority: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored piece of knowledge that may be about the same: `cosine` is None where one has no embedding."""

    id: str
    kind: Kind
    content: str
    slots: tuple[Slot, ...] = ()
    cosine: float | None = None
    overlaps: bool = False
    authority: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do: `target` is the stored one that is confirmed or replaced; `conflicts` may contradict the new one."""

    operation: Operation
    target: str | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""


def reconcile(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Decision:
    """Decide about a candidate; events (episodes, observations) are always added."""
    if candidate.kind.is_event:
        return Decision(Operation.ADD, reason="an event is never another event")
    known = [neighbour for neighbour in neighbours if not neighbour.kind.is_event]
    for neighbour in known:
        if same_text(neighbour.content, candidate.content):
            return Decision(Operation.NOOP, neighbour.id, reason="the same words")
    differing = [neighbour for neighbour in known if _has_relation(candidate, neighbour, "differs")]
    replaced = [neighbour for neighbour in differing if _may_replace(candidate, neighbour)]
    if replaced:
        others = tuple(neighbour.id for neighbour in differing if neighbour.id != replaced[0].id)
        return Decision(Operation.SUPERSEDE, replaced[0].id, others, reason="the same slot has another value")
    agreeing = [neighbour for neighbour in known if _has_relation(candidate, neighbour, "same")]
    if agreeing and not differing:
        return Decision(Operation.UPDATE, agreeing[0].id, reason="the same slot has the same value")
    disputed = tuple(neighbour.id for neighbour in differing)
    conflicts = tuple(dict.fromkeys([*disputed, *_conflicts(candidate, known)]))[:_MOST_CONFLICTS]
    return Decision(Operation.ADD, conflicts=conflicts, reason="nothing known settles it")


def _has_relation(candidate: Candidate, neighbour: Neighbour, relation: Comparison) -> bool:
    is_change = _CHANGE.search(candidate.content) is not None
    pairs = ((old, new) for old in neighbour.slots for new in candidate.slots)
    return any(compare(old, new, is_change=is_change) == relation for old, new in pairs)


def _may_replace(candidate: Candidate, neighbour: Neighbour) -> bool:
    return candidate.authority >= neighbour.authority and _covers(candidate, neighbour)


def _covers(candidate: Candidate, neighbour: Neighbour) -> bool:
    """Tell whether the new one speaks of all that the old one states: else replacing it would lose the rest."""
    spoken_of = (any(about_one(old, new) for new in candidate.slots) for old in neighbour.slots)
    return all(spoken_of) and len(neighbour.content) <= LONGEST_REPLACED


def _conflicts(candidate: Candidate, known: Sequence[Neighbour]) -> tuple[str, ...]:
    """The nearest ones that share most words but differ in a number, an identifier or a negation."""
    words = tokens_of(candidate.content)
    doubtful = [neighbour for neighbour in known if _may_contradict(candidate, words, neighbour)]
    doubtful.sort(key=lambda neighbour: (-(neighbour.cosine or 0.0), neighbour.id))
    return tuple(neighbour.id for neighbour in doubtful[:_MOST_CONFLICTS])


def _may_contradict(candidate: Candidate, words: tuple[str, ...], neighbour: Neighbour) -> bool:
    if any(shares_slot(old, new) for old in neighbour.slots for new in candidate.slots):
        return True
    return (neighbour.cosine or 0.0) >= CONFLICT_COSINE and _tells_apart(words, tokens_of(neighbour.content))


def _tells_apart(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    different = set(one) ^ set(other)
    return any(word in _NEGATIONS or any(character.isdigit() for character in word) for word in different)
