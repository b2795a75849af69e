"""Weak uses: a reply that uses the distinctive words of what a recall showed since the prompt has used that memory.

Nobody reported it, so it counts little, and never as evidence that the memory is right: what is shown is often just
repeated, and a planted text may ask for that. A turn without a prompt tells nothing, since what a reply repeats is
unknown then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..encoding.directives import addresses_a_model
from ..encoding.distinctive import Rarity, Terms, reused, terms_of
from ..encoding.words import match_expression
from ..schemas.memory import Event, Kind, Memory
from ..store.journal import Entry
from ..store.store import Store
from .channel_lessons import ChannelLessons
from .constants import DEFAULTS, DecaySettings
from .ledger import Ledger
from .lessons import is_trivial
from .observed import Act, Observed
from .prompt_source import disputed
from .turns import Turn

_FEW: Final = 8
_FEW_OF: Final = 100
_SAID: Final = frozenset({Event.USED, Event.CONFIRMED, Event.CONTRADICTED, Event.SUPERSEDED})


@dataclass(frozen=True, slots=True)
class WeakUse:
    """Memories that a recall showed and a reply at `at` (µs) made use of."""

    recall_id: str
    memories: tuple[Memory, ...]
    at: int


class WeakUses:
    """Finds and records the weak uses of one store."""

    def __init__(self, store: Store, ledger: Ledger, settings: DecaySettings = DEFAULTS) -> None:
        """Write to `store` through `ledger`; a `weak_use` of 0 turns all of it off."""
        self._store = store
        self._ledger = ledger
        self._lessons = ChannelLessons(store)
        self._weight = min(1.0, settings.weak_use)

    def found(self, turn: Turn) -> list[WeakUse]:
        """What the replies of a turn made use of, by recall.

        Raises:
            StoreError: if the store can't be read.
        """
        scope = self._store.scopes.find(turn[0].memory.scope)
        replies = [event for event in turn if _is_reply(event)]
        if not self._weight or scope is None or not replies or turn[0].act is not Act.ASKED:
            return []
        since, until = turn[0].memory.recorded_at, replies[-1].memory.recorded_at
        showings = self._store.journal.shown_between(scope, since, until)
        return [use for one in showings if _is_of(one, turn) and (use := self._use(one, turn, replies)) is not None]

    def record(self, uses: Sequence[WeakUse]) -> int:
        """Write weak uses down, each once, in the caller's transaction; returns how many memories were used.

        What somebody has said of a memory since it was shown stands instead. One that was called wrong, or is gone by
        now, is left out.
        """
        count = 0
        wrong = disputed(self._store) if uses else set[str]()
        for use in uses:
            there = self._store.memories.with_ids([memory.id for memory in use.memories])
            fresh = [memory for memory in there if memory.id not in wrong and not self._is_settled(memory, use)]
            for memory in fresh:
                self._ledger.reused(memory, use.at, use.recall_id)
            self._lessons.teach(use.recall_id, [memory.id for memory in fresh], use.at, self._weight)
            count += len(fresh)
        return count

    def _use(self, showing: Entry, turn: Turn, replies: Sequence[Observed]) -> WeakUse | None:
        answers = [reply for reply in replies if reply.memory.recorded_at >= showing.at]
        if not answers or showing.ref is None:
            return None
        there = self._store.memories.with_ids(showing.data.get("memories", ()))
        memories = [memory for memory in there if _may_count(memory, turn)]
        shown = {memory.id: self._terms(memory.content) for memory in memories}
        told = self._terms("\n".join(answer.text for answer in answers))
        known = self._terms("\n".join(_elsewhere(turn, showing.at)))
        names = reused(told, shown, known, rarity_of(self._store))
        used = tuple(memory for memory in memories if memory.id in names)
        return WeakUse(showing.ref, used, answers[-1].memory.recorded_at) if used else None

    def _terms(self, text: str) -> Terms:
        return terms_of(text, self._store.lexical.stems)

    def _is_settled(self, memory: Memory, use: WeakUse) -> bool:
        history = self._store.journal.of_memory(memory.id)
        shown = [entry for entry in self._store.journal.of_ref(use.recall_id) if entry.event is Event.SHOWN]
        since = min((entry.number for entry in shown), default=0)
        return any(
            (entry.event in _SAID and entry.number > since)
            or (entry.event is Event.REUSED and entry.ref == use.recall_id)
            for entry in history
        )


def rarity_of(store: Store) -> Rarity:
    """How rare names and words are among what a store holds; few are 8 memories, or one in a hundred."""
    few = max(_FEW, store.memories.count() // _FEW_OF)
    return Rarity(
        lambda name: store.lexical.phrase_frequency(match_expression([name]), few),
        lambda stem: store.lexical.frequency(stem, few),
        few,
    )


def _is_reply(event: Observed) -> bool:
    return event.act in (Act.SAID, Act.NOTED) and event.memory.provenance.actor == "agent" and not event.failed


def _is_of(showing: Entry, turn: Turn) -> bool:
    """Whether a showing belongs to the session of a turn, as far as clients name theirs."""
    sessions = {showing.data.get("session"), turn[0].memory.provenance.session} - {None}
    return len(sessions) <= 1


def _elsewhere(turn: Turn, shown_at: int) -> Iterator[str]:
    """What an agent knew without the memories shown: the prompt, what came before them, what it looked up."""
    for event in turn:
        looked = event.act is Act.LOOKED or (event.act is Act.RAN and is_trivial(event.called))
        if event.act is Act.ASKED or looked or event.memory.recorded_at < shown_at:
            yield f"{event.called}\n{event.text}"


def _may_count(memory: Memory, turn: Turn) -> bool:
    """Whether a use of a memory means anything: not of a raw event, one of this turn, ended, or speaking to a model."""
    is_gone = memory.forgotten_at is not None or memory.merged_into is not None or memory.superseded_by is not None
    is_new = memory.recorded_at >= turn[0].memory.recorded_at
    is_raw = memory.kind is Kind.OBSERVATION
    return not (is_gone or is_new or is_raw or addresses_a_model(memory.content))
