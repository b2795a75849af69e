"""What new memories say that older ones said already: interference and familiarity, which eviction goes by.

Each memory is compared once with those of its scope that came before it, by BM25 over its distinct words as a share of
the highest score that the words allow; the ten most alike count. Words, not embeddings: what stands in the way of a
memory is what is found by the same words, and at the same budget sums of cosines kept less of what was needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..encoding.stopwords import STOP_WORDS
from ..encoding.words import index_text
from ..schemas.memory import Memory
from ..store.catalog import Columns
from ..store.kept_postings import KeptPostings
from ..store.lexical import Postings
from ..store.resemblance import Resembling
from ..store.store import Store

MOST_ALIKE: Final = 10
COMMON: Final = 0.1
"""A word that more than a tenth of the memories have, and more than five, tells none of them from the others."""

_FEW: Final = 5

_K1: Final = 0.9
_B: Final = 0.4
_BATCH: Final = 50
_POSTINGS_KEPT: Final = 4_000_000
"""At most 48 MB while very many are compared; a day's memories need a fraction of it."""
_MOST_PER_RUN: Final = 2_500


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """The memories that a new one is compared with.

    Attributes:
        held: which seqs are older, of the same scope and neither forgotten nor evicted, bool (n,).
        words: how many words each has, (n,).
    """

    held: NDArray[np.bool_]
    words: NDArray[np.int32]


def resemble(
    store: Store, stopped: Callable[[], bool] = lambda: False, *, most: int = _MOST_PER_RUN
) -> tuple[int, bool]:
    """Compare what is new with what is older; returns how many were compared, and whether some are left over.

    Resumes by itself, a batch a transaction. More than `most` at once, as after an import, are spread over several
    runs.

    Raises:
        StoreError: if the store can't be read or written.
    """
    postings = KeptPostings(store.database, store.lexical, _POSTINGS_KEPT)
    count, last = 0, 0
    while count < most and not stopped():
        seqs = store.resemblance.uncounted(last, min(_BATCH, most - count))
        if not seqs:
            return count, False
        columns = store.catalog.columns()
        with store.snapshot():
            found = [_compared(store, memory, columns, postings) for memory in store.memories.by_seqs(seqs)]
        with store.atomic(durable=False):
            store.resemblance.add(found)
        count, last = count + len(seqs), seqs[-1]
    return count, bool(store.resemblance.uncounted(last, 1))


def most_alike(postings: Sequence[Postings], before: Before) -> dict[int, float]:
    """The seqs of the ten older memories most alike and their shares in (0, 1]; `postings` are of distinct words.

    BM25 after Robertson and Zaragoza (2009), idf = ln(1 + (N − df + ½)/(df + ½)), k1 = 0.9, b = 0.4. A word that
    nobody has counts towards the highest score, so that what says something new resembles less.
    """
    total = int(np.count_nonzero(before.held))
    if not total or not postings:
        return {}
    size = before.held.size
    mean = max(1.0, float(before.words.sum(where=before.held)) / total)
    older = [int(np.searchsorted(posting.seqs, size)) for posting in postings]
    seqs = np.concatenate([posting.seqs[:count] for posting, count in zip(postings, older, strict=True)])
    times = np.concatenate([posting.counts[:count] for posting, count in zip(postings, older, strict=True)])
    term = np.repeat(np.arange(len(postings)), older)
    held = before.held[seqs]
    known = np.bincount(term[held], minlength=len(postings))
    idf = np.log1p((total - known + 0.5) / (known + 0.5))
    held &= (known <= max(_FEW, COMMON * total))[term]
    rows, counts = seqs[held], times[held].astype(np.float64)
    weights = idf[term[held]] * counts / (counts + _K1 * (1.0 - _B + _B * before.words[rows] / mean))
    return _best(np.bincount(rows, weights, minlength=size) / float(idf.sum()))


def _best(shares: NDArray[np.float64]) -> dict[int, float]:
    """The highest few above 0, the older first among equals."""
    found = np.flatnonzero(shares)
    if found.size > MOST_ALIKE:
        least = np.partition(shares[found], found.size - MOST_ALIKE)[-MOST_ALIKE]
        found = found[shares[found] >= least]
    order = np.lexsort((found, -shares[found]))[:MOST_ALIKE]
    return {int(seq): float(shares[seq]) for seq in found[order]}


def _compared(store: Store, memory: Memory, columns: Columns, postings: KeptPostings) -> Resembling:
    words = {word for word in index_text(memory.content).lower().split() if word not in STOP_WORDS}
    terms = store.lexical.terms(sorted(words))
    size = min(memory.seq, columns.alive.size)
    same = columns.scope[:size] == (columns.scope[memory.seq] if memory.seq < columns.scope.size else -1)
    held = columns.alive[:size] & ~columns.forgotten[:size] & same
    return Resembling(memory.seq, most_alike(postings.of(terms), Before(held, columns.words[:size])))
