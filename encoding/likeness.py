"""Whether two statements say the same, so exactly that one may speak for both.

Likeness of embeddings finds what to compare and decides nothing: "use X" and "do not use X", `v1` and `v2`, "from A to
B" and "from B to A" are all very alike. Two texts are the same when they are the same words in the same order, after
what changes no meaning is put in one form: case of plain words, articles, contractions, units, marks around words. They
are the same, too, when they state the same slots with the same words in another order ("the port of the cache is 6379",
"the cache's port is 6379"). One covers the other when it is the other and a reason for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..schemas.memory import Slot
from .sentences import sentences
from .slots import slots
from .statements import canonical_unit, compare, same_text

_LABEL = re.compile(
    r"^\s*(?:[-*•]\s+)?(?:(?:note|remember|reminder|fyi|important)(?::\s+|\s+that\s+))?(?=\S)", re.IGNORECASE
)
_AROUND = '"`“”'
_AT_THE_END = ".,;!"
_NOT = re.compile(r"(?i)\b(\w+?)n['’]t\b|\bcannot\b")
_SHORT = re.compile(r"(?i)(?<=\w)['’](re|ve|ll|m)\b")
_LONG_FORMS = {"re": " are", "ve": " have", "ll": " will", "m": " am"}
_ODD_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-zµ%]{1,7})")
_VERSION = re.compile(r"[vV](?=\d+(?:\.\d+)+$)")
_ARTICLES = frozenset(["the", "a", "an"])
# After these a lone letter is a name ("vector a is", "plan a and b").
_NO_NOUN = frozenset(["is", "are", "was", "were", "has", "and", "or", "to", "of", "in", "on", "for", "by", "with", "="])
_LINKING = frozenset(["of", "for", "in", "on", "at", "to"])
# Space is read once and never given back: between columns there may be thousands of it.
_REASON = re.compile(r"(?<!\s)(?:\s*+[,;])?\s++(?:because|since|so that|due to)\b(?P<reason>[^\n]*+)$", re.IGNORECASE)
_TELLING = re.compile(r"[a-z][a-z0-9_]{4,}")
_FEW_WORDS = 6
_LIMIT = re.compile(
    r"\b(?:unless|except|only|but|until|till|however|although|though|if|when|instead|no longer)\b|\?", re.IGNORECASE
)


class Likeness(StrEnum):
    """How one statement relates to another."""

    SAME = "same"
    COVERS = "covers"
    COVERED = "covered"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Statement:
    """A text with its slots."""

    text: str
    slots: Sequence[Slot] = ()


def likeness(one: Statement, other: Statement) -> Likeness:
    """How `one` relates to `other`; anything in doubt is different."""
    if _same(one, other):
        return Likeness.SAME
    if _covers(one, other):
        return Likeness.COVERS
    return Likeness.COVERED if _covers(other, one) else Likeness.DIFFERENT


def telling_words(text: str) -> frozenset[str]:
    """The longer Latin words of a text, in lower case: enough to see that two texts can't say the same."""
    return frozenset(_TELLING.findall(text.lower()))


def may_be_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether `likeness` can find anything but different, by the `telling_words` of two texts; much cheaper than it.

    One text has nearly all the words of the other then; a few may be written in another form, or be a label.
    """
    fewer = min(len(one), len(other))
    return fewer < _FEW_WORDS or 2 * len(one & other) >= fewer


def said(text: str) -> tuple[str, ...]:
    """The words of a text in their order and in one form; symbols, numbers, names and negations stay as they are."""
    plain = _SHORT.sub(lambda found: _LONG_FORMS[found[1].lower()], _NOT.sub(_spelled_out, _LABEL.sub("", text)))
    words = [word for raw in _THOUSANDS.sub("", plain).split() if (word := _bare(raw))]
    found: list[str] = []
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if not _is_article(word, following):
            found += _in_one_form(word, found)
    return tuple(found)


def _spelled_out(found: re.Match[str]) -> str:
    stem = found[1]
    if stem is None:
        return "can not"
    return f"{_ODD_STEMS.get(stem.lower(), stem)} not"


def _bare(raw: str) -> str:
    """A word without what stands around it; "?" and operators stay."""
    word = raw.strip(_AROUND) or raw
    shorter = word.rstrip(_AT_THE_END).strip(_AROUND)
    return shorter or word


def _is_article(word: str, following: str) -> bool:
    is_one = word.lower() in _ARTICLES and (word.islower() or word.istitle())
    if not is_one or word == "A" or not following:
        return is_one and word != "A" and len(word) > 1
    return len(word) > 1 or following.lower() not in _NO_NOUN


def _in_one_form(word: str, before: Sequence[str]) -> Iterator[str]:
    quantity = _QUANTITY.fullmatch(word)
    unit = canonical_unit(quantity[2]) if quantity else None
    if quantity is not None and unit is not None:
        yield quantity[1]
        yield unit
    elif before and before[-1].replace(".", "").isdigit():
        # What is counted is compared as written: "Mb" is not "MB".
        yield canonical_unit(word) or word
    elif word.isalpha() and (word.istitle() or word.islower()):
        yield word.lower()
    else:
        yield _VERSION.sub("", word)


def _agree(some: Sequence[Slot], others: Sequence[Slot]) -> bool:
    """Whether each of some slots is among others, value and polarity alike."""
    return all(any(compare(slot, other) == "same" for other in others) for slot in some)


def _bag(words: Sequence[str]) -> Counter[str]:
    bare = (re.sub(r"['’]s$", "", word) for word in words)
    return Counter(word for word in bare if word not in _LINKING)


def _same(one: Statement, other: Statement) -> bool:
    words = said(one.text), said(other.text)
    if same_text(one.text, other.text) or (words[0] and words[0] == words[1]):
        return True
    stated = bool(one.slots) and _agree(one.slots, other.slots) and _agree(other.slots, one.slots)
    return stated and _bag(words[0]) == _bag(words[1])


def _covers(one: Statement, other: Statement) -> bool:
    """Whether one is the other and a reason for it, with no "unless", "but" or "only" in it."""
    found = _REASON.search(one.text)
    if found is None or _LIMIT.search(found["reason"]) or len(sentences(one.text)) != 1:
        return False
    head = one.text[: found.start()]
    return _same(Statement(head, slots(head)), other)
