"""What an import refuses: damaged files, files that break off, and records that no store could hold."""

import json
from typing import Any

import pytest
from transferring import exported, lines, lived, records, taken
from world import World

from ebbing.schemas.errors import InvalidInputError


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
