"""How many word pieces a text has, word by word: the same few thousand words make up most of what is ever shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_KEPT_WORDS: Final = 4_096
_LONGEST_KEPT: Final = 64


class WordCounts:
    """Counts pieces as the sum over the words between white space, and keeps the counts of words it has met again.

    Exact for tokenizers that never join two words, as word-piece models do; close for others. What is met for the first
    time, as most ids and numbers are for the last, is counted together. Safe for several threads: two may count the
    same word at once.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        """Count new words with `count`."""
        self._count = count
        self._met: set[str] = set()
        self._kept: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The pieces of a text."""
        kept, total = self._kept, 0
        new: list[str] = []
        for word in text.split():
            known = kept.get(word)
            if known is None:
                new.append(word)
            else:
                total += known
        return total + self._counted(new) if new else total

    def _counted(self, words: list[str]) -> int:
        first: list[str] = []
        again: list[str] = []
        for word in words:
            (again if word in self._met else first).append(word)
        total = (self._count(" ".join(first)) if first else 0) + sum(map(self._kept_count, again))
        if len(self._met) >= _KEPT_WORDS:
            self._met = set[str]()
        self._met.update(word for word in first if len(word) <= _LONGEST_KEPT)
        return total

    def _kept_count(self, word: str) -> int:
        if word not in self._kept:
            if len(self._kept) >= _KEPT_WORDS:
                self._kept = {}
            self._kept[word] = self._count(word)
        return self._kept[word]
