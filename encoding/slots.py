"""Slots: statements that can be compared exactly, found only where their form leaves no doubt.

A wrong slot could end the validity of a true memory, so precision goes before coverage: one simple sentence, a short
subject, a short value, no question, no condition, no guess.
"""

from __future__ import annotations

import re

from ..schemas.memory import Slot
from .sentences import unwrapped
from .slot_forms import FORMS, LINE, OPPOSITES, RULE, TURNED_ROUND, TYPED
from .statements import is_one_per_thing, tokens_of

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DOUBT = re.compile(
    r"^(?:if|when|whenever|while|unless|although|before|after|once|maybe|perhaps|suppose|assuming|what|which|who|how|why)\b"
    r"|\b(?:maybe|perhaps|might|could|would|probably|think|thinks|guess|seems?|apparently|supposedly|wonder|hope|wish|either)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\b(?:and|or|both|also|either|plus|as well)\b|[/&]\s|\s[/&]", re.IGNORECASE)
_REFERENCE = re.compile(r"^(?:#\d+|[A-Z][A-Z0-9]+-\d+|[0-9a-f]{7,40}|https?://\S+)$")
_VAGUE = frozenset(
    "it this that these those he she they there i you what which who everything something nothing here one all".split()  # noqa: SIM905
)
_POINTING = _VAGUE | frozenset(
    ["this one", "that one", "these ones", "the first one", "the other one", "the latter", "the same", "yours", "mine"]
)
# Words that no name of a thing contains: the "subject" is the middle of a longer sentence.
_NOT_IN_SUBJECT = frozenset(
    """
    so as since that than by but and or it it's they their they're you your who which because how where when to from then
    also just simply let with he she there what like while though if only is are was were not does do
    """.split()  # noqa: SIM905
)
_NOT_FIRST = frozenset(
    """
    of in on at for with into over under both each all some any most many few now no make allow leave add remove fix
    fixes try do use let these those
    """.split()  # noqa: SIM905
)
_NO_VALUE = re.compile(
    r"^(?:a|an|of|to|so|too|very|always|also|only|just|never|ever|being|still|already|often|usually|really|quite|what|how"
    r"|why|when|where|process\.env\S*|os\.environ\S*|\$\S*|\w+(?:ed|ing|able|ible|ful|ous|ive|ant|ent))\b",
    re.IGNORECASE,
)
_NO_RULE = re.compile(
    r"^(?:had|been|was|were|seen|heard|thought|got|did|knew|made|a|an|the|so|in|on|\w+ed|\w{3,}[^s]s)\b", re.IGNORECASE
)
_LABELS = frozenset(
    """
    note notes warning error fix fixes fixed closes closed close refs ref see bug todo summary example usage output input
    result results question answer re subject date from to cc user assistant human system agent step co-authored-by
    signed-off-by reviewed-by reported-by tested-by acked-by commit merge author p.s ps update edit line item
    """.split()  # noqa: SIM905
)
_STATES = frozenset(OPPOSITES.values())
_LONGEST_VALUE_WORDS = 8
_MAX_SLOTS = 8


def slots(text: str) -> tuple[Slot, ...]:
    """The slots of a text, in its order, at most 8; none where the form is in doubt."""
    prose = unwrapped(_FENCED.sub("", text))
    found = (slot for sentence in _SENTENCE.split(prose) for slot in _slots_of(sentence.rstrip()))
    return tuple(dict.fromkeys(found))[:_MAX_SLOTS]


def _slots_of(sentence: str) -> list[Slot]:
    if line := LINE.match(sentence):
        return _line(line)
    sentence = sentence.lstrip().removeprefix("- ").removeprefix("* ")
    if turned := TURNED_ROUND.match(sentence):
        sentence = f"{turned['rest'].removesuffix(turned['end'])} for {turned['purpose']}"
    if not sentence or sentence.endswith("?") or _DOUBT.search(sentence):
        return []
    if rule := RULE.match(sentence):
        is_told = _NO_RULE.match(rule["value"]) is not None
        return (
            [] if is_told else [Slot(_folded(rule["value"]).lower(), "rule", "done", "always" in rule["how"].lower())]
        )
    for attribute, pattern in FORMS:
        match = pattern.match(sentence)
        if match and (stated := _stated(match, attribute)):
            return stated
    return []


def _line(match: re.Match[str]) -> list[Slot]:
    """Read a line of configuration: "key = value", or "key: value" where the value is no prose and no reference."""
    subject, value = _folded(match["subject"]), match["value"].rstrip(" .,")
    is_untyped = not TYPED.match(value) and not ("_" in subject and " " not in value)
    if subject.lower() in _LABELS or _REFERENCE.match(value) or is_untyped:
        return []
    return _checked(subject, "is", _folded(value), affirmed=True)


def _stated(match: re.Match[str], attribute: str) -> list[Slot]:
    groups = match.groupdict()
    subject = _folded(groups.get("subject") or "user")
    if attribute == "prefers" and subject.lower() in ("i", "the user"):
        subject = "user"
    purpose = _folded(groups.get("for") or "").lower()
    if attribute in ("placed", "takes"):
        attribute = " ".join((groups["how"] or "").lower().split())
    elif attribute == "is" and (purpose or subject.lower() == "we"):
        attribute = "uses"  # "we moved from npm to pnpm for the frontend"
    if attribute.startswith("uses") and subject.lower() == "the team":
        subject = "we"
    named = f"{attribute} for {purpose}" if purpose else attribute
    affirmed = not groups.get("not")
    value = _folded(match["value"])
    if attribute == "is" and (opposite := _opposite(value)):
        value, affirmed = opposite, not affirmed
    found = _checked(subject, named, value, affirmed=affirmed)
    rival = groups.get("rival") or groups.get("rival2") or groups.get("rival3")
    return found + (_checked(subject, named, _folded(rival), affirmed=False) if found and rival and affirmed else [])


def _opposite(value: str) -> str | None:
    """A state in the form of what it denies: "disabled in production" as "enabled in production"."""
    first, _, rest = value.partition(" ")
    return f"{OPPOSITES[first.lower()]} {rest}".strip() if first.lower() in OPPOSITES else None


def _checked(subject: str, attribute: str, value: str, *, affirmed: bool) -> list[Slot]:
    words = subject.lower().split()
    if not tokens_of(subject) or words[0] in _VAGUE | _NOT_FIRST or (words[0] == "we" and len(words) > 1):
        return []
    is_vague = not _NOT_IN_SUBJECT.isdisjoint(words) or value.startswith("//")  # the latter: a URL cut at its colon
    is_vague = is_vague or value.lower() in _POINTING
    is_many = len(value.split()) > _LONGEST_VALUE_WORDS or _SEVERAL.search(value) is not None
    if is_vague or is_many or not value or not _is_value(subject, attribute, value):
        return []
    return [Slot(subject.lower(), attribute, value, affirmed)]


def _is_value(subject: str, attribute: str, value: str) -> bool:
    """Tell a value from a remark: what a thing *is* counts if it has a value's form or the thing has one value."""
    is_named = value[:1].isupper() and " " not in value
    is_state = attribute == "is" and value.split(maxsplit=1)[0].lower() in _STATES
    if _NO_VALUE.match(value) and not TYPED.match(value) and not is_named and not is_state:
        return False
    if attribute == "is":
        return is_state or TYPED.match(value) is not None or is_one_per_thing(subject) or value[:1].isupper()
    return True


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(" '\"`.")
