"""Merging one memory into another, and undoing it: rows, figures, link and journal in the caller's transaction.

Nothing is lost: the copy keeps its text (in the attic), its embedding and its own history, and says what speaks for
it. What was done to it counts for the memory that stays. Undoing gives both back as they would be without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..schemas.memory import Event, Memory, State, Strength
from ..store.graph import COPY, Link
from ..store.journal import Entry
from ..store.store import Store
from . import clock as activity
from . import fold
from .constants import DEFAULTS, DecaySettings
from .shares import COPY_WEIGHT, Share, merges, without

_WHOLE: Final = 1_000_000
_MOVING: Final = frozenset({Event.STATE, Event.USED, Event.RESTORED, Event.FORGOTTEN, Event.EVICTED, Event.EXPIRED})


def merged(
    store: Store, keeper: Memory, copy: Memory, at: int, ref: str | None = None, settings: DecaySettings = DEFAULTS
) -> None:
    """Let `keeper` speak for `copy` from now on. Both are as they are stored, in one scope, and neither is merged.

    Confirmations add up, with one for having been said twice unless that was counted when it was saved; trust and
    importance are the better of both; the earlier start of validity counts. It is no activity of the scope.
    """
    copied = Share.of(copy)
    copied = replace(copied, confirmations=copied.confirmations + _said_twice(store, keeper, copy))
    share = Share.of(keeper).plus(copied)
    more = {"importance": copy.importance, "since": _since(copy)}
    own = {"importance": keeper.importance, "valid_from": keeper.valid_from}
    data = {"copy": copy.id, **copied.written(), **more, "before": {**Share.of(keeper).written(), **own}}
    number = store.scopes.find(keeper.scope)
    store.journal.append(
        Entry(at, Event.MERGED, number, keeper.id, ref, data),
        Entry(at, Event.MERGED, number, copy.id, ref, {"into": keeper.id}),
    )
    _write(store, keeper, share, _known(own, _since(keeper), [more]), at, settings)
    store.memories.change(copy.seq, merged_into=keeper.id)
    store.memories.set_strength(copy.seq, replace(copy.strength, state=State.FORGOTTEN))
    store.attic.stow(copy.seq, at)
    store.graph.connect([Link(keeper.seq, copy.seq, COPY, COPY_WEIGHT)])


def unmerged(store: Store, copy: Memory, at: int, ref: str | None = None, settings: DecaySettings = DEFAULTS) -> bool:
    """Undo the merging of `copy`; whether it was merged. Both are then as they would be without."""
    if copy.merged_into is None:
        return False
    number = store.scopes.find(copy.scope)
    [keeper] = store.memories.with_ids([copy.merged_into]) or [None]
    merge = _merge_of(store, copy) if keeper is not None else None
    if keeper is not None and merge is not None:
        store.journal.append(_give_back(store, keeper, merge, at, ref, settings))
        store.graph.disconnect([Link(keeper.seq, copy.seq, COPY, 0.0)])
    # Where nobody knows any more how faded it was, decay will tell.
    before = State.ACTIVE if merge is None else Share.read(merge.data).figures.state
    data = {"from": copy.merged_into, "state": before.label}
    store.journal.append(Entry(at, Event.UNMERGED, number, copy.id, ref, data))
    store.memories.change(copy.seq, merged_into=None)
    _put_state(store, copy, replace(copy.strength, state=before), at)
    return True


def were_parted(store: Store, one: str, other: str) -> bool:
    """Whether somebody undid a merge of two memories (by id): they are not to be merged again."""
    return any(
        entry.event is Event.UNMERGED and entry.data.get("from") in (one, other)
        for identifier in (one, other)
        for entry in store.journal.of_memory(identifier, _WHOLE)
    )


def _merge_of(store: Store, copy: Memory) -> Entry | None:
    """The entry of a merged copy's keeper that says what it brought; None where the journal lost it."""
    found = store.journal.of_memory(copy.merged_into or "", _WHOLE)
    own = [entry for entry in found if entry.event is Event.MERGED and entry.data.get("copy") == copy.id]
    return own[-1] if own else None


def _give_back(store: Store, keeper: Memory, merge: Entry, at: int, ref: str | None, settings: DecaySettings) -> Entry:
    """Take a copy's share out of its keeper; returns the entry that says what the keeper has now."""
    history = store.journal.of_memory(keeper.id, _WHOLE)
    copy = str(merge.data["copy"])
    before = merge.data["before"]
    left = without(history, copy, settings) or Share.read(before)
    left = replace(left, figures=replace(left.figures, state=_state_without(keeper, merge, history)))
    first = next(entry.data["before"] for entry in history if "before" in entry.data and "copy" in entry.data)
    known = _known(first, _own_since(keeper, first), merges(history, copy))
    _write(store, keeper, left, known, at, settings)
    return Entry(at, Event.UNMERGED, store.scopes.find(keeper.scope), keeper.id, ref, {"copy": copy, **left.written()})


def _state_without(keeper: Memory, merge: Entry, history: Sequence[Entry]) -> State:
    """The keeper's state: as before if it is where merging put it, else as it is."""
    before = Share.read(merge.data["before"]).figures.state
    put = min(before, Share.read(merge.data).figures.state)
    moved = any(entry.event in _MOVING and entry.number > merge.number for entry in history)
    return before if keeper.strength.state is put and not moved else keeper.strength.state


def _known(own: Mapping[str, Any], since: int, shares: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of what is known, given those without any merge and what the merges bring."""
    earliest = min([since, *(share["since"] for share in shares)])
    return {
        "importance": max([own["importance"], *(share["importance"] for share in shares)]),
        "valid_from": own["valid_from"] if earliest == since else earliest,
    }


def _write(
    store: Store, keeper: Memory, share: Share, known: Mapping[str, Any], at: int, settings: DecaySettings
) -> None:
    store.memories.change(keeper.seq, trust=share.trust, confirmations=share.confirmations, **known)
    changed = replace(
        keeper, trust=share.trust, confirmations=share.confirmations, importance=float(known["importance"])
    )
    number = store.scopes.find(keeper.scope)
    tau = 0.0 if number is None else activity.tau(store.scopes.clock(number), at, settings)
    figures = fold.folded(fold.Facts.of(changed, settings), share.over(keeper.strength), tau, settings)
    _put_state(store, keeper, figures, at)


def _put_state(store: Store, memory: Memory, figures: Strength, at: int) -> None:
    """Write figures, with the text where their state wants it."""
    store.memories.set_strength(memory.seq, figures)
    if figures.state >= State.ARCHIVE:
        store.attic.stow(memory.seq, at)
    else:
        store.attic.fetch(memory.seq)


def _since(memory: Memory) -> int:
    return memory.recorded_at if memory.valid_from is None else memory.valid_from


def _own_since(keeper: Memory, own: Mapping[str, Any]) -> int:
    return keeper.recorded_at if own["valid_from"] is None else int(own["valid_from"])


def _said_twice(store: Store, one: Memory, other: Memory) -> int:
    """1 unless saving one of the two has confirmed the other already."""
    histories = [store.journal.of_memory(memory.id, _WHOLE) for memory in (one, other)]
    saved = [{entry.at for entry in history if entry.event is Event.SAVED} for history in histories]
    confirmed = [{entry.at for entry in history if entry.event is Event.CONFIRMED} for history in histories]
    return 0 if saved[0] & confirmed[1] or saved[1] & confirmed[0] else 1
