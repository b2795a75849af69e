"""Slots: statements that can be compared exactly, found only where their form leaves no doubt.

A wrong slot could end the validity of a true memory, so precision goes before coverage: one simple sentence, a short
subject, a short value. Subjects are compared as sets of words, values token by token; likeness plays no part.
"""

from __future__ import annotations

import re
from typing import Literal

from ..schemas.memory import Slot

Comparison = Literal["same", "differs", "unrelated"]

_ARTICLE = r"(?:the |our |a |an |its |my |this )?"
_SUBJECT = rf"(?P<subject>{_ARTICLE}[\w./@'-]+(?: [\w./@'-]+){{0,5}}?)"
_VALUE = r"(?P<value>[^,;:()\n]{1,80}?)"
_END = r"(?:\s*(?:,|;|\(| because| since| so that| instead of| rather than| for now)[^\n]*)?[.!]?\s*$"
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("is", re.compile(rf"^{_SUBJECT} (?:is|are) (?:now |currently )?(?P<not>not )?(?:set to |called |named )?{_VALUE}{_END}", re.IGNORECASE)),
    ("uses", re.compile(rf"^{_SUBJECT} (?:now )?(?:(?P<not>does not|doesn['’]t|do not|don['’]t|never) )?uses? {_VALUE}(?: for (?P<for>[\w -]{{1,60}}?))?{_END}", re.IGNORECASE)),
    ("runs on", re.compile(rf"^{_SUBJECT} (?:now )?(?:(?P<not>does not|doesn['’]t|do not|don['’]t) )?(?:runs?|listens?|lives?) (?:on|at|in) {_VALUE}{_END}", re.IGNORECASE)),
    ("prefers", re.compile(rf"^{_SUBJECT} (?:(?P<not>does not|doesn['’]t|do not|don['’]t) )?prefers? {_VALUE}(?: (?:for|in|over) (?P<for>[\w -]{{1,60}}?))?{_END}", re.IGNORECASE)),
    ("requires", re.compile(rf"^{_SUBJECT} (?:(?P<not>does not|doesn['’]t|do not|don['’]t) )?(?:requires?|needs?) {_VALUE}{_END}", re.IGNORECASE)),
    ("is", re.compile(r"^(?P<subject>[A-Za-z_][\w.-]*(?: [\w.-]+){0,3})\s*(?:=|:)\s*(?P<value>[^\s][^\n]{0,60}?)\s*$")),
)  # fmt: skip
_SET_TO = re.compile(rf"^(?:set|change|raise|lower|bump) {_SUBJECT} to {_VALUE}{_END}", re.IGNORECASE)
_MOVED = re.compile(rf"^{_SUBJECT} (?:was |has been |is )?(?:moved|switched|migrated|upgraded|changed|renamed) from [^,;\n]{{1,60}}? to {_VALUE}{_END}", re.IGNORECASE)  # fmt: skip
_NEVER = re.compile(r"^(?P<not>never|don['’]t|do not|always)\s+(?P<value>[^,;\n]{3,80}?)[.!]?\s*$", re.IGNORECASE)

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_]+(?:[._/@:'-]+[^\W_]+)*|_[\w]+", re.UNICODE)
_DROPPED = frozenset(
    ["the", "a", "an", "our", "its", "my", "this", "that", "of", "for", "in", "on", "at", "to", "now", "currently"]
)
_VAGUE_SUBJECTS = frozenset(
    [
        "it",
        "this",
        "that",
        "he",
        "she",
        "they",
        "there",
        "we",
        "i",
        "you",
        "what",
        "which",
        "who",
        "everything",
        "something",
        "nothing",
        "here",
    ]
)
_LONGEST_VALUE_WORDS = 8
_MAX_SLOTS = 8


def slots(text: str) -> tuple[Slot, ...]:
    """The slots of a text, in its order; none where the form is in doubt."""
    found = [slot for sentence in _SENTENCE.split(text) if (slot := _slot(sentence.strip())) is not None]
    return tuple(dict.fromkeys(found))[:_MAX_SLOTS]


def compare(old: Slot, new: Slot) -> Comparison:
    """Whether two slots say the same of one thing, differ about it, or speak of different things."""
    if old.attribute != new.attribute or not same_subject(old.subject, new.subject):
        return "unrelated"
    if same_value(old.value, new.value):
        return "same" if old.polarity == new.polarity else "differs"
    # "X is not A" leaves open whether it is B.
    both_affirmed = old.polarity and new.polarity
    return "differs" if both_affirmed and _excludes(old, new) else "unrelated"


def shares_slot(old: Slot, new: Slot) -> bool:
    """Whether two slots give one thing's attribute two values that may or may not exclude each other."""
    about_one = old.attribute == new.attribute and same_subject(old.subject, new.subject)
    return about_one and not same_value(old.value, new.value)


def same_value(one: str, other: str) -> bool:
    """Whether two values are equal token by token; "v1" and "v2", "5" and "50", "on" and "off" are not."""
    return _tokens(one) == _tokens(other)


def same_subject(one: str, other: str) -> bool:
    """Whether two subjects are the same words, articles aside, in any order."""
    left, right = set(_tokens(one)) - _DROPPED, set(_tokens(other)) - _DROPPED
    return bool(left) and left == right


def tokens_of(text: str) -> tuple[str, ...]:
    """The words, numbers and identifiers by which texts are compared exactly, lower-case."""
    return _tokens(text)


def _excludes(old: Slot, new: Slot) -> bool:
    """Whether a thing can't have both values: a project uses many tools, but one for a purpose, and has one port.

    Either the attribute names a purpose, or the values are quantities or names that differ in one token of the same
    place ("port 8000" and "port 9000").
    """
    if " for " in old.attribute:
        return True
    left, right = _tokens(old.value), _tokens(new.value)
    if len(left) != len(right):
        return False
    different = [pair for pair in zip(left, right, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and all(_has_digit(word) for word in different[0])


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _slot(sentence: str) -> Slot | None:
    if not sentence or sentence.endswith("?"):
        return None
    if match := _NEVER.match(sentence):
        affirmed = match["not"].lower() == "always"
        return Slot(_folded(match["value"]).lower(), "rule", "done", affirmed)
    for pattern in (_SET_TO, _MOVED):
        if match := pattern.match(sentence):
            return _checked(match, "is", "", affirmed=True)
    for attribute, pattern in _FORMS:
        if match := pattern.match(sentence):
            groups = match.groupdict()
            return _checked(match, attribute, groups.get("for") or "", affirmed=not groups.get("not"))
    return None


def _checked(match: re.Match[str], attribute: str, purpose: str, *, affirmed: bool) -> Slot | None:
    subject, value = _folded(match["subject"]), _folded(match["value"])
    words = _tokens(subject)
    is_vague = not words or (len(words) == 1 and words[0] in _VAGUE_SUBJECTS - {"we"})
    if is_vague or not value or len(value.split()) > _LONGEST_VALUE_WORDS:
        return None
    named = f"{attribute} for {_folded(purpose).lower()}" if purpose else attribute
    return Slot(subject.lower(), named, value, affirmed)


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(" '\"`.")


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))
