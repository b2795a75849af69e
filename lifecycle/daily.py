"""The daily run: named steps, each a series of small transactions, resumable, idempotent, stoppable.

A stdio server lives only as long as a session, so the run is due by a row in the store and caught up when a server
has been quiet for a minute; a lease keeps it to one process at a time.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Event
from ..store.journal import Entry
from ..store.store import Store

LEASE = "daily"
_LEASE_DURATION = MICROSECONDS_PER_DAY // 24
_LAST_RUN = "daily.last_run"
_REPORT = "daily.report"

_log = logging.getLogger(__name__)


Progress = Callable[[int, int, str], None]
"""Told how many steps are done, how many there are, and the name of the one that starts."""


def no_progress(_done: int, _total: int, _name: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step did: how many things changed, and a sentence for people."""

    changed: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a step may ask: the instant of the run (µs), whether to stop, whether to change nothing."""

    now: int
    stopped: Callable[[], bool] = lambda: False
    dry_run: bool = False
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A named part of the run."""

    name: str
    run: Callable[[RunContext], StepResult]


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What one step did and how long it took."""

    name: str
    changed: int
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DailyReport:
    """What a run did. `ran` is False when another process held the lease; `finished` when it was not stopped."""

    at: int
    ran: bool
    dry_run: bool = False
    finished: bool = False
    steps: tuple[StepOutcome, ...] = field(default=())


class DailyRun:
    """Runs the steps under the lease."""

    def __init__(self, store: Store, steps: Sequence[Step], holder: str) -> None:
        """Run `steps` in order over `store`, as `holder`."""
        self._store = store
        self._steps = tuple(steps)
        self._holder = holder
        self._stop = threading.Event()

    def is_due(self, now: int) -> bool:
        """Whether a day has passed since the last finished run."""
        last = self._store.meta.get(_LAST_RUN)
        return last is None or now - int(last) >= MICROSECONDS_PER_DAY

    def next_due(self) -> int | None:
        """The instant (µs) at which the next run is due; None if there was never one."""
        last = self._store.meta.get(_LAST_RUN)
        return None if last is None else int(last) + MICROSECONDS_PER_DAY

    def stop(self) -> None:
        """Make a run in progress return after the batch it is in."""
        self._stop.set()

    def run(
        self,
        now: int,
        *,
        dry_run: bool = False,
        scope: str | None = None,
        progress: Progress = no_progress,
    ) -> DailyReport:
        """Run every step as of `now` (µs), unless another process is at it.

        Raises:
            StoreError: if a step can't go on; what earlier batches did stays done.
        """
        if not self._store.leases.acquire(LEASE, self._holder, now, _LEASE_DURATION):
            return DailyReport(now, ran=False, dry_run=dry_run)
        try:
            context = RunContext(now, self._stop.is_set, dry_run, scope)
            outcomes = self._all(context, progress)
            finished = not self._stop.is_set()
            report = DailyReport(now, ran=True, dry_run=dry_run, finished=finished, steps=tuple(outcomes))
            if not dry_run:
                self._record(report)
        finally:
            self._store.leases.release(LEASE, self._holder)
        return report

    def last_report(self) -> DailyReport | None:
        """The report of the newest run that changed anything on purpose, or None."""
        text = self._store.meta.get(_REPORT)
        if text is None:
            return None
        data = json.loads(text)
        steps = tuple(StepOutcome(**step) for step in data.pop("steps"))
        return DailyReport(**data, steps=steps)

    def _all(self, context: RunContext, progress: Progress) -> list[StepOutcome]:
        outcomes: list[StepOutcome] = []
        for number, step in enumerate(self._steps):
            if context.stopped():
                break
            progress(number, len(self._steps), step.name)
            started = time.perf_counter()
            result = step.run(context)
            seconds = time.perf_counter() - started
            outcomes.append(StepOutcome(step.name, result.changed, round(seconds, 3), result.detail))
            _log.info("daily run: %s changed %d in %.2f s", step.name, result.changed, seconds)
        progress(len(self._steps), len(self._steps), "done")
        return outcomes

    def _record(self, report: DailyReport) -> None:
        with self._store.atomic():
            self._store.meta.set(_REPORT, json.dumps(asdict(report)))
            if report.finished and report.steps:
                self._store.meta.set(_LAST_RUN, str(report.at))
            steps = {step.name: step.changed for step in report.steps}
            self._store.journal.append(Entry(report.at, Event.DAILY, data={"steps": steps}))
