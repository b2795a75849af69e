"""Does memory survive the process? Ten facts from one server to the next, and a kill amid a stream of saves.

Figures: `rank1` facts of ten at rank 1 in a fresh server; `lost_after_kill` acknowledged saves that are missing after
kill -9; `doctor_problems` what `ebbing doctor` finds wrong afterwards.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import anyio
from _report import Report, argument_parser, publish
from _server import EBBING, call, connected, server_environment

FACTS = (
    ("The staging database listens on port 5433.", "On which port does the staging database listen?"),
    ("Release branches are cut every second Thursday.", "When are release branches cut?"),
    ("We chose SQLite over Postgres for the local cache.", "Which database did we choose for the local cache?"),
    ("The user prefers tabs in makefiles.", "What does the user prefer in makefiles?"),
    ("Image thumbnails are rendered by libvips.", "What renders image thumbnails?"),
    ("The flaky test is test_reconnect in the websocket suite.", "Which test is flaky?"),
    ("Feature flags live in config/flags.toml.", "Where do feature flags live?"),
    ("Backups run at 02:30 UTC on host db-7.", "When do backups run?"),
    ("The parser rejects files with a byte order mark.", "Which files does the parser reject?"),
    ("Invoices are numbered per calendar year.", "How are invoices numbered?"),
)


async def rank_one(home: Path) -> int:
    """How many of ten facts saved by one server come first in another."""
    async with connected(home) as client:
        for fact, _ in FACTS:
            await call(client, "save", content=fact)
    async with connected(home) as client:
        hits = 0
        for fact, question in FACTS:
            found = await call(client, "recall", query=question)
            hits += bool(found["memories"]) and found["memories"][0]["text"] == fact
    return hits


def kill_during_saves(home: Path, saves: int) -> list[str]:
    """Ids that a server acknowledged before it was killed with saves still coming in."""
    process = subprocess.Popen(
        EBBING, env=server_environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    send(
        process,
        "initialize",
        0,
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "b", "version": "1"},
    )
    process.stdout.readline()
    process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    for number in range(1, 2 * saves):
        arguments = {"content": f"Stream entry {number}: valve {number * 7} opened.", "kind": "episode"}
        send(process, "tools/call", number, name="save", arguments=arguments)
    acknowledged = list[str]()
    while len(acknowledged) < saves:
        message = json.loads(process.stdout.readline())
        if "id" in message:
            acknowledged.append(message["result"]["structuredContent"]["id"])
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    # What had been written to the pipe before the kill was acknowledged too.
    whole = [line for line in rest.splitlines() if line.endswith(b"}") and b'"structuredContent"' in line]
    return acknowledged + [json.loads(line)["result"]["structuredContent"]["id"] for line in whole]


def send(process: subprocess.Popen[bytes], method: str, number: int, **params: Any) -> None:
    """Write one request."""
    assert process.stdin is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


async def missing(home: Path, ids: list[str]) -> int:
    """How many of some ids a fresh server does not know."""
    lost = 0
    async with connected(home) as client:
        for identifier in ids:
            result = await client.call_tool("recall", {"ids": [identifier]})
            lost += bool(result.is_error)
    return lost


def doctor_problems(home: Path) -> int:
    """How many problems `ebbing doctor` names."""
    done = subprocess.run(
        [*EBBING, "doctor", "--json"], env=server_environment(home), capture_output=True, text=True, check=False
    )
    return sum(finding["level"] == "problem" for finding in json.loads(done.stdout)["findings"])


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--saves", type=int, default=100, help="acknowledged saves before the kill")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        hits = anyio.run(rank_one, home)
        acknowledged = kill_during_saves(home, options.saves)
        lost = anyio.run(missing, home, acknowledged)
        problems = doctor_problems(home)
    figures = {
        "rank1": hits,
        "acknowledged": len(acknowledged),
        "lost_after_kill": lost,
        "doctor_problems": problems,
    }
    settings = {"facts": len(FACTS), "saves": options.saves}
    publish(Report("continuity", figures, settings, ("mcp", "apsw")), as_json=options.json)


if __name__ == "__main__":
    main()
