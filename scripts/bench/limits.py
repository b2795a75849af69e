"""Time and memory of each operation as a store grows, and how fast they grow.

Each size is measured in a process of its own, over a store of facts with random embeddings, token embeddings and links
(see daily.py): opening it, reading what is resident, recall (p50, p95), save and observe (p50), the daily run in which
every memory changes its state (seconds of a core), resident memory, and bytes a memory before and after that run.
Embedding a text is left out: it does not grow. The growth of a row is the exponent e of size^e between its smallest
and largest size: 0 does not grow, 1 grows in proportion.

Figures: NAME_SIZE for each, such as `recall_p50_ms_10000`, and `growth_NAME`.
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from _beside import Client, RandomEmbedder, Stopwatch
from _report import Report, Table, argument_parser, publish
from _wire import rss_mb
from daily import DIMENSION, SCOPE, START, WORDS, measured, opened, prepare, steps

from ebbing.encoding.writer import Draft
from ebbing.encoding.writer import prepare as prepared
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.lifecycle.recorder import Recorder
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind
from ebbing.store.store import Store

SIZES: Final = "10000,50000,100000,200000"
DAYS: Final = 60
CALLS: Final = 40
NOW: Final = START + DAYS * MICROSECONDS_PER_DAY
UNITS: Final = {"seconds": "s", "ms": "ms", "mb": "MiB", "bytes": "bytes", "core": "s of a core"}


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(home: Path, items: int) -> dict[str, float]:
    """All figures of one store."""
    started = time.perf_counter()
    with opened(home) as store:
        figures = {"open_seconds": time.perf_counter() - started}
        figures["read_seconds"] = seconds_of(store.follow)
        figures["file_per_memory_bytes"] = store.database.size() / items
        figures |= calls(store)
        figures["rss_mb"] = rss_mb(os.getpid())
        report, core = measured(steps(store, home), NOW)
        figures["daily_core"] = core
        figures["daily_wall_seconds"] = sum(step.seconds for step in report.steps)
        figures["faded_file_per_memory_bytes"] = store.database.size() / items
    return figures


def calls(store: Store) -> dict[str, float]:
    """Recall, save and observe, in milliseconds, without embedding."""
    ledger = Ledger(store)
    client = Client(store, SCOPE, WORDS, NOW)
    watch = Stopwatch()
    client.answer()
    for _ in range(CALLS):
        watch.timed("recall", client.answer)
    client.showings.close()
    recorder, observer = Recorder(store, ledger), Observer(store, ledger)
    embedder, rng = RandomEmbedder(DIMENSION, 2), random.Random(2)  # noqa: S311 - sampling
    for number in range(CALLS):
        text = " ".join(rng.choices(WORDS, k=20))
        [made] = prepared([Draft(content=text, scope=SCOPE, kind=Kind.FACT, recorded_at=NOW, trust=0.6)], embedder)
        watch.timed("save", lambda made=made: recorder.write(made, NOW))
        event = {"text": text, "event_id": f"limits-{number}"}
        watch.timed("observe", lambda event=event: observer.take([event], SCOPE, "limits", "limits", NOW))
    return {
        "recall_p50_ms": statistics.median(watch.phase["recall"]),
        "recall_p95_ms": float(np.percentile(watch.phase["recall"], 95)),
        "save_p50_ms": statistics.median(watch.phase["save"]),
        "observe_p50_ms": statistics.median(watch.phase["observe"]),
    }


def growth(values: Mapping[int, float]) -> float:
    """The exponent e of size^e between the smallest and the largest size; 0 where there is one size only."""
    small, large = min(values), max(values)
    if small == large or values[small] <= 0 or values[large] <= 0:
        return 0.0
    return math.log(values[large] / values[small]) / math.log(large / small)


def markdown(found: Mapping[int, Mapping[str, float]]) -> str:
    """The table for docs/benchmarks.md."""
    sizes = sorted(found)
    lines = ["| operation | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |"]
    lines.append("|---|" + "---:|" * (len(sizes) + 1))
    for name in found[sizes[0]]:
        values = {size: found[size][name] for size in sizes}
        label, _, unit = name.rpartition("_")
        cells = " | ".join(f"{float(f'{value:.3g}'):,g}" for value in values.values())
        lines.append(f"| {label.replace('_', ' ')}, {UNITS[unit]} | {cells} | {growth(values):.2f} |")
    return "\n".join(lines)


def each_size(sizes: Sequence[int], keep: Path | None) -> dict[int, dict[str, float]]:
    """The figures of every size, each in a process of its own."""
    found: dict[int, dict[str, float]] = {}
    for items in sizes:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "home")
            prepare(home, items, DAYS, 1, None if keep is None else keep / str(items))
            command = [sys.executable, __file__, "--measure", str(home), "--sizes", str(items)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[items] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and report, or be the process of one size."""
    parser = argument_parser(__doc__)
    parser.add_argument("--sizes", default=SIZES, help="memories in each store")
    parser.add_argument("--keep", type=Path, help="a folder for filled stores; those that are there are copied")
    parser.add_argument("--measure", type=Path, help="be the process that measures this store")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    if given.measure is not None:
        print(json.dumps(measure(given.measure, sizes[0])))
        return
    found = each_size(sizes, given.keep)
    figures = {f"{name}_{size}": value for size in sizes for name, value in found[size].items()}
    figures |= {f"growth_{name}": growth({size: found[size][name] for size in sizes}) for name in found[sizes[0]]}
    if not given.json:
        print(markdown(found))
    rows = [(f"{size:,}", *found[size].values()) for size in sizes]
    table = Table("sizes", ("memories", *found[sizes[0]]), rows)
    publish(Report("limits", figures, {"sizes": given.sizes}, ("apsw", "numpy"), (table,)), as_json=given.json)


if __name__ == "__main__":
    main()
