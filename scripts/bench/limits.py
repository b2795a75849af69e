"""Time and memory of each operation as a store grows, and how fast they grow.

Each size is measured in a process of its own, over a store of facts with random embeddings, token embeddings and links
(see daily.py): opening it, reading what is resident, recall, save, observe and a recall right after them (medians, in
milliseconds of a core), the daily run in which every memory changes its state (seconds of a core; where one is out of
time and goes on an hour later, the dearest, how many there are, and all together), resident memory, and
bytes a memory before and after that run. Embedding a text is left out: it does not grow.

The growth of a row is the exponent e of the c·size^e that fits its sizes best (least squares over the logarithms): 0
does not grow, 1 grows in proportion. The last column is not measured: most of what grows is a pass over all memories
beside a part that does not, so it is a + b·size, fitted by least squares.

Figures: NAME_SIZE for each, such as `recall_ms_10000`, and `growth_NAME`.
"""

from __future__ import annotations

import json
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
from _beside import Client, RandomEmbedder
from _report import Report, Table, argument_parser, publish
from _wire import rss_mb
from daily import DIMENSION, SCOPE, START, WORDS, measured, opened, prepare, rest, steps

from ebbing.encoding.writer import Draft
from ebbing.encoding.writer import prepare as prepared
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.lifecycle.recorder import Recorder
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind
from ebbing.store.store import Store

PAPER: Final = 1_000_000
SIZES: Final = "10000,50000,100000,200000"
DAYS: Final = 60
CALLS: Final = 40
NOW: Final = START + DAYS * MICROSECONDS_PER_DAY
_LEAST: Final = 1e-9
UNITS: Final = {
    "seconds": "s",
    "ms": "ms of a core",
    "mb": "MiB",
    "bytes": "bytes",
    "core": "s of a core",
    "runs": "runs",
}


def measure(home: Path, items: int, *, daily: bool) -> dict[str, float]:
    """All figures of one store, those of the daily run on demand."""
    started = time.thread_time()
    with opened(home) as store:
        figures = {"open_ms": 1000 * (time.thread_time() - started)}
        figures["read_ms"] = core_ms(store.follow)
        figures["file_per_memory_bytes"] = store.database.size() / items
        figures |= calls(store)
        figures["rss_mb"] = rss_mb(os.getpid())
        if daily:
            report, core = measured(steps(store, home), NOW)
            later = rest(store, home, NOW, report)
            figures["daily_core"] = max(core, *later, 0.0)
            figures["daily_runs"] = 1.0 + len(later)
            figures["daily_all_core"] = core + sum(later)
            figures["daily_wall_seconds"] = sum(step.seconds for step in report.steps)
            figures["faded_file_per_memory_bytes"] = store.database.size() / items
    return figures


def calls(store: Store) -> dict[str, float]:
    """Recall, save and observe, in milliseconds of a core, without embedding."""
    ledger = Ledger(store)
    client = Client(store, SCOPE, NOW)
    core: dict[str, list[float]] = {"recall": [], "save": [], "observe": [], "recall_after_save": []}
    client.answer()
    for _ in range(CALLS):
        core["recall"].append(core_ms(client.answer))
    recorder, observer = Recorder(store, ledger), Observer(store, ledger)
    embedder, rng = RandomEmbedder(DIMENSION, 2), random.Random(2)  # noqa: S311 - sampling
    for number in range(CALLS):
        text = " ".join(rng.choices(WORDS, k=20))
        [made] = prepared([Draft(content=text, scope=SCOPE, kind=Kind.FACT, recorded_at=NOW, trust=0.6)], embedder)
        core["save"].append(core_ms(lambda made=made: recorder.write(made, NOW)))
        event = {"text": text, "event_id": f"limits-{number}"}
        core["observe"].append(core_ms(lambda event=event: observer.take([event], SCOPE, "limits", "limits", NOW)))
        core["recall_after_save"].append(core_ms(client.answer))
    client.showings.close()
    return {f"{name}_ms": statistics.median(times) for name, times in core.items()}


def core_ms(work: Callable[[], object]) -> float:
    """Milliseconds of a core that something takes on this thread, which other programs do not lengthen much."""
    started = time.thread_time()
    work()
    return 1000 * (time.thread_time() - started)


def growth(values: Mapping[int, float]) -> float:
    """The exponent e of the c·size^e that fits best, by least squares over the logarithms; 0 for one size only."""
    if len(values) == 1:
        return 0.0
    logs = np.log(np.maximum(np.array(list(values.values()), dtype=np.float64), _LEAST))
    return float(np.polyfit(np.log(np.array(list(values), dtype=np.float64)), logs, 1)[0])


def expected(values: Mapping[int, float], size: int) -> float:
    """What a + b·size gives for a size, fitted by least squares; the mean where nothing grows."""
    sizes, found = np.array(list(values), dtype=np.float64), np.array(list(values.values()), dtype=np.float64)
    slope, constant = np.polyfit(sizes, found, 1).tolist() if len(values) > 1 else (0.0, 0.0)
    return float(constant + slope * size) if slope > 0 else float(found.mean())


def markdown(found: Mapping[int, Mapping[str, float]]) -> str:
    """The table for docs/benchmarks.md."""
    sizes = sorted(found)
    lines = ["| operation | " + " | ".join(f"{size:,}" for size in sizes) + f" | growth | {PAPER:,} on paper |"]
    lines.append("|---|" + "---:|" * (len(sizes) + 2))
    for name in found[sizes[0]]:
        values = {size: found[size][name] for size in sizes}
        label, _, unit = name.rpartition("_")
        cells = [three_digits(value) for value in values.values()]
        cells += [f"{growth(values):.2f}", three_digits(expected(values, PAPER))]
        lines.append(f"| {label.replace('_', ' ')}, {UNITS[unit]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def three_digits(value: float) -> str:
    """A figure with three digits."""
    return f"{float(f'{value:.3g}'):,g}"


def each_size(sizes: Sequence[int], keep: Path | None, *, daily: bool) -> dict[int, dict[str, float]]:
    """The figures of every size, each in a process of its own."""
    found: dict[int, dict[str, float]] = {}
    for items in sizes:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "home")
            prepare(home, items, DAYS, 1, None if keep is None else keep / str(items))
            command = [sys.executable, __file__, "--measure", str(home), "--sizes", str(items)]
            command += [] if daily else ["--no-daily"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[items] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and report, or be the process of one size."""
    parser = argument_parser(__doc__)
    parser.add_argument("--sizes", default=SIZES, help="memories in each store")
    parser.add_argument("--keep", type=Path, help="a folder for filled stores; those that are there are copied")
    parser.add_argument("--measure", type=Path, help="be the process that measures this store")
    parser.add_argument("--no-daily", action="store_true", help="leave the daily run out")
    given = parser.parse_args()
    daily = not given.no_daily
    sizes = [int(size) for size in given.sizes.split(",")]
    if given.measure is not None:
        print(json.dumps(measure(given.measure, sizes[0], daily=daily)))
        return
    found = each_size(sizes, given.keep, daily=daily)
    figures = {f"{name}_{size}": value for size in sizes for name, value in found[size].items()}
    figures |= {f"growth_{name}": growth({size: found[size][name] for size in sizes}) for name in found[sizes[0]]}
    if not given.json:
        print(markdown(found))
    rows = [(f"{size:,}", *found[size].values()) for size in sizes]
    table = Table("sizes", ("memories", *found[sizes[0]]), rows)
    publish(Report("limits", figures, {"sizes": given.sizes}, ("apsw", "numpy"), (table,)), as_json=given.json)


if __name__ == "__main__":
    main()
