"""What `doctor --fix` puts right in a store that can be opened: everything that follows from something else."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..encoding.words import indexed
from ..encoding.writer import Draft, prepare
from ..store.store import Store
from .backup_erasure import erase_in_backups
from .constants import DEFAULTS, DecaySettings
from .rebuild import rebuild


@dataclass(frozen=True, slots=True)
class Mended:
    """How many texts were found again, in gists or backups, and how many are lost."""

    texts: int = 0
    lost: int = 0


def mend(store: Store, parts: AbstractSet[str], now: int, settings: DecaySettings = DEFAULTS) -> Mended:
    """Put some parts of a store right (see `store.faults.Part`): indexes, figures from the journal, texts from backups.

    "backups" means those that hold what was erased.

    Raises:
        StoreError: if the store can't be read or written; what was done before stays done.
    """
    repairs, texts = store.repairs, (0, 0)
    if parts & {"schema", "rows", "figures", "columns"}:
        repairs.complete()
        repairs.drop_orphans()
    if "journal" in parts:
        repairs.drop_unread_entries()
    if "texts" in parts:
        texts = repairs.recover_texts(store.backups.list())
    if "columns" in parts:
        _read_anew(store, repairs.mend_columns(), now)
    if parts & {"figures", "columns"}:
        repairs.give_figures()
        rebuild(store, now, settings)
    _index(store, parts)
    if "backups" in parts:
        erase_in_backups(store, store.journal.erased(), [], set(), {}, now)
    return Mended(*texts)


def _index(store: Store, parts: AbstractSet[str]) -> None:
    if parts & {"words", "texts", "rows"}:
        store.lexical.rebuild((seq, *indexed(text, tags)) for seq, text, tags in store.repairs.texts())
    if parts & {"embeddings", "figures", "rows"}:
        for vectors in store.every_model():
            store.repairs.drop_damaged_embeddings(vectors.dimension, vectors.model)
            vectors.rebuild()


def _read_anew(store: Store, seqs: list[int], now: int) -> None:
    """Find the entities and slots of some memories in their texts again."""
    for memory in store.memories.by_seqs(seqs):
        draft = Draft(
            content=memory.content,
            scope=memory.scope,
            kind=memory.kind,
            recorded_at=memory.recorded_at,
            trust=memory.trust,
            tags=memory.tags,
        )
        [prepared] = prepare([draft], None)
        store.reword(memory.seq, prepared.new, now)
