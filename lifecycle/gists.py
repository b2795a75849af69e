"""Gists as a step of the daily run: related memories that are fading are summed up in a few of their own sentences.

A gist is an episode made of episodes and facts of one scope, linked to each of them. While they can still be shown it
only leads recall to them; when half of them have faded to cues it is shown itself. It has nothing of its own, so
it goes without a trace as soon as a source is forgotten, erased or replaced, and the other sources are summed up anew.
Which gists there are depends on when runs came; how sources fade does not depend on gists.

Only what has just faded is looked at, with what it is linked to. Where very much fades at once, as two months after an
import, runs share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..encoding.condense import condense
from ..encoding.embedder import Embedder
from ..encoding.writer import Draft, Prepared, prepare
from ..schemas.ids import new_id
from ..schemas.memory import Event, Kind, Memory, Provenance, State
from ..store.graph import GIST, Link
from ..store.store import Store
from .communities import communities, shared_entities
from .ledger import Ledger, initial_bit_width

_READ: Final = "gists.read"
_BATCH: Final = 300
_MOST_PER_RUN: Final = 3_000
_NEIGHBOURS: Final = 8
_MOST_NODES: Final = 900
_WEIGHT_QUOTED: Final = 1.0
_WEIGHT_OTHER: Final = 0.6
_FADED: Final = frozenset(state.label for state in State if state >= State.COLD)
_LEAST_QUOTED: Final = 2
# The least trusted voice of a gist is its voice.
_VOICES: Final = ("outside", "agent", "tool", "user")

Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Gisting:
    """How many gists were made, how many went because a source did, and how many are shown now that weren't or back."""

    made: int = 0
    retired: int = 0
    turned: int = 0


def make_gists(
    store: Store,
    ledger: Ledger,
    embedder: Embedder | None,
    now: int,
    stopped: Stopped = lambda: False,
    *,
    most: int = _MOST_PER_RUN,
    batch: int = _BATCH,
) -> Gisting:
    """Retire gists whose sources have changed, and sum up what has faded since the last run, about `most` of it.

    Each gist is one transaction; stopped or killed, the next run goes on. Without an embedder gists get their
    embeddings later.

    Raises:
        ModelError: if the embedder fails.
        StoreError: if the store can't be written; what was done stays done.
    """
    retired = _retire(store, ledger, now, stopped)
    made, looked_at = 0, 0
    for last, seeds in _seeds(store, batch):
        if stopped():
            break
        for sources in _groups(store, seeds):
            made += _make(store, ledger, embedder, sources, now)
        looked_at += len(seeds)
        with store.atomic(durable=False):
            store.meta.set(_READ, str(last))
        if looked_at >= most:
            break
    return Gisting(made, retired, store.gists.settle())


def pending(store: Store) -> int:
    """How many gists `make_gists` would make."""
    return sum(len(_groups(store, seeds)) for _, seeds in _seeds(store))


def _retire(store: Store, ledger: Ledger, now: int, stopped: Stopped) -> int:
    count, reference = 0, new_id(now)
    for seq in store.gists.stale(now):
        if stopped():
            break
        with store.atomic(durable=False):
            if seq in store.gists.stale(now):
                ledger.erased(store.memories.by_seqs([seq]), now, reference)
                count += 1
    return count


def _seeds(store: Store, batch: int = _BATCH) -> Iterator[tuple[int, list[int]]]:
    """What has faded or lost its gist since the last run, some at a time, with the number of the last entry read."""
    last = int(store.meta.get(_READ) or 0)
    while entries := store.journal.about((Event.STATE, Event.ERASED), last, batch):
        last = entries[-1].number
        names = [entry.memory for entry in entries if entry.data.get("to") in _FADED and entry.memory is not None]
        names += [name for entry in entries for name in entry.data.get("sources", ())]
        found = store.rebuilding.seqs_of(dict.fromkeys(names))
        yield last, store.gists.fading(sorted(found.values()))


def _groups(store: Store, seeds: Sequence[int]) -> list[list[Memory]]:
    """Groups of fading memories of one scope that belong together, each with a seed in it."""
    if not seeds:
        return []
    nodes = _around(store, _around(store, seeds))
    memories = {memory.seq: memory for memory in store.memories.by_seqs(nodes)}
    edges = shared_entities({seq: [entity.value for entity in one.entities] for seq, one in memories.items()})
    for link in store.graph.neighbours(nodes, 2 * _NEIGHBOURS):
        if link.other in memories and link.seq in memories:
            pair = (min(link.seq, link.other), max(link.seq, link.other))
            edges[pair] = max(edges.get(pair, 0.0), link.weight)
    apart = {pair: weight for pair, weight in edges.items() if memories[pair[0]].scope == memories[pair[1]].scope}
    return [[memories[seq] for seq in group] for group in communities(list(memories), apart)]


def _around(store: Store, seqs: Sequence[int]) -> list[int]:
    """Some fading memories with the fading ones that they are linked to, as long as there is room."""
    near = {link.other for link in store.graph.neighbours(seqs, _NEIGHBOURS)}
    others = store.gists.fading(sorted(near - set(seqs)))
    return sorted([*seqs, *others[: max(0, _MOST_NODES - len(seqs))]])


def _make(store: Store, ledger: Ledger, embedder: Embedder | None, sources: Sequence[Memory], now: int) -> int:
    found = condense([memory.content for memory in sources])
    if len(found.quoted) < _LEAST_QUOTED:
        return 0
    [prepared] = prepare([_draft(found.text, sources, now)], embedder)
    new = replace(prepared.new, gist=prepared.new.content, gist_of=len(sources))
    quoted = {sources[place].seq for place in found.quoted}
    with store.atomic(durable=False):
        seqs = [memory.seq for memory in sources]
        # Some may have come back, been forgotten, cut or summed up meanwhile: then the next run looks again.
        if store.gists.fading(seqs) != sorted(seqs) or not store.memories.unchanged(sources):
            return 0
        _store(store, ledger, replace(prepared, new=new), seqs, quoted, now)
    return 1


def _draft(text: str, sources: Sequence[Memory], now: int) -> Draft:
    voices = [memory.provenance.actor for memory in sources]
    return Draft(
        content=text,
        scope=sources[0].scope,
        kind=Kind.EPISODE,
        recorded_at=min(now, max(memory.recorded_at for memory in sources)),
        trust=min(memory.trust for memory in sources),
        importance=max(memory.importance for memory in sources),
        provenance=Provenance(actor=next((voice for voice in _VOICES if voice in voices), "outside"), tool="gist"),
    )


def _store(
    store: Store, ledger: Ledger, prepared: Prepared, sources: Sequence[int], quoted: set[int], now: int
) -> None:
    new = prepared.new
    seq = ledger.gisted(new, now)
    store.lexical.add(seq, new.index_text, new.trigram_text)
    store.graph.mention(seq, new.entities)
    number = store.scopes.ensure(new.scope)
    if prepared.embedding is not None:
        store.vectors.put(seq, number, prepared.embedding.chunks, initial_bit_width())
        store.tokens.put(seq, store.vectors.model, prepared.embedding.tokens, prepared.embedding.pieces)
    links = [Link(seq, other, GIST, _WEIGHT_QUOTED if other in quoted else _WEIGHT_OTHER) for other in sources]
    store.graph.connect(links)
    ledger.linked(new, links, now)
