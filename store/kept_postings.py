"""Posting lists that were read once, kept and brought up to date: most questions share words with those before them.

Reading the list of a common word takes longer than anything else that words ask of a recall. A kept list is whole up to
a seq; of what was saved since, by whichever process, only that is read. Removing words from the index, which nothing
in a list tells, counts up a number in the store, and every list is read anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from .database import WRITING, Database
from .lexical import Lexical, Postings

_MOST: Final = 1_000_000
_MOST_NEW: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """A list that is whole up to the memory `last`, as of the index's `removals`."""

    removals: int
    last: int
    postings: Postings


class KeptPostings:
    """Reads posting lists through `lexical`. Safe for several threads."""

    def __init__(self, database: Database, lexical: Lexical, most: int = _MOST) -> None:
        """Keep at most `most` postings (12 bytes each), those of the terms that were asked for last."""
        self._database = database
        self._lexical = lexical
        self._most = most
        self._guard = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0

    def of(self, terms: Mapping[str, str]) -> list[Postings]:
        """The posting lists of some terms as `Lexical.terms` gives them, in their order; see `Lexical.postings`.

        Raises:
            StoreError: if the store can't be read.
        """
        if self._database.transaction() == WRITING:
            # What is being written may still be undone.
            return [self._lexical.postings(term) for term in terms]
        with self._database.snapshot():
            removals, last = self._lexical.removals(), self._lexical.last()
            return [self._brought_up(term, text, removals, last) for term, text in terms.items()]

    def _brought_up(self, term: str, text: str, removals: int, last: int) -> Postings:
        with self._guard:
            kept = self._kept.get(term)
        if kept is None or kept.removals != removals or not 0 <= last - kept.last <= _MOST_NEW:
            return self._keep(term, _Kept(removals, last, self._lexical.postings(term)))
        if last == kept.last:
            return self._keep(term, kept)
        later = self._lexical.postings_after(text, kept.last)
        both = _joined(kept.postings, later) if len(later.seqs) else kept.postings
        return self._keep(term, _Kept(removals, last, both))

    def _keep(self, term: str, kept: _Kept) -> Postings:
        with self._guard:
            before = self._kept.pop(term, None)
            self._size += len(kept.postings.seqs) - (0 if before is None else len(before.postings.seqs))
            self._kept[term] = kept
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1].postings.seqs)
        return kept.postings


def _joined(first: Postings, second: Postings) -> Postings:
    return Postings(np.concatenate([first.seqs, second.seqs]), np.concatenate([first.counts, second.counts]))
