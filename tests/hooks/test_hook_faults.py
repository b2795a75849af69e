"""Every event under every fault: exit code 0, one JSON object or nothing on stdout, nothing on stderr."""

import json
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hook_process import EXAMPLES, HookProcess, example, spooled
from hook_server import HookServer
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.hooks import places, sessions
from ebbing.hooks.asking import NOTE_SUFFIX

Started = dict[str, Any]
Fault = Callable[[Path], AbstractContextManager[Started]]
LONG = b'{"prompt": "' + b"0123456789" * (1 << 20) + b'"}'


def fill(home: Path) -> None:
    """A home in which hooks have something to print and something to ask."""
    places.write_private(places.soft_prompt_path(home, "global"), b"- 2026-03-01 known [x]\n")
    places.write_private(home / "memory.db", b"")
    with closing(sqlite3.connect(home / "memory.db")) as database:
        database.execute("CREATE TABLE memory (seq)")


@contextmanager
def nothing_at_all(home: Path) -> Generator[Started]:
    yield {}


@contextmanager
def a_locked_database(home: Path) -> Generator[Started]:
    fill(home)
    with closing(sqlite3.connect(home / "memory.db")) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield {}


@contextmanager
def a_read_only_database(home: Path) -> Generator[Started]:
    fill(home)
    (home / "memory.db").chmod(0o400)
    yield {}


@contextmanager
def everything_corrupt(home: Path) -> Generator[Started]:
    fill(home)
    garbage = bytes(range(256)) * 8
    sessions.note(str(home), "7d1c5f0e-session", [])
    files = [home / "memory.db", *home.glob("soft-prompts/*"), Path(places.session_file(str(home), "7d1c5f0e-session"))]
    for path in (*files, home / "spool" / "events.jsonl", home / "run" / f"x{NOTE_SUFFIX}"):
        places.write_private(path, garbage)
    yield {}


@contextmanager
def folders_for_files(home: Path) -> Generator[Started]:
    for path in ("memory.db", "spool/events.jsonl", f"run/x{NOTE_SUFFIX}"):
        (home / path).mkdir(parents=True)
    for path in (places.soft_prompt_path(home, "global"), places.session_file(str(home), "7d1c5f0e-session")):
        Path(path).mkdir(parents=True)
    yield {}


@contextmanager
def a_full_disk(home: Path) -> Generator[Started]:
    fill(home)
    with HookServer(home, {"text": "x", "ids": []}):
        yield {"shell": "ulimit -f 0"}


@contextmanager
def an_unwritable_home(home: Path) -> Generator[Started]:
    yield {"env": {"EBBING_HOME": "/dev/null/home"}}


@contextmanager
def no_home_and_an_unwritable_one_of_the_user(home: Path) -> Generator[Started]:
    yield {"env": {"EBBING_HOME": "", "HOME": "/dev/null", "XDG_DATA_HOME": ""}}


@contextmanager
def a_server_that_is_stuck(home: Path) -> Generator[Started]:
    fill(home)
    with socket.socket(socket.AF_UNIX) as silent:
        places.make_private_folder(str(home / "run"))
        silent.bind(str(home / "run" / "s.sock"))
        silent.listen()
        note = {"token": "t", "path": str(home / "run" / "s.sock"), "scope": "/"}
        places.write_private(home / "run" / f"s{NOTE_SUFFIX}", json.dumps(note).encode())
        yield {}


@contextmanager
def a_server_that_answers_nonsense(home: Path) -> Generator[Started]:
    fill(home)
    with HookServer(home, {"text": {"not": "a text"}, "ids": 7}):
        yield {}


@contextmanager
def a_stdout_without_room(home: Path) -> Generator[Started]:
    fill(home)
    with HookServer(home, {"text": "x", "ids": []}), open("/dev/full", "wb") as full:  # noqa: PTH123
        yield {"stdout": full.fileno()}


