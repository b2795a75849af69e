"""The forms of sentences that state something comparable, as data for `slots`.

Each has groups: `subject`, `value`, and where it fits `not` (a denial), `rival` (a value that is rejected), `for` (the
purpose that the value serves), `how` (the participle or verb that names the attribute).
"""

from __future__ import annotations

import re

_ARTICLE = r"(?:the |our |a |an |its |my |this )?"
_SUBJECT = rf"(?P<subject>{_ARTICLE}[\w./@'’-]+(?: [\w./@'’-]+){{0,5}}?)"
# A comma inside a number ends no value.
_VALUE = r"(?P<value>(?:[^,;:()\n]|(?<=\d),(?=\d{3}(?!\d))){1,80}?)"
_REASON = (
    r"(?:,(?!\d{3}(?!\d))|;|\(| because| since| so that| as of| after| until| for now| anymore| any more| any longer)"
)
_END = rf"(?:\s*{_REASON}[^\n]*)?[.!]?\s*$"
_RIVAL = (
    r"(?:,? (?:and )?not (?P<rival>[\w./@+#-]{1,40}(?: [\w./@+#-]{1,40})?)| instead of (?P<rival2>[^,;:()\n]{1,60}?)"
    r"| rather than (?P<rival3>[^,;:()\n]{1,60}?))?"
)
_NOT = r"(?P<not>does not|doesn['’]t|do not|don['’]t|never|no longer)"
_PURPOSE = r"(?: for (?P<for>[\w -]{1,60}?))?"
_DECIDED = r"(?:(?:have |['’]ve )?(?:decided|agreed|chose|opted) to )?"
_HAVE = r"(?:was |were |has been |have been |have |has |is )?"
_PLACED = (
    r"(?P<how>(?:deployed|published|limited|capped|pinned) (?:to|on|at)|hosted (?:on|at|by)|written in|buil[td] (?:with|on)"
    r"|(?:stored|kept|located) in|(?:managed|owned|maintained) by|served (?:by|from))"
)
_TAKES = r"(?P<how>support|allow|accept|need|contain|include|handle|expose|return|send|validate|store|log|cache|retry|block|track)"


def _form(expression: str) -> re.Pattern[str]:
    return re.compile(f"^{expression}{_END}", re.IGNORECASE)


FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("is", _form(rf"(?:please )?(?:set|change|raise|lower|bump|increase|reduce) {_SUBJECT} to {_VALUE}")),
    (
        "is",
        _form(
            rf"{_SUBJECT} {_HAVE}(?:moved|switched|migrated|upgraded|downgraded|changed|renamed|raised|lowered|increased"
            rf"|reduced|bumped|cut) from (?P<rival>[^,;\n]{{1,60}}?) to {_VALUE}{_PURPOSE}"
        ),
    ),
    (
        "uses",
        _form(
            rf"(?P<subject>we|the team) (?:have |['’]ve )?replaced (?P<rival>[^,;\n]{{1,60}}?) (?:with|by)"
            rf" {_VALUE}{_PURPOSE}"
        ),
    ),
    ("requires", _form(rf"{_VALUE} (?:is|are) (?P<not>not |no longer )?(?:required|needed) (?:for|by) {_SUBJECT}")),
    (
        "placed",
        _form(rf"{_SUBJECT} (?:is|are) (?:now |currently )?(?P<not>not |no longer )?{_PLACED} {_VALUE}{_RIVAL}"),
    ),
    (
        "is",
        _form(
            rf"{_SUBJECT} (?:is|are) (?:now |currently )?(?P<not>not |no longer )?(?:set to |called |named )?{_VALUE}{_RIVAL}"
        ),
    ),
    ("uses", _form(rf"{_SUBJECT} (?:now )?{_DECIDED}(?:{_NOT} )?uses? {_VALUE}{_RIVAL}{_PURPOSE}")),
    ("uses", _form(rf"{_SUBJECT} (?:now )?{_DECIDED}(?:{_NOT} )?uses? {_VALUE}{_PURPOSE}{_RIVAL}")),
    (
        "runs on",
        _form(rf"{_SUBJECT} (?:now )?(?:{_NOT} )?(?:runs?|listens?|lives?) (?:on|at|in) {_VALUE}{_RIVAL}"),
    ),
    (
        "prefers",
        _form(
            rf"(?:(?P<subject>{_ARTICLE}[\w'’-]+) )?(?:{_NOT} )?prefers? {_VALUE}"
            r"(?:(?: over| to| rather than| instead of) (?P<rival>[^,;:()\n]{1,60}?))?(?: (?:for|in|when) (?P<for>[\w -]{1,60}?))?"
        ),
    ),
    ("requires", _form(rf"{_SUBJECT} (?:{_NOT} )?requires? {_VALUE}")),
    ("goes to", _form(rf"{_SUBJECT} (?:now )?(?:{_NOT} )?go(?:es)? to {_VALUE}{_RIVAL}")),
    ("takes", _form(rf"{_SUBJECT} (?:now )?(?:{_NOT} )?{_TAKES}(?:e?s)? {_VALUE}")),
    (
        "may",
        _form(
            rf"{_SUBJECT} (?:(?P<not>must not|mustn['’]t|cannot|can not|can['’]t|should not|shouldn['’]t|(?:is|are) not allowed to)"
            r"|may|can|must|should|(?:is|are) allowed to) (?P<value>(?!not\b|be\b|have\b|always\b|never\b)[^,;:()\n]{3,80}?)"
        ),
    ),
)
"""(attribute, form), tried in this order; "placed" and "takes" stand for what `how` says."""

RULE = re.compile(
    r"^(?!we (?:do not|don['’]t) use\b)(?:please )?(?:(?:you|we|one|agents?|developers?) )?(?P<how>never|don['’]t(?: ever)?|do not(?: ever)?|always|must never"
    r"|must not|mustn['’]t|must always|should never|should always)\s+(?P<value>[^,;\n]{3,80}?)[.!]{0,3}\s*$",
    re.IGNORECASE,
)
LINE = re.compile(
    r"^(?:[-*] )?(?:export |const |let |var )?(?P<subject>[A-Za-z_][\w.-]*(?: [\w.-]+){0,3})\s*(?P<sign>=|:)\s*(?P<value>[^\s=>][^\n]{0,60}?)\s*;?\s*$"
)
TYPED = re.compile(
    r"^(?:[\"'`][^\"'`]{1,50}[\"'`]|true|false|on|off|yes|no|none|null|v?\d[\w.,:/-]*(?: ?(?:%|[A-Za-z]{1,8}))?"
    r"|[\w-]*[._/@\d-][\w./@-]*)$",
    re.IGNORECASE,
)
TURNED_ROUND = re.compile(
    r"^for (?P<purpose>[^,;:\n]{2,60}), (?P<rest>(?:we|i|the team)\b[^\n]*?(?P<end>\s*[.!]?\s*$))", re.IGNORECASE
)
"""A sentence that begins with the purpose: "For the frontend, we use pnpm."."""
OPPOSITES: dict[str, str] = {
    "disabled": "enabled", "forbidden": "allowed", "optional": "required", "unsupported": "supported", "public": "private",
    "immutable": "mutable", "asynchronous": "synchronous", "stateful": "stateless", "unavailable": "available",
    "deactivated": "activated", "closed": "open",
}  # fmt: skip
"""States that exclude each other: the one is the denial of the other."""
