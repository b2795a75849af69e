"""Embeddings for memories that have none of the current model: saved without it, observed, imported, or re-modelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..encoding.associate import nearest, similar
from ..encoding.embedder import Embedder, TextEmbedding
from ..schemas.errors import ModelError
from ..schemas.memory import Memory, State, Strength
from ..store.graph import Link
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .ledger import Ledger
from .states import effective_bits

_BATCH = 32


def backfill(
    store: Store,
    embedder: Embedder,
    settings: DecaySettings = DEFAULTS,
    stopped: Callable[[], bool] = lambda: False,
    *,
    link_at: int | None = None,
    bits: Callable[[Strength], int] | None = None,
    progress: Callable[[int], None] = lambda _count: None,
) -> int:
    """Embed what has no vector of this model, a batch a transaction; returns how many memories were embedded.

    Resumes by itself: what is missing is asked of the store each time, so a run that was killed has done whole batches.
    Until a memory's turn comes recall finds it by its words. Vectors of other models are replaced, never compared, and
    their indexes dropped with the last of them.

    Args:
        store: where they are missing.
        embedder: computes them.
        settings: give the precision of each state.
        stopped: asked before each batch.
        link_at: the instant (µs) at which memories that never had an embedding are linked to the nearest, as those
            saved with one are when they are saved; None where their links are known already.
        bits: gives the precision of a memory instead of its state.
        progress: told how many were embedded, after each batch.

    Raises:
        ModelError: if the embedder fails, or is not of the store's model.
    """
    if embedder.spec.id != store.vectors.model_name:
        raise ModelError("the embedding model is not the one that the store was opened for: restart ebbing")

    def of_state(strength: Strength) -> int:
        return effective_bits(strength.state, settings=settings)

    ledger = Ledger(store, settings)
    count, last = 0, 0
    while not stopped():
        seqs = store.vectors.missing(_BATCH, last)
        if not seqs:
            store.vectors.retire_models()
            break
        memories = store.memories.by_seqs(seqs)
        embeddings = embedder.embed_documents([memory.content for memory in memories])
        links = {} if link_at is None else _first_links(store, memories, embeddings)
        with store.atomic(durable=False):
            for memory, embedding in zip(memories, embeddings, strict=True):
                stored = _put(store, memory, embedding, bits or of_state)
                if stored and link_at is not None and (found := links.get(memory.seq)):
                    store.graph.connect(found)
                    ledger.linked(memory, found, link_at)
        count, last = count + len(memories), seqs[-1]
        progress(count)
    return count


def _first_links(
    store: Store, memories: Sequence[Memory], embeddings: Sequence[TextEmbedding]
) -> dict[int, list[Link]]:
    """The links of those that no model has embedded before, by seq, to what is stored and to each other."""
    new = store.vectors.never_embedded([memory.seq for memory in memories])
    vectors = {memory.seq: embedding.vector for memory, embedding in zip(memories, embeddings, strict=True)}
    found: dict[int, list[Link]] = {}
    for place, memory in enumerate(memories):
        if memory.seq in new:
            own = vectors[memory.seq]
            near = nearest(store, memory.scope, own)
            before = [other.seq for other in memories[:place] if other.scope == memory.scope]
            near.update({seq: float(np.einsum("d,d->", own, vectors[seq])) for seq in before})
            found[memory.seq] = similar(memory.seq, near)
    return found


def _put(store: Store, memory: Memory, embedding: TextEmbedding, bits: Callable[[Strength], int]) -> bool:
    """Store an embedding; whether its memory was still there as it was."""
    number = store.scopes.find(memory.scope)
    # Another process may have erased it, or words of it, while we were embedding.
    if number is None or not store.memories.unchanged([memory]):
        return False
    strength = store.memories.strength(memory.seq)
    state = strength.state
    store.vectors.put(memory.seq, number, embedding.chunks, bits(strength), int(state))
    if state <= State.WARM:
        store.tokens.put(memory.seq, store.vectors.model, embedding.tokens, embedding.pieces)
    else:
        store.tokens.remove([memory.seq])
    return True