@contextmanager
def settings_that_mean_nothing(home: Path) -> Generator[Started]:
    fill(home)
    yield {"env": {"EBBING_SCOPE": "\udcff\n", "EBBING_CAPTURE": "\udcff", "EBBING_INJECT": ",,", "HOME": "~"}}


FAULTS: tuple[Fault, ...] = (
    nothing_at_all,
    a_locked_database,
    a_read_only_database,
    everything_corrupt,
    folders_for_files,
    a_full_disk,
    an_unwritable_home,
    no_home_and_an_unwritable_one_of_the_user,
    a_server_that_is_stuck,
    a_server_that_answers_nonsense,
    a_stdout_without_room,
    settings_that_mean_nothing,
)


def assert_harmless(done: subprocess.CompletedProcess[bytes]) -> None:
    assert (done.returncode, done.stderr) == (0, b"")
    assert not done.stdout or isinstance(json.loads(done.stdout), dict)


def all_events(started: Mapping[str, Any], *, stdin: bytes | None = None, at_once: int = len(EXAMPLES)) -> None:
    """Every event, so many at the same time, as a client with several sessions runs them."""
    events = list(EXAMPLES)
    for start in range(0, len(events), at_once):
        some = events[start : start + at_once]
        running = [HookProcess(event, example(event) if stdin is None else stdin, **started) for event in some]
        for process in running:
            assert_harmless(process.ended())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_no_event_disturbs_the_client_whatever_is_wrong(fault: Fault, ebbing_home: Path) -> None:
    with fault(ebbing_home) as started:
        all_events(started)


@pytest.mark.parametrize(
    "stdin",
    [
        LONG,
        b'{"session_id": "s", "prompt": "caf\xe9 \xed\xa0\x80 \\ud800", "tool_name": "\xff"}',
        b'{"session_id": 7, "cwd": ["/"], "prompt": {"a": null}, "tool_response": 1e999, "tool_info": []}',
        b'{"cwd": "a\\u0000b", "session_id": "' + b"s" * 5000 + b'"}',
    ],
    ids=["ten megabytes", "invalid UTF-8", "other types", "NUL and long names"],
)
def test_no_event_disturbs_the_client_whatever_it_says(stdin: bytes, ebbing_home: Path) -> None:
    fill(ebbing_home)
    # What is very long one after the other: a hook that has to wait for others gives up reading in time.
    all_events({}, stdin=stdin, at_once=1 if stdin is LONG else len(EXAMPLES))
    assert sorted(line["event"] for line in spooled(ebbing_home)) == sorted(EXAMPLES)


def test_very_long_events_at_once_disturb_no_client(ebbing_home: Path) -> None:
    fill(ebbing_home)
    all_events({}, stdin=LONG)


@settings(max_examples=12, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(sorted(EXAMPLES)), st.text("-abc= \u00e9", max_size=12))
def test_arbitrary_bytes_and_arguments_are_survived(stdin: bytes, event: str, argument: str) -> None:
    assert_harmless(HookProcess(f"{event} --client {argument}", stdin).ended())


def test_an_event_in_a_folder_that_no_system_could_have_is_not_lost(ebbing_home: Path) -> None:
    for folder in ("\udc00", "a\0b", "x" * 10_000):
        HookProcess("stop", example("stop", cwd=folder)).ended()
    assert len(spooled(ebbing_home)) == 3


def test_many_hooks_at_once_leave_whole_lines(ebbing_home: Path) -> None:
    running = [
        HookProcess("post-tool-use", example("post-tool-use", tool_use_id=f"t{number}", tool_response="x" * 20_000))
        for number in range(16)
    ]
    for process in running:
        assert_harmless(process.ended())
    lines = spooled(ebbing_home)
    assert len({line["id"] for line in lines}) == len(lines) == 16
    assert all(line["payload"]["tool_response"] == "x" * 20_000 for line in lines)
    assert [path.name for path in ebbing_home.iterdir()] == ["spool"]
