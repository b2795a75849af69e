"""Exact comparison of what statements say: token by token, with numbers, versions, units, identifiers and negations.

Likeness plays no part. Only plain words are folded to lower case; a name with humps or symbols is compared as written.
"""

from __future__ import annotations

import re
from typing import Literal

from ..schemas.memory import Slot

Comparison = Literal["same", "differs", "unrelated"]

_TOKEN = re.compile(r"[^\W_]+(?:[._/@:'’+#-]+[^\W_]+)*(?:\+\+|#)?|_\w+", re.UNICODE)
_QUANTITY = re.compile(r"(\d+(?:[.,]\d+)*)([a-z]{1,3}|%)", re.IGNORECASE)
_VERSION = re.compile(r"v(?=\d)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_UNIT_NAMES: dict[str, str] = {
    "s": "s sec secs second seconds", "ms": "ms msec millisecond milliseconds", "min": "min mins minute minutes",
    "h": "h hr hrs hour hours", "d": "d day days", "%": "% percent", "kb": "kb kilobyte kilobytes",
    "mb": "mb megabyte megabytes", "gb": "gb gigabyte gigabytes", "b": "b byte bytes", "us": "us µs",
    "x": "x times", "week": "week weeks", "month": "month months", "year": "year years", "tb": "tb",
}  # fmt: skip
_UNITS: dict[str, str] = {form: unit for unit, forms in _UNIT_NAMES.items() for form in forms.split()}
_UPPER_UNITS = frozenset(["KB", "MB", "GB", "TB"])
_ARTICLES = frozenset(["the", "a", "an", "our", "its", "my", "your", "this", "that", "their"])
_LINKING = frozenset(["of", "for", "in", "on", "at", "to", "now", "currently", "by"])
_ONE_PER_THING = frozenset(
    """
    port branch database db host hostname region zone timeout limit url uri endpoint manager framework language owner
    maintainer name path directory folder format provider editor shell theme timezone locale encoding version level mode
    registry package engine driver backend linter formatter runner channel license licence size interval threshold count
    style width indentation key dialect protocol scheme strategy model
    """.split()  # noqa: SIM905 - a list of this length reads better as words
)
_SHORT_FORMS = {
    "max": "maximum", "min": "minimum", "db": "database", "repo": "repository", "config": "configuration",
    "env": "environment", "dir": "directory", "prod": "production", "docs": "documentation", "app": "application",
}  # fmt: skip
_CHANGING = frozenset(["is", "runs on", "goes to", "deployed to", "deployed on", "hosted on", "hosted at", "hosted by",
                       "written in", "stored in", "kept in", "located in", "managed by", "owned by", "maintained by",
                       "served by", "served from", "published to", "published on", "pinned to", "pinned at", "built with"])  # fmt: skip
_QUALIFYING = frozenset(["in", "for", "on", "when", "during", "under", "within", "with", "if"])
_QUANTITY_TOKENS = 2


def compare(old: Slot, new: Slot, *, is_change: bool = False) -> Comparison:
    """Tell whether two slots say the same of one thing, differ about it, or can both be true.

    `is_change` says that the new text speaks of a change ("now", "no longer", "instead of"): a thing that stands in one
    place or has one value then has only the new one.
    """
    if not about_one(old, new):
        return _compared_across_forms(old, new)
    if same_value(old.value, new.value):
        return "same" if old.polarity == new.polarity else "differs"
    # "X is not A" leaves open whether it is B.
    if not (old.polarity and new.polarity):
        return "unrelated"
    return "differs" if _excludes(old, new) or (is_change and _may_change(old, new)) else "unrelated"


def about_one(old: Slot, new: Slot) -> bool:
    """Tell whether two slots speak of the same attribute of the same thing."""
    if old.attribute == new.attribute == "rule":
        return _rule_words(old.subject) == _rule_words(new.subject)
    return _same_attribute(old.attribute, new.attribute) and same_subject(old.subject, new.subject)


def _same_attribute(one: str, other: str) -> bool:
    left, right = one.partition(" for "), other.partition(" for ")
    return left[0] == right[0] and subject_tokens(left[2]) == subject_tokens(right[2])


def _compared_across_forms(old: Slot, new: Slot) -> Comparison:
    """Compare "we use pnpm for the frontend" with "the frontend uses pnpm": only the same value tells anything."""
    left, right = _as_user(old), _as_user(new)
    is_one = left[0] == right[0] and left[0] != frozenset({"we"}) and old.attribute != new.attribute
    if not (is_one and left[1] == right[1] == "uses" and same_value(old.value, new.value)):
        return "unrelated"
    return "same" if old.polarity == new.polarity else "differs"


def _as_user(slot: Slot) -> tuple[frozenset[str], str]:
    """Who uses something: the purpose, where "we" use it for that."""
    attribute, _, purpose = slot.attribute.partition(" for ")
    subject = purpose if purpose and slot.subject == "we" else slot.subject
    return subject_tokens(subject), attribute


def shares_slot(old: Slot, new: Slot) -> bool:
    """Tell whether two slots give one attribute two values that may or may not exclude each other."""
    return about_one(old, new) and not same_value(old.value, new.value)


