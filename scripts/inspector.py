"""Drives every tool, resource and prompt of a real server with the official MCP inspector in its command-line mode.

    python scripts/inspector.py [--inspector "node_modules/.bin/mcp-inspector"]

Needs node; by default npx fetches the inspector. The store is one of the script's own. Exits with 1 if anything
was not answered as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

INSPECTOR = "npx --yes @modelcontextprotocol/inspector"
SERVER = (sys.executable, "-m", "ebbing")
SCOPE = "global"
# The first request may have to wait for npx to fetch the inspector.
SECONDS = 400


class Inspector:
    """Runs the inspector, one process for each request, on one store."""

    def __init__(self, command: str, home: Path) -> None:
        self._command = [*shlex.split(command), "--cli", *SERVER]
        self._env = {**os.environ, "EBBING_HOME": str(home), "EBBING_SCOPE": SCOPE, "EBBING_BACKGROUND": "0"}

    def ask(self, method: str, *options: str) -> Any:
        """The result of one request."""
        command = [*self._command, "--method", method, *options]
        done = subprocess.run(
            command,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise RuntimeError(f"{method}: {(done.stderr or done.stdout).strip()[-500:]}")
        return json.loads(done.stdout)

    def call(self, tool: str, **arguments: object) -> Any:
        """A tool's structured reply."""
        options = ["--tool-name", tool]
        for name, value in arguments.items():
            options += ["--tool-arg", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
        result = self.ask("tools/call", *options)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content']}")
        return result["structuredContent"]


def lists(inspector: Inspector) -> Iterator[tuple[str, bool]]:
    """What the server says it has."""
    tools = [tool["name"] for tool in inspector.ask("tools/list")["tools"]]
    yield "tools/list", tools == ["recall", "save", "observe", "learn", "consolidate", "forget"]
    templates = inspector.ask("resources/templates/list")["resourceTemplates"]
    names = {template["uriTemplate"].partition("{")[0] for template in templates}
    yield "resources/templates/list", names == {"ebbing://memory/", "ebbing://soft-prompt/", "ebbing://status/"}
    yield "resources/list", inspector.ask("resources/list") == {"resources": []}
    prompts = {prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]}
    yield "prompts/list", prompts == {"remember", "brief"}


def calls(inspector: Inspector) -> Iterator[tuple[str, bool]]:
    """Every tool, resource and prompt."""
    saved = inspector.call("save", content="Harbour fees are due in March.", kind="decision", said_by="user")["id"]
    yield "save", bool(saved)
    found = inspector.call("recall", query="when are harbour fees due?")
    yield "recall", [memory["id"] for memory in found["memories"]] == [saved]
    learned = inspector.call("learn", signal="used", memory_ids=[saved], recall_id=found["recall_id"])
    yield "learn", saved in json.dumps(learned)
    yield "observe", bool(inspector.call("observe", events=[{"text": "ran the tests", "event": "post-tool-use"}]))
    yield "consolidate", bool(inspector.call("consolidate"))
    for address in (f"memory/{saved}", f"soft-prompt/{SCOPE}", f"status/{SCOPE}"):
        [content] = inspector.ask("resources/read", "--uri", f"ebbing://{address}")["contents"]
        yield f"ebbing://{address}", bool(content["text"])
    for name, argument in (("remember", "what=fees"), ("brief", "topic=fees")):
        result = inspector.ask("prompts/get", "--prompt-name", name, "--prompt-args", argument)
        yield f"prompt {name}", "fees" in json.dumps(result["messages"])
    inspector.call("forget", memory_ids=[saved], mode="erase", confirm=True)
    yield "forget", inspector.call("recall", query="harbour fees")["memories"] == []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all of it and print a line each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inspector", default=INSPECTOR, help="the command that starts the inspector")
    given = parser.parse_args(arguments)
    sound = True
    with tempfile.TemporaryDirectory() as home:
        inspector = Inspector(given.inspector, Path(home))
        for part in (lists, calls):
            for name, good in part(inspector):
                print(f"{'ok' if good else 'WRONG':<6}{name}")
                sound = sound and good
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
