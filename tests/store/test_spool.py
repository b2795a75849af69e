import fcntl
import json
import resource
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.hooks import events
from ebbing.schemas.errors import InvalidInputError, StoreBusyError, StoreFullError, StoreReadOnlyError
from ebbing.schemas.texts import whole
from ebbing.store.spool import Spool, SpoolEvent
from ebbing.store.spool_event import read_line, write_line

AT = 1_790_000_000_123_456


def event(number: int, **payload: Any) -> SpoolEvent:
    return SpoolEvent(f"id-{number}", AT + number, "/p", "s", "stop", payload)


def taken(spool: Spool, limit: int = 1000) -> list[str]:
    """Take everything, and the ids of it."""
    found: list[str] = []
    while batch := spool.take(limit):
        with batch:
            found += [line.event_id for line in batch.lines]
            batch.done()
    return found


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool", wait=0.05)


@contextmanager
def limited_file_size(size: int) -> Generator[None]:
    """Let this process write no file beyond a size, as on a full disk; briefly, since a test report may be a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_empty_or_missing_spool_has_nothing_to_take(spool: Spool) -> None:
    assert spool.take() is None
    spool.append([])
    assert not spool.folder.exists()
    assert (spool.pending_bytes(), spool.bad_bytes(), spool.files()) == (0, 0, [])


def test_events_are_taken_in_order_and_then_gone(spool: Spool) -> None:
    given_events = [event(number, prompt=f"p{number}") for number in range(5)]
    spool.append(given_events[:3])
    spool.append(given_events[3:])
    assert spool.pending_bytes() > 0
    batch = spool.take()
    assert batch is not None
    assert list(batch.lines) == given_events
    batch.done()
    assert spool.take() is None
    assert spool.files() == []
    assert spool.pending_bytes() == 0


def test_a_limit_splits_a_file_without_losing_or_repeating(spool: Spool) -> None:
    spool.append(event(number) for number in range(7))
    assert taken(spool, limit=3) == [f"id-{number}" for number in range(7)]
    assert spool.files() == []


def test_what_was_not_done_is_taken_again(spool: Spool) -> None:
    spool.append(event(number) for number in range(4))
    first = spool.take(2)
    assert first is not None
    first.done()
    second = spool.take(2)
    assert second is not None
    second.release()
    assert taken(Spool(spool.folder)) == ["id-2", "id-3"]


def test_a_batch_that_another_holds_is_not_taken_twice(spool: Spool) -> None:
    spool.append([event(1)])
    held = spool.take()
    assert held is not None
    spool.append([event(2)])
    assert taken(Spool(spool.folder)) == ["id-2"]
    held.done()
    assert spool.files() == []


def test_being_done_after_another_process_already_was_is_harmless(spool: Spool) -> None:
    spool.append([event(1), event(2)])
    batch = spool.take(1)
    assert batch is not None
    (path,) = spool.files()
    path.unlink()
    batch.done()
    assert taken(spool) == []


def test_files_that_hooks_set_beside_are_taken_too(spool: Spool) -> None:
    spool.append([event(1)])
    (spool.folder / "events-x.jsonl").write_bytes(write_line(event(2)))
    assert sorted(taken(spool)) == ["id-1", "id-2"]


def test_a_locked_file_is_left_for_later_and_appending_goes_beside_it(spool: Spool) -> None:
    spool.append([event(1)])
    with (spool.folder / "events.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (spool.folder / "events-x.jsonl").write_bytes(write_line(event(2)))
        assert taken(spool) == ["id-2"]
    assert taken(spool) == ["id-1"]


def test_lines_that_are_no_events_are_set_aside_and_counted(spool: Spool) -> None:
    spool.append([event(1)])
    garbage = b'{"id": "half\n\n\xff\xfe\nnull\n[1]\n{"id":"x","at":"yesterday"}\n'
    with (spool.folder / "events.jsonl").open("ab") as file:
        file.write(garbage)
    spool.append([event(2)])
    batch = spool.take()
    assert batch is not None
    assert [line.event_id for line in batch.lines] == ["id-1", "id-2"]
    assert len(batch.bad) == 5
    assert spool.bad_bytes() == 0
    batch.done()
    assert (spool.folder / "bad.jsonl").read_bytes() == garbage.replace(b"\n\n", b"\n")
    assert spool.bad_bytes() == len(garbage) - 1
    assert spool.take() is None


def test_a_half_written_line_of_a_killed_hook_spoils_no_other(spool: Spool) -> None:
    spool.append([event(1)])
    file = spool.folder / "events.jsonl"
    file.write_bytes(file.read_bytes() + write_line(event(2))[:40])
    spool.append([event(3)])
    assert taken(spool) == ["id-1", "id-3"]
    assert (spool.folder / "bad.jsonl").read_bytes() == write_line(event(2))[:40] + b"\n"


def test_very_long_lines_make_smaller_batches(spool: Spool) -> None:
    spool.append(event(number, prompt="x" * (5 << 20)) for number in range(3))
    batch = spool.take()
    assert batch is not None
    assert len(batch.lines) == 2
    batch.done()
    assert taken(spool) == ["id-2"]


def test_a_spool_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreReadOnlyError):
        Spool(tmp_path / "file" / "spool").append([event(1)])


def test_a_full_disk_changes_nothing(spool: Spool) -> None:
    spool.append([event(1)])
    before = (spool.folder / "events.jsonl").read_bytes()
    with limited_file_size(len(before) + 10), pytest.raises(StoreFullError):
        spool.append([event(2)])
    assert (spool.folder / "events.jsonl").read_bytes() == before


def test_bad_lines_that_cannot_be_set_aside_keep_their_batch(spool: Spool) -> None:
    spool.folder.mkdir()
    (spool.folder / "events.jsonl").write_bytes(b"garbage that does not fit\n" + write_line(event(1)))
    batch = spool.take()
    assert batch is not None
    with batch, limited_file_size(5), pytest.raises(StoreFullError):
        batch.done()
    assert taken(spool) == ["id-1"]


def test_what_json_has_no_form_for_is_refused_before_anything_is_written(spool: Spool) -> None:
    with pytest.raises(InvalidInputError):
        spool.append([event(1), event(2, prompt={1, 2})])
    assert spool.files() == []


def test_the_text_of_a_field_says_what_was_cut() -> None:
    cut = events.trimmed("a" * 6 + "b" * 10 + "c" * 2, 8)
    found = event(1, prompt="p", cut=cut, tool_input={"command": "é"})
    assert found.text("prompt") == "p"
    assert found.text("missing") == ""
    assert found.text("tool_input") == '{"command": "é"}'
    assert found.text("cut") == "aaaaaa\n[10 characters left out]\ncc"


TEXT = st.text(st.characters(codec=None), max_size=30)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.builds(
    SpoolEvent,
    event_id=TEXT.filter(bool),
    at=st.integers(0, 253_402_300_799_999_999),
    scope=TEXT,
    session=TEXT,
    event=TEXT,
    payload=st.dictionaries(TEXT, VALUES, max_size=4),
)


@given(EVENTS)
def test_any_event_comes_back_from_its_line_as_it_was(given_event: SpoolEvent) -> None:
    line = write_line(given_event)
    assert line.count(b"\n") == 1
    # The payload is cleaned as text later; half a surrogate pair in a name could not be stored.
    names = {name: whole(getattr(given_event, name)) for name in ("event_id", "scope", "session", "event")}
    assert read_line(line) == replace(given_event, **names)


@given(st.dictionaries(st.sampled_from(["tool_input", "tool_response"]), VALUES.filter(lambda v: v is not None)))
def test_the_lines_of_hooks_are_read(fields: Mapping[str, Any]) -> None:
    text = events.line("post-tool-use", fields, scope="/p", now=AT * 1000, noise=b"0123456789", limit=10_000, lost=0)
    found = read_line(text.encode())
    assert found is not None
    assert found.payload == fields
    assert found.at == AT


@given(st.lists(st.binary(max_size=30) | EVENTS.map(write_line), max_size=12), st.integers(1, 5))
def test_no_line_is_lost_whatever_it_holds(lines: list[bytes], limit: int) -> None:
    content = b"".join(line.rstrip(b"\n") + b"\n" for line in lines)
    expected = [line for line in content.split(b"\n") if line.strip()]
    with TemporaryDirectory() as folder:
        Path(folder, "events.jsonl").write_bytes(content)
        found = taken(Spool(Path(folder)), limit)
        bad = Path(folder, "bad.jsonl")
        aside = bad.read_bytes().split(b"\n")[:-1] if bad.exists() else []
    assert [event.event_id for line in expected if (event := read_line(line + b"\n"))] == found
    assert [line.rstrip(b"\r") for line in expected if read_line(line + b"\n") is None] == aside


def test_a_purge_removes_the_lines_with_a_text_and_no_others(spool: Spool) -> None:
    spool.append(
        [
            event(1, prompt="the token is s3cr3t, ok"),
            event(2, prompt="harmless"),
            event(3, tool_response={"stdout": json.dumps({"answer": 'say "s3cr3t"\nagain'})}),
        ]
    )
    assert spool.purge(["s3cr3t"]) == 2
    assert not any(b"s3cr3t" in path.read_bytes() for path in spool.folder.iterdir())
    assert taken(spool) == ["id-2"]


@pytest.mark.parametrize(
    ("stored", "erased"),
    [
        ("ein café 🙂 hier", "café 🙂"),
        ("cafe\u0301 decomposed", "café decomposed"),
        ("over\r\n  two\tlines", "over two lines"),
        ('a "quoted" C:\\path', '"quoted" C:\\path'),
    ],
)
def test_a_purge_finds_a_text_however_it_was_escaped_or_cleaned(stored: str, erased: str, spool: Spool) -> None:
    spool.append([event(1, prompt=stored), event(2, tool_response=json.dumps({"text": stored})), event(3)])
    assert spool.purge([erased]) == 2
    assert taken(spool) == ["id-3"]


def test_a_purge_reaches_lines_that_are_taken_or_set_aside(spool: Spool) -> None:
    spool.append([event(1, prompt="secret"), event(2, prompt="secret"), event(3)])
    (spool.folder / "bad.jsonl").write_bytes(b'{"prompt": "half a secret\nother\n')
    batch = spool.take(1)
    assert batch is not None
    batch.done()
    assert spool.purge(["secret"]) == 2
    assert not any(b"secret" in path.read_bytes() for path in spool.folder.iterdir())
    assert (spool.folder / "bad.jsonl").read_bytes() == b"other\n"
    assert taken(spool) == ["id-3"]


def test_a_purge_removes_what_a_killed_one_left(spool: Spool) -> None:
    spool.append([event(1, prompt="secret")])
    (spool.folder / "events.jsonl.ab12.tmp").write_bytes(b"secret")
    (spool.folder / "taking-x-0.jsonl.ab12.tmp").write_bytes(b"secret")
    spool.purge(["secret"])
    assert [path.name for path in spool.folder.iterdir()] == ["events.jsonl"]


def test_a_purge_of_nothing_removes_nothing(spool: Spool) -> None:
    spool.append([event(1)])
    assert spool.purge(["", "  "]) == 0
    assert taken(spool) == ["id-1"]


def test_a_purge_waits_for_a_batch_and_says_so_when_it_stays_busy(spool: Spool) -> None:
    spool.append([event(1, prompt="secret")])
    batch = spool.take()
    assert batch is not None
    with batch, pytest.raises(StoreBusyError):
        spool.purge(["secret"])
    assert spool.purge(["secret"]) == 1


WRITER = """
import os, sys
from ebbing.hooks.appending import append_or_set_beside
sys.stdin.read()
for number in range(200):
    os.sched_yield()
    name = f"{sys.argv[2]}-{number}"
    line = f'{{"id":"{name}","at":"2026-01-01T00:00:00Z","scope":"","session":"","event":"","payload":{{}}}}'
    append_or_set_beside(sys.argv[1], line.encode() + b"\\n", unique=name, wait=0.05)
"""


def test_eight_writers_and_a_taker_lose_nothing_and_repeat_nothing(spool: Spool) -> None:
    spool.folder.mkdir()
    path = str(spool.folder / "events.jsonl")
    command = [sys.executable, "-c", WRITER, path]
    writers = [subprocess.Popen([*command, str(writer)], stdin=subprocess.PIPE) for writer in range(8)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    found: list[str] = []
    while any(writer.poll() is None for writer in writers):
        found += taken(spool, limit=37)
    found += taken(spool)
    assert [writer.wait() for writer in writers] == [0] * 8
    assert sorted(found) == sorted(f"{writer}-{number}" for writer in range(8) for number in range(200))
    assert spool.files() == []
