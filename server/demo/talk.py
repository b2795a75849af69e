"""The demo's two programs: the real server spoken to by the real MCP client, and the real hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcp import Client, StdioServerParameters
from mcp.types import TextResourceContents

from ...schemas.errors import EbbingError
from ...store.spool import Spool, SpoolEvent

# Not from the current folder: a repository may hold files named like modules of the standard library.
_SERVER = ("-P", "-m", "ebbing")
_HOOK = "from ebbing.hooks.main import main; raise SystemExit(main())"
_REPLY_SECONDS = 60.0
_HOOK_SECONDS = 10
_LEFT_OUT = ("EBBING_HOME", "EBBING_SCOPE", "EBBING_CLOCK_OFFSET_DAYS", "EBBING_BACKGROUND", "CLAUDE_CODE_SESSION_ID")

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the demo happens: its own store, and the project that memories belong to."""

    home: Path
    project: Path

    def environment(self, day: float = 0.0) -> dict[str, str]:
        """The variables of a server or hook that lives `day` days from now."""
        kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        return {
            **kept,
            "EBBING_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "EBBING_CLOCK_OFFSET_DAYS": f"{day:g}",
            "EBBING_BACKGROUND": "0",
        }


class Talk:
    """A conversation with one server."""

    def __init__(self, client: Client) -> None:
        """Talk through a connected client."""
        self.client = client

    async def call(self, tool: str, watch: Progress | None = None, **arguments: Any) -> dict[str, Any]:
        """A tool's structured reply.

        Raises:
            EbbingError: with the tool's own words when it refuses.
        """

        async def told(progress: float, total: float | None, message: str | None) -> None:
            if watch is not None:
                watch(int(progress), int(total or 0), message or "")

        result = await self.client.call_tool(tool, arguments, progress_callback=told if watch else None)
        if result.is_error:
            raise EbbingError(f"{tool} was refused: {getattr(result.content[0], 'text', '')}")
        return cast("dict[str, Any]", result.structured_content)

    async def memory(self, identifier: str) -> dict[str, Any]:
        """A memory as the resource shows it, which doesn't count as recalling it."""
        result = await self.client.read_resource(f"ebbing://memory/{identifier}")
        [content] = result.contents
        assert isinstance(content, TextResourceContents)  # noqa: S101 - our resources are texts
        return json.loads(content.text)


@asynccontextmanager
async def server(place: Place, day: float = 0.0) -> AsyncGenerator[Talk]:
    """A fresh server process that lives `day` days from now, and a client connected to it over stdio."""
    command = StdioServerParameters(
        command=sys.executable, args=list(_SERVER), env=place.environment(day), cwd=str(place.home)
    )
    async with Client(command, read_timeout_seconds=_REPLY_SECONDS) as client:
        yield Talk(client)


def append_sessions(place: Place, scope: str, days: Sequence[tuple[str, int]]) -> None:
    """Leave in the spool what the hook leaves when a session starts: one event for each (id, instant in µs)."""
    events = [SpoolEvent(identifier, at, scope, f"demo-{identifier}", "session-start", {}) for identifier, at in days]
    Spool(place.home / "spool").append(events)


def session_start(place: Place) -> str:
    """What the SessionStart hook injects into a session of the project; empty when it injects nothing.

    Raises:
        EbbingError: if the hook's program can't be run or says something else than JSON.
    """
    beside = Path(sys.executable).with_name("ebbing-hook")
    program = [str(beside)] if beside.is_file() else [sys.executable, "-P", "-c", _HOOK]
    event = {
        "session_id": "demo",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": str(place.project),
    }
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [*program, "session-start"],
            input=json.dumps(event).encode(),
            capture_output=True,
            check=True,
            timeout=_HOOK_SECONDS,
            env=place.environment(),
            cwd=place.home,
        )
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise EbbingError(f"the session-start hook failed: {type(error).__name__}") from error
