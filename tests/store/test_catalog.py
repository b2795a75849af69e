"""The catalog: follows every process's changes, never shows what was rolled back, never changes what it handed out."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain_store import FRESH, NOW, PROJECT, memory_of, open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import Kind, Shape, State
from ebbing.store.catalog import FOREVER, KINDS, Catalog, Columns
from ebbing.store.store import Store


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two processes' views of one store."""
    with open_store(tmp_path) as one, open_store(tmp_path) as other:
        yield one, other


def alive(columns: Columns) -> list[int]:
    """Seqs that are there."""
    return np.flatnonzero(columns.alive).tolist()


def arrays(columns: Columns) -> dict[str, NDArray[Any]]:
    """Every array by name."""
    names = [name for name in Columns.__dataclass_fields__ if name not in ("revision", "structure")]
    return {name: getattr(columns, name) for name in names}


def equal(one: Columns, other: Columns) -> bool:
    """Whether two catalogs say the same of what is alive."""
    there, also = arrays(one), arrays(other)
    living = alive(one)
    return living == alive(other) and all(
        np.array_equal(there[name][living], also[name][living]) for name in there if name not in ("session", "speaker")
    )


def test_an_empty_store_has_an_empty_catalog(stores: tuple[Store, Store]) -> None:
    assert alive(stores[0].catalog.columns()) == []


def test_every_column_says_what_was_stored(stores: tuple[Store, Store]) -> None:
    store, other = stores
    new = replace(
        memory_of("Ann: is it so?", session="s"),
        kind=Kind.DECISION,
        importance=0.5,
        trust=0.25,
        pinned=True,
        valid_from=5,
        valid_to=9,
        expires_at=11,
        gist_of=3,
        shape=Shape(words=4, speaker="Ann", question=True, first_person=True, time_words=2),
    )
    with store.atomic():
        seq = store.memories.insert(new, replace(FRESH, state=State.COLD, bit_width=4, anchor_tau=1.5, rate=0.125))
    columns = other.catalog.columns()
    said = {name: array[seq].item() for name, array in arrays(columns).items()}
    assert said == {
        "alive": True,
        "hidden": False,
        "gist": True,
        "scope": store.scopes.find(PROJECT),
        "kind": KINDS.index(Kind.DECISION),
        "session": other.catalog.name_of_session("s"),
        "speaker": other.catalog.name_of_speaker("Ann"),
        "state": State.COLD,
        "bit_width": 4,
        "recorded_at": NOW,
        "valid_from": 5,
        "valid_to": 9,
        "expires_at": 11,
        "superseded": False,
        "forgotten": False,
        "pinned": True,
        "words": 4,
        "flags": 3,
        "time_words": 2,
        "importance": 0.5,
        "trust": 0.25,
        "anchor_tau": 1.5,
        "rate": 0.125,
    }
    assert other.catalog.speakers() == {"Ann": said["speaker"]}
    assert other.catalog.name_of_session("unknown") == other.catalog.name_of_speaker("s") == -1


def test_what_has_no_end_ends_never_and_begins_when_it_was_recorded(stores: tuple[Store, Store]) -> None:
    seq = save(stores[0], "open ended")
    columns = stores[0].catalog.columns()
    assert columns.valid_from[seq] == NOW
    assert columns.valid_to[seq] == columns.expires_at[seq] == FOREVER
    assert columns.session[seq] == columns.speaker[seq] == -1


def test_inserts_changes_and_erasures_of_another_process_arrive_with_the_next_read(
    stores: tuple[Store, Store],
) -> None:
    store, other = stores
    first, second = save(store, "one"), save(store, "two")
    assert alive(other.catalog.columns()) == [first, second]
    with store.atomic():
        store.memories.change(first, trust=0.125)
        store.memories.move_states([(second, State.ACTIVE, State.COLD)])
    columns = other.catalog.columns()
    assert (columns.trust[first], columns.state[second]) == (0.125, State.COLD)
    with store.atomic():
        store.memories.change(first, forgotten_at=NOW, superseded_by="somebody")
        store.erase([second])
    columns = other.catalog.columns()
    assert alive(columns) == [first]
    assert columns.forgotten[first]
    assert columns.superseded[first]


