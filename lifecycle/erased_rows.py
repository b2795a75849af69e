"""Which rows an erase takes: the memories that are named, and whatever else of their scopes says what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..encoding.writer import Draft, prepare
from ..schemas.errors import InvalidInputError
from ..schemas.memory import Memory, NewMemory
from ..store.store import Store
from .cutting import cut, weighty
from .ledger import Ledger


@dataclass(frozen=True, slots=True)
class Along:
    """What goes with some memories: copies they speak for, gists, memories that say nothing else, and those cut."""

    copies: tuple[Memory, ...] = ()
    gists: tuple[Memory, ...] = ()
    same: tuple[Memory, ...] = ()
    cut: Mapping[int, NewMemory] = field(default_factory=dict[int, NewMemory])
    cut_ids: tuple[str, ...] = ()

    @property
    def removed(self) -> tuple[Memory, ...]:
        """The memories that go whole, gists left out."""
        return (*self.copies, *self.same)


def along(store: Store, memories: Sequence[Memory], texts: Sequence[str], scopes: Collection[str]) -> Along:
    """What goes with some memories of some scopes that say some texts."""
    chosen = {memory.seq for memory in memories}
    spoken = [seq for seq in store.copies.merged_into([memory.id for memory in memories]) if seq not in chosen]
    copies = store.memories.by_seqs(spoken)
    said = weighty([*texts, *(copy.content for copy in copies)])
    rows = {store.scopes.find(scope) for scope in scopes}
    holding = [one.seq for one in store.saying.holders(said) if one.scope in rows]
    others = store.memories.by_seqs([seq for seq in holding if seq not in chosen and seq not in spoken])
    reworded = {memory.seq: new for memory in others if (new := _reworded(memory, said)) is not None}
    same = [memory for memory in others if memory.seq not in reworded]
    everything = [*chosen, *spoken, *holding]
    gists = [gist for gist in store.memories.by_seqs(store.gists.quoting(everything)) if gist.seq not in chosen]
    gone = {gist.seq for gist in gists}
    kept = {seq: new for seq, new in reworded.items() if seq not in gone}
    return Along(
        tuple(copies),
        tuple(gists),
        tuple(memory for memory in same if memory.seq not in gone),
        kept,
        tuple(memory.id for memory in others if memory.seq in kept),
    )


def erase_rows(
    store: Store, ledger: Ledger, memories: Sequence[Memory], found: Along, texts: Sequence[str], now: int, ref: str
) -> None:
    """Remove memories and what goes along from the database, in one transaction.

    Raises:
        StoreError: if the store can't be written; nothing was removed.
    """
    with store.atomic():
        ledger.erased([*memories, *found.gists, *found.removed], now, ref)
        for seq, new in found.cut.items():
            if store.memories.exists(seq):
                store.reword(seq, new, now)
        store.journal.hush(texts)


def _reworded(memory: Memory, texts: Sequence[str]) -> NewMemory | None:
    """A memory without some texts; None where nothing would be left of it."""
    content = cut(memory.content, texts)
    if content is None or memory.gist_of is not None:
        return None
    draft = Draft(
        content=content,
        scope=memory.scope,
        kind=memory.kind,
        recorded_at=memory.recorded_at,
        trust=memory.trust,
        tags=memory.tags,
        provenance=memory.provenance,
    )
    try:
        [prepared] = prepare([draft], None)
    except InvalidInputError:
        return None
    return prepared.new
