"""What a question asks for, by rules: its words, names, dates, and the class that routes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..encoding.times import asks_when
from ..encoding.words import QueryTerms, query_terms
from .dates import NamedDate, named_dates

_CURRENT: Final = re.compile(
    r"\b(?:latest|current(?:ly)?|now(?:adays)?|still|at the moment|these days|up to date)\b", re.IGNORECASE
)
_REASON: Final = re.compile(r"\b(?:why|how come|because|reasons?|led to|caused?|how did|how does)\b", re.IGNORECASE)
_LIST: Final = re.compile(
    r"\b(?:what|which) (?:\w+ )?\w*[^s\W]s\b|\b(?:list|all|every|how many|how often|several|both|in common|"
    r"what else|types? of|kinds? of|examples? of)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[^\W\d_]+")


class QueryClass(StrEnum):
    """What kind of question it is; each has its own weights over the channels."""

    EXACT = "exact"
    TIME = "time"
    CURRENT = "current"
    MULTI_HOP = "multi-hop"
    LIST = "list"
    SIMPLE = "simple"

    @property
    def is_wide(self) -> bool:
        """Whether its answer is likely spread over several memories."""
        return self in (QueryClass.MULTI_HOP, QueryClass.LIST)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question, read.

    Attributes:
        terms: its words, identifiers, quoted phrases and runs of scripts without spaces.
        dates: calendar dates that it names.
        asks_when: whether it asks for a point or span of time.
        names: every word of it in lower case, for comparison with speakers' names.
        reasons: why it has its class, for people.
    """

    text: str
    query_class: QueryClass
    terms: QueryTerms
    dates: tuple[NamedDate, ...]
    asks_when: bool
    names: frozenset[str]
    reasons: tuple[str, ...]


def analyse(text: str) -> Analysis:
    """Read a question."""
    terms, dates = query_terms(text), named_dates(text)
    about_time = asks_when(text)
    query_class, reason = _classify(text, terms, dates=dates, about_time=about_time)
    return Analysis(
        text=text,
        query_class=query_class,
        terms=terms,
        dates=dates,
        asks_when=about_time,
        names=frozenset(word.lower() for word in _NAME.findall(text)),
        reasons=(reason,),
    )


def _classify(
    text: str, terms: QueryTerms, *, dates: tuple[NamedDate, ...], about_time: bool
) -> tuple[QueryClass, str]:
    exact = [*terms.phrases, *terms.identifiers]
    if exact:
        return QueryClass.EXACT, f"names exactly: {', '.join(exact[:3])}"
    if about_time or dates:
        return QueryClass.TIME, "names a date" if dates else "asks when"
    if found := _CURRENT.search(text):
        return QueryClass.CURRENT, f"asks for what holds now: {found.group()}"
    if found := _REASON.search(text):
        return QueryClass.MULTI_HOP, f"asks for reasons or connections: {found.group()}"
    if found := _LIST.search(text):
        return QueryClass.LIST, f"asks for several things: {found.group()}"
    return QueryClass.SIMPLE, "a plain question"