def same_value(one: str, other: str) -> bool:
    """Tell whether two values are equal token by token; "v1" and "v2", "5" and "50", "3.1" and "3.10" are not."""
    return value_tokens(one) == value_tokens(other)


def same_subject(one: str, other: str) -> bool:
    """Tell whether two subjects are the same words in any order; articles, plurals and `_` in names aside."""
    left, right = subject_tokens(one), subject_tokens(other)
    return bool(left) and left == right


def tokens_of(text: str) -> tuple[str, ...]:
    """The words, numbers and identifiers of a text, in lower case: for finding what may be about the same."""
    return tuple(word.lower() for word in _TOKEN.findall(text))


def value_tokens(value: str) -> tuple[str, ...]:
    """A value for comparison: articles dropped, "30s" as number and unit, units and leading "v" in one form."""
    plain = _VERSION.sub("", _THOUSANDS.sub("", value)).lower()
    found: list[str] = []
    words: list[str] = _TOKEN.findall(plain.replace("%", " percent "))
    for word in words:
        quantity = _QUANTITY.fullmatch(word)
        if quantity and quantity[2] in _UNITS:
            found += [str(quantity[1]), _UNITS[quantity[2]]]
        else:
            found.append(_UNITS.get(word, word))
    return tuple(word for word in found if word not in _ARTICLES)


def subject_tokens(subject: str) -> frozenset[str]:
    """The set of words by which a subject is known."""
    words = re.findall(r"[^\W_]+(?:\.\d+)*", subject.lower().replace("'s ", " ").replace("’s ", " "))
    telling = (word for word in words if word not in _ARTICLES and word not in _LINKING)
    return frozenset(_SHORT_FORMS.get(word, _singular(word)) for word in telling)


def _rule_words(text: str) -> list[str]:
    """The words of a rule in their order, by which "before you commit" is "before committing"."""
    words = [
        word for word in tokens_of(text) if word not in _ARTICLES and word not in ("you", "we", "it", "ever", "please")
    ]
    return [_stem(word) for word in words]


def _stem(word: str) -> str:
    stem = word.removesuffix("ing") if len(word) > len("being") else word
    if stem == word:
        return _singular(word).removesuffix("e") if word.isalpha() else word
    is_doubled = len(stem) > len("run") and stem[-1] == stem[-2] and stem[-1] not in "sl"
    return stem[:-1] if is_doubled else stem


def canonical_unit(word: str) -> str | None:
    """The one form of a unit's name as it is usually written ("seconds" and "sec": "s"); None for anything else.

    The case of letters can make another unit ("Mb", "MB"), so only common spellings count.
    """
    return _UNITS.get(word.lower()) if word.islower() or word in _UPPER_UNITS else None


def same_text(one: str, other: str) -> bool:
    """Tell whether two texts say the same words: spaces, the case of plain words and a last full stop aside.

    Symbols, numbers, identifiers and question marks count: "Use C" is not "Use C++", `x > 5` is not `x < 5`.
    """
    return bool(one.strip()) and _said(one) == _said(other)


def _said(text: str) -> list[str]:
    words = [word.rstrip(".,;!") or word for word in text.split()]
    return [word.lower() if word.isalpha() and (word.istitle() or word.islower()) else word for word in words]


def _singular(word: str) -> str:
    is_plural = len(word) > len("uses") and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def _excludes(old: Slot, new: Slot) -> bool:
    """Tell whether a thing can't have both values: it uses many tools, but one for a purpose, and has one port.

    The attribute names a purpose, or the subject is something of which there is one, or two values of the same form
    differ in a number ("Python 3.11", "Python 3.12") or in the unit of the same number.
    """
    if " for " in old.attribute:
        return True
    left, right = value_tokens(old.value), value_tokens(new.value)
    if old.attribute == "is" and (is_one_per_thing(old.subject) and max(len(left), len(right)) <= _QUANTITY_TOKENS):
        return True
    is_limit = old.attribute.startswith(("limited", "capped", "pinned"))
    return _differ_in_a_quantity(left, right, alone=is_limit or old.attribute in ("is", "runs on"))


def _may_change(old: Slot, new: Slot) -> bool:
    """Tell whether a thing has but one value of an attribute, and neither value is bound to a place or a case."""
    words = {*old.value.lower().split(), *new.value.lower().split()}
    return old.attribute in _CHANGING and _QUALIFYING.isdisjoint(words)


def is_one_per_thing(subject: str) -> bool:
    """Tell whether a thing has only one of what the subject names ("the default port", "the staging database")."""
    return bool(subject_tokens(subject) & _ONE_PER_THING) or "default" in subject


def _differ_in_a_quantity(left: tuple[str, ...], right: tuple[str, ...], *, alone: bool) -> bool:
    if len(left) != len(right) or not (alone or len(left) > 1):
        return False
    different = [pair for pair in zip(left, right, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return False
    one, other = different[0]
    if one in _UNIT_NAMES and other in _UNIT_NAMES:
        return True
    numbers = _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)
    return bool(numbers) or (alone and _has_digit(one) and _has_digit(other))


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
