"""Links that saving a memory makes: nearest meanings, shared entities, the session before, stated causes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from recall_store import RecallStore

from ebbing.encoding.associate import CAUSE, ENTITY, LEAST_COSINE, NEAREST, SESSION, SIMILAR
from ebbing.store.graph import Link


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path) as opened:
        yield opened


def links(memories: RecallStore, seq: int, relation: str) -> list[Link]:
    return [link for link in memories.store.graph.neighbours([seq]) if link.relation == relation]


def test_links_the_nearest_in_meaning_and_no_more_than_five(memories: RecallStore) -> None:
    for number in range(9):
        memories.save(f"The worker pool has a queue of jobs {number}.")
    memories.save("Bananas ripen slowly.")
    last = memories.save("The worker pool has a queue of jobs.")
    own = [link for link in links(memories, last, SIMILAR) if link.seq == last]
    assert len(own) == NEAREST
    assert all(LEAST_COSINE <= link.weight <= 1.0 for link in own)
    assert 10 not in {link.other for link in own}


def test_links_go_both_ways(memories: RecallStore) -> None:
    first, second = memories.save("The pump hums loudly."), memories.save("The pump hums loudly at night.")
    assert [link.other for link in links(memories, first, SIMILAR)] == [second]
    assert [link.other for link in links(memories, second, SIMILAR)] == [first]


def test_links_what_shares_an_entity_rare_ones_more(memories: RecallStore) -> None:
    rare = memories.save("Alpha.", entities=(("path", "a.py"),))
    common = [memories.save(f"Beta {number} gamma.", entities=(("path", "b.py"),)) for number in range(4)]
    last = memories.save("Delta.", entities=(("path", "a.py"), ("path", "b.py")))
    weights = {link.other: link.weight for link in links(memories, last, ENTITY)}
    assert set(weights) == {rare, *common}
    assert weights[rare] > weights[common[0]]


def test_links_the_one_before_in_the_session_and_calls_it_a_cause_when_the_text_does(memories: RecallStore) -> None:
    first = memories.save("Disk full.", session="s")
    second = memories.save("Lunch.", session="s")
    third = memories.save("Deleted logs because of that.", session="s")
    assert [link.other for link in links(memories, second, SESSION) if link.other != third] == [first]
    assert links(memories, second, CAUSE) == [Link(second, third, CAUSE, 0.8)]
    assert [link.other for link in links(memories, third, CAUSE)] == [second]


def test_never_links_across_scopes(memories: RecallStore) -> None:
    memories.save("The pump hums loudly.", scope="q", session="s", entities=(("path", "a.py"),))
    here = memories.save("The pump hums loudly.", session="s", entities=(("path", "a.py"),))
    assert memories.store.graph.neighbours([here]) == []
