"""Servers that hooks can find: how they start, end, and clean up after those that were killed."""

import json
import os
import socket
import time
from pathlib import Path

import pytest
from hook_server import HookServer

from ebbing.hooks.asking import NOTE_SUFFIX, ask, notes
from ebbing.hooks.places import write_private
from ebbing.schemas.errors import StoreError
from ebbing.server.hook_answers import KEPT_SECONDS, remove_old_sessions
from ebbing.server.listening import Listener, remove_dead


def answered(home: Path) -> dict[str, object] | None:
    conversation = ask(str(home), "/p", {"op": "prompt"}, seconds=30.0)
    if conversation is None:
        return None
    conversation.close()
    return conversation.reply


def test_several_servers_live_side_by_side(tmp_path: Path) -> None:
    with HookServer(tmp_path, {"from": "one"}, scope="/p"), HookServer(tmp_path, {"from": "two"}, scope="/q"):
        assert len(notes(str(tmp_path), "/p")) == 2
        assert answered(tmp_path) == {"from": "one"}
    assert notes(str(tmp_path), "/p") == []


def test_a_long_path_gets_a_loopback_port(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 30)
    with HookServer(home, {"text": "x"}):
        [note] = notes(str(home), "/p")
        assert isinstance(note["port"], int)
        assert answered(home) == {"text": "x"}


def test_a_new_server_removes_what_killed_ones_left(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    for name, where in (("unix", {"path": str(run / "unix.sock")}), ("port", {"port": port}), ("odd", {})):
        write_private(run / f"{name}{NOTE_SUFFIX}", json.dumps({"token": "t", **where}).encode())
    write_private(run / f"torn{NOTE_SUFFIX}", b"{")
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(run / "unix.sock"))
    with HookServer(tmp_path, {}):
        assert len(list(run.iterdir())) == 2
    assert list(run.iterdir()) == []


def test_a_living_server_is_left_alone(tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "x"}):
        remove_dead(tmp_path / "run")
        assert answered(tmp_path) == {"text": "x"}


def test_starting_and_closing_twice_is_fine(tmp_path: Path) -> None:
    listener = Listener(tmp_path, "/p", lambda _: None)
    listener.close()
    listener.start()
    listener.start()
    assert len(notes(str(tmp_path), "/p")) == 1
    listener.close()
    listener.close()
    assert notes(str(tmp_path), "/p") == []


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_no_socket_open(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(OSError, match="exists"):
        Listener(tmp_path, "/p", lambda _: None).start()


@pytest.mark.parametrize("error", [StoreError("closed"), ZeroDivisionError()], ids=["ours", "a bug"])
def test_an_answer_that_fails_is_silence_and_the_next_hook_is_served(error: Exception, tmp_path: Path) -> None:
    failures = [error]

    def answer(_: object) -> None:
        if failures:
            raise failures.pop()

    listener = Listener(tmp_path, "/p", answer, request_seconds=30.0)
    listener.start()
    assert answered(tmp_path) is None
    assert answered(tmp_path) == {}
    listener.close()


def test_notes_of_sessions_are_kept_for_a_month(tmp_path: Path) -> None:
    now = time.time()
    for name, age in (("old", KEPT_SECONDS + 60), ("new", KEPT_SECONDS - 60)):
        write_private(tmp_path / "sessions" / f"{name}.ids", b"")
        os.utime(tmp_path / "sessions" / f"{name}.ids", (now - age, now - age))
    remove_old_sessions(tmp_path, now)
    assert [path.stem for path in (tmp_path / "sessions").iterdir()] == ["new"]
    remove_old_sessions(tmp_path / "none", now)
