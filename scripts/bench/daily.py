"""The daily run over a large store in which every memory changes its state, and what another process feels of it.

Figures: `cpu_seconds` of one core for the whole run; `longest_transaction_ms` with the lock held (until the commit
begins) and how much of a core it took; `worst_delay_ms` that a recall in another process had over its median without a
run, and the same for each thing that a recall does: catching up with the catalog (`catalog`) and the resident
embeddings (`matrix`), reading memories (`read`), writing what it has shown (`shown`); `quiet_worst_ms` is the worst
such recall without a run, the noise of the machine. `second_run_seconds` is a run in which nothing changes.
"""

from __future__ import annotations

import json
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from _report import Report, Table, argument_parser, publish

from ebbing.lifecycle.constants import DEFAULTS
from ebbing.lifecycle.daily import DailyReport, DailyRun
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.lifecycle.steps import DailySteps
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, parse
from ebbing.schemas.memory import Kind, NewMemory
from ebbing.store.graph import Link
from ebbing.store.store import Store

DIMENSION: Final = 384
START: Final = parse("2026-03-02T09:00:00Z")
SCOPE: Final = "/bench"
BATCH: Final = 500
TOKENS: Final = 20
LINKS: Final = 5
QUIET_SECONDS: Final = 8.0
PAUSE: Final = 0.02
WORDS: Final = [f"word{number}" for number in range(20_000)]

Seconds = dict[str, list[float]]


@contextmanager
def opened(home: Path) -> Generator[Store]:
    """The store of a folder, for vectors of no model."""
    with Store(home, START, model_name="bench", dimension=DIMENSION) as store:
        yield store


def fill(store: Store, count: int, seed: int) -> None:
    """Facts of about 50 words with a 32-bit embedding, token embeddings and links to earlier ones."""
    rng = random.Random(seed)  # noqa: S311 - sampling
    generator = np.random.default_rng(seed)
    ledger = Ledger(store)
    for start in range(0, count, BATCH):
        with store.atomic(durable=False):
            for vector in units(generator, min(BATCH, count - start)):
                put(store, ledger, rng, vector, units(generator, TOKENS))


