"""Near-duplicates become one memory that speaks for both; nothing is lost, and undoing gives both back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from world import PROJECT, World

from ebbing.encoding.writer import Draft, prepare
from ebbing.lifecycle.merges import merged
from ebbing.lifecycle.merging import merge_copies
from ebbing.lifecycle.rebuild import rebuild
from ebbing.schemas.memory import Event, Kind, Memory, Provenance, State
from ebbing.tools.forget import forget
from ebbing.tools.learn import learn
from ebbing.tools.status import status

PORT = "The port of the cache is 6379."
SAME_PORT = "The cache's port is 6379"


def put(world: World, text: str, kind: Kind = Kind.FACT, *, embedded: bool = True, **more: Any) -> Memory:
    """Store a memory as an import would: without asking what it does to what is known."""
    given: dict[str, Any] = {"scope": PROJECT, "recorded_at": world.now, "trust": 0.6, **more}
    [prepared] = prepare([Draft(content=text, kind=kind, **given)], world.embedder if embedded else None)
    store = world.services.store
    with store.atomic():
        seq = world.services.ledger.saved(prepared.new, world.now)
        store.lexical.add(seq, prepared.new.index_text, prepared.new.trigram_text)
        world.services.recorder.embed(seq, prepared.new.scope, prepared)
    return world.memory(prepared.new.id)


def run(world: World) -> int:
    return merge_copies(world.services.store, world.now).merged


def rows(world: World) -> list[tuple[Any, ...]]:
    """Everything that is stored of every memory but counters of versions."""
    database = world.services.store.database
    memories = database.rows("SELECT * FROM memory ORDER BY seq")
    strengths = database.rows("SELECT * FROM strength ORDER BY seq")
    return [
        *(row[:-1] for row in memories),
        *(row[:1] + row[2:] for row in strengths),
        *database.rows("SELECT * FROM attic ORDER BY seq"),
        *database.rows("SELECT * FROM link ORDER BY seq, other, relation"),
        *database.rows("SELECT seq, bit_width, codes, scales FROM vector ORDER BY seq"),
    ]


@pytest.mark.parametrize("embedded", [True, False])
def test_two_that_say_the_same_become_one_that_counts_for_both(world: World, *, embedded: bool) -> None:
    first = put(world, PORT, embedded=embedded)
    second = put(world, SAME_PORT, embedded=embedded, trust=0.8)
    world.pass_days(1)
    world.services.ledger.confirmed(first, world.now)
    world.services.ledger.used(world.memory(first.id), world.now)
    assert run(world) == 1
    kept, copy = world.memory(second.id), world.memory(first.id)
    assert copy.merged_into == kept.id
    # Said twice, and one of the two confirmed once.
    assert (kept.confirmations, kept.trust, kept.strength.uses) == (2, 0.8, 1)
    assert kept.strength.last_use_at == world.now
    assert copy.content == PORT
    assert world.found("port of the cache") == [SAME_PORT]
    assert world.found("port of the cache", include_faded=True) == [SAME_PORT]
    assert status(world.services)["merged"] == 1


def test_what_saving_has_confirmed_already_is_not_counted_twice(world: World) -> None:
    first = world.save("The cache port is 6379.")
    world.save("The cache port is 6379 because 6380 was taken.")
    assert world.memory(first.id).confirmations == 1
    assert run(world) == 1
    kept = world.memory(world.memory(first.id).merged_into or "")
    assert kept.content.endswith("taken.")
    assert kept.confirmations == 1


@pytest.mark.parametrize("kind", [Kind.OBSERVATION, Kind.EPISODE])
def test_the_same_event_twice_stays_two_events(world: World, kind: Kind) -> None:
    for _ in range(2):
        put(world, "ran the tests: 3 failed", kind)
    assert run(world) == 0


def test_scopes_validity_expiry_and_two_pins_keep_memories_apart(world: World) -> None:
    put(world, PORT)
    put(world, PORT, scope="/projects/other")
    put(world, PORT, valid_to=world.now + 1)
    put(world, PORT, expires_at=world.now + 1)
    put(world, "Use tabs.", pinned=True)
    put(world, "Use tabs", pinned=True)
    assert run(world) == 0


def test_a_pinned_memory_speaks_for_the_other_and_never_the_other_way(world: World) -> None:
    pinned = put(world, PORT, pinned=True)
    put(world, SAME_PORT, trust=1.0)
    put(world, "The cache port is 6379 because 6380 was taken.")
    assert run(world) == 1
    assert world.memory(pinned.id).merged_into is None


def test_forgotten_and_superseded_memories_are_left_alone(world: World) -> None:
    world.services.ledger.forgotten(put(world, PORT), world.now)
    world.services.ledger.superseded(put(world, PORT), None, world.now, world.now)
    put(world, PORT)
    assert run(world) == 0


def test_the_copy_at_more_bits_speaks_for_the_one_at_fewer(world: World) -> None:
    put(world, PORT)
    world.work_days(9)
    world.run_daily()
    later = put(world, SAME_PORT)
    store = world.services.store
    assert [row.codes.bit_width for row in store.vectors.rows([1, later.seq])] == [4, 32]
    assert run(world) == 1
    assert world.memory(later.id).merged_into is None


@pytest.mark.parametrize("faded", [False, True])
def test_undoing_gives_both_back_byte_for_byte(world: World, *, faded: bool) -> None:
    first = put(world, PORT, trust=1.0)
    if faded:
        world.work_days(60)
        world.run_daily()
    second = put(world, "The cache port is 6379 because 6380 was taken.", importance=0.9)
    world.run_daily()
    store = world.services.store
    with store.atomic():
        store.database.execute("UPDATE memory SET merged_into = NULL")
    # The state before, made by hand: what the run merged is parted and the rest of the run is kept.
    world.services.ledger.parted(replace(world.memory(first.id), merged_into=second.id), world.now)
    before = rows(world)
    one, other = world.memory(second.id), world.memory(first.id)
    with store.atomic():
        merged(store, one, other, world.now)
    assert rows(world) != before
    assert forget(world.services, [first.id], mode="restore").ids == [first.id]
    assert rows(world) == before


def test_undoing_takes_only_the_copys_share_and_keeps_what_came_since(world: World) -> None:
    first, second = put(world, PORT, trust=1.0), put(world, SAME_PORT)
    world.services.ledger.used(second, world.now)
    run(world)
    world.pass_days(3)
    kept = world.memory(first.id)
    world.services.ledger.used(kept, world.now)
    world.services.ledger.contradicted(world.memory(first.id), world.now)
    forget(world.services, [second.id], mode="restore")
    after = world.memory(first.id)
    assert (after.strength.uses, after.strength.last_use_at, after.confirmations) == (1, world.now, 0)
    assert after.trust == pytest.approx(0.7)
    assert after.strength.spaced_uses == 1.0


def test_what_somebody_parted_is_not_merged_again(world: World) -> None:
    put(world, PORT)
    copy = put(world, SAME_PORT)
    assert run(world) == 1
    forget(world.services, [copy.id], mode="restore")
    world.services.ledger.restored(world.memory(copy.id), world.now)
    assert run(world) == 0
    assert len(world.found("port of the cache")) == 2


def test_a_second_run_reads_nothing_and_a_killed_one_goes_on(world: World) -> None:
    for number in range(4):
        put(world, f"Host number {number} is db-{number}.")
        put(world, f"Host number {number} is db-{number}")
    rests = iter([False, False, True, True])
    store = world.services.store
    first = merge_copies(store, world.now, stopped=lambda: next(rests), batch=2)
    assert (first.read, first.merged) == (4, 2)
    second = merge_copies(store, world.now, batch=2)
    assert (second.read, second.merged) == (4, 2)
    assert merge_copies(store, world.now).read == 0
    assert store.copies.count() == 4


@pytest.mark.parametrize("batch", [1, 2, 3, 1_000])
def test_copies_are_found_however_far_apart_they_were_saved_and_whichever_is_read_first(
    world: World, batch: int
) -> None:
    store = world.services.store
    known = put(world, "Host number 9 is db-9.")
    assert merge_copies(store, world.now).merged == 0
    for text in ("Host number {} is db-{}.", "Host number {} is db-{}"):
        for number in range(4):
            put(world, text.format(number, number))
    put(world, "Host number 9 is db-9")
    # Read again, before what was saved after it and is like it.
    world.services.ledger.restored(world.memory(known.id), world.now)
    assert merge_copies(store, world.now, batch=batch).merged == 5


def test_saying_a_merged_copy_again_or_using_it_counts_for_what_speaks_for_it(world: World) -> None:
    kept, copy = put(world, PORT), put(world, SAME_PORT)
    run(world)
    confirmations = world.memory(kept.id).confirmations
    assert world.save(SAME_PORT).id == kept.id
    assert world.memory(kept.id).confirmations == confirmations + 1
    uses = world.memory(kept.id).strength.uses
    assert learn(world.services, "used", [copy.id]).changed == [kept.id]
    assert world.memory(kept.id).strength.uses == uses + 1
    assert world.memory(copy.id).strength.state is State.FORGOTTEN


def test_erasing_a_memory_takes_the_copies_it_speaks_for_along(world: World) -> None:
    kept = put(world, PORT)
    put(world, SAME_PORT)
    run(world)
    reply = forget(world.services, [kept.id], mode="erase", confirmed=True)
    assert reply.verified
    assert world.services.store.memories.count() == 0


def test_a_memory_whose_keeper_is_gone_comes_back_by_itself(world: World) -> None:
    kept, copy = put(world, PORT), put(world, SAME_PORT)
    run(world)
    world.services.ledger.erased([world.memory(kept.id)], world.now)
    forget(world.services, [copy.id], mode="restore")
    assert world.found("port of the cache") == [SAME_PORT]


def test_merges_and_their_undoing_are_rebuilt_from_the_journal(world: World) -> None:
    kept, copy = put(world, PORT), put(world, SAME_PORT)
    third = put(world, "The cache port is 6379")
    world.services.ledger.used(copy, world.now)
    assert run(world) == 2
    forget(world.services, [third.id], mode="restore")
    world.run_daily()
    before = [world.memory(memory.id) for memory in (kept, copy, third)]
    links = rows(world)
    store = world.services.store
    with store.atomic():
        store.database.execute("UPDATE memory SET merged_into = 'x', confirmations = 9")
        store.database.execute("DELETE FROM link")
    rebuild(store, world.now)
    after = [world.memory(memory.id) for memory in (kept, copy, third)]
    assert [replace(memory, version=0) for memory in after] == [replace(memory, version=0) for memory in before]
    assert rows(world) == links


def test_the_daily_run_merges_says_so_and_a_dry_run_only_counts(world: World) -> None:
    put(world, PORT)
    put(world, SAME_PORT)
    dry = {step.name: step.changed for step in world.services.daily.run(world.now, dry_run=True).steps}
    assert (dry["merging"], world.services.store.copies.count()) == (1, 0)
    steps = {step.name: step for step in world.services.daily.run(world.now).steps}
    assert (steps["merging"].changed, steps["merging"].detail) == (1, "1 merged into what says the same")
    assert status(world.services)["last_changes"]["merging"] == 1


def test_one_run_after_a_year_merges_and_fades_as_a_run_a_day(tmp_path: Path) -> None:
    said: list[list[object]] = []
    for name, every in (("daily", 1), ("once", 100)):
        with World(tmp_path / name) as world:
            first = put(world, PORT, trust=0.8)
            put(world, SAME_PORT, trust=0.6)
            put(world, "Deploys go through the blue cluster.", Kind.DECISION)
            for day in range(1, 101):
                world.work_days(1)
                if day % every == 0:
                    world.run_daily()
            store = world.services.store
            memories = store.memories.in_scope(PROJECT)
            assert world.memory(first.id).confirmations == 1
            said.append(
                [
                    (m.content, m.strength.state, m.confirmations, m.trust, round(m.strength.stability, 9))
                    for m in memories
                ]
            )
    assert said[0] == said[1]


def test_what_was_merged_is_journalled_on_both(world: World) -> None:
    kept, copy = put(world, PORT), put(world, SAME_PORT)
    run(world)
    journal = world.services.store.journal
    assert [entry.data["copy"] for entry in journal.of_memory(kept.id) if entry.event is Event.MERGED] == [copy.id]
    assert [entry.data for entry in journal.of_memory(copy.id) if entry.event is Event.MERGED] == [{"into": kept.id}]


def test_provenance_of_the_copy_stays_with_the_copy(world: World) -> None:
    put(world, PORT)
    copy = put(world, SAME_PORT, provenance=Provenance("user", "cli", "s1", "save", "docs/ports.md"))
    run(world)
    assert world.memory(copy.id).provenance.source == "docs/ports.md"
