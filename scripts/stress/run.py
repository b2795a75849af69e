"""Many real processes on one store, killed at random: what was acknowledged must be there once, and nothing broken.

    python scripts/stress/run.py [--minutes 10] [--servers 6] [--kill] [--faults] [--json]

Servers get mixed calls of all tools, hooks write the spool, the daily run goes on in a process of its own; with --kill
any of them but one server is killed with SIGKILL every second or so, and with --faults every other server has a disk
that fails now and then (writes, syncs, truncations, renames). After each round all stop and the store is
examined. Exit code 1 when anything was lost, doubled, broken or left running.

Figures: `kills`; `acknowledged` writes; `lost` ones that are not in the store; `duplicates` there more than once;
`integrity_errors` of SQLite, its indexes and of a rebuild from the journal, and erased texts that are still there;
`leaked_processes` that did not leave when their input closed; `rss_growth_mb` of the server that is never killed, from
the end of its first minute (or half round) to its last moment; `refused` calls that were answered with an error, and
`failed` ones that a failing disk refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from _check import examine
from _work import Hooks, Killer, Record, Worker


@dataclass(slots=True)
class Totals:
    """What all rounds so far came to."""

    record: Record = field(default_factory=Record)
    lost: set[str] = field(default_factory=set[str])
    twice: set[str] = field(default_factory=set[str])
    broken: list[str] = field(default_factory=list[str])
    growth: float = 0.0

    def figures(self) -> dict[str, float]:
        """The named results."""
        return {
            "kills": self.record.kills,
            "acknowledged": len(self.record.saved) + len(self.record.observed) + len(self.record.erased),
            "lost": len(self.lost),
            "duplicates": len(self.twice),
            "integrity_errors": len(self.broken),
            "leaked_processes": self.record.leaked,
            "rss_growth_mb": round(self.growth, 1),
            "refused": len(self.record.refused),
            "failed": len(self.record.failed),
            "calls": self.record.calls,
        }


def play(home: Path, number: int, seconds: float, options: argparse.Namespace, totals: Totals) -> None:
    """One round: everybody works for some seconds, then everybody stops and the store is examined."""
    stop = threading.Event()
    record = totals.record

    def is_faulty(place: int) -> bool:
        return bool(options.faults and place % 2)

    workers = [
        Worker(home, f"r{number}w{place}", options.seed + 100 * number + place, record, stop, faulty=is_faulty(place))
        for place in range(options.servers)
    ]
    threads: list[threading.Thread] = [*workers, Hooks(home, record, stop)]
    if options.kill:
        threads.append(Killer(workers, home, options.seed + number, record, stop))
    for thread in threads:
        thread.start()
    totals.growth = max(totals.growth, _watched(workers[0], seconds))
    stop.set()
    for thread in threads:
        thread.join()
    found = examine(home, record)
    totals.lost |= found.lost
    totals.twice |= found.twice
    totals.broken += found.broken + [f"erased and still there: {marker}" for marker in sorted(found.unerased)]


def _watched(worker: Worker, seconds: float) -> float:
    """Wait; by how many MB the memory of a worker's server grew after its first minute or half of the time."""
    warm = min(60.0, seconds / 2)
    time.sleep(warm)
    before = worker.server.resident_mb() if worker.server else 0.0
    time.sleep(seconds - warm)
    after = worker.server.resident_mb() if worker.server else 0.0
    return after - before if before and after else 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds and print what they came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, all rounds together")
    parser.add_argument("--round", type=float, default=150.0, help="seconds of a round")
    parser.add_argument("--servers", type=int, default=6)
    parser.add_argument("--kill", action="store_true", help="kill processes at random")
    parser.add_argument("--faults", action="store_true", help="let the disks of every other server fail")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    totals = Totals()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder, "home")
        until = time.monotonic() + 60.0 * options.minutes
        number = 0
        while (left := until - time.monotonic()) > 1.0:
            number += 1
            play(home, number, min(options.round, left), options, totals)
            print(f"round {number}: {json.dumps(totals.figures())}", file=sys.stderr, flush=True)
    _publish(totals, options)
    figures = totals.figures()
    return int(any(figures[name] for name in ("lost", "duplicates", "integrity_errors", "leaked_processes")))


def _publish(totals: Totals, options: argparse.Namespace) -> None:
    figures = totals.figures()
    if options.json:
        print(json.dumps({"bench": "stress", "figures": figures}))
        return
    for name, value in figures.items():
        print(f"{name:18} {value}")
    wrong = (("lost", sorted(totals.lost)), ("twice", sorted(totals.twice)), ("broken", totals.broken))
    for title, lines in (*wrong, ("refused", totals.record.refused), ("failed", totals.record.failed)):
        for line in lines[:10]:
            print(f"{title}: {line}")


if __name__ == "__main__":
    sys.exit(main())