def units(generator: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Random unit vectors, float32 (count, d)."""
    vectors = generator.standard_normal((count, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def put(
    store: Store,
    ledger: Ledger,
    rng: random.Random,
    vector: np.ndarray[Any, np.dtype[np.float32]],
    tokens: np.ndarray[Any, np.dtype[np.float32]],
) -> None:
    """Store one memory with everything that hangs on it."""
    text = " ".join(rng.choices(WORDS, k=50))
    new = NewMemory(
        id=new_id(START),
        scope=SCOPE,
        kind=Kind.FACT,
        content=text,
        recorded_at=START,
        gist=text[:120],
        cue=text[:40],
        index_text=text,
        importance=rng.random() / 4,
        trust=0.8,
    )
    seq = ledger.saved(new, START)
    store.lexical.add(seq, new.index_text, "")
    store.vectors.put(seq, store.scopes.ensure(SCOPE), vector[np.newaxis], 32)
    store.tokens.put(seq, store.vectors.model, tokens, np.arange(TOKENS, dtype=np.int32))
    before = range(max(1, seq - 5_000), seq)
    others = rng.sample(before, min(LINKS, len(before)))
    store.graph.connect([Link(seq, other, "similar", rng.uniform(0.45, 0.95)) for other in others])


class Clocked:
    """A store's transactions, timed from the lock to the commit: what another writer may have to wait for."""

    def __init__(self, store: Store) -> None:
        self.spans: list[tuple[float, float]] = []
        """Seconds on the wall and of a core, of each."""
        self._depth = 0
        self._atomic = store.database.atomic
        store.database.atomic = self.atomic

    @contextmanager
    def atomic(self, *, durable: bool = True) -> Generator[None]:
        """What the store calls; the outermost call is a transaction."""
        self._depth += 1
        try:
            with self._atomic(durable=durable):
                wall, core = time.perf_counter(), time.thread_time()
                yield
                if self._depth == 1:
                    self.spans.append((time.perf_counter() - wall, time.thread_time() - core))
        finally:
            self._depth -= 1


@dataclass(slots=True)
class Probe:
    """Times what a recall does to a store, one after the other."""

    parts: Seconds = field(default_factory=Seconds)

    def recall(self, store: Store, ledger: Ledger, rng: random.Random, count: int, now: int) -> None:
        """One recall."""
        seqs = rng.sample(range(1, count + 1), min(10, count))
        work = (
            ("catalog", store.catalog.columns),
            ("matrix", store.resident.matrix),
            ("read", lambda: store.memories.by_seqs(seqs)),
            ("shown", lambda: ledger.shown(SCOPE, store.memories.by_seqs(seqs[:5]), new_id(now), {}, now)),
        )
        for name, act in work:
            started = time.perf_counter()
            act()
            self.parts.setdefault(name, []).append(time.perf_counter() - started)


def read_along(home: Path, count: int, now: int) -> None:
    """The other process: recall after recall; a line on stdin begins a new phase, and "end" ends the process."""
    rng = random.Random(1)  # noqa: S311 - sampling
    phases: list[Seconds] = []
    with opened(home) as store:
        ledger = Ledger(store)
        probe = Probe()
        probe.recall(store, ledger, rng, count, now)
        say("ready")
        for line in orders():
            if line is None:
                probe.recall(store, ledger, rng, count, now)
                time.sleep(PAUSE)
                continue
            phases.append(probe.parts)
            probe = Probe()
    say(json.dumps(phases))


def say(line: str) -> None:
    """Tell the process that started us."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def orders() -> Iterator[str | None]:
    """The lines on stdin up to and with "end", and None whenever there is none."""
    line: str | None = None
    while line != "end":
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        line = sys.stdin.readline().strip() if ready else None
        yield line


class Reader:
    """The other process, as seen from here."""

    def __init__(self, home: Path, count: int, now: int) -> None:
        command = [sys.executable, __file__, "--reader", str(home), "--items", str(count), "--now", str(now)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def phase(self, name: str = "next") -> None:
        """Begin the next phase of what it records."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()

    def phases(self) -> list[Seconds]:
        """End it; the seconds by part of each phase."""
        self.phase("end")
        assert self._process.stdout is not None
        found = json.loads(self._process.stdout.readline())
        self._process.wait()
        return found


def steps(store: Store, home: Path) -> DailyRun:
    """The daily run over a store, without an embedding model."""
    ledger = Ledger(store)
    parts = DailySteps(
        store,
        Observer(store, ledger),
        lambda: None,
        lambda text: len(text) // 4,
        lambda scope: home / "prompts" / f"{abs(hash(scope))}.md",
        DEFAULTS,
    )
    return DailyRun(store, parts.all(), "bench")


def measured(run: DailyRun, now: int) -> tuple[DailyReport, float]:
    """The report of a run, and the seconds of a core that this process spent in it."""
    started = time.process_time()
    report = run.run(now)
    return report, time.process_time() - started


def delays(quiet: Seconds, busy: Seconds) -> dict[str, float]:
    """Worst delay over the median without a run, in ms, of whole recalls and of their parts."""
    before, during = (1000 * np.sum([np.array(part) for part in phase.values()], axis=0) for phase in (quiet, busy))
    figures = {
        "quiet_p50_ms": float(np.median(before)),
        "quiet_worst_ms": float(before.max()),
        "busy_p50_ms": float(np.median(during)),
        "busy_p99_ms": float(np.percentile(during, 99)),
        "recalls_over_50_ms": float((during - np.median(before) > 50.0).mean()),  # noqa: PLR2004 - the budget
        "worst_delay_ms": float(during.max() - np.median(before)),
    }
    for name, values in busy.items():
        figures[f"worst_delay_{name}_ms"] = 1000 * float(max(values) - np.median(quiet[name]))
    return figures


def main() -> None:
    """Measure and report, or be the other process."""
    parser = argument_parser(__doc__)
    parser.add_argument("--items", type=int, default=100_000, help="memories in the store")
    parser.add_argument("--days", type=int, default=60, help="active days since they were saved")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", type=Path, help="be the other process, over this folder")
    parser.add_argument("--now", type=int, default=0)
    given = parser.parse_args()
    if given.reader is not None:
        read_along(given.reader, given.items, given.now)
        return
    with tempfile.TemporaryDirectory() as folder:
        publish(bench(Path(folder), given.items, given.days, given.seed), as_json=given.json)


def bench(home: Path, items: int, days: int, seed: int) -> Report:
    """Fill a store, let a reader recall from it, run twice."""
    with opened(home) as store:
        started = time.perf_counter()
        fill(store, items, seed)
        for day in range(1, days + 1):
            Ledger(store).activity(SCOPE, START + day * MICROSECONDS_PER_DAY)
        store.database.checkpoint()
        filled = time.perf_counter() - started
        now = START + days * MICROSECONDS_PER_DAY
        reader = Reader(home, items, now)
        reader.phase()
        time.sleep(QUIET_SECONDS)
        clocked = Clocked(store)
        reader.phase()
        report, core = measured(steps(store, home), now)
        spans = np.array(clocked.spans)
        reader.phase()
        again, _ = measured(steps(store, home), now)
        _, quiet, busy, *_ = reader.phases()
    figures = {
        "cpu_seconds": core,
        "wall_seconds": sum(step.seconds for step in report.steps),
        "moved": float(sum(step.changed for step in report.steps if step.name == "decay")),
        "longest_transaction_ms": 1000 * float(spans[:, 0].max()),
        "longest_transaction_core_ms": 1000 * float(spans[:, 1].max()),
        "second_run_seconds": sum(step.seconds for step in again.steps),
        "recalls_during_run": float(len(busy["read"])),
        **delays(quiet, busy),
    }
    rows = [(step.name, step.changed, step.seconds) for step in report.steps]
    settings = {"items": items, "days": days, "seed": seed, "fill_seconds": round(filled, 1)}
    return Report(
        "daily", figures, settings, ("apsw", "numpy"), (Table("steps", ("step", "changed", "seconds"), rows),)
    )


if __name__ == "__main__":
    main()
