"""Slots: statements that can be compared exactly, found only where their form leaves no doubt.

A wrong slot could end the validity of a true memory, so precision goes before coverage: one simple sentence, a short
subject, a short value, no question, no condition, no guess.
"""

from __future__ import annotations

import re

from ..schemas.memory import Slot
from .sentences import unwrapped
from .statements import is_one_per_thing, tokens_of

_ARTICLE = r"(?:the |our |a |an |its |my |this )?"
_SUBJECT = rf"(?P<subject>{_ARTICLE}[\w./@'’-]+(?: [\w./@'’-]+){{0,5}}?)"
_VALUE = r"(?P<value>[^,;:()\n]{1,80}?)"
_REASON = r"(?:,|;|\(| because| since| so that| as of| after| until| for now| anymore| any more)"
_END = rf"(?:\s*{_REASON}[^\n]*)?[.!]?\s*$"
_RIVAL = r"(?:,? (?:and )?not (?P<rival>[\w./@+#-]{1,40}(?: [\w./@+#-]{1,40})?)| instead of (?P<rival2>[^,;:()\n]{1,60}?)| rather than (?P<rival3>[^,;:()\n]{1,60}?))?"
_NOT = r"(?P<not>does not|doesn['’]t|do not|don['’]t|never|no longer)"
_PURPOSE = r"(?: for (?P<for>[\w -]{1,60}?))?"


def _form(expression: str) -> re.Pattern[str]:
    return re.compile(f"^{expression}$" if not expression.endswith("$") else f"^{expression}", re.IGNORECASE)


_SET_TO = _form(rf"(?:please )?(?:set|change|raise|lower|bump|increase|reduce) {_SUBJECT} to {_VALUE}{_END}")
_MOVED = _form(
    rf"{_SUBJECT} (?:was |has been |have |has |is )?(?:moved|switched|migrated|upgraded|changed|renamed)"
    rf" from (?P<rival>[^,;\n]{{1,60}}?) to {_VALUE}{_PURPOSE}{_END}"
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("is", _SET_TO),
    ("is", _MOVED),
    (
        "is",
        _form(
            rf"{_SUBJECT} (?:is|are) (?:now |currently )?(?P<not>not |no longer )?(?:set to |called |named )?{_VALUE}{_RIVAL}{_END}"
        ),
    ),
    ("uses", _form(rf"{_SUBJECT} (?:now )?(?:{_NOT} )?uses? {_VALUE}{_PURPOSE}{_RIVAL}{_END}")),
    (
        "runs on",
        _form(rf"{_SUBJECT} (?:now )?(?:{_NOT} )?(?:runs?|listens?|lives?) (?:on|at|in) {_VALUE}{_RIVAL}{_END}"),
    ),
    (
        "prefers",
        _form(
            rf"(?:(?P<subject>{_ARTICLE}[\w'’-]+) )?(?:{_NOT} )?prefers? {_VALUE}"
            rf"(?:(?: over| to| rather than| instead of) (?P<rival>[^,;:()\n]{{1,60}}?))?(?: (?:for|in|when) (?P<for>[\w -]{{1,60}}?))?{_END}"
        ),
    ),
    ("requires", _form(rf"{_SUBJECT} (?:{_NOT} )?requires? {_VALUE}{_END}")),
)
_RULE = _form(
    r"(?:(?:you|we|one|agents?|developers?) )?(?P<how>never|don['’]t(?: ever)?|do not(?: ever)?|always|must never|must not|must always)"
    r"\s+(?P<value>[^,;\n]{3,80}?)[.!]{0,3}\s*$"
)
_LINE = re.compile(
    r"^(?:[-*] )?(?:export |const |let |var )?(?P<subject>[A-Za-z_][\w.-]*(?: [\w.-]+){0,3})\s*(?P<sign>=|:)\s*(?P<value>[^\s=>][^\n]{0,60}?)\s*;?\s*$"
)
_TYPED = re.compile(
    r"^(?:[\"'`][^\"'`]{1,50}[\"'`]|true|false|on|off|yes|no|none|null|v?\d[\w.,:/-]*(?: ?(?:%|[A-Za-z]{1,8}))?"
    r"|[\w-]*[._/@\d-][\w./@-]*)$",
    re.IGNORECASE,
)

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
    also just simply let with he she there what like while though if only
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
_LONGEST_VALUE_WORDS = 8
_MAX_SLOTS = 8


def slots(text: str) -> tuple[Slot, ...]:
    """The slots of a text, in its order, at most 8; none where the form is in doubt."""
    prose = unwrapped(_FENCED.sub("", text))
    found = (slot for sentence in _SENTENCE.split(prose) for slot in _slots_of(sentence.rstrip()))
    return tuple(dict.fromkeys(found))[:_MAX_SLOTS]


def _slots_of(sentence: str) -> list[Slot]:
    if line := _LINE.match(sentence):
        return _line(line)
    sentence = sentence.lstrip().removeprefix("- ").removeprefix("* ")
    if not sentence or sentence.endswith("?") or _DOUBT.search(sentence):
        return []
    if rule := _RULE.match(sentence):
        is_told = _NO_RULE.match(rule["value"]) is not None
        return (
            [] if is_told else [Slot(_folded(rule["value"]).lower(), "rule", "done", "always" in rule["how"].lower())]
        )
    for attribute, pattern in _FORMS:
        if match := pattern.match(sentence):
            return _stated(match, attribute)
    return []


def _line(match: re.Match[str]) -> list[Slot]:
    """Read a line of configuration: "key = value", or "key: value" where the value is no prose and no reference."""
    subject, value = _folded(match["subject"]), match["value"].rstrip(" .,")
    is_untyped = not _TYPED.match(value) and not ("_" in subject and " " not in value)
    if subject.lower() in _LABELS or _REFERENCE.match(value) or is_untyped:
        return []
    return _checked(subject, "is", _folded(value), affirmed=True)


def _stated(match: re.Match[str], attribute: str) -> list[Slot]:
    groups = match.groupdict()
    subject = _folded(groups.get("subject") or "user")
    if attribute == "prefers" and subject.lower() in ("i", "the user"):
        subject = "user"
    purpose = _folded(groups.get("for") or "").lower()
    if attribute == "is" and purpose:
        attribute = "uses"  # "we moved from npm to pnpm for the frontend"
    elif attribute == "is" and subject.lower() == "we":
        attribute = "uses"
    named = f"{attribute} for {purpose}" if purpose else attribute
    affirmed = not groups.get("not")
    found = _checked(subject, named, _folded(match["value"]), affirmed=affirmed)
    rival = groups.get("rival") or groups.get("rival2") or groups.get("rival3")
    return found + (_checked(subject, named, _folded(rival), affirmed=False) if found and rival and affirmed else [])


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
    if _NO_VALUE.match(value) and not _TYPED.match(value) and not is_named:
        return False
    if attribute == "is":
        return _TYPED.match(value) is not None or is_one_per_thing(subject) or value[:1].isupper()
    return True


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(" '\"`.")
