"""Eviction as a step of the daily run: what goes when a budget is exceeded or a caller's expiry has come.

Going happens in two steps. An evicted memory leaves recall and its text lies in the attic, until a use, saying it again
or `forget` with mode restore brings it back. When `undo_days` are over it is removed for good, and earlier only where
the disk itself is short. Every eviction is in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.ids import new_id
from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Event, State
from ..store.catalog import KINDS
from ..store.figures import Figures
from ..store.journal import Entry
from ..store.store import Store
from .activation import rewrites, taus
from .constants import DEFAULTS, DecaySettings
from .value import EXEMPT_KINDS, Candidates, evict_order

_BATCH: Final = 50
_DISK_RESERVE: Final = 64 * 1024 * 1024

Stopped = Callable[[], bool]


def never() -> bool:
    """Nobody wants it to stop."""
    return False


@dataclass(frozen=True, slots=True)
class Evicted:
    """How many memories left recall because of their expiry or the budget, and how many were removed for good.

    `over` is how many memories or bytes (whichever is more pressing) are still over the mark because nothing else may
    go.
    """

    expired: int = 0
    evicted: int = 0
    removed: int = 0
    over: int = 0

    @property
    def changed(self) -> int:
        """How many changes were made."""
        return self.expired + self.evicted + self.removed


@dataclass(frozen=True, slots=True)
class Usage:
    """What the budget counts: `memories` and `bytes` in use, `evicted` ones that can be had back, since `oldest` (µs).

    `bytes` counts evicted memories too until they are removed.
    """

    memories: int
    bytes: int
    evicted: int
    oldest: int | None


def describe(done: Evicted) -> str:
    """What was done, for people; empty when nothing was."""
    parts = ((done.expired, "expired"), (done.evicted, "evicted"), (done.removed, "removed for good"))
    said = ", ".join(f"{count} {verb}" for count, verb in parts if count)
    if done.over:
        said += ("; " if said else "") + "still over budget: everything else is pinned, in force or young"
    return said


def usage(store: Store) -> Usage:
    """What the store holds at the moment.

    Raises:
        StoreError: if the store can't be read.
    """
    memories, evicted, oldest = store.evictions.counts()
    return Usage(memories, store.evictions.used_bytes(), evicted, oldest)


def evict(
    store: Store,
    now: int,
    settings: DecaySettings = DEFAULTS,
    stopped: Stopped = never,
    free_bytes: Callable[[], int] | None = None,
) -> Evicted:
    """Remove what was evicted long enough ago, take out what has expired, then what the budget has no room for.

    Args:
        store: where.
        now: µs.
        settings: budgets, marks, exemptions and the time for undoing.
        stopped: asked between batches; what is left then is the next run's.
        free_bytes: what the disk has left; by default it is asked.

    Raises:
        StoreFullError: if the disk has no room even for removing; nothing is lost and the next run goes on.
        StoreError: if the store can't be written.
    """
    removed = _remove(store, now, settings, stopped, free_bytes or store.evictions.free_bytes)
    expired = _take_out(store, store.evictions.expired(now), Event.EXPIRED, now, stopped)
    chosen, over = surplus(store, now, settings)
    evicted = _take_out(store, chosen, Event.EVICTED, now, stopped)
    return Evicted(expired, evicted, removed, over)


def pending(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> int:
    """How many memories `evict` would take out or remove at `now` (µs)."""
    until = now - round(settings.undo_days * MICROSECONDS_PER_DAY)
    due = len(store.evictions.oldest(until, store.memories.count()))
    return due + len(store.evictions.expired(now)) + len(surplus(store, now, settings)[0])


def surplus(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> tuple[list[int], int]:
    """The memories (seqs) that the budget has no room for, the first to go first; and what is over it still then.

    A budget that is exceeded by its high mark is brought down to its low mark.
    """
    live, _, _ = store.evictions.counts()
    over_count = live > settings.high_mark * settings.budget_memories
    if not over_count and store.evictions.used_bytes() <= settings.high_mark * settings.budget_bytes:
        return [], 0
    figures = store.figures.read()
    figures = figures.rows(~figures.evicted)
    bytes_of = _bytes_of(store, figures)
    over_bytes = bytes_of.sum() > settings.high_mark * settings.budget_bytes
    spare_bytes = max(0.0, bytes_of.sum() - settings.low_mark * settings.budget_bytes) if over_bytes else 0.0
    spare_count = max(0.0, len(figures) - settings.low_mark * settings.budget_memories) if over_count else 0.0
    order = evict_order(_candidates(store, figures, now, settings), settings)
    freed = np.cumsum(bytes_of[order])
    enough = max(int(np.searchsorted(freed, spare_bytes)) + 1 if spare_bytes else 0, int(np.ceil(spare_count)))
    chosen = order[:enough]
    left = max(spare_bytes - float(bytes_of[chosen].sum()), spare_count - len(chosen))
    return figures.seq[chosen].tolist(), max(0, round(left))


def _bytes_of(store: Store, figures: Figures) -> NDArray[np.float64]:
    """Each memory's share of the file, (n,)."""
    seqs, shares = store.evictions.sizes()
    by_seq = np.zeros(1 + max(int(seqs.max(initial=0)), int(figures.seq.max(initial=0))))
    by_seq[seqs] = shares
    return by_seq[figures.seq]


