"""Recording: one memory into the store, with everything that hangs on it, in one transaction.

Reconciles with what is known (ADD, UPDATE, SUPERSEDE, NOOP), then writes the row, the words, the vectors, the token
embeddings, the entities and the links: when `write` returns, every way of recalling finds the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..encoding.associate import associate, nearest
from ..encoding.reconcile import Candidate, Decision, Neighbour, Operation, reconcile
from ..encoding.words import match_expression, query_terms
from ..encoding.writer import Prepared
from ..schemas.memory import Memory, NewMemory
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .erasure import leftovers, scrub
from .ledger import Ledger, initial_bit_width

_NEAR_COSINE = 0.6
_OVERLAPPING = 10
_SEARCHED_CHARACTERS = 300

Outcome = Literal["added", "confirmed", "updated", "superseded"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a memory: its id (or that of the one it confirmed), and the ids it replaced or may contradict."""

    id: str
    operation: Outcome
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Recorder:
    """Writes prepared memories."""

    def __init__(self, store: Store, ledger: Ledger, settings: DecaySettings = DEFAULTS) -> None:
        """Write to `store` through `ledger`."""
        self._store = store
        self._ledger = ledger
        self._settings = settings

    def write(self, prepared: Prepared, now: int, *, supersedes: Sequence[Memory] = ()) -> Written:
        """Store one memory at `now` (µs), or confirm the one that says the same.

        Raises:
            StoreError: if the store can't be written; nothing was changed.
        """
        # Before the transaction, so that nobody waits for it and the resident embeddings can answer.
        found = (
            {} if prepared.embedding is None else nearest(self._store, prepared.new.scope, prepared.embedding.vector)
        )
        with self._store.atomic():
            if prepared.new.event_id and (known := self._store.memories.by_event(prepared.new.event_id)):
                return Written(known.id, "confirmed")
            near = {seq: found[seq] for seq in self._store.memories.ids(list(found))}
            decision, neighbours = self._decide(prepared, near)
            return self._carry_out(prepared, near, decision, neighbours, supersedes, now)

    def embed(self, seq: int, scope: str, prepared: Prepared) -> None:
        """Give a stored memory its vectors and token embeddings, in the caller's transaction."""
        number = self._store.scopes.find(scope)
        if prepared.embedding is None or number is None:
            return
        width = initial_bit_width(self._settings)
        self._store.vectors.put(seq, number, prepared.embedding.chunks, width)
        model = self._store.vectors.model
        self._store.tokens.put(seq, model, prepared.embedding.tokens, prepared.embedding.pieces)

    def erase(self, memories: Sequence[Memory], now: int, reference: str | None = None) -> bool:
        """Remove memories for good from every file; whether a search of the files finds no trace of their texts.

        Raises:
            StoreError: if the store can't be written; then nothing was removed.
        """
        texts = [memory.content for memory in memories]
        self._ledger.erased(memories, now, reference)
        scrub(self._store, {memory.id for memory in memories}, texts)
        return not leftovers(self._store, texts)

    def _carry_out(
        self,
        prepared: Prepared,
        near: Mapping[int, float],
        decision: Decision,
        neighbours: dict[str, Memory],
        supersedes: Sequence[Memory],
        now: int,
    ) -> Written:
        target = neighbours.get(decision.target or "")
        if decision.operation is Operation.NOOP and target is not None and not supersedes:
            self._said_again(target, prepared, now)
            return Written(target.id, "confirmed")
        self._store_new(prepared, near, now)
        replaced = list(supersedes)
        if decision.operation is Operation.SUPERSEDE and target is not None:
            replaced += [target] if target.id not in {memory.id for memory in supersedes} else []
        for memory in replaced:
            valid_to = prepared.new.valid_from if prepared.new.valid_from is not None else now
            self._ledger.superseded(memory, prepared.new.id, valid_to, now)
        if decision.operation is Operation.UPDATE and target is not None:
            self._said_again(target, prepared, now)
        settled = {memory.id for memory in replaced}
        conflicts = tuple(identifier for identifier in decision.conflicts if identifier not in settled)
        outcome: Outcome = "superseded" if replaced else _OUTCOMES[decision.operation]
        return Written(prepared.new.id, outcome, tuple(sorted(settled)), conflicts)

    def _said_again(self, memory: Memory, prepared: Prepared, now: int) -> None:
        # Being said again is a use as well: a faded or evicted memory comes back, so that recall finds what was saved.
        new = prepared.new
        confirmed = self._ledger.confirmed(memory, now, source=new.provenance.source, expires_at=new.expires_at)
        self._ledger.used(confirmed, now)

    def _store_new(self, prepared: Prepared, near: Mapping[int, float], now: int) -> int:
        new = prepared.new
        seq = self._ledger.saved(new, now)
        self._store.lexical.add(seq, new.index_text, new.trigram_text)
        self._store.graph.mention(seq, new.entities)
        self.embed(seq, new.scope, prepared)
        self._ledger.linked(new, seq, associate(self._store, seq, new, near), now)
        return seq

    def _decide(self, prepared: Prepared, near: Mapping[int, float]) -> tuple[Decision, dict[str, Memory]]:
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
        neighbours = [
            Neighbour(
                memory.id, memory.kind, memory.content, memory.slots, cosines.get(memory.seq), memory.seq in overlaps
            )
            for memory in memories
            if not memory.kind.is_event and memory.superseded_by is None and memory.forgotten_at is None
        ]
        decision = reconcile(Candidate(new.kind, new.content, new.slots), neighbours)
        return decision, {memory.id: memory for memory in memories}

    def _overlapping(self, new: NewMemory, scope: int, *, embedded: bool) -> dict[int, float]:
        """Memories of a scope that share a slot's subject, or other words where no embedding tells what is near."""
        subjects = " ".join(slot.subject for slot in new.slots)
        words = query_terms(subjects or ("" if embedded else new.content[:_SEARCHED_CHARACTERS])).words
        return dict(self._store.lexical.search(match_expression(words), [scope], _OVERLAPPING))


_OUTCOMES: dict[Operation, Outcome] = {
    Operation.ADD: "added",
    Operation.NOOP: "added",
    Operation.UPDATE: "updated",
    Operation.SUPERSEDE: "superseded",
}
