"""What happens to a memory, written down once: the journal entry and the derived figures, in one transaction.

Saving, showing, using, confirming, contradicting, superseding, forgetting and restoring all go through here, so that
the journal and the figures folded from it can't part. Every call counts as activity of the memory's scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..schemas.memory import Event, Memory, NewMemory, State, Strength
from ..store.graph import Link
from ..store.journal import Entry
from ..store.store import Store
from . import activation, feedback, fold, restating
from . import clock as activity
from . import strength as formulas
from .constants import DEFAULTS, DecaySettings
from .merges import unmerged
from .showings import Showing
from .states import bit_widths


class Ledger:
    """Records what happens to memories of one store."""

    def __init__(self, store: Store, settings: DecaySettings = DEFAULTS) -> None:
        """Write through `store`, with the constants of `settings`."""
        self._store = store
        self._settings = settings

    def touch(self, scope: str, at: int) -> tuple[int, float]:
        """Count activity of a scope at `at` (µs); returns the scope's row id and its τ (days)."""
        number = self._store.scopes.ensure(scope)
        clock = activity.touch(self._store.scopes.clock(number), at)
        self._store.scopes.set_clock(number, clock)
        return number, activity.tau(clock, at, self._settings)

    def tau(self, scope: str, at: int) -> float:
        """A scope's τ (days) at `at` (µs), without counting activity; 0 for a scope that has none."""
        number = self._store.scopes.find(scope)
        return 0.0 if number is None else activity.tau(self._store.scopes.clock(number), at, self._settings)

    def activity(self, scope: str, at: int, ref: str | None = None) -> None:
        """Record that somebody worked in a scope at `at` (µs), such as a session that started there."""
        with self._store.atomic(durable=False):
            number, tau = self.touch(scope, at)
            self._store.journal.append(Entry(at, Event.ACTIVITY, number, None, ref, {"tau": tau}))

    def saved(self, new: NewMemory, at: int) -> int:
        """Store a new memory at `at` (µs); returns its seq."""
        with self._store.atomic():
            number, tau = self.touch(new.scope, at)
            return self._begin(new, Event.SAVED, number, tau, at)

    def gisted(self, new: NewMemory, at: int) -> int:
        """Store a gist at `at` (µs), which is no activity of its scope; returns its seq."""
        with self._store.atomic():
            number = self._store.scopes.ensure(new.scope)
            return self._begin(new, Event.GISTED, number, self.tau(new.scope, at), at)

    def linked(self, new: Memory | NewMemory, links: Sequence[Link], at: int) -> None:
        """Record the links of a memory that was just stored, so that they can be put back."""
        if not links:
            return
        with self._store.atomic():
            others = self._store.memories.ids([link.other for link in links])
            known = [[others[link.other], link.relation, link.weight] for link in links if link.other in others]
            number = self._store.scopes.find(new.scope)
            self._store.journal.append(Entry(at, Event.LINKED, number, new.id, None, {"links": known}))

    def consolidated(self, scope: str, observations: Sequence[Memory], became: Sequence[str], at: int) -> None:
        """Record that consolidation is done with observations of a scope, and the ids of what came of them."""
        with self._store.atomic():
            self._store.pending.done([observation.seq for observation in observations])
            data = {"observations": [observation.id for observation in observations], "became": list(became)}
            number = self._store.scopes.find(scope)
            self._store.journal.append(Entry(at, Event.CONSOLIDATED, number, None, None, data))

    def shown(self, scope: str, memories: Sequence[Memory], recall_id: str, data: Mapping[str, Any], at: int) -> None:
        """Record that a recall showed memories: it warms them and activates what they are linked to; it is no use."""
        self.shown_all([Showing(scope, tuple(memories), recall_id, data, at)])

    def shown_all(self, showings: Sequence[Showing]) -> None:
        """Record what some recalls showed, in their order; memories that are gone by now are left out."""
        with self._store.atomic(durable=False), self._store.meta.aside():
            for showing in showings:
                self._shown(showing)

    def _shown(self, showing: Showing) -> None:
        number, tau = self.touch(showing.scope, showing.at)
        there = self._store.memories.ids([memory.seq for memory in showing.memories])
        memories = [memory for memory in showing.memories if memory.seq in there]
        reached = activation.spread(self._store, [memory.seq for memory in memories])
        names = self._store.memories.ids(list(reached))
        amounts = {seq: round(amount, 4) for seq, amount in reached.items() if seq in names}
        entry = {
            "tau": tau,
            "memories": [memory.id for memory in memories],
            "activated": {names[seq]: amount for seq, amount in amounts.items()},
            **showing.data,
        }
        self._store.journal.append(Entry(showing.at, Event.SHOWN, number, None, showing.recall_id, entry))
        self._warm(memories, showing.at)
        activation.activate(self._store, amounts, showing.at, self._settings)

    def used(self, memory: Memory, at: int, ref: str | None = None) -> None:
        """Record a use: retention is whole again, the memory active, its text back from the attic.

        It undoes fading, eviction and expiry; what was forgotten on purpose or merged stays so until it is restored.
        """
        with self._store.atomic():
            number, tau = self.touch(memory.scope, at)
            figures = fold.used(self._store.memories.strength(memory.seq), at, tau, self._settings)
            self._store.evictions.revoke(memory.seq, at)
            if memory.forgotten_at is None and memory.merged_into is None:
                self._bring_back(memory, figures, tau)
            else:
                self._store.memories.set_strength(memory.seq, self._fold(memory, figures, tau))
            self._store.journal.append(Entry(at, Event.USED, number, memory.id, ref, {"tau": tau}))

    def reused(self, memory: Memory, at: int, ref: str) -> None:
        """Record that a reply at `at` (µs) made use of what the recall `ref` showed, though nobody said so.

        It counts `weak_use` of a use, less the closer it follows the last one of either sort, and is no activity. It
        says nothing of whether the memory is right: trust and confirmations stay, and so does its state until decay.
        """
        with self._store.atomic():
            tau = self.tau(memory.scope, at)
            now = self._store.memories.strength(memory.seq)
            history = self._store.journal.of_memory(memory.id)
            past = [entry.at for entry in history if entry.event is Event.REUSED]
            past += [] if now.last_use_at is None else [now.last_use_at]
            last = max(past) if past else None
            share = min(1.0, self._settings.weak_use) * formulas.next_spacing(last, at, self._settings)
            number = self._store.scopes.find(memory.scope)
            self._store.journal.append(Entry(at, Event.REUSED, number, memory.id, ref, {"tau": tau, "share": share}))
            self._store.memories.set_strength(memory.seq, self._fold(memory, fold.reused(now, share, tau), tau))

    def confirmed(
        self,
        memory: Memory,
        at: int,
        ref: str | None = None,
        *,
        source: str | None = None,
        at_least: float = 0.0,
        stated: restating.Stated | None = None,
    ) -> Memory:
        """Record that a memory was said again or proved right: γ and trust rise. Returns it as it is now.

        It is trusted `at_least` as much as whoever said it again is. `stated` is what that one stated besides.
        """
        with self._store.atomic():
            trust = feedback.confirmed(memory.trust, self._settings, at_least=at_least)
            said = stated or {}
            confirmations = memory.confirmations + 1
            changed = replace(restating.applied(memory, said), trust=trust, confirmations=confirmations)
            columns = restating.columns(said)
            self._store.memories.change(memory.seq, trust=trust, confirmations=confirmations, **columns)
            data = {"trust": trust, "source": source, "at_least": at_least, "stated": dict(said)}
            self._note(changed, Event.CONFIRMED, at, ref, data)
        return changed

    def contradicted(self, memory: Memory, at: int, ref: str | None = None, note: str | None = None) -> Memory:
        """Record that a memory proved wrong: trust falls, and with it retention falls faster."""
        with self._store.atomic():
            changed = replace(memory, trust=feedback.contradicted(memory.trust, self._settings))
            self._store.memories.change(memory.seq, trust=changed.trust)
            self._note(changed, Event.CONTRADICTED, at, ref, {"trust": changed.trust, "note": note})
        return changed

    def superseded(self, memory: Memory, by: str | None, valid_to: int, at: int, ref: str | None = None) -> Memory:
        """End a memory's validity at `valid_to` (µs); `by` is the id of what replaces it, if anything does."""
        with self._store.atomic():
            changed = replace(memory, valid_to=valid_to, superseded_by=by)
            self._store.memories.change(memory.seq, valid_to=valid_to, superseded_by=by)
            before = {"valid_to": memory.valid_to, "superseded_by": memory.superseded_by}
            self._note(changed, Event.SUPERSEDED, at, ref, {"by": by, "valid_to": valid_to, "before": before})
        return changed

    def forgotten(self, memory: Memory, at: int, ref: str | None = None) -> None:
        """Take a memory out of recall at once, with the gists that quote it; `restored` brings it back whole."""
        with self._store.atomic():
            self.erased(self._store.memories.by_seqs(self._store.gists.quoting([memory.seq])), at, ref)
            self._store.memories.change(memory.seq, forgotten_at=at)
            now = self._store.memories.strength(memory.seq)
            self._store.memories.set_strength(memory.seq, replace(now, state=State.FORGOTTEN))
            self._store.attic.stow(memory.seq, at)
            self._note(replace(memory, forgotten_at=at), Event.FORGOTTEN, at, ref, {}, refold=False)

    def restored(self, memory: Memory, at: int, ref: str | None = None) -> None:
        """Undo forgetting, merging, eviction and expiry: the text is back, the memory active from now on."""
        with self._store.atomic():
            unmerged(self._store, memory, at, ref, self._settings)
            number, tau = self.touch(memory.scope, at)
            self._store.memories.change(memory.seq, forgotten_at=None)
            self._store.evictions.revoke(memory.seq, at)
            self._bring_back(memory, replace(self._store.memories.strength(memory.seq), anchor_tau=tau), tau)
            self._store.journal.append(Entry(at, Event.RESTORED, number, memory.id, ref, {"tau": tau}))

    def parted(self, memory: Memory, at: int, ref: str | None = None) -> bool:
        """Undo only the merging of a memory, so that it and what spoke for it are as they were; whether that was all.

        Nothing is done to one that was not merged, or that was forgotten or evicted as well: `restored` undoes it all.
        """
        if memory.merged_into is None or memory.forgotten_at is not None:
            return False
        with self._store.atomic():
            evicted = self._store.evictions.evicted_at(memory.seq) is not None
            return not evicted and unmerged(self._store, memory, at, ref, self._settings)

    def pinned(self, memory: Memory, at: int, *, pinned: bool) -> Memory:
        """Pin a memory so that it never fades, or let it fade again."""
        with self._store.atomic():
            changed = replace(memory, pinned=pinned)
            self._store.memories.change(memory.seq, pinned=int(pinned))
            self._note(changed, Event.PINNED if pinned else Event.UNPINNED, at, None, {})
        return changed

    def erased(self, memories: Sequence[Memory], at: int, ref: str | None = None) -> None:
        """Remove memories for good, with the gists that quote them.

        The journal keeps that an id was erased, and nothing of what it said; of a gist also what it was made of.
        """
        with self._store.atomic():
            gone = {memory.seq: memory for memory in memories}
            quoting = self._store.memories.by_seqs(self._store.gists.quoting(list(gone)))
            for memory in {**gone, **{gist.seq: gist for gist in quoting}}.values():
                number = self._store.scopes.find(memory.scope)
                made_of = self._store.gists.sources([memory.seq]) if memory.gist_of is not None else []
                left = self._store.memories.ids([seq for seq in made_of if seq not in gone])
                self._store.journal.erase(memory.id)
                data = {"sources": sorted(left.values())} if left else {}
                self._store.journal.append(Entry(at, Event.ERASED, number, memory.id, ref, data))
            self._store.erase([*gone, *(gist.seq for gist in quoting if gist.seq not in gone)])

    def _begin(self, new: NewMemory, event: Event, number: int, tau: float, at: int) -> int:
        fresh = self._fold(new, Strength(anchor_tau=tau, activation_tau=tau), tau)
        seq = self._store.memories.insert(new, fresh)
        data = {
            "tau": tau,
            "kind": str(new.kind),
            "importance": new.importance,
            "arousal": new.arousal,
            "trust": new.trust,
            "pinned": new.pinned,
            "valid_to": new.valid_to,
            "expires_at": new.expires_at,
        }
        self._store.journal.append(Entry(at, event, number, new.id, new.event_id, data))
        return seq

    def _note(
        self,
        memory: Memory,
        event: Event,
        at: int,
        ref: str | None,
        data: Mapping[str, Any],
        *,
        refold: bool = True,
    ) -> None:
        """Journal an event and fold what changed into the memory's figures."""
        number, tau = self.touch(memory.scope, at)
        self._store.journal.append(Entry(at, event, number, memory.id, ref, {"tau": tau, **data}))
        if refold:
            now = self._store.memories.strength(memory.seq)
            self._store.memories.set_strength(memory.seq, self._fold(memory, now, tau))

    def _bring_back(self, memory: Memory, figures: Strength, tau: float) -> None:
        self._store.attic.fetch(memory.seq)
        active = replace(figures, state=State.ACTIVE)
        self._store.memories.set_strength(memory.seq, self._fold(memory, active, tau))

    def _warm(self, memories: Sequence[Memory], at: int) -> None:
        days: dict[str, int] = {}
        for memory in memories:
            if memory.scope not in days:
                number = self._store.scopes.find(memory.scope)
                clock = None if number is None else self._store.scopes.clock(number)
                days[memory.scope] = activity.active_day(clock, at)
            now = self._store.memories.strength(memory.seq)
            warmed = fold.warmed(now, days[memory.scope], self._settings)
            if warmed != now:
                self._store.memories.set_strength(memory.seq, warmed)

    def _fold(self, memory: Memory | NewMemory, figures: Strength, tau: float) -> Strength:
        """Stability and rate from everything else that is known of a memory at `tau`."""
        return fold.folded(fold.Facts.of(memory, self._settings), figures, tau, self._settings)


def initial_bit_width(settings: DecaySettings = DEFAULTS) -> int:
    """Bits per dimension of a new memory's embedding."""
    return int(bit_widths(settings)[State.ACTIVE])