def _candidates(store: Store, figures: Figures, now: int, settings: DecaySettings) -> Candidates:
    columns = store.catalog.columns()
    seq = figures.seq
    like = store.resemblance.read()
    kept_kind = np.array([kind in EXEMPT_KINDS for kind in KINDS])
    valid = ~columns.superseded[seq] & (columns.valid_to[seq] > now) & ~figures.gone
    elapsed = np.maximum(0.0, taus(store, figures.scope, now, settings) - figures.anchor_tau)
    return Candidates(
        rate=figures.rate,
        elapsed_days=elapsed,
        # Time since the last use is at most the age: what was used these days is spared along with what is young.
        age_days=elapsed,
        spaced_uses=figures.spaced_uses,
        confirmations=figures.confirmations,
        importance=figures.importance,
        length=figures.characters.astype(np.float64),
        interference=like.by_younger[seq],
        familiarity=like.to_older[seq],
        pinned=figures.pinned,
        protected=kept_kind[figures.kind] & valid,
    )


def _take_out(store: Store, seqs: Sequence[int], event: Event, now: int, stopped: Stopped) -> int:
    taken, reference = 0, new_id(now)
    for start in range(0, len(seqs), _BATCH):
        if stopped():
            break
        taken += _take_out_some(store, seqs[start : start + _BATCH], event, now, reference)
    return taken


def _take_out_some(store: Store, seqs: Sequence[int], event: Event, now: int, reference: str) -> int:
    figures = store.figures.of(seqs)
    packed = store.attic.packed(seqs)
    before = dict(zip(figures.seq.tolist(), figures.state.tolist(), strict=True))
    with store.atomic(durable=False):
        gone = replace(figures, state=np.full(len(figures), int(State.FORGOTTEN)))
        # A use in another process may have come first: only rows still as they were read are taken out.
        written = store.figures.rewrite(rewrites(gone))
        store.evictions.mark(list(written), now)
        store.attic.stow_packed({seq: text for seq, text in packed.items() if seq in written}, now)
        store.journal.append(
            *(
                Entry(now, event, None, memory, reference, {"from": State(before[seq]).label})
                for seq, memory in written.items()
            )
        )
    return len(written)


def _remove(store: Store, now: int, settings: DecaySettings, stopped: Stopped, free_bytes: Callable[[], int]) -> int:
    removed = 0
    due = now - round(settings.undo_days * MICROSECONDS_PER_DAY)
    while not stopped():
        with store.atomic(durable=False):
            short = free_bytes() < _DISK_RESERVE
            some = store.evictions.oldest(now if short else due, _BATCH)
            _remove_some(store, some, now)
        removed += len(some)
        if len(some) < _BATCH:
            break
    if removed:
        store.evictions.prune_entities(stopped)
    return removed


def _remove_some(store: Store, some: Sequence[tuple[int, str]], now: int) -> None:
    if not some:
        return
    seqs = [seq for seq, _ in some]
    store.journal.append(*(Entry(now, Event.ERASED, None, memory, None, {"why": "evicted"}) for _, memory in some))
    store.lexical.remove(seqs)
    store.vectors.remove(seqs)
    store.tokens.remove(seqs)
    store.memories.remove(seqs)
