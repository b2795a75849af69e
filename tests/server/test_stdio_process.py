import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from stdio_probe import INITIALIZED, PATIENCE, PROBE, LineReader, Probe, call, initialize, text_of


@pytest.fixture
def probe() -> Iterator[Probe]:
    with Probe() as started:
        yield started


@pytest.fixture(scope="module")
def lasting_probe() -> Iterator[Probe]:
    """One server for all tests of single lines: none of these lines may harm it."""
    with Probe() as started:
        started.start()
        yield started


def test_a_line_that_is_not_json_is_answered_at_once_under_its_id(lasting_probe: Probe) -> None:
    lasting_probe.send(b'{"jsonrpc":"2.0","id":41,"method":"tools/list",}', b"nonsense")
    first, second = lasting_probe.receive(), lasting_probe.receive()
    assert (first["error"]["code"], first["id"]) == (-32700, 41)
    assert (second["error"]["code"], second["id"]) == (-32700, None)


def test_a_batch_and_a_request_without_a_method_are_answered_as_invalid(lasting_probe: Probe) -> None:
    lasting_probe.send(b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', b'{"jsonrpc":"2.0","id":42}')
    first, second = lasting_probe.receive(), lasting_probe.receive()
    assert (first["error"]["code"], first["id"]) == (-32600, None)
    assert (second["error"]["code"], second["id"]) == (-32600, 42)


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [(b"a\\ud800b", "a\ufffdb"), (b"a\xffb", "a\ufffdb"), (b"a\\u0000b", "a\0b"), ("é日😀".encode(), "é日😀")],
    ids=["lone surrogate", "invalid UTF-8", "NUL", "Unicode"],
)
def test_text_of_any_kind_reaches_the_tool_as_valid_unicode(lasting_probe: Probe, sent: bytes, arrives: str) -> None:
    line = json.dumps(call(43, "echo", text="TEXT")).encode().replace(b"TEXT", sent)
    lasting_probe.send(line)
    assert text_of(lasting_probe.receive()) == arrives


def test_blank_lines_are_ignored(lasting_probe: Probe) -> None:
    lasting_probe.send(b"", b"  \r", call(44, "echo", text="after"))
    assert text_of(lasting_probe.receive()) == "after"


def test_a_line_of_twenty_megabytes_is_served(lasting_probe: Probe) -> None:
    lasting_probe.send(call(45, "echo", text="x" * 20_000_000))
    assert len(text_of(lasting_probe.receive())) == 20_000_000


def test_a_line_over_the_limit_is_answered_and_the_next_one_served(lasting_probe: Probe) -> None:
    lasting_probe.send(call(46, "echo", text="x" * 34_000_000), call(47, "echo", text="after"))
    refused, served = lasting_probe.receive(), lasting_probe.receive()
    assert (refused["error"]["code"], refused["id"]) == (-32600, 46)
    assert text_of(served) == "after"


def test_a_tool_result_with_a_lone_surrogate_does_not_end_the_session(lasting_probe: Probe) -> None:
    lasting_probe.send(call(48, "lone_surrogate"), call(49, "echo", text="after"))
    answered = {(reply := lasting_probe.receive())["id"]: reply for _ in range(2)}
    assert "\ud800" not in str(answered[48])
    assert text_of(answered[49]) == "after"


def test_large_replies_in_parallel_arrive_whole_and_one_at_a_time(lasting_probe: Probe) -> None:
    expected = {100 + n: chr(ord("a") + n) * 300_000 for n in range(8)}
    lasting_probe.send(*(call(n, "big", size=300_000, filler=text[0]) for n, text in expected.items()))
    received = [lasting_probe.receive() for _ in expected]
    assert {reply["id"]: text_of(reply) for reply in received} == expected


def test_a_cancelled_call_does_not_keep_the_session_open(probe: Probe) -> None:
    probe.start()
    probe.hold()
    probe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "held"}})
    probe.send(call(2, "echo", text="after"))
    assert text_of(probe.receive()) == "after"
    probe.release()
    probe.close_stdin()
    assert (probe.exit_code(), probe.replies.rest()) == (0, b"")


def test_whatever_prints_reaches_stderr_and_never_the_wire(probe: Probe) -> None:
    probe.start()
    probe.send(call(2, "make_noise"))
    assert text_of(probe.receive()) == "quiet"
    probe.close_stdin()
    assert probe.exit_code() == 0
    assert probe.replies.rest() == b""
    errors = probe.errors()
    for noise in ("printed before serving", "from print", "from os.write", "from a child", "never flushed"):
        assert noise in errors


def test_a_request_before_the_handshake_is_refused_and_the_handshake_still_works(probe: Probe) -> None:
    probe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert "error" in probe.receive()
    probe.start()


def test_calls_in_flight_when_stdin_ends_are_answered_before_the_process_ends(probe: Probe) -> None:
    probe.start()
    probe.hold()
    probe.send(call(2, "echo", text="last"))
    probe.close_stdin()
    assert text_of(probe.receive()) == "last"
    probe.release()
    assert text_of(probe.receive()) == "released"
    assert (probe.exit_code(), probe.replies.rest()) == (0, b"")
    assert probe.reports.rest() == b"closed\n"


def test_a_last_line_without_a_newline_is_served(probe: Probe) -> None:
    assert probe.process.stdin is not None
    probe.process.stdin.write(json.dumps(initialize()).encode())
    probe.close_stdin()
    assert probe.receive()["id"] == "hello"
    assert probe.exit_code() == 0
    assert probe.reports.rest() == b"closed\n"


