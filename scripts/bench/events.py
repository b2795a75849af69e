"""Thousands of events through the tool and through the spool at once, and consolidation that is killed again and again.

    python scripts/bench/events.py [--events 10000] [--kills 8] [--json]

Half of the events are handed to `observe` of a real server, in batches of which each holds one bad item and is
delivered twice; the other half are appended to the spool, as hooks do, while that server runs. Then processes take the
spool in and consolidate, without a model, and are killed with SIGKILL after random times; the last one is left alone.
An event of the tool is a note, which becomes an episode; five events of the spool are a turn, which becomes an episode
and a fix.

Figures: lost (events that are not in the store), doubled (events that are there twice), rejected (bad items, of which
there must be one a delivery), episodes_lost, fixes_lost, derived_doubled (memories whose words another one repeats),
waiting (observations that nothing looked at), integrity_problems; events_per_second through the tool and the spool,
memories_per_second of consolidation, kills and restarts included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import anyio
import anyio.to_thread
from _report import Report, argument_parser, publish
from _server import call, connected

from ebbing.lifecycle.consolidation import Consolidator
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.schemas.memory import Kind
from ebbing.store.spool import Spool, SpoolEvent
from ebbing.store.store import Store

SCOPE = "/bench/project"
BATCH, TURN = 250, 5
SECOND = 1_000_000


def main() -> None:
    """Observe, consolidate, kill, count and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--consolidate", type=Path, help="only take in and consolidate this home: what is killed")
    options = parser.parse_args()
    if options.consolidate:
        _consolidate(options.consolidate)
        return
    half = options.events // 2 // BATCH * BATCH
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        start = time.perf_counter()
        rejected = anyio.run(_observe, home, half)
        observing = time.perf_counter() - start
        start = time.perf_counter()
        killed = _kill(home, options.kills, Random(options.seed))  # noqa: S311 - repeatable, not secret
        seconds = time.perf_counter() - start
        figures = _counted(home, half)
    figures |= {
        "events": 2 * half,
        "rejected": rejected,
        "rejected_expected": 2 * half // BATCH,
        "killed": killed,
        "events_per_second": 2 * half / observing,
        "memories_per_second": figures["derived"] / seconds,
    }
    publish(Report("events", figures, {"seed": options.seed, "kills": options.kills}), as_json=options.json)


async def _observe(home: Path, half: int) -> int:
    """Hand one half to the tool, and append the other half to the spool at the same time; returns bad items."""
    rejected = 0
    async with connected(home) as client, anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, _append, home, half)
        for start in range(0, half, BATCH):
            events: list[dict[str, Any]] = [_note(number) for number in range(start, start + BATCH)]
            for _ in range(2):
                reply = await call(client, "observe", events=[*events, {"text": 7}])
                rejected += len(reply["rejected"])
    return rejected


def _note(number: int) -> dict[str, str]:
    return {
        "text": f"Noted that gauge g{number} reads {number * 37} since the last change.",
        "event_id": f"note-{number}",
    }


def _append(home: Path, half: int) -> None:
    spool = Spool(home / "spool")
    for turn in range(half // TURN):
        spool.append(_turn(turn))


def _turn(turn: int) -> Iterator[SpoolEvent]:
    test = {"tool_name": "Bash", "tool_input": {"command": f"pytest t{turn}.py"}}
    told: list[tuple[str, dict[str, Any]]] = [
        ("user-prompt-submit", {"prompt": f"Please repair the failing test of module m{turn} today."}),
        ("post-tool-use-failure", test | {"error": f"E{turn}Error: nothing there"}),
        ("post-tool-use", {"tool_name": "Edit", "tool_input": {"file_path": f"src/m{turn}.py"}}),
        ("post-tool-use", test | {"tool_response": {"stdout": "1 passed"}}),
        ("stop", {"last_assistant_message": f"The test of module m{turn} passes again after the change."}),
    ]
    at = time.time_ns() // 1000 - 3_600 * SECOND
    for place, (event, payload) in enumerate(told):
        identifier = f"0198c2f0-0000-7000-8000-{turn * TURN + place:012d}"
        yield SpoolEvent(identifier, at + place * SECOND, SCOPE, f"session-{turn}", event, payload)


def _kill(home: Path, kills: int, luck: Random) -> int:
    """Start and kill consolidating processes, then let one end; returns how many were killed while at it."""
    command = [sys.executable, str(Path(__file__).resolve()), "--consolidate", str(home)]
    killed = 0
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(luck.uniform(0.2, 4.0))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += 1
        process.communicate()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return killed


def _consolidate(home: Path) -> None:
    now = time.time_ns() // 1000
    with _store(home) as store:
        ledger = Ledger(store)
        print("ready", flush=True)
        Observer(store, ledger).ingest(now)
        Consolidator(store, ledger).run(now, None, whole=True)


def _store(home: Path) -> Store:
    from ebbing.encoding.model import locate

    spec = locate().spec
    return Store(home, time.time_ns() // 1000, model_name=spec.id, dimension=spec.dimension)


def _counted(home: Path, half: int) -> dict[str, float]:
    with _store(home) as store:
        memories = [memory for batch in store.memories.all() for memory in batch]
        observed = [memory for memory in memories if memory.kind is Kind.OBSERVATION]
        derived = Counter((memory.kind, memory.content) for memory in memories if memory.kind is not Kind.OBSERVATION)
        kinds = Counter(kind for kind, _ in derived)
        distinct = len({(memory.provenance.session, memory.provenance.tool, memory.content) for memory in observed})
        return {
            "observations": len(observed),
            "derived": derived.total(),
            "lost": 2 * half - distinct,
            "doubled": len(observed) - distinct,
            "episodes_lost": half + half // TURN - kinds[Kind.EPISODE],
            "fixes_lost": half // TURN - kinds[Kind.FACT],
            "derived_doubled": derived.total() - len(derived),
            "waiting": store.pending.count(),
            "integrity_problems": len(store.integrity()),
        }


if __name__ == "__main__":
    main()
