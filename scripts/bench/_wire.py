"""A server's stdin and stdout, spoken to line by line: what a call takes without what a client's library adds."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from _server import EBBING, server_environment

HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def rss_mb(pid: int) -> float:
    """Resident MiB of a process."""
    fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Wired:
    """One server over a home, its handshake done; `initialize_seconds` is what that took from the spawn on."""

    def __init__(self, home: Path, **more: str) -> None:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            EBBING,
            env=server_environment(home, **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0
        self.ask("initialize", HANDSHAKE)
        self.initialize_seconds = time.perf_counter() - started
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    @property
    def rss_mb(self) -> float:
        """The server's resident MiB."""
        return rss_mb(self._process.pid)

    def tool(self, name: str, **arguments: Any) -> float:
        """Seconds from writing a tool's call to reading its reply.

        Raises:
            RuntimeError: with the tool's error text.
        """
        started = time.perf_counter()
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        seconds = time.perf_counter() - started
        if result.get("isError"):
            raise RuntimeError(f"{name}: {result['content']}")
        return seconds

    def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request's result."""
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())["result"]

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
