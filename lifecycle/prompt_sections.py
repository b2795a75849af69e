"""The sections of a soft prompt, which one a memory belongs to, and which of its words stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ..encoding.cues import priority
from ..encoding.extract import facts_in
from ..encoding.sentences import sentences
from ..schemas.memory import Kind, Memory


class Section(StrEnum):
    """A section by its title; a prompt holds them in this order."""

    PINNED = "Pinned"
    PREFERENCES = "Preferences"
    CONVENTIONS = "Conventions"
    DECISIONS = "Decisions in force"
    PROCEDURES = "Procedures"
    PITFALLS = "Pitfalls"
    OPEN_THREADS = "Open threads"


SHARES: Final[Mapping[Section, float]] = {
    Section.PINNED: 0.20,
    Section.PREFERENCES: 0.25,
    Section.CONVENTIONS: 0.15,
    Section.DECISIONS: 0.20,
    Section.PROCEDURES: 0.08,
    Section.PITFALLS: 0.07,
    Section.OPEN_THREADS: 0.05,
}
"""The part of the room that each section has for itself; what one leaves free, the best of all others get."""

_PREFERENCE: Final = re.compile(
    r"\b(?:prefer(?:s|red|ence|ences)?|likes?|dislikes?|hates?|wants?|would rather|rather than|favou?rs?"
    r"|i['’]d like|my style)\b",
    re.IGNORECASE,
)
_RULE: Final = re.compile(
    r"\b(?:always|never|must(?: not)?|only ever|from now on|do not|don['’]t|convention(?:ally|s)?|naming|style guide"
    r"|by default|as a rule|every (?:commit|branch|test|file|module|release|pull request|change)"
    r"|(?:should|shall) (?:be|not|have|use|go|start|end|live))\b",
    re.IGNORECASE,
)
_PITFALL: Final = re.compile(
    r"\b(?:pitfall|gotcha|caveat|beware|watch out|careful|flak(?:y|es)|workaround|root cause"
    r"|fail(?:s|ed|ing)? (?:because|when|if|unless|due|with|on)|breaks? (?:because|when|if|unless|on)"
    r"|broke (?:because|when)|crash(?:es|ed)? (?:because|when|if|on)|fixed by|was caused by|chokes? on"
    r"|does(?:n['’]t| not) work|silently|deadlocks?|regression|hangs? (?:when|if|on))\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:todo|fixme|still (?:open|missing|to do|needs?|fails?|broken)|next steps?|left to do"
    r"|not (?:yet|done)|unfinished|remains? to|yet to be|blocked (?:by|on)|waiting for|open questions?|in progress"
    r"|follow[- ]up)\b",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decid(?:e[ds]?|ing)|decisions?|chose|chosen|choos(?:e|ing)|agreed|settled on|go(?:ing)? with|(?:will|we) use"
    r"|switch(?:ed|ing)? to|instead of|adopt(?:ed|ing)?|replac(?:e[ds]?|ing))\b",
    re.IGNORECASE,
)
_PROCEDURE: Final = re.compile(
    r"\b(?:run|steps?|first|then|commands?|to (?:build|deploy|release|test|install|start|reset))\b|`", re.IGNORECASE
)
_CUES: Final[Mapping[Section, re.Pattern[str]]] = {
    Section.PREFERENCES: _PREFERENCE,
    Section.CONVENTIONS: _RULE,
    Section.DECISIONS: _DECISION,
    Section.PROCEDURES: _PROCEDURE,
    Section.PITFALLS: _PITFALL,
    Section.OPEN_THREADS: _OPEN,
}
CUE_WORDS: Final = (
    *("todo", "fixme", "unfinished", "blocked", "follow up", "open question", "still", "remains", "next step"),
    *("pitfall", "gotcha", "caveat", "beware", "flaky", "workaround", "root cause", "failed", "fails", "breaks"),
    *("fixed by", "caused by", "silently", "deadlock", "regression", "always", "never", "must", "convention", "naming"),
)
"""What the lexical index is asked for, so that facts and episodes of these sections are found in a large store."""

_TAGS: Final[Mapping[str, Section]] = {
    "preference": Section.PREFERENCES,
    "convention": Section.CONVENTIONS,
    "decision": Section.DECISIONS,
    "procedure": Section.PROCEDURES,
    "pitfall": Section.PITFALLS,
    "fix": Section.PITFALLS,
    "todo": Section.OPEN_THREADS,
    "open": Section.OPEN_THREADS,
}
_OF_KIND: Final = {Kind.DECISION: Section.DECISIONS, Kind.PROCEDURE: Section.PROCEDURES}

_FENCED: Final = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CLAUSE: Final = re.compile(r"(?<=[\w)\]][,;:]) | (?=[-–—(] ?\w)|(?<=\w) (?=(?:so|but|and|because|while|can you)\b)")
_ELLIPSIS: Final = "…"


def section_of(memory: Memory) -> Section | None:
    """The section that a memory belongs to, None for what a soft prompt doesn't hold."""
    tagged = next((_TAGS[tag] for tag in memory.tags if tag in _TAGS), None)
    found = tagged if tagged is not None and memory.kind is not Kind.OBSERVATION else _by_content(memory)
    return Section.PINNED if found is None and memory.pinned else found


