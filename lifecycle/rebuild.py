"""Derived columns worked out anew from the journal alone: the proof that nothing else is needed, and the repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..store.graph import COPY, Link
from ..store.rebuilding import Derived
from ..store.store import Store
from . import restating
from .channel_lessons import write
from .constants import DEFAULTS, DecaySettings
from .decay import refresh
from .replay import NamedLink, Replay


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many journal entries were read, how many memories were rebuilt, and how many the journal doesn't know."""

    entries: int
    memories: int
    unknown: int


def rebuild(store: Store, now: int, settings: DecaySettings = DEFAULTS) -> Rebuilt:
    """Replace every derived column by what the journal says, then refresh L, S and λ as of `now` (µs).

    Rebuilt are the figures of strength, states, heat, trust, confirmations, pins, validity, forgetting, eviction,
    expiry, what was stated of a known text, the scopes' clocks, the links and what feedback taught. Texts, embeddings
    and indexes are left alone. Memories that came without their journal keep their figures. What is written while the
    journal is read is not lost: the last entries are read under the lock.

    Raises:
        StoreError: if the store can't be read or written; nothing but missing links was changed then.
    """
    replay = Replay(settings)
    last = _follow(store, replay, 0)
    with store.atomic():
        last = _follow(store, replay, last)
        seqs = store.rebuilding.seqs()
        known = [name for name in replay.lives if name in seqs]
        store.rebuilding.write(_derived(replay, seqs), replay.clocks)
        store.pending.replace(seqs[name] for name in known if replay.lives[name].pending)
        write(store, replay.learned)
        refresh(store, now, settings)
    return Rebuilt(last, len(known), len(seqs) - len(known))


def _follow(store: Store, replay: Replay, last: int) -> int:
    """Replay the entries numbered above `last`; returns the number of the newest."""
    while entries := store.journal.after(last):
        replay.take(entries)
        last = entries[-1].number
        # A large store has millions of links: they are put back as they are met.
        _connect(store, replay.drain_links())
    return last


def _connect(store: Store, named: Sequence[NamedLink]) -> None:
    seqs = store.rebuilding.seqs_of({name for link in named for name in (link.memory, link.other)})
    found = [link for one in named if (link := one.between(seqs)) is not None]
    gone = {_pair(link): place for place, link in enumerate(found) if not link.weight}
    store.graph.disconnect([link for link in found if not link.weight])
    # What came after it was taken away stands; the rest of that pair's merges does not.
    store.graph.connect(
        [
            link
            for place, link in enumerate(found)
            if link.weight and (link.relation != COPY or place > gone.get(_pair(link), -1))
        ]
    )


def _pair(link: Link) -> tuple[int, int]:
    return min(link.seq, link.other), max(link.seq, link.other)


def _derived(replay: Replay, seqs: dict[str, int]) -> Iterator[Derived]:
    for name, life in replay.lives.items():
        if name in seqs:
            yield Derived(
                seq=seqs[name],
                trust=life.trust,
                confirmations=life.confirmations,
                pinned=life.pinned,
                valid_to=life.valid_to,
                superseded_by=life.superseded_by,
                expires_at=life.expires_at,
                forgotten_at=life.forgotten_at,
                evicted_at=life.evicted_at,
                merged_into=life.merged_into,
                stated=restating.columns(life.stated),
                figures=life.figures,
            )
