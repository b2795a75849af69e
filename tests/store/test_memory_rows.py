"""Memories as rows: every field comes back as it was given, every change is noticed, what is gone leaves nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import DIMENSION, FRESH, NOW, PROJECT, memory_of, open_store, save

from ebbing.schemas.errors import InvalidInputError, StoreError, UnknownMemoryError
from ebbing.schemas.ids import new_id
from ebbing.schemas.memory import (
    Entity,
    Event,
    Kind,
    Memory,
    NewMemory,
    Provenance,
    Shape,
    Slot,
    State,
    Strength,
)
from ebbing.store.graph import Link
from ebbing.store.journal import Entry
from ebbing.store.memories import content_hash
from ebbing.store.store import Store

INSTANTS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
# Everything UTF-8 can hold: emoji, CJK, right-to-left, combining marks, controls.
TEXTS = st.one_of(
    st.sampled_from(
        [
            "👩\u200d👩\u200d👧 🐟",
            "日本語の設定",
            "שלום RTL \u200fעולם\u200f",
            "e\u0301",
            "a\x00b",
            "line\r\nbreak",
            "",
            "' \" \\ %s ? :x",
        ]
    ),
    st.text(max_size=60),
)
FRACTIONS = st.floats(0, 1)
FIGURES = st.floats(-1e9, 1e9)
ENTITIES = st.lists(st.builds(Entity, TEXTS, TEXTS), max_size=4).map(tuple)
SLOTS = st.lists(st.builds(Slot, TEXTS, TEXTS, TEXTS, st.booleans()), max_size=3).map(tuple)
SHAPES = st.builds(Shape, st.integers(0, 10**6), st.none() | TEXTS, st.booleans(), st.booleans(), st.integers(0, 2))
PROVENANCES = st.builds(Provenance, TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS)
NEW = st.builds(
    NewMemory,
    id=st.uuids(version=4).map(str),
    scope=TEXTS,
    kind=st.sampled_from(Kind),
    content=TEXTS,
    recorded_at=INSTANTS,
    gist=TEXTS,
    cue=TEXTS,
    index_text=TEXTS,
    entities=ENTITIES,
    slots=SLOTS,
    tags=st.lists(TEXTS, max_size=4).map(tuple),
    importance=FRACTIONS,
    arousal=FRACTIONS,
    trust=FRACTIONS,
    pinned=st.booleans(),
    provenance=PROVENANCES,
    valid_from=st.none() | INSTANTS,
    valid_to=st.none() | INSTANTS,
    expires_at=st.none() | INSTANTS,
    shape=SHAPES,
)
STRENGTHS = st.builds(
    Strength,
    state=st.sampled_from(State),
    bit_width=st.sampled_from([2, 4, 8, 32]),
    uses=st.integers(0, 10**6),
    spaced_uses=FIGURES,
    last_use_at=st.none() | INSTANTS,
    anchor_tau=FIGURES,
    association=FRACTIONS,
    activation=FIGURES,
    activation_tau=FIGURES,
    stability=FIGURES,
    rate=FIGURES,
    heat_day=st.integers(-(10**6), 10**6),
    heat_mask=st.integers(0, 127),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def expected(seq: int, new: NewMemory, strength: Strength) -> Memory:
    """The memory that storing these should give."""
    shared = {
        name: getattr(new, name) for name in Memory.__dataclass_fields__ if name in NewMemory.__dataclass_fields__
    }
    return Memory(
        seq=seq, confirmations=0, superseded_by=None, forgotten_at=None, version=1, strength=strength, **shared
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(new=NEW, strength=STRENGTHS, stowed=st.booleans())
def test_every_field_comes_back_as_it_was_given(
    store: Store, new: NewMemory, strength: Strength, *, stowed: bool
) -> None:
    with store.atomic(durable=False):
        seq = store.memories.insert(new, strength)
        if stowed:
            store.attic.stow(seq, NOW)
    wanted = expected(seq, new, strength)
    assert store.memories.by_seqs([seq]) == [wanted]
    assert store.memories.by_ids([new.id]) == [wanted]
    assert store.memories.same_text(new.scope, new.content)[-1] == wanted
    assert store.memories.strength(seq) == strength
    with store.atomic(durable=False):
        store.erase([seq])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=STRENGTHS, after=STRENGTHS)
def test_strength_is_replaced_whole(store: Store, before: Strength, after: Strength) -> None:
    with store.atomic(durable=False):
        seq = store.memories.insert(memory_of("text"), before)
        store.memories.set_strength(seq, after)
    assert store.memories.strength(seq) == after


def test_a_lone_surrogate_is_refused_and_nothing_is_stored(store: Store) -> None:
    with pytest.raises(InvalidInputError):
        save(store, "broken \ud800 text")
    assert store.memories.count() == 0
    assert save(store, "whole") > 0


def test_memories_come_in_the_order_they_were_asked_for_and_once_for_each_asking(store: Store) -> None:
    seqs = [save(store, f"fact {number}") for number in range(4)]
    asked = [seqs[2], seqs[0], 999, seqs[2]]
    assert [memory.seq for memory in store.memories.by_seqs(asked)] == [seqs[2], seqs[0], seqs[2]]
    assert store.memories.by_seqs([]) == store.memories.by_ids([]) == []


def test_more_memories_than_a_statement_has_places_are_read(store: Store) -> None:
    with store.atomic(durable=False):
        seqs = [save(store, f"fact {number}") for number in range(1_100)]
    backwards = seqs[::-1]
    assert [memory.seq for memory in store.memories.by_seqs(backwards)] == backwards
    assert len(store.memories.gists(seqs)) == len(store.memories.ids(seqs)) == 1_100
    assert [memory.seq for batch in store.memories.all(batch=300) for memory in batch] == seqs


def test_an_unknown_id_is_named(store: Store) -> None:
    known = store.memories.by_seqs([save(store, "fact")])[0].id
    unknown = new_id(NOW)
    with pytest.raises(UnknownMemoryError, match=unknown):
        store.memories.by_ids([known, unknown])
    with pytest.raises(UnknownMemoryError, match="gone"):
        store.memories.strength(999)


def test_an_id_is_stored_once(store: Store) -> None:
    new = memory_of("fact")
    with store.atomic():
        store.memories.insert(new, FRESH)
    with pytest.raises(StoreError):
        store.memories.insert(new, FRESH)
    assert store.memories.count() == 1


def test_an_event_becomes_one_memory(store: Store) -> None:
    new = replace(memory_of("seen"), event_id="delivery-1")
    with store.atomic():
        seq = store.memories.insert(new, FRESH)
    with pytest.raises(StoreError):
        store.memories.insert(replace(memory_of("seen again"), event_id="delivery-1"), FRESH)
    known = store.memories.by_event("delivery-1")
    assert known is not None
    assert known.seq == seq
    assert store.memories.by_event("delivery-2") is None
    assert store.memories.known_events(["delivery-1", "delivery-2"]) == {"delivery-1"}


def test_equal_texts_are_found_whatever_their_white_space_but_not_across_scopes(store: Store) -> None:
    first, second = save(store, "the  port\nis 8080"), save(store, "the port is 8080")
    save(store, "the port is 8081")
    save(store, "the port is 8080", scope="/projects/other")
    assert [memory.seq for memory in store.memories.same_text(PROJECT, " the port is  8080 ")] == [first, second]
    assert content_hash("a b") != content_hash("ab")


LEFT_OF = """
SELECT 'memory' FROM memory WHERE seq = :seq UNION ALL
SELECT 'strength' FROM strength WHERE seq = :seq UNION ALL
SELECT 'vector' FROM vector WHERE seq = :seq UNION ALL
SELECT 'token' FROM token WHERE seq = :seq UNION ALL
SELECT 'attic' FROM attic WHERE seq = :seq UNION ALL
SELECT 'memory_entity' FROM memory_entity WHERE seq = :seq UNION ALL
SELECT 'link' FROM link WHERE :seq IN (seq, other) UNION ALL
SELECT 'lexical' FROM lexical_docsize WHERE id = :seq UNION ALL
SELECT 'substring' FROM substring_docsize WHERE id = :seq
"""
CHANGES: list[tuple[str, Any, Any]] = [
    ("kind", Kind.DECISION, Kind.DECISION),
    ("importance", 0.75, 0.75),
    ("confirmations", 3, 3),
    ("trust", 0.5, 0.5),
    ("pinned", True, True),
    ("tags", '["a", "b"]', ("a", "b")),
    ("valid_from", 1, 1),
    ("valid_to", 2, 2),
    ("superseded_by", "another", "another"),
    ("expires_at", 3, 3),
    ("forgotten_at", 4, 4),
]


@pytest.mark.parametrize(("column", "value", "read"), CHANGES, ids=[change[0] for change in CHANGES])
def test_a_change_is_stored_versioned_and_noticed(store: Store, column: str, value: Any, read: Any) -> None:
    seq = save(store, "fact")
    before = store.meta.revision()
    store.memories.change(seq, **{column: value})
    [memory] = store.memories.by_seqs([seq])
    assert getattr(memory, column) == read
    assert memory.version == 2
    assert store.meta.revision() > before


@pytest.mark.parametrize("column", ["content", "id", "scope", "version", "trust = 1 --"])
def test_what_may_not_change_is_refused(store: Store, column: str) -> None:
    seq = save(store, "fact")
    with pytest.raises(ValueError, match="can't be changed"):
        store.memories.change(seq, **{column: 1})
    assert store.memories.by_seqs([seq])[0].version == 1


def test_a_change_of_nothing_only_counts_as_one(store: Store) -> None:
    seq = save(store, "fact")
    store.memories.change(seq)
    assert store.memories.by_seqs([seq])[0].version == 2


def test_only_memories_still_in_the_state_they_were_to_leave_are_moved(store: Store) -> None:
    first, second = save(store, "one"), save(store, "two")
    names = store.memories.ids([first, second])
    moves = [(first, State.ACTIVE, State.WARM), (second, State.COLD, State.WARM), (999, State.ACTIVE, State.WARM)]
    assert store.memories.move_states(moves) == [(names[first], first, State.ACTIVE, State.WARM)]
    assert store.memories.strength(first).state is State.WARM
    assert store.memories.strength(second).state is State.ACTIVE


def test_memories_are_counted_by_scope_kind_and_state(store: Store) -> None:
    first, _, _ = save(store, "one"), save(store, "two"), save(store, "three", scope="/projects/other")
    store.memories.move_states([(first, State.ACTIVE, State.COLD)])
    assert (store.memories.count(), store.memories.count(PROJECT), store.memories.count("/none")) == (3, 2, 0)
    assert sorted(store.memories.counts(PROJECT)) == [("fact", 0, 1), ("fact", 2, 1)]
    assert sorted(store.memories.counts()) == [("fact", 0, 2), ("fact", 2, 1)]


def test_a_scope_is_read_in_parts(store: Store) -> None:
    seqs = [save(store, f"fact {number}") for number in range(5)]
    save(store, "elsewhere", scope="/projects/other")
    first = store.memories.in_scope(PROJECT, limit=2)
    rest = store.memories.in_scope(PROJECT, after_seq=first[-1].seq)
    assert [memory.seq for memory in [*first, *rest]] == seqs


def test_erasing_leaves_no_row_of_a_memory_in_any_table(store: Store) -> None:
    gone, stays = save(store, "the red queue"), save(store, "the blue queue")
    name = store.memories.ids([gone])[gone]
    vectors = np.eye(2, DIMENSION, dtype=np.float32)
    with store.atomic():
        for seq in (gone, stays):
            store.vectors.put(seq, 1, vectors, 32)
            store.tokens.put(seq, store.vectors.model, vectors, np.array([7, 8], dtype=np.int32))
        store.graph.connect([Link(gone, stays, "similar", 0.5)])
        store.attic.stow(gone, NOW)
        store.journal.append(Entry(NOW, Event.SAVED, memory=name))
        store.erase([gone])
    assert store.database.rows(LEFT_OF, {"seq": gone}) == []
    assert store.database.rows("SELECT value FROM entity ORDER BY value") == [("blue",), ("queue",), ("the",)]
    assert store.vectors.index_rows() == store.vectors.expected_index_rows() == 2
    assert store.tokens.items_with(np.array([7], dtype=np.int32), store.vectors.model)[1] == 1
    assert [entry.memory for entry in store.journal.after(0)] == [name]
    assert not store.memories.exists(gone)
    assert store.memories.exists(stays)
    assert store.database.rows("PRAGMA foreign_key_check") == []
    assert store.integrity() == []


def test_a_seq_is_never_used_again(store: Store) -> None:
    gone = save(store, "one")
    with store.atomic():
        store.erase([gone])
    assert save(store, "two") > gone


def test_erasing_what_is_gone_changes_nothing(store: Store) -> None:
    seq = save(store, "one")
    for _ in range(2):
        with store.atomic():
            store.erase([seq, 999])
    assert store.memories.count() == 0
    assert store.integrity() == []
