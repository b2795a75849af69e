"""Several servers on one store at once: every save must be acknowledged and kept, every recall answered.

Figures: `saves` acknowledged and `recalls` answered by all clients together; `errors` that reached a caller; `missing`
acknowledged saves that are not in the store afterwards; `integrity_problems` found by SQLite.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import anyio
from _report import Report, argument_parser, publish
from _server import connected
from mcp import Client

from ebbing.server.engine import Engine
from ebbing.server.settings import Settings


class Tally:
    """What the clients counted."""

    def __init__(self) -> None:
        self.saved: list[str] = []
        self.recalls = 0
        self.errors: list[str] = []


async def work(client: Client, name: str, until: float, most: int, tally: Tally) -> None:
    """Save and recall in turn until an instant of the monotonic clock, at most `most` times."""
    for number in range(most):
        if time.monotonic() >= until:
            break
        content = f"Client {name} noted reading {number} of gauge {name}-{number * 13}."
        saved = await client.call_tool("save", {"content": content, "kind": "episode"})
        found = await client.call_tool("recall", {"query": f"What did gauge {name}-{number * 13} read?"})
        for result in (saved, found):
            if result.is_error:
                tally.errors.append(str(result.content))
        if not saved.is_error:
            tally.saved.append(saved.structured_content["id"])
        tally.recalls += not found.is_error


async def run(home: Path, processes: int, seconds: float, most: int) -> Tally:
    """Start the servers, let their clients work at the same time, and count."""
    tally = Tally()
    async with anyio.create_task_group() as group:
        until = time.monotonic() + seconds

        async def one(number: int) -> None:
            async with connected(home) as client:
                await work(client, str(number), until, most, tally)

        for number in range(processes):
            group.start_soon(one, number)
    return tally


def check(home: Path, tally: Tally) -> tuple[int, int]:
    """How many acknowledged saves are missing, and how many problems SQLite finds."""
    with Engine(Settings(home=home, scope="/bench/project", background=False)) as engine:
        store = engine.services().store
        kept = {memory.id for batch in store.memories.all() for memory in batch}
        return len(set(tally.saved) - kept), len(store.integrity())


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--most", type=int, default=1_000_000, help="saves of one client at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        tally = anyio.run(run, home, options.processes, options.seconds, options.most)
        missing, problems = check(home, tally)
    figures = {
        "saves": len(tally.saved),
        "recalls": tally.recalls,
        "errors": len(tally.errors),
        "missing": missing,
        "integrity_problems": problems,
    }
    settings = {"processes": options.processes, "seconds": options.seconds}
    publish(Report("concurrency", figures, settings, ("mcp", "apsw")), as_json=options.json)


if __name__ == "__main__":
    main()
