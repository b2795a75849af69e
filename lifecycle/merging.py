"""Merging as a step of the daily run: near-duplicates become one memory that speaks for both, and nothing is lost.

Only what was saved or came back since the last run is looked at, and only beside what its saving found near: equal
texts, links of likeness; where there are none, what its embedding or its words find. Whether two say the same is
decided by their words (`likeness`), never by an embedding. Events are never merged: the same thing said twice happened
twice, and so did two equal outputs of one command. Neither are memories of two scopes, of different validity, with an
expiry, two pinned ones, or two that somebody has parted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..encoding.associate import SIMILAR
from ..encoding.likeness import Likeness, Statement, likeness, may_be_alike, telling_words
from ..encoding.words import match_expression, query_terms
from ..schemas.ids import new_id
from ..schemas.memory import Event, Memory
from ..store.codec import decode
from ..store.search import Reach
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .copies import choose_keeper
from .decay import decay
from .merges import merged, were_parted

ALIKE: Final = 0.6
"""Cosine from which two memories are compared word by word."""
_READ: Final = "merging.read"
_EVENTS: Final = (Event.SAVED, Event.RESTORED, Event.RESTORED_VALIDITY)
BATCH: Final = 1_000
_MERGED_AT_ONCE: Final = 10
_WORDS_KEPT: Final = 4_000
_NEAREST: Final = 8
_SEARCHED_CHARACTERS: Final = 300

Pair = tuple[int, int]
Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Merging:
    """How many memories were looked at, how many were merged into others, and how many more states changed by it."""

    read: int = 0
    merged: int = 0
    moved: int = 0


def merge_copies(
    store: Store,
    now: int,
    settings: DecaySettings = DEFAULTS,
    stopped: Stopped = lambda: False,
    *,
    batch: int = BATCH,
) -> Merging:
    """Merge the near-duplicates among what is new, `batch` at a time; stopped or killed it goes on from there.

    States follow at once, so that one run leaves what many would.

    Raises:
        StoreError: if the store can't be written; what was done stays done.
    """
    read, count, reference = 0, 0, new_id(now)
    words = _Words(store)
    for last, seqs in _new(store, batch):
        if stopped():
            break
        pairs = _same(store, _candidates(store, seqs, last), words)
        for start in range(0, len(pairs), _MERGED_AT_ONCE):
            some = pairs[start : start + _MERGED_AT_ONCE]
            with store.atomic(durable=False):
                count += sum(_merge(store, pair, now, reference, settings) for pair in some)
        with store.atomic(durable=False):
            store.meta.set(_READ, str(last))
        read += len(seqs)
    return Merging(read, count, decay(store, now, settings, stopped) if count else 0)


def pending(store: Store) -> int:
    """How many pairs `merge_copies` would merge, about: one that is in several pairs counts in each."""
    words = _Words(store)
    return sum(len(_same(store, _candidates(store, seqs, last), words)) for last, seqs in _new(store))


class _Words:
    """The telling words of memories that were looked at last: neighbours are often those of the batch before, too."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, frozenset[str]] = {}

    def worth_reading(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Those of some pairs that are there and whose words don't rule out that they say the same."""
        needed = {seq for pair in pairs for seq in pair}
        texts = self._store.memories.texts(sorted(needed - self._known.keys()))
        self._known |= {seq: telling_words(text) for seq, text in texts.items()}
        words = self._known
        found = [
            (one, other)
            for one, other in pairs
            if one in words and other in words and may_be_alike(words[one], words[other])
        ]
        for seq in sorted(self._known)[:-_WORDS_KEPT]:
            del self._known[seq]
        return found


def _new(store: Store, batch: int = BATCH) -> Iterator[tuple[int, list[int]]]:
    """What was saved or came back since the last run, some at a time, each with the number of the last entry read."""
    last = int(store.meta.get(_READ) or 0)
    while entries := store.journal.about(_EVENTS, last, batch):
        last = entries[-1].number
        names = dict.fromkeys(entry.memory for entry in entries if entry.memory is not None)
        found = store.copies.standing(list(names))
        yield last, sorted(found.values())


def _candidates(store: Store, seqs: Sequence[int], read: int) -> list[Pair]:
    """Pairs of a new memory and one that may say the same, each once; entries up to number `read` have been read."""
    pairs = store.copies.with_equal_text(seqs)
    linked, having = store.copies.linked(seqs, SIMILAR, ALIKE)
    # Links lead both ways: a pair whose other one is new, too, and yet to be read comes up again with that one.
    unread = store.copies.first_saved_after(read)
    pairs += linked if unread is None else [pair for pair in linked if pair[1] < unread]
    for seq in seqs:
        # Saved before the model was there, or as the first of its kind: nothing tells yet what is near.
        if seq not in having:
            pairs += [(seq, other) for other in _near(store, seq)]
    return sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})


