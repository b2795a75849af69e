"""Leases, scopes and named values."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_store import open_store

from ebbing.schemas.activity import ActivityClock
from ebbing.schemas.errors import StoreError
from ebbing.store.store import Store

HOUR = 3_600_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def test_a_lease_is_held_by_one_until_it_is_given_back(store: Store) -> None:
    assert store.leases.acquire("daily", "a", 0, HOUR)
    assert not store.leases.acquire("daily", "b", HOUR - 1, HOUR)
    assert store.leases.acquire("other", "b", 0, HOUR)
    store.leases.release("daily", "b")
    assert store.leases.holder("daily", HOUR - 1) == "a"
    store.leases.release("daily", "a")
    assert store.leases.holder("daily", 0) is None
    assert store.leases.acquire("daily", "b", 1, HOUR)


def test_a_lease_of_a_crashed_holder_ends_with_its_time(store: Store) -> None:
    store.leases.acquire("daily", "crashed", 0, HOUR)
    assert store.leases.holder("daily", HOUR) is None
    assert store.leases.acquire("daily", "b", HOUR, HOUR)
    assert not store.leases.acquire("daily", "crashed", HOUR + 1, HOUR)


def test_a_holder_renews_its_lease(store: Store) -> None:
    store.leases.acquire("daily", "a", 0, HOUR)
    assert store.leases.acquire("daily", "a", HOUR - 1, HOUR)
    assert not store.leases.acquire("daily", "b", 2 * HOUR - 2, HOUR)


def test_a_lease_taken_by_a_clock_that_ran_far_ahead_does_not_block_for_ever(store: Store) -> None:
    store.leases.acquire("daily", "ahead", 1000 * HOUR, HOUR)
    assert store.leases.acquire("daily", "b", 0, HOUR)
    assert store.leases.holder("daily", 0) == "b"


def test_of_several_that_ask_at_once_one_gets_the_lease(store: Store) -> None:
    start = threading.Barrier(6)
    got: list[str] = []

    def ask(name: str) -> None:
        start.wait()
        if store.leases.acquire("daily", name, 0, HOUR):
            got.append(name)

    threads = [threading.Thread(target=ask, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.leases.holder("daily", 0)] == got


def test_a_scope_keeps_its_number(store: Store) -> None:
    first, second = store.scopes.ensure("/projects/one"), store.scopes.ensure("/projects/two")
    assert store.scopes.ensure("/projects/one") == first != second
    assert store.scopes.find("/projects/two") == second
    assert store.scopes.find("/projects/none") is None
    assert store.scopes.keys() == {first: "/projects/one", second: "/projects/two"}


def test_looking_for_a_scope_does_not_make_it(store: Store) -> None:
    assert store.scopes.find("/projects/none") is None
    assert store.scopes.keys() == {}


def test_a_scopes_clock_comes_back_as_it_was_stored(store: Store) -> None:
    one, two = store.scopes.ensure("one"), store.scopes.ensure("two")
    clock = ActivityClock(5, 1.25, 7, 9, 11)
    assert store.scopes.clock(one) is None
    store.scopes.set_clock(one, clock)
    assert store.scopes.clock(one) == clock
    assert store.scopes.clocks() == {one: clock}
    store.scopes.set_clock(one, None)
    assert store.scopes.clocks() == {}
    assert store.scopes.clock(two) is None


def test_values_are_written_over_and_unknown_ones_are_none(store: Store) -> None:
    assert store.meta.get("color") is None
    store.meta.set("color", "red")
    store.meta.set("color", "blue 🐟")
    assert store.meta.get("color") == "blue 🐟"


def test_revisions_count_up_and_are_undone_with_their_transaction(store: Store) -> None:
    before = store.meta.revision()
    assert [store.meta.next_revision() for _ in range(3)] == [before + 1, before + 2, before + 3]

    def fail() -> None:
        with store.atomic():
            store.meta.next_revision()
            raise StoreError("enough")

    with pytest.raises(StoreError, match="enough"):
        fail()
    assert store.meta.revision() == before + 3
