"""Raw bytes on the standard input of a real server."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from fuzz_store import judge_files, judge_store
from fuzz_values import MARK, SECRET, as_json, damaged, telling_texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from target_arguments import tool_calls
from target_lines import messages

from ebbing.server.engine import Engine
from ebbing.server.settings import Settings

PATIENCE: Final = 60.0
_SCOPE: Final = "/projects/fuzz"
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}},
}

Piece = bytes | tuple[str, dict[str, Any]]

_saves = st.tuples(st.just("save"), st.fixed_dictionaries({"content": telling_texts()}))
pieces: st.SearchStrategy[list[Piece]] = st.lists(
    st.one_of(damaged(messages()), tool_calls, _saves, st.binary(max_size=30), st.just(b"x" * 200_000)), max_size=6
)


class RealServer:
    """`ebbing` as a client starts it; its lines are read by a thread, so that neither side waits for the other."""

    def __init__(self, home: Path) -> None:
        """Start it and shake hands."""
        self.kept: set[str] = set()
        self._number = 0
        self._errors = (home.parent / "stderr").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ebbing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(home),
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        self._write(_line(_HELLO))
        self._until({"hello"})
        self._write(_line({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def judge(self, given: list[Piece]) -> None:
        """Whatever is written, every sound request gets its one answer, and so does the next one."""
        waiting: set[str] = set()
        sent: list[bytes] = []
        for piece in given:
            if isinstance(piece, bytes):
                sent.append(piece)
            else:
                waiting.add(name := self._name())
                sent.append(_call(name, *piece))
        waiting.add(name := self._name())
        sent.append(_line({"jsonrpc": "2.0", "id": name, "method": "ping"}).rstrip(b"\n"))
        self._write(b"\n" + b"\n".join(sent) + b"\n")
        self._until(waiting)
        self._errors.seek(0)
        self._judge_errors(self._errors.read())

    def close(self) -> None:
        """Close its input: it leaves by itself, with 0, without a word."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.seek(0)
        self._judge_errors(self._errors.read())
        self._errors.close()
        assert code == 0, f"it left with {code}"

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def _until(self, waiting: set[str]) -> None:
        while waiting:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"no answer to {sorted(waiting)[:5]}, code {self._process.poll()}") from None
            reply: Any = json.loads(line)
            assert reply.get("jsonrpc") == "2.0", line[:200]
            assert SECRET not in line.decode()
            waiting.discard(str(reply.get("id")))
            result: dict[str, Any] = reply.get("result") or {}
            kept: dict[str, Any] = result.get("structuredContent") or {}
            if kept.get("operation") == "added":
                self.kept.add(kept["id"])
            if kept.get("mode") == "erase" and not kept["dry_run"]:
                self.kept -= set(kept["ids"])

    def _name(self) -> str:
        self._number += 1
        return f"sound-{self._number}"

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.put(line)

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _judge_errors(self, said: bytes) -> None:
        assert b"Traceback" not in said, said.decode("utf-8", "replace")[-3_000:]
        assert MARK.encode() not in said
        assert SECRET.encode() not in said


def _line(message: dict[str, Any]) -> bytes:
    return as_json(message).encode() + b"\n"


def _call(name: str, tool: str, arguments: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return _line({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}).rstrip(b"\n")


def _environment(home: Path) -> dict[str, str]:
    kept = {
        name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME", "NETWORK_GUARD_LOG") if name in os.environ
    }
    # Without a model a server is ready at once, and what is asked here of it has nothing to do with embeddings.
    return {**kept, "EBBING_HOME": str(home), "EBBING_SCOPE": _SCOPE, "EBBING_MODEL_DIR": str(home / "no-model")}


@contextmanager
def started(home: Path) -> Generator[RealServer]:
    """A server that is closed, or killed where something was wrong."""
    server = RealServer(home)
    try:
        yield server
    except BaseException:
        server.kill()
        raise
    server.close()


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    home = folder / "home"
    with started(home) as server:
        yield server.judge
    with Engine(Settings(home=home, scope=_SCOPE, background=False)) as engine:
        judge_store(engine.services().store, server.kept)
    judge_files(home)


STDIO = Target(
    "stdio",
    "damaged messages, calls and noise on the standard input of a real server, each followed by a ping",
    pieces,
    _opened,
    examples=150,
    suite=8,
)