def test_what_was_handed_out_does_not_change(stores: tuple[Store, Store]) -> None:
    store, other = stores
    first = save(store, "one")
    before = other.catalog.columns()
    copies = {name: array.copy() for name, array in arrays(before).items()}
    for number in range(100):
        save(store, f"more {number}")
        other.catalog.columns()
    with store.atomic():
        store.memories.change(first, trust=0.5)
        store.memories.set_strength(first, replace(FRESH, rate=9.0, state=State.FORGOTTEN))
    assert other.catalog.columns().rate[first] == 9.0
    with store.atomic():
        store.erase([first])
    assert alive(other.catalog.columns())[0] > first
    assert all(np.array_equal(copies[name], array) for name, array in arrays(before).items())


def test_nobody_can_write_into_what_was_handed_out(stores: tuple[Store, Store]) -> None:
    seq = save(stores[0], "one")
    for array in arrays(stores[0].catalog.columns()).values():
        with pytest.raises(ValueError, match="read-only"):
            array[seq] = 0


def test_an_unchanged_store_gives_the_same_catalog(stores: tuple[Store, Store]) -> None:
    save(stores[0], "one")
    assert stores[1].catalog.columns() is stores[1].catalog.columns()


def test_structure_stays_while_the_same_memories_are_there(stores: tuple[Store, Store]) -> None:
    store, other = stores
    seq = save(store, "one")
    before = other.catalog.columns()
    with store.atomic():
        store.memories.change(seq, trust=0.5)
    changed = other.catalog.columns()
    assert changed.revision > before.revision
    assert changed.structure == before.structure
    save(store, "two")
    assert other.catalog.columns().structure > before.structure


def test_a_write_transaction_sees_its_own_changes(stores: tuple[Store, Store]) -> None:
    store, other = stores
    first = save(store, "one")
    with store.atomic():
        second = save(store, "two")
        assert alive(store.catalog.columns()) == [first, second]
        assert alive(other.catalog.columns()) == [first]
    assert alive(store.catalog.columns()) == [first, second]


def test_what_was_rolled_back_is_never_seen_although_another_change_gets_its_revision(
    stores: tuple[Store, Store],
) -> None:
    store, _ = stores
    first = save(store, "one")

    def fail() -> None:
        with store.atomic():
            save(store, "never")
            store.memories.change(first, trust=0.5)
            assert len(alive(store.catalog.columns())) == 2
            raise StoreError("enough")

    with pytest.raises(StoreError, match="enough"):
        fail()
    trust = store.memories.by_seqs([first])[0].trust
    assert store.catalog.columns().trust[first] == np.float32(trust)
    third = save(store, "three", session="late")
    columns = store.catalog.columns()
    assert alive(columns) == [first, third]
    assert columns.session[third] == store.catalog.name_of_session("late")
    assert columns.trust[first] == np.float32(trust)


def test_a_reader_in_an_older_snapshot_does_not_make_the_catalog_older(stores: tuple[Store, Store]) -> None:
    store, _ = stores
    save(store, "one")
    store.catalog.columns()
    with store.snapshot():
        assert store.memories.count() == 1

        def meanwhile() -> None:
            save(store, "two")
            assert len(alive(store.catalog.columns())) == 2

        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()
        assert len(alive(store.catalog.columns())) == 2
    assert len(alive(store.catalog.columns())) == 2


def test_a_store_put_back_from_a_backup_is_read_anew(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        save(store, "one")
        save(store, "two")
        assert len(alive(store.catalog.columns())) == 2
        with store.atomic():
            store.database.execute("DELETE FROM memory WHERE seq = 2")
            store.meta.set("rev", "1")
        assert alive(store.catalog.columns()) == [1]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from("iicsex"), st.integers(0, 30)), max_size=30))
def test_a_catalog_that_followed_equals_one_that_is_read_at_once(
    stores: tuple[Store, Store], steps: list[tuple[str, int]]
) -> None:
    store, other = stores
    for step, number in steps:
        living = alive(store.catalog.columns())
        chosen = living[number % len(living)] if living else None
        if step == "i" or chosen is None:
            save(store, f"text {number}", session=f"s{number % 3}")
        elif step == "c":
            store.memories.change(chosen, trust=number / 32, pinned=number % 2)
        elif step == "s":
            store.memories.set_strength(chosen, replace(FRESH, rate=float(number), state=State(number % 5)))
        elif step == "e":
            with store.atomic():
                store.erase([chosen])
        else:
            other.catalog.columns()
    assert equal(other.catalog.columns(), Catalog(store.database).columns())
    assert equal(store.catalog.columns(), other.catalog.columns())
