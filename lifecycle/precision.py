"""Precision as a step of the daily run: the bits of an embedding follow the memory's state and its heat (EAP).

Demotion makes coarser codes from the codes that are there and gives token embeddings up; promotion embeds the text
again, wherever it lies. Each batch reads and computes without a lock and then writes in one short transaction what is
still as it was read: a lost race is a skip, and the next run sees what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..encoding.embedder import Embedder, TextEmbedding
from ..schemas.memory import Memory, State
from ..store.catalog import Columns
from ..store.codec import encode
from ..store.heat import shown_days
from ..store.store import Store
from ..store.vector_rows import VectorRow, coarser
from . import clock as activity
from .constants import DEFAULTS, DecaySettings
from .copies import pick_copy
from .heat import are_hot
from .states import effective_bit_widths

_DEMOTED_AT_ONCE = 50
_PROMOTED_AT_ONCE = 16

Seqs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PrecisionCounts:
    """What a run did, in memories.

    Attributes:
        demoted: got coarser codes.
        promoted: were embedded again.
        tokens_dropped: lost their token embeddings.
        waiting: should be embedded again, but the store's model is not at hand.
        lost: changed meanwhile and were left to the next run.
    """

    demoted: int = 0
    promoted: int = 0
    tokens_dropped: int = 0
    waiting: int = 0
    lost: int = 0

    @property
    def changed(self) -> int:
        """How many changes were made."""
        return self.demoted + self.promoted + self.tokens_dropped


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What precision every memory should have: arrays by seq."""

    columns: Columns
    targets: NDArray[np.int8]
    hot: NDArray[np.bool_]

    def above(self) -> Seqs:
        """Memories with more bits than they should have."""
        return np.flatnonzero(self.columns.alive & (self.columns.bit_width > self.targets))

    def below(self) -> Seqs:
        """Memories with fewer bits than they should have."""
        return np.flatnonzero(self.columns.alive & (self.columns.bit_width < self.targets))

    def current(self, rows: Sequence[VectorRow]) -> list[VectorRow]:
        """Those whose state is still the one the plan was made for."""
        return [row for row in rows if row.state == self.columns.state[row.seq]]

    def coarser(self, rows: Sequence[VectorRow]) -> list[VectorRow]:
        """Rows at the bits they should have, those that have no more than that left out."""
        target = {row.seq: int(self.targets[row.seq]) for row in rows}
        return [
            fewer
            for width in sorted(set(target.values()))
            for fewer in coarser([row for row in rows if target[row.seq] == width], width)
        ]

    def is_hot(self, seq: int) -> bool:
        """Whether a memory is shown so often that it is kept as a warm one; False for one that came later."""
        return seq < len(self.hot) and bool(self.hot[seq])


def requantize(
    store: Store,
    embedder: Embedder | None,
    now: int,
    settings: DecaySettings = DEFAULTS,
    stopped: Callable[[], bool] = lambda: False,
) -> PrecisionCounts:
    """Give every embedding the bits its memory's state and heat call for at `now` (µs).

    Stopped or killed at any moment it has done whole batches; running it again does the rest and then nothing.

    Raises:
        ModelError: if the embedder fails.
        StoreError: if the store can't be written.
    """
    plan = _plan(store, now, settings)
    demoted, lost = 0, 0
    for some in _batches(plan.above(), _DEMOTED_AT_ONCE, stopped):
        tried, won = _demote(store, plan, some)
        demoted, lost = demoted + won, lost + tried - won
    dropped = _drop_tokens(store, plan, stopped)
    rising = plan.below()
    if embedder is None or embedder.spec.id != store.vectors.model_name:
        return PrecisionCounts(demoted, 0, dropped, len(rising), lost)
    promoted = 0
    for some in _batches(rising, _PROMOTED_AT_ONCE, stopped):
        tried, won = _promote(store, embedder, plan, some)
        promoted, lost = promoted + won, lost + tried - won
    return PrecisionCounts(demoted, promoted, dropped, 0, lost)


