"""The daily run over a large store in which every memory changes its state, and what another process feels of it.

Figures: `cpu_seconds` of one core for the run (the dearest, where it takes several: `runs_until_done`, which together
took `cpu_seconds_until_done`); `longest_transaction_ms` with the lock held (until the commit
begins) and how much of a core it took; `second_run_seconds` of a run in which nothing changes. Another process recalls
all the while, first with nothing beside it (`quiet_…`), then beside a process that works as hard and touches no store
(`loaded_…`: what the machine does), then beside the run (`busy_…`): p99, worst delay over the quiet median, the share
of recalls delayed by more than 50 ms, the worst delay in time of a core (what a recall has to do more, whatever else
the machine does), and how long a writer waits for the lock (p99, worst). `worst_delay_…` names the worst part of a
recall beside the run: catching up with the catalog, with the resident embeddings, answering.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from _beside import Beside, be_beside, be_busy, compared
from _report import Report, Table, argument_parser, publish

from ebbing.lifecycle.constants import DEFAULTS
from ebbing.lifecycle.daily import RETRY_AFTER, DailyReport, DailyRun
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.lifecycle.scheduler import give_way
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
QUIET_SECONDS: Final = 20.0
WORDS: Final = [f"word{number}" for number in range(20_000)]


@contextmanager
def opened(home: Path, model: str = "bench") -> Generator[Store]:
    """The store of a folder; unless told otherwise for vectors of no model."""
    with Store(home, START, model_name=model, dimension=DIMENSION) as store:
        yield store


def fill(store: Store, count: int, seed: int, scope: str = SCOPE) -> None:
    """Facts of about 50 words with a 32-bit embedding, token embeddings and links to earlier ones."""
    rng = random.Random(seed)  # noqa: S311 - sampling
    generator = np.random.default_rng(seed)
    ledger = Ledger(store)
    for start in range(0, count, BATCH):
        with store.atomic(durable=False):
            for vector in units(generator, min(BATCH, count - start)):
                put(store, ledger, rng, vector, units(generator, TOKENS), scope)


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
    scope: str,
) -> None:
    """Store one memory with everything that hangs on it."""
    text = " ".join(rng.choices(WORDS, k=50))
    new = NewMemory(
        id=new_id(START),
        scope=scope,
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
    store.vectors.put(seq, store.scopes.ensure(scope), vector[np.newaxis], 32)
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
    """The report of a run on a thread of low priority, as a server has it, and the seconds of a core it took."""

    def work() -> tuple[DailyReport, float]:
        give_way()
        started = time.thread_time()
        return run.run(now), time.thread_time() - started

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def rest(store: Store, home: Path, now: int, first: DailyReport) -> list[float]:
    """Go on, an hour later each, where a run was out of time; the seconds of a core that each run took."""
    report, cores = first, list[float]()
    while not report.finished:
        now += RETRY_AFTER
        report, core = measured(steps(store, home), now)
        cores.append(core)
    return cores


def main() -> None:
    """Measure and report, or be one of the other processes."""
    parser = argument_parser(__doc__)
    parser.add_argument("--items", type=int, default=100_000, help="memories in the store")
    parser.add_argument("--days", type=int, default=60, help="active days since they were saved")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the filled store; one that is there is copied")
    parser.add_argument("--beside", type=Path, help="be the process that recalls, over this folder")
    parser.add_argument("--load", action="store_true", help="be the process that only works")
    given = parser.parse_args()
    if given.load:
        be_busy(DIMENSION)
    elif given.beside is not None:
        with opened(given.beside) as store:
            be_beside(store, SCOPE, START + given.days * MICROSECONDS_PER_DAY)
    else:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "home")
            seconds = prepare(home, given.items, given.days, given.seed, given.keep)
            publish(bench(home, given.items, given.days, given.seed, seconds), as_json=given.json)


def prepare(home: Path, items: int, days: int, seed: int, keep: Path | None) -> float:
    """Fill a store, or copy one that was kept; the seconds it took."""
    started = time.perf_counter()
    if keep is None or not keep.exists():
        with opened(keep or home) as store:
            fill(store, items, seed)
            for day in range(1, days + 1):
                Ledger(store).activity(SCOPE, START + day * MICROSECONDS_PER_DAY)
            store.database.checkpoint()
    if keep is not None:
        shutil.copytree(keep, home)
    return time.perf_counter() - started


def bench(home: Path, items: int, days: int, seed: int, seconds: float) -> Report:
    """Let another process recall alone, beside unrelated work, and beside a run; then run again."""
    now = START + days * MICROSECONDS_PER_DAY
    with opened(home) as store:
        script = Path(__file__)
        beside = Beside(script, "--beside", str(home), "--days", str(days))
        beside.phase()
        time.sleep(QUIET_SECONDS)
        load = Beside(script, "--load")
        beside.phase()
        time.sleep(QUIET_SECONDS)
        load.kill()
        clocked = Clocked(store)
        beside.phase()
        report, core = measured(steps(store, home), now)
        later = rest(store, home, now, report)
        spans = np.array(clocked.spans)
        beside.phase()
        again, _ = measured(steps(store, home), now)
        _, quiet, loaded, busy, *_ = beside.phases()
    figures = {
        "cpu_seconds": max(core, *later, 0.0),
        "cpu_seconds_until_done": core + sum(later),
        "runs_until_done": 1.0 + len(later),
        "wall_seconds": sum(step.seconds for step in report.steps),
        "moved": float(sum(step.changed for step in report.steps if step.name == "decay")),
        "longest_transaction_ms": 1000 * float(spans[:, 0].max()),
        "longest_transaction_core_ms": 1000 * float(spans[:, 1].max()),
        "second_run_seconds": sum(step.seconds for step in again.steps),
        "recalls_during_run": float(len(busy["recall"])),
        **compared(quiet, loaded, busy),
    }
    rows = [(step.name, step.changed, step.seconds) for step in report.steps]
    settings = {"items": items, "days": days, "seed": seed, "fill_seconds": round(seconds, 1)}
    return Report(
        "daily", figures, settings, ("apsw", "numpy"), (Table("steps", ("step", "changed", "seconds"), rows),)
    )


if __name__ == "__main__":
    main()
