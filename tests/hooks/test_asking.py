"""Asking servers: real sockets, a clock that the test moves, and servers that misbehave in every way."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest
from hook_server import HookServer

from ebbing.hooks.asking import NOTE_SUFFIX, PASSED_ON, Line, ask, connected, notes, proof, read_note
from ebbing.hooks.places import run_folder, write_private

TOKEN = "0123456789abcdef"


class Clock:
    """Seconds that pass only when somebody looks, `step` each time."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self._step = step

    def __call__(self) -> float:
        self.now += self._step
        return self.now


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Callable[[], socket.socket]]:
    """Sockets that listen, each with a note in the run folder, and whose other end the test plays."""
    with ExitStack() as opened:

        def make() -> socket.socket:
            made = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
            leave_note(tmp_path, f"{made.getsockname()[1]}", port=made.getsockname()[1])
            return made

        yield make


def leave_note(home: Path, name: str, **fields: Any) -> None:
    note = {"v": 1, "token": TOKEN, "scope": "/p", "since": 1.0, **fields}
    write_private(Path(run_folder(str(home)), name + NOTE_SUFFIX), json.dumps(note).encode())


def asked(home: Path, *, seconds: float = 30.0, clock: Callable[[], float] | None = None) -> dict[str, object] | None:
    conversation = ask(str(home), "/p", {"op": "prompt"}, seconds=seconds, clock=clock or Clock())
    if conversation is None:
        return None
    conversation.close()
    return conversation.reply


@pytest.mark.parametrize("unix", [True, False], ids=["unix", "loopback"])
def test_a_server_is_asked_and_told_that_its_answer_was_passed_on(unix: bool, tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "é🙂"}, unix=unix) as server:
        conversation = ask(str(tmp_path), "/p", {"op": "prompt", "prompt": "x\ny 🙂"}, seconds=30.0)
        assert conversation is not None
        assert conversation.reply == {"text": "é🙂"}
        conversation.passed_on()
        conversation.close()
    assert (server.asked[0]["prompt"], server.passed_on) == ("x\ny 🙂", 1)


def test_hanging_up_without_a_word_counts_as_not_passed_on(tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "x"}) as server:
        assert asked(tmp_path) == {"text": "x"}
    assert server.passed_on == 0


def test_without_servers_nobody_is_asked(tmp_path: Path) -> None:
    assert asked(tmp_path) is None
    (tmp_path / "run").touch()
    assert asked(tmp_path) is None


def test_a_dead_server_is_passed_over(tmp_path: Path) -> None:
    leave_note(tmp_path, "dead", path=str(tmp_path / "gone.sock"), since=9e9)
    with HookServer(tmp_path, {"text": "alive"}):
        assert asked(tmp_path) == {"text": "alive"}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"token": 1}', b'{"token": "t"}', b'{"token": "t", "port": "x"}', b"\xff" * 9000],
)
def test_a_note_that_cannot_be_read_or_used_is_passed_over(content: bytes, tmp_path: Path) -> None:
    write_private(tmp_path / "run" / f"odd{NOTE_SUFFIX}", content)
    assert asked(tmp_path) is None


def test_the_sessions_own_scope_comes_first_then_the_newest(tmp_path: Path) -> None:
    for name, scope, since in (("a", "/p", 1.0), ("b", "/q", 9.0), ("c", "/p", 5.0), ("d", "/q", "never")):
        leave_note(tmp_path, name, port=1, scope=scope, since=since)
    order = [(note["scope"], note["since"]) for note in notes(str(tmp_path), "/p")]
    assert order == [("/p", 5.0), ("/p", 1.0), ("/q", 9.0), ("/q", "never")]


def test_at_most_eight_servers_are_tried(tmp_path: Path) -> None:
    for number in range(20):
        leave_note(tmp_path, f"{number:02}", port=1)
    assert len(notes(str(tmp_path), "/p")) == 8


