"""What somebody tells: decisions, preferences, rules, procedures and facts, each a clause in the speaker's own words.

By rules, and precision first: a question, a supposition, a report of what others say or a wish for the task at hand
yields nothing, since what is taken down here is shown to later sessions as something the speaker stands by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..schemas.memory import Kind
from .own_words import own_words
from .sentences import sentences
from .slots import slots
from .told_patterns import (
    AGENT_FORMS,
    ASIDE,
    DOUBT_ANYWHERE,
    DOUBT_BEFORE,
    EMPTY_OBJECT,
    LEADING,
    QUESTION_TAIL,
    REPORTED,
    TEMPORARY,
    USER_FORMS,
    Form,
)

CONVENTION = "convention"
"""Tag of a preference that is a rule for the work: "never commit to main"."""
FIX = "fix"
"""Tag of a fact that says what failed and what helped."""

_SHORTEST, _LONGEST = 8, 400
_LONGEST_LEAD = 60
_CODE = re.compile(r"`[^`\n]*`")
_ITEM = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+|^\*\*|\*\*$")
_FEWEST_FACT_WORDS = 4
_REMEDY = re.compile(
    r"\b(?:fix(?:ed|es)?|solv(?:ed|es)|resolv(?:ed|es)|workaround|solution|remedy|worked around)\b", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"(?:[,;:—–(]|,? and|,? but| -) $")
_JOINING = re.compile(r"^(?:(?:and|so|but|also|because|since|that|ok|okay|yes|actually|hey|btw)[,:]? )+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that was told: what kind of knowledge it is, its words, its tags."""

    kind: Kind
    text: str
    tags: tuple[str, ...] = ()


def told_by_user(text: str) -> tuple[Claim, ...]:
    """What a person tells in a prompt, in its order; nothing of what the prompt only quotes."""
    return _claims(text, USER_FORMS, facts=True)


def told_by_agent(text: str) -> tuple[Claim, ...]:
    """What an agent tells of decisions, of the user's preferences, and of what failed and what helped."""
    return _claims(text, AGENT_FORMS, facts=False)


def _claims(text: str, forms: tuple[Form, ...], *, facts: bool) -> tuple[Claim, ...]:
    found: dict[str, Claim] = {}
    parts = [_ITEM.sub("", sentence).strip() for sentence in sentences(own_words(text))]
    before: Claim | None = None
    for sentence in parts:
        told = _told(sentence, forms) or (_fact(sentence) if facts else [])
        if before is not None and told and _belong_together(before, told[0]):
            del found[before.text.lower()]
            told[0] = Claim(before.kind, f"{before.text} {told[0].text}", before.tags)
        found.update((claim.text.lower(), claim) for claim in told)
        before = told[-1] if told else None
    return tuple(found.values())


def _told(sentence: str, forms: tuple[Form, ...]) -> list[Claim]:
    """What a sentence tells: each of its clauses once, by the first form that fits it."""
    masked = _masked(sentence)
    starts: dict[int, tuple[int, Form]] = {}
    for form in forms:
        for match in form.pattern.finditer(masked):
            starts.setdefault(match.start(), (match.end(), form))
    found: list[Claim] = []
    covered = 0
    for start in sorted(starts):
        end, form = starts[start]
        if start < covered:
            continue
        until = min(
            (at for at in starts if _goes_its_own_way(masked, at, starts[at][1], end, form)), default=len(masked)
        )
        clause = _clause(sentence, masked[:until], _Span(start, end), form)
        if clause is not None:
            found.append(Claim(form.kind, clause, form.tags))
            covered = until
    return found


def _goes_its_own_way(masked: str, at: int, other: Form, end: int, form: Form) -> bool:
    """Whether what begins at `at` is told beside a clause whose form ends at `end`; a failure and its remedy are one."""
    is_separate = at >= end and _CLAUSE_END.search(masked[:at]) is not None
    return is_separate and not (FIX in form.tags and FIX in other.tags)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def _clause(sentence: str, masked: str, match: _Span, form: Form) -> str | None:
    """The words of a match with what belongs to it, or None where they are asked, supposed, reported or empty."""
    before = masked[: match.start]
    end = _end(masked, match.end)
    said, rest = masked[match.start : end], masked[match.end : end]
    is_doubtful = DOUBT_BEFORE.search(before) or REPORTED.search(before) or DOUBT_ANYWHERE.search(said)
    is_asked = end == len(sentence) and masked.rstrip().endswith("?")
    is_for_now = form.lasting and TEMPORARY.search(said)
    if is_doubtful or is_asked or is_for_now or EMPTY_OBJECT.match(rest):
        return None
    text = _JOINING.sub("", _ending(sentence[_start(before, match.start, form) : end]))
    return text if _SHORTEST <= len(text) <= _LONGEST else None


def _start(before: str, start: int, form: Form) -> int:
    """Where the clause begins: with a short "For the frontend, " before it, which belongs to what is said."""
    lead = LEADING.search(before)
    is_lead = lead is not None and start - lead.start() <= _LONGEST_LEAD and form.leads
    return lead.start() if lead is not None and is_lead else start


def _end(masked: str, start: int) -> int:
    ends = [found.start() for tail in (QUESTION_TAIL, ASIDE) if (found := tail.search(masked, start)) is not None]
    return min(ends, default=len(masked))


def _fact(sentence: str) -> list[Claim]:
    """A plain statement that can be compared with others."""
    is_plain = not sentence.endswith("?") and not REPORTED.search(sentence) and not DOUBT_BEFORE.search(sentence)
    stated = slots(sentence) if is_plain and _SHORTEST <= len(sentence) <= _LONGEST else ()
    if len(sentence.split()) < _FEWEST_FACT_WORDS or not stated or any(slot.attribute == "rule" for slot in stated):
        return []
    return [Claim(Kind.FACT, _ending(sentence))]


def _belong_together(failure: Claim, remedy: Claim) -> bool:
    """Whether one sentence tells what failed and the next what helped."""
    fits = len(failure.text) + len(remedy.text) < _LONGEST
    return fits and FIX in failure.tags and FIX in remedy.tags and _REMEDY.search(remedy.text) is not None


def _masked(sentence: str) -> str:
    """A sentence whose inline code can't be taken for its words, of the same length."""
    return _CODE.sub(lambda code: "`" + "x" * (len(code[0]) - 2) + "`", sentence)


def _ending(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:—–-")
