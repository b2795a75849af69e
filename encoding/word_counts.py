"""How many word pieces a text has, word by word: the same few thousand words make up most of what is ever shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_KEPT_WORDS: Final = 4_096
_LONGEST_KEPT: Final = 64


class WordCounts:
    """Counts pieces as the sum over the words between white space, and keeps the counts of words it has met.

    Exact for tokenizers that never join two words, as word-piece models do; close for others. Safe for several
    threads: two may count the same word at once.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        """Count new words with `count`."""
        self._count = count
        self._kept: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The pieces of a text."""
        kept, total = self._kept, 0
        for word in text.split():
            known = kept.get(word)
            total += self._counted(word) if known is None else known
        return total

    def _counted(self, word: str) -> int:
        count = self._count(word)
        if len(self._kept) >= _KEPT_WORDS:
            self._kept = {}
        if len(word) <= _LONGEST_KEPT:
            self._kept[word] = count
        return count
