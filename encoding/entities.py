"""What a text names: paths, symbols, packages, versions, hosts, tickets, people. Compared exactly, never by likeness.

Values are normalised so that the same thing written twice is equal; `v1` and `v2`, or `db-1` and `db-2`, never are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..schemas.memory import Entity
from .entity_patterns import NAME, PATTERNS
from .stopwords import STOP_WORDS

MAX_ENTITIES = 64

_SENTENCE_START = re.compile(r"(?:\A|[.!?:]\s|\n|[\"“(*•]|(?:^|\n)\s*[-*>#\d.)]{1,4} )\s*\Z")
_LOOK_BACK = 12
_CALENDAR_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december
"""
_EMPHASIS_WORDS = """
    never always must only todo fixme note warning error important ok yes all any here please thanks hi hello hey also
    however because since though although every each both many most some other another using use set run add fix see
    yeah wow oh so well last next great sure sorry then
"""
_NOT_NAMES = STOP_WORDS | frozenset(_CALENDAR_WORDS.split()) | frozenset(_EMPHASIS_WORDS.split())
_PLAIN_WORD = re.compile(r"(?<!\w)[^\W\d_A-Z]+(?!\w)")
_LINE_NUMBER = re.compile(r"(?::\d+)+$")


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    kind: str
    value: str


def entities(text: str) -> tuple[Entity, ...]:
    """The entities of a text, each once, in the order of the text; at most `MAX_ENTITIES`."""
    found = sorted(_untaken(text), key=lambda one: one.start)
    technical = [one for one in found if one.kind != NAME]
    named = _names(text, [one for one in found if one.kind == NAME])
    ordered = sorted([*technical, *named], key=lambda one: one.start)
    unique = dict.fromkeys(Entity(one.kind, normalised(one.kind, one.value)) for one in ordered)
    return tuple(unique)[:MAX_ENTITIES]


def normalised(kind: str, value: str) -> str:
    """The form in which two mentions of one thing are equal; numbers and letters stay as they are."""
    if kind == "version":
        return value.removeprefix("v")
    if kind == "package":
        return value.lower().replace("_", "-")
    if kind in ("host", "commit"):
        return value.lower()
    if kind in ("path", "file"):
        return _LINE_NUMBER.sub("", value).removeprefix("./").rstrip("/") or value
    return " ".join(value.split())


def _untaken(text: str) -> Iterator[_Found]:
    """Yield what each pattern finds where no earlier one has found something."""
    taken = bytearray(len(text))
    for kind, pattern in PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            if start < end and not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                yield _Found(start, end, kind, text[start:end])


def _names(text: str, found: list[_Found]) -> Iterator[_Found]:
    """Yield the capitalised words that are names; the first word of a sentence is one only if it comes again."""
    trimmed = [one for each in found if (one := _without_leading_words(each)) is not None]
    counts = Counter(one.value for one in trimmed)
    plain = frozenset(_PLAIN_WORD.findall(text))
    shouts = text.isupper()
    for one in trimmed:
        is_first = " " not in one.value and _starts_sentence(text, one.start)
        is_repeated = counts[one.value] > 1 and one.value.lower() not in plain
        if (is_repeated or not is_first) and not (shouts and one.value.isupper()):
            yield one


def _without_leading_words(found: _Found) -> _Found | None:
    words = found.value.split(" ")
    while words and words[0].lower() in _NOT_NAMES:
        words.pop(0)
    value = " ".join(words)
    is_name = bool(value) and any(word.lower() not in _NOT_NAMES for word in words)
    return _Found(found.end - len(value), found.end, found.kind, value) if is_name else None


def _starts_sentence(text: str, at: int) -> bool:
    return _SENTENCE_START.search(text[max(0, at - _LOOK_BACK) : at] if at > _LOOK_BACK else text[:at]) is not None
