"""Decay as a step of the daily run: states follow retention, and faded text moves to the attic. Nothing is deleted.

Retention is closed form, so a run after a year of absence finds what a run a day would have found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import Event, State
from ..store.catalog import Columns
from ..store.journal import Entry
from ..store.store import Store
from . import clock as activity
from .constants import DEFAULTS, DecaySettings
from .states import next_states
from .strength import retentions

_BATCH = 500


def elapsed_days(store: Store, columns: Columns, now: int, settings: DecaySettings = DEFAULTS) -> NDArray[np.float64]:
    """Δτ of every memory at `now` (µs), in days of its own scope's clock, float64 (n,) by seq."""
    tau_of_scope = np.zeros(1 + int(columns.scope.max(initial=0)))
    for scope in store.scopes.keys():  # noqa: SIM118 - a method that gives a mapping, not the mapping
        if scope < len(tau_of_scope):
            tau_of_scope[scope] = activity.tau(store.scopes.clock(scope), now, settings)
    return np.maximum(0.0, tau_of_scope[columns.scope] - columns.anchor_tau)


def retention_of(
    store: Store, columns: Columns, seqs: NDArray[np.int64], now: int, settings: DecaySettings = DEFAULTS
) -> NDArray[np.float64]:
    """R of some memories at `now` (µs), float64 of the shape of `seqs`; 1 for pinned ones."""
    elapsed = elapsed_days(store, columns, now, settings)[seqs]
    return np.where(columns.pinned[seqs], 1.0, retentions(columns.rate[seqs], elapsed))


def decay(
    store: Store,
    now: int,
    settings: DecaySettings = DEFAULTS,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Move every memory to the state its retention gives at `now` (µs); returns how many moved.

    Each batch is a transaction, so a run that is stopped or killed has done whole batches and the next one goes on.
    """
    moved = 0
    for batch in _batches(store, now, settings):
        if stopped():
            break
        _apply(store, batch, now)
        moved += len(batch)
    return moved


def pending(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> int:
    """How many memories `decay` would move at `now` (µs)."""
    return sum(len(batch) for batch in _batches(store, now, settings))


def _batches(store: Store, now: int, settings: DecaySettings) -> Iterator[list[tuple[int, int, int]]]:
    """(seq, old state, new state) of the memories that change, some hundred at a time."""
    columns = store.catalog.columns()
    if not len(columns.alive):
        return
    everyone = np.flatnonzero(columns.alive & ~columns.forgotten)
    retention = retention_of(store, columns, everyone, now, settings)
    current = columns.state[everyone]
    target = next_states(current, retention, columns.pinned[everyone], settings)
    changing = np.flatnonzero(target != current)
    for start in range(0, len(changing), _BATCH):
        some = changing[start : start + _BATCH]
        yield list(zip(everyone[some].tolist(), current[some].tolist(), target[some].tolist(), strict=True))


def _apply(store: Store, batch: list[tuple[int, int, int]], now: int) -> None:
    # A use in another process may have come first: only rows still in the state we saw are moved.
    with store.atomic(durable=False):
        moved = store.memories.move_states([(seq, old, new) for seq, old, new in batch])
        entries: list[Entry] = []
        for memory, seq, old, new in moved:
            if new >= State.ARCHIVE:
                store.attic.stow(seq, now)
            elif old >= State.ARCHIVE:
                store.attic.fetch(seq)
            data = {"from": State(old).label, "to": State(new).label}
            entries.append(Entry(now, Event.STATE, None, memory, None, data))
        store.journal.append(*entries)
