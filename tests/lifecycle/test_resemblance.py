"""What is repeated counts as interference for the older and as familiarity for the newer, once, and outlives them."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.decay import decay
from ebbing.lifecycle.eviction import evict
from ebbing.lifecycle.resemblance import Before, most_alike, resemble
from ebbing.store.lexical import Postings

WORDS = (
    "amber basil cedar dingo elder fjord gecko heron ivory jelly koala lemur"
    " mango nylon otter poppy quail raven salsa tulip umber viola waltz yucca"
)


def fillers(world: World) -> None:
    for word in WORDS.split():
        world.save(f"{word} {word[::-1]}", "episode")


def posting(*seqs: int) -> Postings:
    return Postings(np.array(seqs, np.int64), np.ones(len(seqs), np.float32))


def test_a_share_by_hand() -> None:
    before = Before(np.array([False, *[True] * 20]), np.full(21, 4, np.int32))
    rare, unknown = log(1 + (20 - 1 + 0.5) / 1.5), log(1 + 20.5 / 0.5)
    # tf = 1 and a text of mean length: idf / (1 + 0.9)
    assert most_alike([posting(3), posting()], before) == pytest.approx({3: rare / 1.9 / (rare + unknown)})


def test_common_words_tell_nothing_apart() -> None:
    before = Before(np.array([False, *[True] * 20]), np.full(21, 4, np.int32))
    assert most_alike([posting(1, 2, 3, 4, 5, 6)], before) == {}


def test_nothing_is_like_the_first_memory() -> None:
    assert most_alike([posting(1, 2)], Before(np.zeros(0, np.bool_), np.zeros(0, np.int32))) == {}


def test_of_equally_alike_memories_the_older_ones_count() -> None:
    before = Before(np.array([False, *[True] * 300]), np.full(301, 5, np.int32))
    assert list(most_alike([posting(*range(1, 21))], before)) == list(range(1, 11))


@given(st.lists(st.lists(st.integers(1, 40), unique=True, max_size=12).map(sorted), max_size=12))
def test_shares_lie_between_nothing_and_one_and_ten_count(lists: list[list[int]]) -> None:
    before = Before(np.array([False, *[True] * 30]), np.full(31, 5, np.int32))
    found = most_alike([posting(*one) for one in lists], before)
    assert len(found) <= 10
    assert all(0.0 < share <= 1.0 for share in found.values())
    assert all(1 <= seq <= 30 for seq in found)


def test_the_repeated_is_interfered_with_and_the_repetition_is_familiar(world: World) -> None:
    first = world.save("The quorum of the zebra cluster needs three replicas.", "episode")
    fillers(world)
    later = world.save("The quorum of the zebra cluster was lost again.", "episode")
    assert resemble(world.services.store) == (26, False)
    like = world.services.store.resemblance.read()
    assert like.by_younger[first.seq] > 0.1
    assert like.to_older[later.seq] == pytest.approx(like.by_younger[first.seq])
    assert like.to_older[first.seq] == like.by_younger[later.seq] == 0.0


def test_each_memory_is_counted_once_however_often_and_in_whatever_portions(world: World) -> None:
    fillers(world)
    world.save("amber rebma", "episode")
    store = world.services.store
    assert resemble(store, most=7) == (7, True)
    resemble(store)
    once = store.resemblance.read()
    assert resemble(store) == (0, False)
    again = store.resemblance.read()
    assert np.array_equal(once.by_younger, again.by_younger)
    assert np.array_equal(once.to_older, again.to_older)
    assert once.by_younger.sum() == pytest.approx(once.to_older.sum())


def test_other_scopes_and_what_is_forgotten_are_not_older_memories(world: World) -> None:
    fillers(world)
    world.save("The quorum of the zebra cluster needs three replicas.", "episode", scope="/projects/other")
    hidden = world.save("The quorum of the zebra cluster needs two replicas.", "episode")
    world.services.ledger.forgotten(hidden, world.now)
    later = world.save("The quorum of the zebra cluster was lost again.", "episode")
    resemble(world.services.store)
    assert world.services.store.resemblance.read().to_older[later.seq] == 0.0


def test_interference_stays_when_what_caused_it_is_gone(world: World) -> None:
    first = world.save("The quorum of the zebra cluster needs three replicas.", "episode")
    fillers(world)
    later = world.save("The quorum of the zebra cluster was lost again.", "episode")
    store = world.services.store
    resemble(store)
    before = store.resemblance.read().by_younger[first.seq]
    world.services.ledger.erased([later], world.now)
    assert store.resemblance.read().by_younger[first.seq] == before > 0.0


def test_what_is_said_over_and_over_is_evicted_before_what_stands_alone(world: World) -> None:
    # Words of their own throughout: among the first few of a store, shared ones are telling.
    alone = [
        world.save(f"The {word} {word[1:]} is {word[::-1]} {word[:0:-1]}, {word * 2}.", "episode")
        for word in WORDS.split()
    ]
    repeated = [
        world.save(f"The quorum of the zebra cluster was lost, time {number}.", "episode") for number in range(6)
    ]
    world.work_days(30)
    store = world.services.store
    decay(store, world.now)
    resemble(store)
    settings = DecaySettings(budget_memories=30, high_mark=0.99, low_mark=1 - 4.5 / 30)
    evict(store, world.now, settings, free_bytes=lambda: 1 << 40)
    gone = {identifier for _, identifier in store.evictions.oldest(world.now, 100)}
    assert len(gone) == 5
    assert gone < {memory.id for memory in repeated}
    assert gone.isdisjoint(memory.id for memory in alone)