def _near(store: Store, seq: int) -> list[int]:
    [memory] = store.memories.by_seqs([seq]) or [None]
    scope = None if memory is None else store.scopes.find(memory.scope)
    if memory is None or scope is None:
        return []
    rows = store.vectors.rows([seq])
    if not rows:
        words = query_terms(memory.content[:_SEARCHED_CHARACTERS]).words
        return [other for other, _ in store.lexical.search(match_expression(words), [scope], _NEAREST)]
    found = store.nearest.search(decode(rows[0].codes)[0], Reach(scopes=[scope], layered=False), _NEAREST)
    return [other for other, cosine in zip(found.seqs.tolist(), found.scores.tolist(), strict=True) if cosine >= ALIKE]


def _same(store: Store, pairs: Sequence[Pair], words: _Words) -> list[Pair]:
    """The pairs of which one may speak for both."""
    pairs = words.worth_reading(pairs)
    memories = {
        memory.seq: memory for memory in store.memories.by_seqs(sorted({seq for pair in pairs for seq in pair}))
    }
    return [
        pair
        for pair in pairs
        if pair[0] in memories
        and pair[1] in memories
        and may_merge(memories[pair[0]], memories[pair[1]]) is not Likeness.DIFFERENT
    ]


def may_merge(one: Memory, other: Memory) -> Likeness:
    """Whether one of two memories may speak for both; different for all that must stay two, whatever they say."""
    apart = (
        one.scope != other.scope
        or any(_stands_alone(memory) for memory in (one, other))
        or (one.pinned and other.pinned)
        or one.valid_to != other.valid_to
    )
    if apart:
        return Likeness.DIFFERENT
    found = likeness(Statement(one.content, one.slots), Statement(other.content, other.slots))
    if found is Likeness.SAME:
        return found
    covered = other if found is Likeness.COVERS else one
    return Likeness.DIFFERENT if one.kind is not other.kind or covered.pinned else found


def _stands_alone(memory: Memory) -> bool:
    is_out = memory.merged_into is not None or memory.superseded_by is not None or memory.forgotten_at is not None
    return memory.kind.is_event or is_out or memory.expires_at is not None or memory.gist_of is not None


def _merge(store: Store, pair: Pair, now: int, reference: str, settings: DecaySettings) -> bool:
    """Merge a pair in the caller's transaction, if it is still to be merged: what has changed meanwhile is left."""
    memories = store.memories.by_seqs(pair)
    if len(memories) != len(pair) or len(store.copies.standing([memory.id for memory in memories])) != len(pair):
        return False
    one, other = memories
    found = may_merge(one, other)
    if found is Likeness.DIFFERENT or were_parted(store, one.id, other.id):
        return False
    codes = {row.seq: row.codes for row in store.vectors.rows(pair)}
    keeper = choose_keeper(one, other, found, codes, settings)
    merged(store, keeper, other if keeper is one else one, now, reference, settings)
    return True
