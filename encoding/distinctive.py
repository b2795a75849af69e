"""Distinctive terms: the exact names, numbers and uncommon words by which a text is recognised where it is reused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .stopwords import STOP_WORDS
from .words import query_terms

Stems = Callable[[Sequence[str]], list[str]]
"""Gives the index terms of some words."""

EXACT: Final = 1.0
WORD: Final = 1.0 / 3.0
"""What a reused name or number, and what a reused word, counts towards the 1 that makes a reuse."""
_LEAST: Final = 0.05
"""The share of a long text's terms that make a reuse: it shares one or the other with anything on its subject."""
_ROUNDING: Final = 1e-9

_TOKEN: Final = re.compile(r"[^\W_]+(?:[._/@:+#\\-]+[^\W_]+)*|_\w+")
_PART: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"[a-z\d][A-Z]")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SHORTEST_NAME: Final = 4
_SHORTEST_NUMBER: Final = 3
_SHORTEST_WORD: Final = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text can be recognised by: exact names and numbers in lower case, and stems of its other words."""

    exact: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def __and__(self, other: Terms) -> Terms:
        """What both hold."""
        return Terms(self.exact & other.exact, self.words & other.words)

    def without(self, other: Terms) -> Terms:
        """What the other doesn't hold."""
        return Terms(self.exact - other.exact, self.words - other.words)

    def all(self) -> frozenset[str]:
        """Both kinds."""
        return self.exact | self.words


def terms_of(text: str, stems: Stems) -> Terms:
    """The terms of a text; a year, a short number and a hyphenated word count as words."""
    exact = {token.lower() for token in _TOKEN.findall(text) if _is_exact(token)}
    rest = _TOKEN.sub(lambda found: " " if _is_exact(found.group()) else found.group(), text)
    words = [word for word in query_terms(rest).words if word not in STOP_WORDS]
    return Terms(frozenset(exact), frozenset(stem for stem in stems(words) if len(stem) >= _SHORTEST_WORD))


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many memories of a store a name and a stem occur, and how many are few."""

    names: Callable[[str], int]
    stems: Callable[[str], int]
    few: int


def reused(reply: Terms, shown: Mapping[str, Terms], known: Terms, rarity: Rarity) -> tuple[str, ...]:
    """The ids of what was shown whose own terms a reply uses, in their order.

    A term speaks for a memory if few memories of the store hold it, it was not `known` from elsewhere, and not most of
    the others shown hold it. One exact term or three words are needed, and a twentieth of all terms of a long text. A
    reply that uses more than half of what was shown tells nothing apart, so that nothing is used.
    """
    found = tuple(name for name in shown if _is_used(reply.without(known) & shown[name], name, shown, rarity))
    is_everything = len(found) > 1 and 2 * len(found) > len(shown)
    return () if is_everything else found


def _is_used(common: Terms, name: str, shown: Mapping[str, Terms], rarity: Rarity) -> bool:
    others = [terms.all() for other, terms in shown.items() if other != name]
    own = {term for term in common.all() if 2 * sum(term in other for other in others) <= len(others)}
    exact = sum(rarity.names(term) <= rarity.few for term in sorted(own & common.exact))
    words = sum(rarity.stems(term) <= rarity.few for term in sorted(own & common.words))
    needed = max(1.0, _LEAST * _weight(len(shown[name].exact), len(shown[name].words)))
    return _weight(exact, words) >= needed - _ROUNDING


def _weight(exact: int, words: int) -> float:
    return EXACT * exact + WORD * words


def _is_exact(token: str) -> bool:
    if token.isdigit():
        return len(token) >= _SHORTEST_NUMBER and not _YEAR.fullmatch(token)
    if len(token) < _SHORTEST_NAME:
        return False
    parts = _PART.findall(token)
    if all(len(part) == 1 or part.lower() in STOP_WORDS for part in parts):
        return False
    is_compound = len(parts) > 1 and set(token) & set("._/@:+#\\") != set()
    return is_compound or any(character.isdigit() for character in token) or _HUMP.search(token) is not None