def test_a_server_that_does_not_answer_is_given_up_when_the_time_is_over(
    tmp_path: Path, listening: Callable[[], socket.socket]
) -> None:
    silent = listening()
    clock = Clock(step=0.05)
    assert asked(tmp_path, seconds=0.3, clock=clock) is None
    assert clock.now < 1.0
    with silent.accept()[0] as accepted:
        challenge, _, rest = accepted.makefile("rb").read().partition(b"\n")
    assert (len(challenge), rest) == (32, b"")


class Dripping:
    """A connection on which there is always one more byte, and never the end of a line."""

    def __init__(self) -> None:
        self.received = 0

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def recv(self, size: int) -> bytes:
        self.received += 1
        return b"x"


def test_a_server_that_answers_drop_by_drop_is_given_up_too() -> None:
    drops = Dripping()
    line = Line(cast("Any", drops), 1.0, Clock(step=0.125))
    with pytest.raises(TimeoutError):
        line.receive()
    assert drops.received == 7


def test_a_silent_server_leaves_time_for_the_next(tmp_path: Path, listening: Callable[[], socket.socket]) -> None:
    listening()
    with HookServer(tmp_path, {"text": "second"}, scope="/q"):
        conversation = ask(str(tmp_path), "/p", {"op": "prompt"}, seconds=0.4)
        # Real time: on a machine too slow to answer in what is left, silence is right as well.
        assert conversation is None or conversation.reply == {"text": "second"}
        if conversation is not None:
            conversation.close()


def test_a_stranger_at_the_address_is_told_nothing(tmp_path: Path, listening: Callable[[], socket.socket]) -> None:
    stranger, heard = listening(), list[bytes]()

    def play() -> None:
        accepted, _ = stranger.accept()
        with accepted:
            heard.append(accepted.recv(1000))
            accepted.sendall(proof("another token", "x").encode() + b"\n")
            heard.append(accepted.recv(1000))

    playing = Thread(target=play)
    playing.start()
    assert asked(tmp_path) is None
    playing.join()
    challenge, rest = heard
    assert len(bytes.fromhex(challenge.decode().strip())) == 16
    assert rest == b""


def test_who_does_not_know_the_token_is_hung_up_on(tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "x"}) as server:
        [note] = notes(str(tmp_path), "/p")
        line = connected(note, until=30.0, clock=Clock())
        line.send(json.dumps({"op": "prompt", "token": "guessed"}).encode() + b"\n")
        with pytest.raises(ConnectionResetError):
            line.receive()
        line.close()
    assert server.asked == []


@pytest.mark.parametrize(
    "sent",
    [b"", b"\n\n", b"x\nnonsense\n", b'x\n{"token": 7}\n', b"x\n" + b"[" * 100_000 + b"\n", b"\xff" * 400_000],
    ids=["nothing", "blank", "no json", "no token", "deep", "long"],
)
def test_a_server_survives_whatever_is_sent_to_it(sent: bytes, tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "still there"}) as server:
        [note] = notes(str(tmp_path), "/p")
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(note["path"]))
            try:
                stranger.sendall(sent)
                stranger.shutdown(socket.SHUT_WR)
            except OSError:
                assert len(sent) > 100_000
        assert asked(tmp_path) == {"text": "still there"}
    assert len(server.asked) == 1


def test_a_proof_depends_on_token_and_challenge() -> None:
    proofs = {proof("a", "x"), proof("b", "x"), proof("a", "y"), proof("", "x"), proof("a" * 100, "x")}
    assert len(proofs) == 5
    assert PASSED_ON.endswith(b"\n")


def test_a_note_is_private_and_gone_after_the_end(tmp_path: Path) -> None:
    with HookServer(tmp_path, {}):
        files = list((tmp_path / "run").iterdir())
        assert {file.suffix: file.stat().st_mode & 0o777 for file in files} == {".server": 0o600, ".sock": 0o600}
        assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "run").iterdir()) == []
    assert read_note(str(tmp_path / "run" / "none")) == {}
