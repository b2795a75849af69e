"""Gists and cues: shorter forms of a text made of its own words, for when its detail has faded.

Extractive, so that nothing can be said that was not: every identifier, number and negation of a gist stands in its
source, and a sentence is taken whole or not at all unless it alone is too long.
"""

from __future__ import annotations

import re

from .cues import arousal, priority
from .entities import entities
from .sentences import sentences

GIST_CHARACTERS = 240
CUE_CHARACTERS = 80

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|nothing|cannot|without|neither|nor)\b|\b\w+n['’]t\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"(?<=\w[,;:])(?= )| (?=[-–—] |\()| (?=(?:because|but|so that|which|while|although|since)\b)")
_LEAST_OF_A_CLAUSE = 0.6
_MARKS = re.compile(r"""["'`“”„‘’«»]""")
_ELLIPSIS = "…"
_LEAD_BONUS = 1.0


def gist(text: str, max_chars: int = GIST_CHARACTERS) -> str:
    """The most telling sentences of a text in their order, at most `max_chars` characters; a short text is its gist."""
    folded = " ".join(text.split())
    if len(folded) <= max_chars:
        return folded
    parts = sentences(text)
    chosen: list[int] = []
    room = max_chars
    for index in sorted(range(len(parts)), key=lambda at: (-salience(parts[at], at), at)):
        cost = len(parts[index]) + 1
        if cost <= room:
            chosen.append(index)
            room -= cost
    joined = " ".join(parts[index] for index in sorted(chosen))
    if joined and _quotes_alike(joined, text, folded):
        return joined
    shorter = clipped(max(parts, key=lambda sentence: salience(sentence, 0)), max_chars)
    return shorter if _quotes_alike(shorter, text, folded) else _ELLIPSIS


def _quotes_alike(short: str, *sources: str) -> bool:
    """Whether quotation marks pair as in the sources; without what stood between, they may quote what nobody has."""
    return not _MARKS.search(short) or facts_in(short) <= frozenset().union(*map(facts_in, sources))


def cue(text: str, max_chars: int = CUE_CHARACTERS) -> str:
    """A text's first words, enough to know it again, at most `max_chars` characters."""
    parts = sentences(text)
    return clipped(parts[0] if parts else "", max_chars)


def clipped(text: str, max_chars: int) -> str:
    """A text cut after a clause, or at least a word, with an ellipsis where something was left out."""
    folded = " ".join(text.split())
    if len(folded) <= max_chars:
        return folded
    kept = folded[: max_chars - 1]
    # A cut inside a word could turn one number or name into another.
    if not folded[max_chars - 1].isspace():
        kept = kept.rpartition(" ")[0]
    # A cut inside a clause could lose the "not" that it turns on.
    ends = [end.start() for end in _CLAUSE_END.finditer(kept) if end.start() >= _LEAST_OF_A_CLAUSE * max_chars]
    kept = kept[: ends[-1]] if ends else kept
    return (kept.rstrip() + _ELLIPSIS) if kept else _ELLIPSIS


def facts_in(text: str) -> frozenset[str]:
    """The identifiers, numbers and negations of a text: what a gist must not make up."""
    found = {entity.value for entity in entities(text) if entity.kind != "name"}
    found |= set(_NUMBER.findall(text))
    return frozenset(found | {match.lower() for match in _NEGATION.findall(text)})


def salience(sentence: str, position: int) -> float:
    """How much a sentence tells for its length: names, numbers, stress, and standing first; at least 0."""
    names = len(entities(sentence))
    numbers = len(_NUMBER.findall(sentence))
    weight = 2.0 * (priority(sentence) + arousal(sentence))
    lead = _LEAD_BONUS / (1 + position)
    return (min(6, names) + 0.5 * min(4, numbers) + weight + lead) / (1.0 + len(sentence) / 200.0)
