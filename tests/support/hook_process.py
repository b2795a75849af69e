"""The hook as clients run it: a real process, JSON in the shapes that Claude Code documents."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMAND = Path(sysconfig.get_path("scripts"), "ebbing-hook")
TIMEOUT = 30

Fields = dict[str, Any]
COMMON: Fields = {
    "session_id": "7d1c5f0e-session",
    "transcript_path": "/home/u/.claude/projects/p/7d1c5f0e.jsonl",
    "permission_mode": "default",
}
EXAMPLES: dict[str, Fields] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup", "model": "m"},
    "user-prompt-submit": {"hook_event_name": "UserPromptSubmit", "prompt": "Which formatter?", "prompt_id": "p1"},
    "post-tool-use": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "3 passed", "interrupted": False},
        "tool_use_id": "toolu_1",
    },
    "post-tool-use-failure": {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "error": "exit 2",
        "tool_use_id": "toolu_2",
    },
    "stop": {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Done."},
    "subagent-stop": {"hook_event_name": "SubagentStop", "last_assistant_message": "Found it.", "agent_id": "a1"},
    "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
    "session-end": {"hook_event_name": "SessionEnd", "reason": "logout"},
}


def example(event: str, **more: Any) -> bytes:
    """What a client would say at an event."""
    return json.dumps({**COMMON, **EXAMPLES[event], **more}).encode()


class HookProcess:
    """A hook that has been started, by a shell that does `shell` first; `ended` gives what became of it."""

    def __init__(
        self,
        event: str,
        stdin: bytes = b"",
        *,
        env: Mapping[str, str] | None = None,
        shell: str = "",
        stdout: int = subprocess.PIPE,
    ) -> None:
        # A file rather than a pipe: hooks that run at the same time all have their input from the start.
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            self._process = subprocess.Popen(
                ["sh", "-c", f'{shell}\nexec "$@"', "sh", COMMAND, *event.split()],
                stdin=given,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env={**os.environ, **(env or {})},
            )

    def ended(self) -> subprocess.CompletedProcess[bytes]:
        """Wait for its end."""
        out, err = self._process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(self._process.args, self._process.returncode, out, err)


def hook(event: str, stdin: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run one hook to its end."""
    return HookProcess(event, stdin, **more).ended()


def spooled(home: Path) -> list[dict[str, Any]]:
    """The lines that hooks have left in a home's spool."""
    files = sorted(home.glob("spool/events*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("ascii").splitlines()]


def context(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a hook added to the context of Claude Code; empty if nothing."""
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
