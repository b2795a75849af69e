"""Several texts in a few of their own sentences, chosen for what they share and against saying it twice.

Extractive: sentences are taken whole, so that every identifier, number and negation stands in a source. They are picked
by maximal marginal relevance (Carbonell and Goldstein 1998) over words weighted by rarity.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .extract import facts_in, salience
from .sentences import sentences
from .stopwords import STOP_WORDS

GIST_CHARACTERS: Final = 600
LONGEST_SENTENCE: Final = 240
_READ_PER_TEXT: Final = 12
_TAKEN_PER_TEXT: Final = 2
_TAKEN: Final = 6
_RELEVANCE: Final = 0.7
_REPETITION: Final = 0.85
_FEWEST_WORDS: Final = 4
_SALIENCE_SHARE: Final = 0.05
_WORD: Final = re.compile(r"\w+")
_LISTED: Final = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s")
# What such a sentence speaks of stands in another one.
_POINTING: Final = re.compile(r"^(?:it|this|that|these|those|he|she|they|so|then|yes|no|ok|okay|sure)\b", re.IGNORECASE)

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Condensed:
    """The gist of some texts, and which of them (by place) it quotes."""

    text: str
    quoted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    source: int
    place: int
    text: str
    weights: Weights
    salience: float


def condense(texts: Sequence[str], max_chars: int = GIST_CHARACTERS) -> Condensed:
    """The gist of some texts, at most `max_chars` characters, one sentence a line in the order of the texts.

    Empty where no sentence can stand by itself: questions, items of a list without its head, very long ones.
    """
    candidates = _candidates(texts)
    chosen = _chosen(candidates, max_chars)
    known = {source: facts_in(texts[source]) for source in {sentence.source for sentence in chosen}}
    while chosen:
        ordered = sorted(chosen, key=lambda sentence: (sentence.source, sentence.place))
        text = "\n".join(sentence.text for sentence in ordered)
        # Whatever two neighbouring lines may seem to say together, nothing is said that no source says.
        if facts_in(text) <= frozenset().union(*known.values()):
            return Condensed(text, tuple(dict.fromkeys(sentence.source for sentence in ordered)))
        chosen.pop()
    return Condensed("", ())


def _candidates(texts: Sequence[str]) -> list[_Sentence]:
    parts = [(source, place, text) for source, whole in enumerate(texts) for place, text in _standing(whole)]
    words = [Counter(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS) for _, _, text in parts]
    frequency = Counter(word for found in words for word in found)
    rarity = {word: math.log(1 + len(parts) / count) for word, count in frequency.items()}
    return [
        _Sentence(
            source,
            place,
            text,
            _unit({word: count * rarity[word] for word, count in found.items()}),
            salience(text, place),
        )
        for (source, place, text), found in zip(parts, words, strict=True)
        if sum(found.values()) >= _FEWEST_WORDS
    ]


def _standing(text: str) -> list[tuple[int, str]]:
    """The first sentences of a text that can stand by themselves, with their places."""
    found: list[tuple[int, str]] = []
    headed = False
    for place, sentence in enumerate(sentences(text)[:_READ_PER_TEXT]):
        if sentence.endswith(":"):
            headed = True
            continue
        # What a head introduces may mean the opposite without it.
        depends = headed
        headed = headed and _LISTED.match(sentence) is not None
        is_whole = len(sentence) <= LONGEST_SENTENCE and not sentence.endswith("?")
        if is_whole and not depends and not _POINTING.match(sentence):
            found.append((place, sentence))
    return found


def _chosen(candidates: Sequence[_Sentence], max_chars: int) -> list[_Sentence]:
    total: dict[str, float] = {}
    for sentence in candidates:
        for word, weight in sentence.weights.items():
            total[word] = total.get(word, 0.0) + weight
    centre = _unit(total)
    relevance = [_dot(one.weights, centre) + _SALIENCE_SHARE * one.salience for one in candidates]
    taken: list[int] = []
    nearest = [0.0] * len(candidates)
    room = max_chars
    while len(taken) < _TAKEN:
        per_source = Counter(candidates[place].source for place in taken)
        free = [
            place
            for place, sentence in enumerate(candidates)
            if place not in taken
            and nearest[place] < _REPETITION
            and per_source[sentence.source] < _TAKEN_PER_TEXT
            and len(sentence.text) < room
        ]
        if not free:
            break
        best = max(free, key=lambda at: (_RELEVANCE * relevance[at] - (1 - _RELEVANCE) * nearest[at], -at))
        taken.append(best)
        room -= len(candidates[best].text) + 1
        nearest = [
            max(before, _dot(one.weights, candidates[best].weights))
            for before, one in zip(nearest, candidates, strict=True)
        ]
    return [candidates[place] for place in taken]


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in weights.values())) or 1.0
    return {word: value / length for word, value in weights.items()}


def _dot(one: Weights, other: Weights) -> float:
    less, more = (one, other) if len(one) <= len(other) else (other, one)
    return sum(value * more.get(word, 0.0) for word, value in less.items())