def unsettled(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> int:
    """How many embeddings `requantize` would rewrite at `now` (µs)."""
    plan = _plan(store, now, settings)
    return len(plan.above()) + len(plan.below())


def _plan(store: Store, now: int, settings: DecaySettings) -> _Plan:
    with store.snapshot():
        columns = store.catalog.columns()
        hot = _hot(store, columns, now, settings)
    return _Plan(columns, effective_bit_widths(columns.state, hot, settings), hot)


def _hot(store: Store, columns: Columns, now: int, settings: DecaySettings) -> NDArray[np.bool_]:
    """Which memories are hot, bool (n,) by seq."""
    seqs, last_day, mask = shown_days(store.database)
    hot = np.zeros(len(columns.alive), np.bool_)
    inside = seqs < len(hot)
    seqs, last_day, mask = seqs[inside], last_day[inside], mask[inside]
    for scope in np.unique(columns.scope[seqs]).tolist():
        of_scope = columns.scope[seqs] == scope
        day = activity.active_day(store.scopes.clock(scope), now)
        hot[seqs[of_scope]] = are_hot(last_day[of_scope], mask[of_scope], day, settings)
    return hot


def _batches(seqs: Seqs, size: int, stopped: Callable[[], bool]) -> Iterator[list[int]]:
    for start in range(0, len(seqs), size):
        if stopped():
            return
        yield seqs[start : start + size].tolist()


def _demote(store: Store, plan: _Plan, seqs: list[int]) -> tuple[int, int]:
    """How many memories have a vector with too many bits, and how many of those got a coarser one."""
    read = store.vectors.rows(seqs)
    fewer = plan.coarser(plan.current(read))
    return len(read), len(store.vectors.recode(fewer)) if fewer else 0


def _drop_tokens(store: Store, plan: _Plan, stopped: Callable[[], bool]) -> int:
    """Token embeddings are the first thing that fading drops; a hot memory is kept as a warm one, with them."""
    last, dropped = 0, 0
    while not stopped():
        found = store.tokens.outliving(State.COLD, last, _DEMOTED_AT_ONCE)
        if not found:
            break
        last = found[-1]
        with store.atomic(durable=False):
            # A use may have come first: the states are asked again under the lock.
            still = set(store.tokens.outliving(State.COLD, found[0] - 1, _DEMOTED_AT_ONCE))
            fading = [seq for seq in found if seq in still and not plan.is_hot(seq)]
            store.tokens.remove(fading)
        dropped += len(fading)
    return dropped


def _promote(store: Store, embedder: Embedder, plan: _Plan, seqs: list[int]) -> tuple[int, int]:
    """How many memories were embedded again, and how many of those were then written."""
    rows = {row.seq: row for row in plan.current(store.vectors.rows(seqs))}
    memories = store.memories.by_seqs(list(rows))
    embeddings = embedder.embed_documents([memory.content for memory in memories])
    won = 0
    with store.atomic(durable=False):
        for memory, embedding in zip(memories, embeddings, strict=True):
            won += _write(store, plan, rows[memory.seq], memory, embedding)
    return len(memories), won


def _write(store: Store, plan: _Plan, row: VectorRow, memory: Memory, embedding: TextEmbedding) -> bool:
    """Store a fresh embedding over the row it was made for, or over what the row became if the fresh one is better."""
    found = store.vectors.rows([memory.seq])
    scope = store.scopes.find(memory.scope)
    if not found or scope is None or found[0].state != row.state:
        return False
    width = int(plan.targets[memory.seq])
    if pick_copy([found[0].codes, encode(embedding.chunks, width)], embedding.chunks) == 0:
        return False
    if row.state <= State.WARM or plan.is_hot(memory.seq):
        store.tokens.put(memory.seq, store.vectors.model, embedding.tokens, embedding.pieces)
    return store.vectors.replace(found[0], scope, embedding.chunks, width)
