"""A server as a client would start it, spoken to line by line, that may be killed at any moment by somebody else."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EBBING: tuple[str, ...] = (sys.executable, "-m", "ebbing")
FAULTY: tuple[str, ...] = (sys.executable, str(Path(__file__).with_name("_faulty.py")))
HOOK: tuple[str, ...] = (sys.executable, "-I", "-c", "import sys; from ebbing.hooks.main import main; sys.exit(main())")


class Gone(Exception):  # noqa: N818 - it is no error here
    """The server was killed before it answered."""


def environment(home: Path) -> dict[str, str]:
    """What every process of a run needs to know."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "EBBING_HOME": str(home), "EBBING_SCOPE": "/stress/project", "HOME": str(home.parent)}


class Server:
    """One stdio server."""

    def __init__(self, home: Path, faults: int | None = None) -> None:
        """Start it and shake hands; raises `Gone` if it was killed meanwhile. `faults` seeds those of its disk."""
        self.process = subprocess.Popen(
            EBBING if faults is None else (*FAULTY, str(faults)),
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._number = 0
        client = {"name": "stress", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Call a tool: whether it went well, and its structured reply; raises `Gone` if nobody answers any more."""
        result = self._ask("tools/call", name=tool, arguments=dict(arguments))
        if result.get("isError", "error" in result):
            return False, {"text": json.dumps(result)[:500]}
        return True, dict(result["structuredContent"])

    def kill(self) -> None:
        """SIGKILL."""
        self.process.send_signal(signal.SIGKILL)

    def close(self) -> bool:
        """Close its input and wait; whether it left by itself."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                _close(pipe)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
            return False
        return True

    def resident_mb(self) -> float:
        """Resident memory, MB (10⁶ bytes); 0 where the system doesn't tell."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if not line.endswith(b"\n"):
                break
            message = json.loads(line)
            if message.get("id") == self._number:
                return dict(message.get("result") or {"error": message.get("error")})
        raise Gone

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Gone from error


def _close(pipe: Any) -> None:
    # What was still buffered has nobody to read it.
    with contextlib.suppress(OSError):
        pipe.close()
