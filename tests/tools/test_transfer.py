"""Everything that a store remembers comes out of it, into another, and out again, byte for byte."""

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_store import open_store
from random_store import fill
from world import PROJECT, START, World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.rebuild import rebuild
from ebbing.schemas.errors import InvalidInputError, StoreCorruptError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import State
from ebbing.store.carried import CARRIED, LEFT
from ebbing.store.store import Store
from ebbing.tools.explain import explain
from ebbing.tools.transfer.export import export
from ebbing.tools.transfer.load import Loaded, load


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home") as made:
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "other") as made:
        yield made


def exported(store: Store, scope: str | None = None) -> bytes:
    target = io.BytesIO()
    export(store, target, scope)
    return target.getvalue()


def taken(world: World, data: bytes, *, skip_bad: bool = False, dry_run: bool = False) -> Loaded:
    return load(world.services, io.BytesIO(data), skip_bad=skip_bad, dry_run=dry_run)


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.split(b"\n") if line]


def lines(found: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in found)


def lived(world: World) -> list[str]:
    """A store with one memory in each state, one erased, one superseded, links and a journal; returns the ids."""
    kept = world.save("We use pnpm because npm broke the lock file of web/package.json.", "decision").id
    old = world.save("The staging database listens on port 5432.").id
    fading = world.save("The build of alpha-7 failed because the cache at /var/cache/alpha was full.", "episode").id
    gone = world.save("Never keep this sentence about quails.").id
    world.work_days(12)
    new = world.save("The staging database listens on port 5433.").id
    world.services.ledger.used(world.memory(kept), world.now)
    world.services.recorder.erase([world.memory(gone)], world.now)
    world.found("which port?")
    world.work_days(30)
    world.run_daily()
    return [kept, old, fading, new]


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


# --- bad files -------------------------------------------------------------------------------------------------------


def test_a_bad_line_is_named_and_nothing_is_imported(world: World, other: World) -> None:
    lived(world)
    found = exported(world.services.store).splitlines(keepends=True)
    for broken in (b"{not json\n", b"[]\n", b'{"type":"poem"}\n', b"\xff\xfe\n", b"[" * 5000 + b"\n"):
        data = b"".join([*found[:4], broken, *found[4:]])
        with pytest.raises(InvalidInputError, match="line 5: "):
            taken(other, data)
        assert other.services.store.memories.count() == 0
        done = taken(other, data, skip_bad=True, dry_run=True)
        assert (done.added, list(done.bad)) == (4, [5])


def test_skipping_a_bad_memory_loses_nothing_else(world: World, other: World) -> None:
    kept, *rest = lived(world)
    found = records(exported(world.services.store))
    [number] = [number for number, record in enumerate(found, 1) if record.get("id") == kept]
    del found[number - 1]["trust"]
    other.now = world.now
    done = taken(other, lines(found), skip_bad=True)
    assert (done.added, list(done.bad)) == (3, [number])
    assert {identifier for identifier in rest if other.memory(identifier)} == set(rest)
    # The file as it was then brings the one that was missing, with its links.
    done = taken(other, exported(world.services.store))
    assert (done.added, done.unchanged) == (1, 3)
    assert other.memory(kept).content == world.memory(kept).content


def test_a_file_that_breaks_off_is_noticed(world: World, other: World) -> None:
    lived(world)
    data = exported(world.services.store)
    for cut in (data[: len(data) // 2], b"".join(data.splitlines(keepends=True)[:-2])):
        with pytest.raises(InvalidInputError, match=r"broken off|ends early"):
            taken(other, cut)
    assert other.services.store.memories.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", ""),
        ("id", "my-memory"),
        ("id", "0198C2F0-0000-7000-8000-000000000000"),
        ("kind", "poem"),
        ("trust", 1.5),
        ("trust", "much"),
        ("importance", None),
        ("recorded_at", 1 << 62),
        ("recorded_at", 1 << 80),
        ("recorded_at", True),
        ("valid_to", -(1 << 62)),
        ("entities", [["one"]]),
        ("slots", [["a", "b", "c", "d"]]),
        ("tags", "x"),
        ("cue", "\ud800"),
        ("content", 7),
        ("strength", {}),
        ("attic", {}),
        ("surprise", 1),
        ("pinned", "yes"),
    ],
)
def test_a_value_that_no_store_holds_is_refused(world: World, other: World, name: str, value: object) -> None:
    world.save("The port is 8080.")
    found = records(exported(world.services.store))
    [memory] = [record for record in found if record["type"] == "memory"]
    memory[name] = value
    done = taken(other, lines(found), skip_bad=True)
    assert (done.added, len(done.bad)) == (0, 1)
    assert other.services.store.memories.count() == 0


@pytest.mark.parametrize(
    "record",
    [
        {"type": "scope", "key": "x", "clock_origin": 5, "clock_closed": 0.0},
        {"type": "meta", "key": "x"},
        {"type": "links", "memory": "x", "links": [["a", "b"]]},
        {"type": "links", "memory": "x", "links": [["a", "b", 1.0]]},
        {"type": "journal", "at": 1, "event": "danced", "scope": None, "memory": None, "ref": None, "data": {}},
        {"type": "links", "memory": "x", "links": [["a", "b", 10**400]]},
        {"type": "journal", "at": 1, "event": [], "scope": None, "memory": None, "ref": None, "data": {}},
        {"type": "journal", "at": None, "event": "used", "scope": None, "memory": None, "ref": None, "data": {}},
        {"type": "journal", "at": 1, "event": "used", "scope": None, "memory": None, "ref": None, "data": []},
    ],
    ids=lambda record: str(record)[:60],
)
def test_other_records_that_no_store_holds_are_refused(other: World, record: dict[str, Any]) -> None:
    header: dict[str, Any] = {"type": "ebbing-export", "format": 1, "schema": 1, "records": {}}
    done = taken(other, lines([header, record]), skip_bad=True)
    assert list(done.bad) == [2]


def test_what_nests_deeper_than_can_be_written_again_is_a_bad_line(other: World) -> None:
    header: dict[str, Any] = {"type": "ebbing-export", "format": 1, "schema": 1, "records": {}}
    entry = {"type": "journal", "at": 1, "event": "used", "scope": None, "memory": None, "ref": None, "data": {"a": 0}}
    for depth in (150, 900, 970, 5_000):
        deep = json.dumps(entry).replace("0}", "[" * depth + "]" * depth + "}").encode()
        done = taken(other, lines([header]) + deep, skip_bad=True)
        assert list(done.bad) == [2]


def test_the_same_memory_twice_in_a_file_is_a_bad_line(world: World, other: World) -> None:
    world.save("The port is 8080.")
    found = records(exported(world.services.store))
    [memory] = [record for record in found if record["type"] == "memory"]
    with pytest.raises(InvalidInputError, match="already"):
        taken(other, lines([*found, memory]))


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (b"", "not an export"),
        (b'{"type":"memory"}\n', "not an export"),
        (b'{"type":"ebbing-export","format":99,"records":{}}\n', "upgrade"),
        (b'{"type":"ebbing-export","format":1}\n', "header"),
    ],
)
def test_a_file_that_is_no_export_of_a_known_format_is_refused(other: World, first: bytes, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        taken(other, first)


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
