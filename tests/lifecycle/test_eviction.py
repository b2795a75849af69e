"""Under a budget the least worth keeping goes first, can be had back for a month, and what matters never goes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.eviction import Evicted, evict, surplus
from ebbing.schemas.errors import StoreFullError, UnknownMemoryError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Event, Memory, State
from ebbing.tools.forget import forget
from ebbing.tools.status import status

SMALL = DecaySettings(budget_memories=20, wall_days_per_day=1e9)
TEXT = (
    "Exact:  double  spaces, naïve café, 日本語 {}.\nSecond line\twith a tab, and more of it: packing pays pays pays."
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home", decay=SMALL) as made:
        yield made


def fill(world: World, count: int, kind: str = "episode") -> list[Memory]:
    return [world.save(TEXT.format(number), kind) for number in range(count)]


def fill_up(world: World) -> None:
    for number in range(10_000):
        world.services.store.meta.set(f"filler {number}", "x" * 50_000)


def evicted(world: World) -> set[str]:
    store = world.services.store
    return {identifier for _, identifier in store.evictions.oldest(world.now, 10_000)}


def run(world: World, settings: DecaySettings = SMALL, free: int = 1 << 40) -> Evicted:
    return evict(world.services.store, world.now, settings, free_bytes=lambda: free)


def test_nothing_goes_up_to_the_high_mark(world: World) -> None:
    fill(world, 17)
    world.work_days(5)
    assert run(world) == Evicted()


def test_over_the_high_mark_eviction_stops_at_the_low_mark(world: World) -> None:
    fill(world, 18)
    world.work_days(5)
    assert run(world) == Evicted(evicted=4)
    assert world.services.store.evictions.counts()[:2] == (14, 4)
    assert run(world) == Evicted()


def test_what_was_used_stays_and_what_was_not_goes(world: World) -> None:
    words = ("amber", "basil", "cedar", "dingo", "elder", "fjord", "gecko", "heron", "ivory", "jelly", "koala", "lemur")
    words += ("mango", "nylon", "otter", "poppy", "quail", "raven")
    memories = [world.save(f"{word} {word[::-1]}", "episode") for word in words]
    world.work_days(1)
    for memory in memories[:14]:
        world.services.ledger.used(memory, world.now)
    world.work_days(30)
    run(world)
    assert evicted(world) == {memory.id for memory in memories[14:]}


def test_a_budget_of_bytes_evicts_until_its_low_mark_is_reached(world: World) -> None:
    memories = fill(world, 17)
    world.work_days(5)
    used = world.services.store.evictions.used_bytes()
    tight = DecaySettings(budget_bytes=used, wall_days_per_day=1e9)
    done = run(world, tight)
    assert 0.2 * len(memories) < done.evicted < 0.5 * len(memories)
    assert run(world, tight) == Evicted()
    assert run(world, DecaySettings(budget_bytes=2 * used)) == Evicted()


def test_pinned_valid_decisions_and_preferences_and_the_young_never_go(world: World) -> None:
    kept = [
        world.save("Never deploy on a Friday.", "observation", pinned=True),
        world.save("We decided to use SQLite because it needs no server.", "decision"),
        world.save("I prefer tabs.", "preference"),
    ]
    ended = world.save("We decided to use Redis.", "decision")
    world.services.ledger.superseded(ended, None, world.now, world.now)
    fill(world, 16)
    world.work_days(3)
    young = [world.save(f"A young note of no worth, number {number}.", "observation") for number in range(3)]
    nothing = DecaySettings(budget_memories=1, wall_days_per_day=1e9)
    world.work_days(1)
    done = run(world, nothing)
    assert done.evicted == 17
    assert done.over == 5
    gone = evicted(world)
    assert ended.id in gone
    assert gone.isdisjoint(memory.id for memory in [*kept, *young])
    world.work_days(2)
    assert run(world, nothing).evicted == 3


def test_an_evicted_memory_leaves_recall_and_is_in_the_journal_and_the_status(world: World) -> None:
    memories = fill(world, 18)
    world.work_days(5)
    run(world)
    gone = evicted(world)
    found = set(world.found("naïve café double spaced", limit=20))
    assert len(found) <= 14
    for memory in memories:
        events = [entry.event for entry in world.services.store.journal.of_memory(memory.id)]
        assert (Event.EVICTED in events) == (memory.id in gone)
    budget = status(world.services)["budget"]
    assert (budget["memories"], budget["evicted"]) == (14, 4)
    assert budget["restorable_until"].startswith("2026-04-06")


@pytest.mark.parametrize("way", ["restore", "use", "said again"])
def test_within_the_undo_time_an_evicted_memory_comes_back_byte_for_byte(world: World, way: str) -> None:
    originals = {memory.id: memory.content for memory in fill(world, 18)}
    world.work_days(5)
    run(world)
    for identifier in evicted(world):
        memory = world.memory(identifier)
        assert memory.content == originals[identifier]
        if way == "restore":
            forget(world.services, [identifier], mode="restore")
        elif way == "use":
            world.services.ledger.used(memory, world.now)
        else:
            world.services.ledger.used(world.services.ledger.confirmed(memory, world.now), world.now)
        assert world.memory(identifier).content == originals[identifier]
        assert world.state(identifier) is State.ACTIVE
    assert evicted(world) == set()


def test_saying_an_evicted_fact_again_brings_it_back_to_recall(world: World) -> None:
    facts = [world.save(f"The port of service {number} is {9000 + number}.", importance=0.0) for number in range(18)]
    world.work_days(5)
    run(world)
    [first, *_] = sorted(evicted(world))
    text = world.memory(first).content
    assert text not in world.found(text)
    assert world.save(text).id == first
    assert world.found(text)[0] == text
    assert first in {memory.id for memory in facts}


def test_after_the_undo_time_it_is_removed_for_good(world: World) -> None:
    fill(world, 18)
    world.work_days(5)
    run(world)
    gone = evicted(world)
    world.pass_days(29.9)
    assert run(world).removed == 0
    world.pass_days(0.1)
    assert run(world).removed == 4
    for identifier in gone:
        with pytest.raises(UnknownMemoryError):
            world.memory(identifier)
        assert world.services.store.journal.of_memory(identifier)[-1].event is Event.ERASED
    assert world.services.store.memories.count() == 14


def test_when_the_disk_is_short_the_undo_time_is_over_at_once(world: World) -> None:
    fill(world, 18)
    world.work_days(5)
    run(world)
    assert run(world, free=1 << 20).removed == 4


def test_a_use_between_reading_and_writing_saves_a_memory_from_eviction(world: World) -> None:
    memories = fill(world, 18)
    world.work_days(5)
    chosen, _ = surplus(world.services.store, world.now, SMALL)
    used = next(memory for memory in memories if memory.seq == chosen[0])
    world.services.ledger.used(used, world.now)
    run(world)
    assert used.id not in evicted(world)


def test_an_expired_memory_leaves_recall_and_can_be_had_back(world: World) -> None:
    ledger, store = world.services.ledger, world.services.store
    memory = world.save("The staging password rotates on Monday.", "fact", pinned=True)
    store.memories.change(memory.seq, expires_at=world.now + MICROSECONDS_PER_DAY)
    world.work_days(1)
    assert world.found("staging password rotates") == []
    assert run(world).expired == 1
    assert run(world) == Evicted()
    ledger.restored(world.memory(memory.id), world.now)
    assert world.found("staging password rotates") == [memory.content]
    assert run(world) == Evicted()


def test_an_expired_memory_nobody_wants_back_is_removed_for_good(world: World) -> None:
    memory = world.save("The staging password rotates on Monday.")
    world.services.store.memories.change(memory.seq, expires_at=world.now)
    run(world)
    world.pass_days(30)
    assert run(world).removed == 1
    with pytest.raises(UnknownMemoryError):
        world.memory(memory.id)


def test_forgetting_on_purpose_is_not_undone_by_a_use(world: World) -> None:
    memory = world.save("The cache is cold.")
    world.services.ledger.forgotten(memory, world.now)
    world.services.ledger.used(world.memory(memory.id), world.now)
    assert world.found("cache is cold") == []
    assert world.state(memory.id) is State.FORGOTTEN


def test_on_a_full_disk_nothing_is_lost_and_the_next_run_goes_on(world: World) -> None:
    store = world.services.store
    originals = {memory.id: memory.content for memory in fill(world, 18)}
    world.work_days(5)
    pages = store.database.value("PRAGMA page_count")
    store.database.value(f"PRAGMA max_page_count = {pages}")
    # Blobs that fill every free page, so that the next one has nowhere to go.
    with pytest.raises(StoreFullError):
        fill_up(world)
    report = world.services.daily.run(world.now)
    assert {identifier: world.memory(identifier).content for identifier in originals} == originals
    store.database.value("PRAGMA max_page_count = 1000000")
    assert not report.finished
    assert any(step.failed for step in report.steps)
    world.now += MICROSECONDS_PER_DAY // 12
    assert world.services.daily.is_due(world.now)
    again = world.services.daily.run(world.now)
    assert again.finished
    assert len(evicted(world)) == 4
    assert {identifier: world.memory(identifier).content for identifier in originals} == originals


def test_five_thousand_throw_away_writes_evict_no_used_decision(tmp_path: Path) -> None:
    settings = DecaySettings(budget_memories=600, young_days=0.0, wall_days_per_day=30.0)
    with World(tmp_path / "junk", decay=settings) as world:
        decisions = [
            world.save(
                f"We decided that module {number} owns its own migrations, because of {number} incidents.", "decision"
            )
            for number in range(10)
        ]
        for memory in decisions:
            world.services.ledger.used(memory, world.now)
        # Even those that have been replaced: used once, they outlive what nobody ever used.
        for memory in decisions[5:]:
            world.services.ledger.superseded(world.memory(memory.id), None, world.now, world.now)
        for batch in range(10):
            junk = [{"text": f"ran command {batch * 500 + number}: ok"} for number in range(500)]
            world.services.observer.take(junk, "/projects/ebb", "s", "c", world.now)
            world.work_days(1)
            run(world, settings)
        gone = evicted(world)
        assert len(gone) > 4_000
        assert gone.isdisjoint(memory.id for memory in decisions)
        assert all(world.memory(memory.id).content == memory.content for memory in decisions)
