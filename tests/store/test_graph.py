"""The association graph: bounded reads, the strongest first, no links to what is gone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_store import PROJECT, open_store, save

from ebbing.schemas.memory import Entity
from ebbing.store.graph import Link
from ebbing.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def number_of(store: Store, scope: str = PROJECT) -> int:
    """The row id of a scope."""
    number = store.scopes.find(scope)
    assert number is not None
    return number


def test_links_lead_both_ways(store: Store) -> None:
    a, b, c = (save(store, name) for name in "abc")
    store.graph.connect([Link(a, b, "similar", 0.5), Link(c, a, "cause", 0.25)])
    assert store.graph.neighbours([a]) == [Link(a, b, "similar", 0.5), Link(a, c, "cause", 0.25)]
    assert store.graph.neighbours([b, c]) == [Link(b, a, "similar", 0.5), Link(c, a, "cause", 0.25)]
    assert store.graph.degrees([a, b, c]) == {a: 2, b: 1, c: 1}


def test_a_memory_that_goes_takes_the_links_that_lead_to_it_along_and_no_others(store: Store) -> None:
    a, b, c = (save(store, name) for name in "abc")
    store.graph.connect([Link(a, b, "similar", 0.5), Link(a, b, "entity", 0.5), Link(b, c, "similar", 0.25)])
    store.erase([a])
    assert store.graph.neighbours([a, b, c]) == [Link(b, c, "similar", 0.25), Link(c, b, "similar", 0.25)]


def test_a_stronger_link_replaces_a_weaker_one_of_its_relation_and_never_the_reverse(store: Store) -> None:
    a, b = save(store, "a"), save(store, "b")
    for weight in (0.5, 0.75, 0.25):
        store.graph.connect([Link(a, b, "similar", weight)])
    store.graph.connect([Link(a, b, "entity", 0.1)])
    assert store.graph.neighbours([a]) == [Link(a, b, "similar", 0.75), Link(a, b, "entity", 0.1)]


def test_a_hub_gives_only_its_strongest_links(store: Store) -> None:
    with store.atomic(durable=False):
        hub, *others = (save(store, f"fact {number}") for number in range(101))
        store.graph.connect([Link(hub, other, "similar", other / 200) for other in others])
    found = store.graph.neighbours([hub, others[0]], per_node=30)
    assert [link.other for link in found if link.seq == hub] == others[:-31:-1]
    assert [link.other for link in found if link.seq == others[0]] == [hub]
    assert store.graph.degrees([hub]) == {hub: 100}


def test_more_memories_than_a_statement_has_places_are_asked_about(store: Store) -> None:
    with store.atomic(durable=False):
        seqs = [save(store, f"fact {number}") for number in range(600)]
        store.graph.connect([Link(seqs[0], seqs[-1], "similar", 0.5)])
    assert [link.seq for link in store.graph.neighbours(seqs)] == [seqs[0], seqs[-1]]
    assert store.graph.degrees(seqs) == {seqs[0]: 1, seqs[-1]: 1}


def test_a_link_to_what_was_erased_meanwhile_is_left_out_and_the_others_are_kept(store: Store) -> None:
    a, b, gone = save(store, "a"), save(store, "b"), save(store, "gone")
    with store.atomic():
        store.erase([gone])
        store.graph.connect([Link(a, gone, "similar", 0.9), Link(a, b, "similar", 0.5), Link(gone, b, "cause", 0.5)])
    assert store.graph.neighbours([a, b, gone]) == [Link(a, b, "similar", 0.5), Link(b, a, "similar", 0.5)]


def test_memories_are_found_by_the_entities_they_name_newest_first(store: Store) -> None:
    first, second, third = save(store, "redis port"), save(store, "redis"), save(store, "port")
    store.graph.mention(third, [Entity("package", "redis"), Entity("package", "redis")])
    assert store.graph.mentions(["redis", "port", "redis", "none"]) == {
        "redis": [third, second, first],
        "port": [third, first],
        "none": [],
    }
    assert store.graph.mentions(["redis"], limit=1) == {"redis": [third]}


def test_sharers_are_of_one_scope_and_came_before(store: Store) -> None:
    first, _, third = save(store, "redis"), save(store, "redis", scope="/projects/other"), save(store, "redis")
    scope = number_of(store)
    assert store.graph.sharing(["redis"], scope, third + 1, 10) == {"redis": [third, first]}
    assert store.graph.sharing(["redis"], scope, third, 10) == {"redis": [first]}
    assert store.graph.sharing(["redis"], scope, third + 1, 1) == {"redis": [third]}


def test_the_one_before_in_a_session_is_the_last_stored_of_it(store: Store) -> None:
    first = save(store, "one", session="s")
    save(store, "between", session="t")
    save(store, "elsewhere", session="s", scope="/projects/other")
    last = save(store, "two", session="s")
    assert store.graph.before_in_session(last, number_of(store), "s") == first
    assert store.graph.before_in_session(first, number_of(store), "s") is None


def test_only_entities_that_nobody_names_any_more_are_removed(store: Store) -> None:
    gone, _ = save(store, "red queue"), save(store, "blue queue")
    named = store.graph.named_by([gone, 999])
    assert len(named) == 2
    store.graph.prune_entities(named)
    assert len(store.graph.named_by([gone])) == 2
    with store.atomic():
        store.memories.remove([gone])
    store.graph.prune_entities(named[:0])
    assert store.database.value("SELECT count(*) FROM entity") == 3
    store.graph.prune_entities()
    assert store.database.rows("SELECT value FROM entity ORDER BY value") == [("blue",), ("queue",)]
