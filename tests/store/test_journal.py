"""The journal: everything in the order it happened, and silent about what was erased."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import Event
from ebbing.store.journal import Entry
from ebbing.store.store import Store

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.builds(
    Entry,
    at=st.integers(-(2**62), 2**62),
    event=st.sampled_from(Event),
    memory=st.none() | st.text(max_size=8),
    ref=st.none() | st.text(max_size=8),
    data=st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def everything(store: Store, after: int = 0) -> list[Entry]:
    """All entries after a number, read in small parts."""
    found: list[Entry] = []
    while part := store.journal.after(found[-1].number if found else after, limit=2):
        found += part
    return found


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(ENTRIES, max_size=3), max_size=4))
def test_entries_come_back_whole_and_in_the_order_written(store: Store, batches: list[list[Entry]]) -> None:
    newest = store.journal.after(0, limit=1_000_000)
    last = newest[-1].number if newest else 0
    for batch in batches:
        store.journal.append(*batch)
    found = everything(store, last)
    assert [replace(entry, number=0) for entry in found] == [entry for batch in batches for entry in batch]
    assert [entry.number for entry in found] == sorted({entry.number for entry in found})


def test_what_proved_wrong_is_disputed_until_it_is_confirmed(store: Store) -> None:
    store.journal.append(
        *(Entry(1, Event.CONFIRMED, memory=one) for one in "ab"),
        *(Entry(2, Event.CONTRADICTED, memory=one) for one in "abc"),
        Entry(3, Event.CONFIRMED, memory="b"),
        Entry(4, Event.USED, memory="a"),
        Entry(5, Event.CONTRADICTED, memory="c"),
    )
    assert store.journal.disputed() == {"a": 3, "c": 8}


def test_a_memorys_newest_entries_come_oldest_first(store: Store) -> None:
    store.journal.append(
        *(Entry(number, Event.USED, memory="a") for number in range(5)), Entry(9, Event.USED, memory="b")
    )
    assert [entry.at for entry in store.journal.of_memory("a", limit=3)] == [2, 3, 4]
    assert [entry.at for entry in store.journal.of_memory("b")] == [9]
    assert store.journal.of_memory("c") == []


def test_entries_of_one_recall_are_found_together(store: Store) -> None:
    store.journal.append(
        Entry(1, Event.SHOWN, memory="a", ref="r1"),
        Entry(2, Event.SHOWN, memory="b", ref="r2"),
        Entry(3, Event.USED, memory="a", ref="r1"),
    )
    assert [(entry.at, entry.event) for entry in store.journal.of_ref("r1")] == [(1, Event.SHOWN), (3, Event.USED)]


def test_the_newest_of_a_kind_is_the_one_written_last_whatever_the_clock_says(store: Store) -> None:
    assert store.journal.latest(Event.DAILY) is None
    store.journal.append(Entry(50, Event.DAILY), Entry(10, Event.DAILY), Entry(99, Event.USED))
    latest = store.journal.latest(Event.DAILY)
    assert latest is not None
    assert latest.at == 10
    assert (store.journal.count(Event.DAILY), store.journal.count(Event.ERASED)) == (2, 0)


def test_the_newest_of_a_kind_is_read_from_the_index_alone(store: Store) -> None:
    plan = store.database.rows("EXPLAIN QUERY PLAN SELECT * FROM journal WHERE event = 'used' ORDER BY id DESC LIMIT 1")
    assert "journal_by_event" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_erasing_a_memory_keeps_that_it_happened_and_not_what(store: Store) -> None:
    store.journal.append(
        Entry(1, Event.SAVED, memory="a", data={"text": "secret"}),
        Entry(2, Event.SAVED, memory="b", data={"text": "public"}),
    )
    store.journal.erase("a")
    assert [(entry.memory, dict(entry.data)) for entry in store.journal.after(0)] == [
        ("a", {}),
        ("b", {"text": "public"}),
    ]


def test_entries_share_the_fate_of_the_transaction_they_are_written_in(store: Store) -> None:
    def fail() -> None:
        with store.atomic():
            save(store, "fact")
            store.journal.append(Entry(1, Event.SAVED))
            raise StoreError("enough")

    with pytest.raises(StoreError, match="enough"):
        fail()
    assert store.journal.after(0) == []
