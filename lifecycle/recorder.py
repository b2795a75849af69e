"""Recording: one memory into the store, with everything that hangs on it, in one transaction.

Reconciles with what is known (ADD, UPDATE, SUPERSEDE, NOOP), then writes the row, the words, the vectors, the token
embeddings, the entities and the links: when `write` returns, every way of recalling finds the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..encoding.associate import associate, nearest
from ..encoding.reconcile import Candidate, Decision, Neighbour, Operation, reconcile
from ..encoding.words import indexed, match_expression, query_terms
from ..encoding.writer import Prepared
from ..schemas.ids import new_id
from ..schemas.memory import Kind, Memory, NewMemory
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .erasure import Erased, erase
from .ledger import Ledger, initial_bit_width
from .restating import AUTHORITY, Stated, restated

_NEAR_COSINE = 0.6
_OVERLAPPING = 10
_SEARCHED_CHARACTERS = 300

Outcome = Literal["added", "confirmed", "updated", "superseded"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a memory: its id (or that of the one it confirmed), and the ids it replaced or may contradict.

    `stated` is what changed in the one it confirmed, and `kind` what that one is.
    """

    id: str
    operation: Outcome
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    stated: Stated = field(default_factory=dict[str, Any])
    kind: Kind | None = None


class Recorder:
    """Writes prepared memories."""

    def __init__(self, store: Store, ledger: Ledger, settings: DecaySettings = DEFAULTS) -> None:
        """Write to `store` through `ledger`."""
        self._store = store
        self._ledger = ledger
        self._settings = settings

    def near(self, prepared: Prepared) -> dict[int, float]:
        """Cosines of what is near in meaning, by seq: what `write` wants to know and takes long to find."""
        if prepared.embedding is None:
            return {}
        return nearest(self._store, prepared.new.scope, prepared.embedding.vector)

    def write(
        self,
        prepared: Prepared,
        now: int,
        *,
        supersedes: Sequence[Memory] = (),
        near: Mapping[int, float] | None = None,
        unattended: bool = False,
    ) -> Written:
        """Store one memory at `now` (µs), or confirm the one that says the same.

        What is `unattended` nobody asked to be saved: it never replaces what a better source said, and an agent's
        words confirm nothing then, since it may only repeat what it was shown. `near` is what `near` gave.

        Raises:
            StoreError: if the store can't be written; nothing was changed.
        """
        # Before the transaction, so that nobody waits for it and the resident embeddings can answer.
        found = self.near(prepared) if near is None else near
        with self._store.atomic():
            if prepared.new.event_id and (known := self._store.memories.by_event(prepared.new.event_id)):
                return Written(known.id, "confirmed")
            near = {seq: found[seq] for seq in self._store.memories.ids(list(found))}
            decision, neighbours = self._decide(prepared, near, unattended=unattended)
            plan = _Plan(
                decision,
                neighbours.get(decision.target or ""),
                supersedes,
                _is_evidence(prepared, unattended),
                unattended,
            )
            return self._carry_out(prepared, near, plan, now)

    def embed(self, seq: int, scope: str, prepared: Prepared) -> None:
        """Give a stored memory its vectors and token embeddings, in the caller's transaction."""
        number = self._store.scopes.find(scope)
        if prepared.embedding is None or number is None:
            return
        width = initial_bit_width(self._settings)
        self._store.vectors.put(seq, number, prepared.embedding.chunks, width)
        model = self._store.vectors.model
        self._store.tokens.put(seq, model, prepared.embedding.tokens, prepared.embedding.pieces)

    def erase(self, memories: Sequence[Memory], now: int, reference: str | None = None) -> Erased:
        """Remove memories for good from every file, with what says the same; see `erasure.erase`.

        Raises:
            StoreError: if the store can't be written; then nothing was removed.
        """
        return erase(self._store, self._ledger, memories, now, reference or new_id(now))

    def _carry_out(
        self,
        prepared: Prepared,
        near: Mapping[int, float],
        plan: _Plan,
        now: int,
    ) -> Written:
        operation, target = plan.decision.operation, plan.target
        if operation is Operation.NOOP and target is not None and not plan.supersedes:
            said = restated(target, prepared, unattended=plan.unattended)
            stated = said if plan.is_evidence else dict[str, Any]()
            known = self._said_again(target, prepared, plan, now, stated)
            return Written(target.id, "confirmed", stated=stated, kind=known.kind)
        seq = self._store_new(prepared, near, now)
        replaced = plan.replaced(prepared.new)
        for memory in replaced:
            valid_to = prepared.new.valid_from if prepared.new.valid_from is not None else now
            self._ledger.superseded(memory, prepared.new.id, valid_to, now)
        if target is not None and plan.is_late(prepared.new):
            [new] = self._store.memories.by_seqs([seq])
            self._ledger.superseded(new, target.id, target.recorded_at, now)
        if operation is Operation.UPDATE and target is not None:
            self._said_again(target, prepared, plan, now)
        settled = {memory.id for memory in replaced}
        conflicts = tuple(identifier for identifier in plan.decision.conflicts if identifier not in settled)
        outcome: Outcome = "superseded" if replaced else _OUTCOMES[operation]
        return Written(prepared.new.id, outcome, tuple(sorted(settled)), conflicts)

    def _said_again(
        self, memory: Memory, prepared: Prepared, plan: _Plan, now: int, stated: Stated | None = None
    ) -> Memory:
        if not plan.is_evidence:
            return memory
        # Being said again is a use as well: a faded or evicted memory comes back, so that recall finds what was saved.
        source, trust = prepared.new.provenance.source, 0.0 if stated is None else prepared.new.trust
        confirmed = self._ledger.confirmed(memory, now, source=source, at_least=trust, stated=stated)
        self._ledger.used(confirmed, now)
        if "tags" in (stated or {}):
            self._store.lexical.remove([memory.seq])
            self._store.lexical.add(memory.seq, *indexed(memory.content, confirmed.tags))
        return confirmed

    def _store_new(self, prepared: Prepared, near: Mapping[int, float], now: int) -> int:
        new = prepared.new
        seq = self._ledger.saved(new, now)
        self._store.lexical.add(seq, new.index_text, new.trigram_text)
        self._store.graph.mention(seq, new.entities)
        self.embed(seq, new.scope, prepared)
        self._ledger.linked(new, associate(self._store, seq, new, near), now)
        return seq

    def _decide(
        self, prepared: Prepared, near: Mapping[int, float], *, unattended: bool
    ) -> tuple[Decision, dict[str, Memory]]:
        new = prepared.new
        if new.kind.is_event:
            return Decision(Operation.ADD), {}
        number = self._store.scopes.find(new.scope)
        if number is None:
            return Decision(Operation.ADD), {}
        cosines = {seq: cosine for seq, cosine in near.items() if cosine >= _NEAR_COSINE}
        overlaps = self._overlapping(new, number, embedded=prepared.embedding is not None)
        same = {memory.seq for memory in self._store.memories.same_text(new.scope, new.content)}
        memories = self._store.memories.by_seqs([*dict.fromkeys([*same, *cosines, *overlaps])])
        # What was merged into another still says what it says: saying it again confirms the one that speaks for it.
        speaking = {memory.id: self._store.memories.speaking_for([memory])[0] for memory in memories}
        neighbours = [
            Neighbour(
                speaking[memory.id].id,
                memory.kind,
                memory.content,
                memory.slots,
                cosines.get(memory.seq),
                overlaps=memory.seq in overlaps,
                authority=AUTHORITY.get(memory.provenance.actor, 0),
            )
            for memory in memories
            if not memory.kind.is_event and _stands(memory, new) and _stands(speaking[memory.id], new)
        ]
        authority = AUTHORITY.get(new.provenance.actor, 0)
        # Who asks for a memory to be saved speaks for the user, unless the words came from outside.
        authority = authority if unattended or not authority else max(AUTHORITY.values())
        decision = reconcile(Candidate(new.kind, new.content, new.slots, authority), neighbours)
        return decision, {memory.id: memory for memory in speaking.values()}

    def _overlapping(self, new: NewMemory, scope: int, *, embedded: bool) -> dict[int, float]:
        """Memories of a scope that share a slot's subject, or other words where no embedding tells what is near."""
        subjects = " ".join(slot.subject for slot in new.slots)
        words = query_terms(subjects or ("" if embedded else new.content[:_SEARCHED_CHARACTERS])).words
        return dict(self._store.lexical.search(match_expression(words), [scope], _OVERLAPPING))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to do with a new memory: the decision, the memory it is about, what the caller says it replaces."""

    decision: Decision
    target: Memory | None
    supersedes: Sequence[Memory]
    is_evidence: bool
    unattended: bool

    def is_late(self, new: NewMemory) -> bool:
        """Whether the one it would replace was said after it: an old event may be read late."""
        is_replacing = self.decision.operation is Operation.SUPERSEDE and self.target is not None
        return is_replacing and self.target is not None and self.target.recorded_at > new.recorded_at

    def replaced(self, new: NewMemory) -> list[Memory]:
        """The memories that end now, each once."""
        decided = self.target if self.decision.operation is Operation.SUPERSEDE and not self.is_late(new) else None
        both = [*self.supersedes, *([] if decided is None else [decided])]
        return list({memory.id: memory for memory in both}.values())


def _is_evidence(prepared: Prepared, unattended: bool) -> bool:  # noqa: FBT001 - a fact about the call, passed on
    return not unattended or prepared.new.provenance.actor in ("user", "tool")


def _stands(memory: Memory, new: NewMemory) -> bool:
    """Whether it speaks for a time that the new one speaks for too: what has ended is no longer confirmed or replaced.

    Unless it says otherwise, the new one holds from now on.
    """
    start = new.valid_from if new.valid_from is not None or new.valid_to is not None else new.recorded_at
    ended = memory.valid_to is not None and start is not None and memory.valid_to <= start
    later = memory.valid_from is not None and new.valid_to is not None and new.valid_to <= memory.valid_from
    return memory.superseded_by is None and memory.forgotten_at is None and not ended and not later


_OUTCOMES: dict[Operation, Outcome] = {
    Operation.ADD: "added",
    Operation.NOOP: "added",
    Operation.UPDATE: "updated",
    Operation.SUPERSEDE: "superseded",
}
