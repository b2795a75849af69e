"""Decay as a step of the daily run: states follow retention, and faded text moves to the attic. Nothing is deleted.

Retention is closed form, so a run after a year of absence finds what a run a day would have found. L and ρ are computed
anew first. Everything is worked out from one reading, without a lock; what has changed is then written in transactions
of a hundred memories, leaving out those that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import Event, State
from ..store.catalog import Columns
from ..store.figures import Figures
from ..store.journal import Entry
from ..store.store import Store
from .activation import Refreshed, refreshed, rewrites, taus
from .constants import DEFAULTS, DecaySettings
from .states import next_states
from .strength import retentions

_BATCH: Final = 100
_PASSES: Final = 3
"""What was used or shown while a run looked at it is looked at again; what loses thrice is left to the next run."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Figures as they should be, the states they come from, and which rows differ from what is stored, bool (n,)."""

    figures: Figures
    before: NDArray[np.int64]
    changed: NDArray[np.bool_]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Which rows change their state, bool (n,)."""
        return self.figures.state != self.before

    def batches(self) -> Iterator[_Plan]:
        """The rows to be written, some at a time."""
        rows = np.flatnonzero(self.changed)
        for start in range(0, len(rows), _BATCH):
            some = rows[start : start + _BATCH]
            yield _Plan(self.figures.rows(some), self.before[some], self.changed[some])


def retention_of(
    store: Store, columns: Columns, seqs: NDArray[np.int64], now: int, settings: DecaySettings = DEFAULTS
) -> NDArray[np.float64]:
    """R of some memories at `now` (µs), float64 of the shape of `seqs`; 1 for pinned ones."""
    elapsed = taus(store, columns.scope[seqs].astype(np.int64), now, settings) - columns.anchor_tau[seqs]
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
    for _ in range(_PASSES):
        lost = 0
        for batch in _plan(store, now, settings).batches():
            if stopped():
                return moved
            done = _apply(store, batch, now)
            moved += done.moved
            lost += done.lost
        if not lost:
            break
    return moved


def refresh(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> int:
    """Compute L, S and λ of every memory anew at `now` (µs) and leave the states; returns how many changed."""
    figures = store.figures.read()
    fresh = refreshed(store, figures, now, settings)
    wanted = replace(figures, association=fresh.association, stability=fresh.stability, rate=fresh.rate)
    rows = wanted.rows(_differs(figures, fresh))
    with store.atomic(durable=False):
        return len(store.figures.rewrite(rewrites(rows)))


def pending(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> int:
    """How many memories `decay` would move at `now` (µs)."""
    return int(_plan(store, now, settings).moving.sum())


def _plan(store: Store, now: int, settings: DecaySettings) -> _Plan:
    figures = store.figures.read()
    fresh = refreshed(store, figures, now, settings)
    state = next_states(figures.state.astype(np.int8), fresh.retention, figures.pinned, settings).astype(np.int64)
    # What was forgotten on purpose or evicted stays so until somebody brings it back.
    state = np.where(figures.gone, figures.state, state)
    changed = (state != figures.state) | _differs(figures, fresh)
    wanted = replace(figures, state=state, association=fresh.association, stability=fresh.stability, rate=fresh.rate)
    return _Plan(wanted, figures.state, changed)


def _differs(figures: Figures, fresh: Refreshed) -> NDArray[np.bool_]:
    return (
        (figures.association != fresh.association)
        | (figures.stability != fresh.stability)
        | (figures.rate != fresh.rate)
    )


@dataclass(frozen=True, slots=True)
class _Done:
    """How many memories changed their state, and how many had changed meanwhile and were left alone."""

    moved: int
    lost: int


def _apply(store: Store, batch: _Plan, now: int) -> _Done:
    moving = batch.moving
    figures, before = batch.figures, batch.before
    # Compressing takes longer than writing: done before the lock is taken, and used only for rows nobody changed.
    fading = figures.seq[moving & (figures.state >= State.ARCHIVE) & (before < State.ARCHIVE)].tolist()
    packed = store.attic.packed(fading)
    with store.atomic(durable=False):
        written = store.figures.rewrite(rewrites(figures))
        store.attic.stow_packed({seq: text for seq, text in packed.items() if seq in written}, now)
        moved = [
            (written[seq], seq, old, new)
            for seq, old, new in zip(
                figures.seq[moving].tolist(), before[moving].tolist(), figures.state[moving].tolist(), strict=True
            )
            if seq in written
        ]
        for _, seq, old, new in moved:
            if new < State.ARCHIVE <= old:
                store.attic.fetch(seq)
        store.journal.append(*(_entry(now, *move) for move in moved))
    return _Done(len(moved), len(figures) - len(written))


def _entry(now: int, memory: str, _seq: int, old: int, new: int) -> Entry:
    return Entry(now, Event.STATE, None, memory, None, {"from": State(old).label, "to": State(new).label})
