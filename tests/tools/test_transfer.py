"""Everything that a store remembers comes out of it, into another, and out again, byte for byte."""

import random
from pathlib import Path

import pytest
from history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import open_store
from random_store import fill
from transferring import exported, lines, lived, records, taken
from world import PROJECT, START, World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.rebuild import rebuild
from ebbing.schemas.errors import InvalidInputError, StoreCorruptError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import State
from ebbing.store.carried import CARRIED, LEFT
from ebbing.tools.explain import explain

# --- identical -------------------------------------------------------------------------------------------------------


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_whatever_the_columns_hold_comes_out_again_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("random")
    with open_store(folder / "one") as store, World(folder / "two") as empty:
        fill(store, random.Random(seed), 8)
        first = exported(store)
        empty.engine.embedder(0.0)
        taken(empty, first)
        assert exported(empty.services.store) == first


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_random_life_comes_out_again_byte_for_byte_and_can_be_rebuilt(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("life")
    constants = DecaySettings(budget_memories=12)
    with (
        History(folder / "one", random.Random(seed), constants) as history,
        World(folder / "two", now=history.now, decay=constants) as empty,
    ):
        history.live(90)
        first = exported(history.store)
        taken(empty, first)
        assert exported(empty.services.store) == first
        texts = {memory.id: memory.content for batch in empty.services.store.memories.all() for memory in batch}
        assert {name: texts[name] for name in history.texts} == history.texts
        # The journal came whole and in order: what it says of the figures is what the columns say.
        rebuild(history.store, history.now, constants)
        rebuild(empty.services.store, history.now, constants)
        assert empty.services.store.database.rows("SELECT * FROM scope ORDER BY id") == history.store.database.rows(
            "SELECT * FROM scope ORDER BY id"
        )
        figures = "SELECT id, state, spaced_uses, anchor_tau, stability, rate FROM memory JOIN strength USING (seq)"
        assert empty.services.store.database.rows(figures) == history.store.database.rows(figures)


def test_every_table_of_the_schema_is_carried_or_left_for_a_reason(world: World) -> None:
    tables = world.services.store.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    assert [name for (name,) in tables if name not in CARRIED and not name.startswith(tuple(LEFT))] == []


def test_a_lived_in_store_is_the_same_after_the_move(world: World, other: World) -> None:
    ids = lived(world)
    first = exported(world.services.store)
    other.now = world.now
    done = taken(other, first)
    assert (done.added, done.embedded, done.bad) == (4, 4, {})
    assert exported(other.services.store) == first
    for identifier in ids:
        there, here = explain(world.services, identifier), explain(other.services, identifier)
        assert there == here
    assert other.found("why pnpm?") == world.found("why pnpm?")
    assert other.services.store.integrity() == []


def test_faded_memories_come_with_their_text_and_stay_as_faded(world: World, other: World) -> None:
    _, _, fading, _ = lived(world)
    assert world.state(fading) >= State.ARCHIVE
    other.now = world.now
    taken(other, exported(world.services.store))
    assert other.state(fading) == world.state(fading)
    assert other.memory(fading).content == world.memory(fading).content
    [width] = [row.codes.bit_width for row in other.services.store.vectors.rows([other.memory(fading).seq])]
    assert width == world.memory(fading).strength.bit_width
    other.services.ledger.used(other.memory(fading), other.now)
    assert other.state(fading) is State.ACTIVE


def test_one_scope_comes_out_alone(world: World, other: World) -> None:
    world.save("The port is 8080.")
    world.save("Answers are short.", scope="global")
    data = exported(world.services.store, "global")
    assert [record["content"] for record in records(data) if record["type"] == "memory"] == ["Answers are short."]
    taken(other, data)
    assert other.services.store.memories.count(PROJECT) == 0
    with pytest.raises(InvalidInputError):
        exported(world.services.store, "/no/such/project")


def test_a_damaged_text_is_named_and_not_passed_over(world: World) -> None:
    memory = world.save("The port is 8080.")
    world.services.ledger.forgotten(memory, world.now)
    with world.services.store.atomic():
        world.services.store.database.execute("UPDATE attic SET codec = 'zlib-1', body = x'00'")
    with pytest.raises(StoreCorruptError, match=memory.id):
        exported(world.services.store)


# --- into a store that has memories ----------------------------------------------------------------------------------


def test_importing_twice_changes_nothing(world: World, other: World) -> None:
    lived(world)
    data = exported(world.services.store)
    other.now = world.now
    taken(other, data)
    before = exported(other.services.store)
    again = taken(other, data)
    assert (again.added, again.updated, again.unchanged, again.journal, again.links) == (0, 0, 4, 0, 0)
    assert exported(other.services.store) == before


def test_importing_into_the_store_it_came_from_changes_nothing(world: World) -> None:
    lived(world)
    data = exported(world.services.store)
    assert taken(world, data).unchanged == 4
    assert exported(world.services.store) == data


def test_what_has_more_of_a_history_in_the_file_is_updated(world: World, other: World) -> None:
    memory = world.save("The port is 8080.")
    taken(other, exported(world.services.store))
    world.work_days(3)
    world.services.ledger.used(world.memory(memory.id), world.now)
    world.services.ledger.pinned(world.memory(memory.id), world.now, pinned=True)
    other.now = world.now
    done = taken(other, exported(world.services.store))
    assert (done.updated, done.journal) == (1, 5)
    assert other.memory(memory.id).pinned
    assert other.memory(memory.id).strength.uses == 1
    assert len(explain(other.services, memory.id)["history"]) == 3


def test_what_has_gone_on_here_is_left_as_it_is(world: World, other: World) -> None:
    memory = world.save("The port is 8080.")
    data = exported(world.services.store)
    taken(other, data)
    other.services.ledger.used(other.memory(memory.id), other.now)
    before = exported(other.services.store)
    assert taken(other, data).kept == 1
    assert exported(other.services.store) == before


def test_what_was_erased_here_stays_erased(world: World, other: World) -> None:
    memory = world.save("The port is 8080.")
    data = exported(world.services.store)
    taken(other, data)
    other.services.recorder.erase([other.memory(memory.id)], other.now)
    done = taken(other, data)
    assert (done.erased, done.added, done.journal) == (1, 0, 0)
    assert other.services.store.memories.count() == 0


def test_a_memory_keeps_its_age_where_the_project_has_another_clock(world: World, other: World) -> None:
    memory = world.save("The port is 8080.")
    world.work_days(5)
    other.work_days(200)
    other.save("Quite another matter.")
    world.now = other.now = max(world.now, other.now)
    elapsed = explain(world.services, memory.id)["clock"]["elapsed_days"]
    taken(other, exported(world.services.store))
    assert explain(other.services, memory.id)["clock"]["elapsed_days"] == pytest.approx(elapsed)


def test_another_process_finds_what_was_imported_at_once(world: World, tmp_path: Path) -> None:
    world.save("The mirror is called tulip.")
    data = exported(world.services.store)
    with World(tmp_path / "shared") as reader, World(tmp_path / "shared") as writer:
        assert reader.found("mirror") == []
        taken(writer, data)
        assert reader.found("mirror") == ["The mirror is called tulip."]


def test_an_export_of_before_a_column_was_added_takes_its_default(world: World, other: World) -> None:
    world.save("The port is 8080.")
    found = records(exported(world.services.store))
    [memory] = [record for record in found if record["type"] == "memory"]
    for name in ("version", "time_words", "tags", "event_id"):
        del memory[name]
    del memory["strength"]["heat_day"]
    assert taken(other, lines(found)).added == 1
    assert other.memory(memory["id"]).tags == ()


def test_a_dry_run_writes_nothing(world: World, other: World) -> None:
    lived(world)
    done = taken(other, exported(world.services.store), dry_run=True)
    assert (done.added, done.dry_run, other.services.store.memories.count()) == (4, True, 0)


def test_the_same_event_remembered_in_both_stores_is_not_doubled(world: World, other: World) -> None:
    for each in (world, other):
        memory = each.save("The build failed.", "episode")
        with each.services.store.atomic():
            each.services.store.database.execute("UPDATE memory SET event_id = 'e1' WHERE seq = ?", (memory.seq,))
    done = taken(other, exported(world.services.store))
    assert (done.doubles, done.added, other.services.store.memories.count()) == (1, 0, 1)


def test_ages_of_a_long_time_ago_are_kept(world: World, other: World) -> None:
    memory = world.save("The port is 8080.")
    other.now = START + 400 * MICROSECONDS_PER_DAY
    taken(other, exported(world.services.store))
    other.run_daily()
    assert other.state(memory.id) > State.ACTIVE