def test_a_tool_that_waits_for_its_client_fails_when_the_client_has_gone(probe: Probe) -> None:
    probe.start(elicitation={})
    probe.send(call(2, "ask"))
    assert probe.receive()["method"] == "elicitation/create"
    probe.close_stdin()
    assert probe.receive()["id"] == 2
    assert probe.exit_code() == 0


def test_a_tool_that_never_returns_is_cut_off_after_stdin_ended() -> None:
    with Probe(drain="0.05") as probe:
        probe.start()
        probe.hold()
        probe.close_stdin()
        assert probe.exit_code() == 0
        assert probe.reports.rest() == b"closed\n"


@pytest.mark.parametrize(
    ("name", "held_by"),
    [("SIGTERM", None), ("SIGTERM", "hold"), ("SIGTERM", "hold_the_loop"), ("SIGINT", "hold"), ("SIGHUP", None)],
)
def test_a_signal_closes_the_store_once_and_exits_cleanly(probe: Probe, name: str, held_by: str | None) -> None:
    probe.start()
    if held_by is not None:
        probe.hold(held_by)
    probe.process.send_signal(signal.Signals[name])
    assert probe.exit_code() == 0
    assert probe.reports.rest() == b"closed\n"
    assert "Traceback" not in probe.errors()


def test_signals_on_top_of_the_end_of_stdin_still_close_once_and_exit_cleanly(probe: Probe) -> None:
    probe.start()
    probe.close_stdin()
    probe.process.terminate()
    probe.process.send_signal(signal.SIGINT)
    assert probe.exit_code() == 0
    assert probe.reports.rest() == b"closed\n"


def test_signals_while_python_ends_leave_the_exit_code_as_it_is() -> None:
    with Probe(last_word="speaks") as probe:
        probe.start()
        probe.close_stdin()
        assert probe.exit_code() == 0
        assert probe.reports.rest() == b"closed\n"
        assert "Traceback" not in probe.errors()


def test_a_store_that_does_not_close_is_left_behind_on_a_signal() -> None:
    with Probe(close="hangs") as probe:
        probe.start()
        probe.process.terminate()
        assert probe.exit_code() == 0


def test_a_store_that_fails_to_close_shows_in_the_exit_code_and_on_stderr() -> None:
    with Probe(close="fails") as probe:
        probe.start()
        probe.close_stdin()
        assert probe.exit_code() == 1
        assert "the disk is gone" in probe.errors()
        assert probe.reports.rest() == b"closed\n"


def test_the_death_of_the_parent_ends_the_server_although_others_hold_its_pipes() -> None:
    with Probe(wrapped=True) as probe:
        probe.start()
        probe.process.kill()
        assert probe.reports.rest() == b"closed\n"
        assert probe.replies.rest() == b""


def test_a_client_that_stopped_reading_ends_the_server_without_a_traceback(probe: Probe) -> None:
    probe.start()
    assert probe.process.stdout is not None
    probe.process.stdout.close()
    probe.send(call(2, "echo", text="into the void"))
    assert probe.exit_code() == 0
    assert probe.reports.rest() == b"closed\n"
    assert "Traceback" not in probe.errors()


def test_a_script_of_requests_in_a_file_is_served_to_its_end(tmp_path: Path) -> None:
    script, answers = tmp_path / "requests", tmp_path / "answers"
    lines = (initialize(), INITIALIZED, call(2, "echo", text="from a file"))
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with script.open("rb") as stdin, answers.open("wb") as stdout, Path(os.devnull).open("r+b") as null:
        pipes = {"PROBE_REPORT": str(null.fileno()), "PROBE_GATE": str(null.fileno())}
        done = subprocess.run(
            [sys.executable, PROBE],
            stdin=stdin,
            stdout=stdout,
            pass_fds=[null.fileno()],
            env={**os.environ, **pipes},
            timeout=PATIENCE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in answers.read_text().splitlines()] == ["hello", 2]


def test_a_client_that_speaks_through_a_socket_is_served() -> None:
    ours, theirs = socket.socketpair()
    with ExitStack() as opened:
        opened.enter_context(ours)
        null = opened.enter_context(Path(os.devnull).open("r+b")).fileno()
        child = opened.enter_context(
            subprocess.Popen(
                [sys.executable, PROBE],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                pass_fds=[null],
                env={**os.environ, "PROBE_REPORT": str(null), "PROBE_GATE": str(null)},
            )
        )
        theirs.close()
        reader = LineReader(ours.fileno())
        ours.sendall(
            b"".join(json.dumps(line).encode() + b"\n" for line in (initialize(), call(2, "big", size=999_999)))
        )
        assert [json.loads(reader.line())["id"] for _ in range(2)] == ["hello", 2]
        ours.shutdown(socket.SHUT_WR)
        assert child.wait(PATIENCE) == 0


@pytest.fixture
def discarded() -> Iterator[TextIO]:
    with Path(os.devnull).open("r+") as null:
        yield null


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_real_client_is_served_in_both_eras_of_the_protocol(
    mode: str, version: str, discarded: TextIO
) -> None:
    environment = {**os.environ, "PROBE_REPORT": "2", "PROBE_GATE": "0"}
    parameters = StdioServerParameters(command=sys.executable, args=[PROBE], env=environment)
    async with Client(stdio_client(parameters, errlog=discarded), mode=mode) as client:
        assert client.protocol_version == version
        assert {"echo", "make_noise"} <= {tool.name for tool in (await client.list_tools()).tools}
        noisy = await client.call_tool("make_noise", {})
        echoed = await client.call_tool("echo", {"text": "é\0😀"})
    assert noisy.structured_content == {"result": "quiet"}
    assert echoed.structured_content == {"result": "é\0😀"}
