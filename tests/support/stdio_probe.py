"""The probe server of the stdio tests as a child process, its wire as raw lines."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

PROBE = str(Path(__file__).parents[1] / "server" / "stdio_probe_server.py")
PATIENCE = 30.0
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# Starts the probe with the pipes it was given and stays alive beside it, as a client's wrapper script does.
WRAPPER = (
    "import os, subprocess, sys; subprocess.run(sys.argv[2:], pass_fds=[int(fd) for fd in sys.argv[1].split(',')])"
)

Message = dict[str, Any]


def initialize(**capabilities: object) -> Message:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}


class LineReader:
    """Reads lines from a descriptor and fails, instead of hanging, when none comes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = bytearray()

    def line(self) -> bytes:
        """The next line, or what there was when the stream ended."""
        newline = self._held.find(b"\n")
        while newline < 0 and (chunk := self._chunk()):
            if b"\n" in chunk:
                newline = len(self._held) + chunk.index(b"\n")
            self._held += chunk
        line = bytes(self._held[: newline if newline >= 0 else None])
        del self._held[: len(line) + 1]
        return line

    def rest(self) -> bytes:
        while chunk := self._chunk():
            self._held += chunk
        return bytes(self._held)

    def _chunk(self) -> bytes:
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE)
        assert ready, "nothing came"
        return os.read(self._descriptor, 1 << 20)


class Probe:
    """The probe server as a child process, its wire as raw lines."""

    def __init__(self, *, wrapped: bool = False, **settings: str) -> None:
        report, self._report_end = os.pipe()
        self._gate_end, self._gate = os.pipe()
        inherited = (self._report_end, self._gate_end)
        command = [sys.executable, PROBE]
        if wrapped:
            command = [sys.executable, "-c", WRAPPER, ",".join(map(str, inherited)), *command]
        self._report = report
        self.reports = LineReader(report)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=inherited,
            env={
                **os.environ,
                "PROBE_REPORT": str(self._report_end),
                "PROBE_GATE": str(self._gate_end),
                **{f"PROBE_{name.upper()}": value for name, value in settings.items()},
            },
        )
        for descriptor in inherited:
            os.close(descriptor)
        assert self.process.stdout is not None
        self.replies = LineReader(self.process.stdout.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        os.close(self._report)
        os.close(self._gate)

    def send(self, *lines: bytes | Message) -> None:
        assert self.process.stdin is not None
        for line in lines:
            rest = memoryview((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
            while rest:
                rest = rest[self.process.stdin.write(rest) or 0 :]

    def receive(self) -> Message:
        return json.loads(self.replies.line())

    def start(self, **capabilities: object) -> None:
        self.send(initialize(**capabilities))
        assert self.receive()["id"] == "hello"
        self.send(INITIALIZED)

    def hold(self, tool: str = "hold") -> None:
        """Have a call under way, and know that it is."""
        self.send(call("held", tool))
        assert self.reports.line() == b"held"

    def release(self) -> None:
        os.write(self._gate, b"x")

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE)

    def errors(self) -> str:
        assert self.process.stderr is not None
        return LineReader(self.process.stderr.fileno()).rest().decode()


def call(request_id: int | str, tool: str, **arguments: object) -> Message:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def text_of(reply: Message) -> str:
    return reply["result"]["content"][0]["text"]