def said_in(memory: Memory, section: Section, limit: int) -> str:
    """The words of a memory for its section, at most `limit` characters, taken from its text as they stand there.

    A short text is taken whole. Of a long one the sentence that says what the section is about, and of a sentence that
    is too long the clauses around it; "…" stands where something was left out.
    """
    # What is only a block of code says nothing without it.
    prose = _FENCED.sub("\n", memory.content)
    text = prose if prose.strip() else memory.content
    whole = " ".join(text.split())
    if len(whole) <= limit:
        return whole
    cue = _CUES.get(section)
    parts = sentences(text)
    best = max(range(len(parts)), key=lambda at: (_telling(parts[at], cue), -at))
    chosen = parts[best]
    return chosen if len(chosen) <= limit else _around(chosen, cue, limit)


def _by_content(memory: Memory) -> Section | None:
    if memory.kind in _OF_KIND:
        return _OF_KIND[memory.kind]
    if memory.kind is Kind.PREFERENCE:
        is_rule = _RULE.search(memory.content) and not _PREFERENCE.search(memory.content)
        return Section.CONVENTIONS if is_rule else Section.PREFERENCES
    if memory.kind in (Kind.FACT, Kind.EPISODE):
        return _of_event(memory)
    return None


def _of_event(memory: Memory) -> Section | None:
    if _OPEN.search(memory.content):
        return Section.OPEN_THREADS
    if _PITFALL.search(memory.content):
        return Section.PITFALLS
    return Section.CONVENTIONS if memory.kind is Kind.FACT and _RULE.search(memory.content) else None


def _telling(sentence: str, cue: re.Pattern[str] | None) -> float:
    found = len(cue.findall(sentence)) if cue else 0
    return 2.0 * min(2, found) + priority(sentence) + 0.1 * min(5, len(facts_in(sentence)))


def _around(sentence: str, cue: re.Pattern[str] | None, limit: int) -> str:
    """As many whole clauses of a sentence as fit, beginning with the one that holds the cue."""
    clauses = _CLAUSE.split(sentence)
    match = cue.search(sentence) if cue else None
    first = last = _clause_at(clauses, match.start() if match else 0)
    room = limit - 2 * len(_ELLIPSIS)
    if len(clauses[first]) > room:
        return _cut(clauses[first], room, opened=first > 0)
    while True:
        if last + 1 < len(clauses) and len(" ".join(clauses[first : last + 2])) <= room:
            last += 1
        elif first > 0 and len(" ".join(clauses[first - 1 : last + 1])) <= room:
            first -= 1
        else:
            break
    before, after = (_ELLIPSIS if first else ""), (_ELLIPSIS if last + 1 < len(clauses) else "")
    return f"{before}{' '.join(clauses[first : last + 1])}{after}"


def _clause_at(clauses: list[str], offset: int) -> int:
    passed = 0
    for place, clause in enumerate(clauses):
        passed += len(clause) + 1
        if offset < passed:
            return place
    return len(clauses) - 1


def _cut(clause: str, room: int, *, opened: bool) -> str:
    kept = clause[:room].rpartition(" ")[0] or clause[:room]
    return f"{_ELLIPSIS if opened else ''}{kept}{_ELLIPSIS}"
