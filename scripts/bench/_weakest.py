"""Whether a memory's own text finds it first when it is the weakest of all and the others are at full strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from _memory import SCOPE, Loaded
from numpy.typing import NDArray

from ebbing.encoding.embedder import Embedder
from ebbing.retrieval.recaller import Recaller, RecallRequest
from ebbing.store.catalog import Columns

_ASKED: Final = 200
_NOW: Final = 2 * 10**15


def weakest_first(loaded: Sequence[Loaded], embedder: Embedder) -> float:
    """The share of memories, at most 200 a store and evenly drawn, that their own text finds first at a retention of 0.

    A memory with the very same text may stand in for it: there are such, and nothing can tell them apart.
    """
    found: list[bool] = []
    for one in loaded:
        seqs = np.flatnonzero(one.store.catalog.columns().alive)
        chosen = seqs[:: max(1, len(seqs) // _ASKED)][:_ASKED].tolist()
        found += [_is_first(one, embedder, seq) for seq in chosen]
    return float(np.mean(found))


def _is_first(one: Loaded, embedder: Embedder, weakest: int) -> bool:
    def retention(_columns: Columns, seqs: NDArray[np.int64], _now: int) -> NDArray[np.float64]:
        return np.where(seqs == weakest, 0.0, 1.0)

    [memory] = one.store.memories.by_seqs([weakest])
    recaller = Recaller(one.store, lambda: embedder, retention)
    hits = recaller.recall(RecallRequest(query=memory.content, scopes=(SCOPE,), now=_NOW, limit=1)).hits
    return bool(hits) and hits[0].memory.content == memory.content
