"""The daily run: named steps, each a series of small transactions, resumable, idempotent, stoppable.

A stdio server lives only as long as a session, so the run is due by a row in the store and caught up when a server
has been quiet for a minute; a lease keeps it to one process at a time. Between two batches the run renews its lease and
rests for as long as the batch took, so that others who want to write never wait for more than a batch or two. Unless
somebody asked for it, it takes no more than a minute of a core (`allotment`) and goes on with the rest an hour later.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

from ..schemas.errors import EbbingError, StoreError
from ..schemas.instants import MICROSECONDS_PER_DAY
from ..schemas.memory import Event
from ..store.journal import Entry
from ..store.store import Store
from .allotment import Allotment

LEASE = "daily"
LEASE_DURATION = MICROSECONDS_PER_DAY // 144
"""A lease lasts ten minutes (µs) and is renewed after a quarter of that: a crashed run holds others up no longer."""
RETRY_AFTER = MICROSECONDS_PER_DAY // 24
"""A run in which something failed, or that was out of time, is due again after an hour (µs)."""

_LONGEST_REST = 0.05
_MICROSECONDS = 1_000_000
_LAST_RUN = "daily.last_run"
_REPORT = "daily.report"
_REST = "the rest follows in an hour"

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
    """What a step may ask: the instant of the run (µs), whether to stop, whether to change nothing.

    `asked` says that somebody wants the work done now: what usually waits for more to come is not waited for, and no
    step is held to its time. `cut` names the steps before this one that were out of time and left something undone.
    """

    now: int
    stopped: Callable[[], bool] = lambda: False
    dry_run: bool = False
    scope: str | None = None
    asked: bool = False
    cut: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """A named part of the run; one that is `bounded` is held to its time."""

    name: str
    run: Callable[[RunContext], StepResult]
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What one step did and how long it took; `detail` says why when it `failed`; `cut` when it was out of time."""

    name: str
    changed: int
    seconds: float
    detail: str = ""
    failed: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class DailyReport:
    """What a run did.

    `ran` is False when another run was under way; `finished` is True when it was not stopped, and no step failed or was
    out of time.
    """

    at: int
    ran: bool
    dry_run: bool = False
    finished: bool = False
    steps: tuple[StepOutcome, ...] = field(default=())


class DailyRun:
    """Runs the steps under the lease."""

    def __init__(
        self,
        store: Store,
        steps: Sequence[Step],
        holder: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        core: Callable[[], float] = time.thread_time,
    ) -> None:
        """Run `steps` in order over `store`, as `holder`.

        `monotonic` gives seconds that only ever grow, `core` those of a core that the calling thread has taken.
        """
        self._store = store
        self._steps = tuple(steps)
        self._holder = holder
        self._monotonic = monotonic
        self._core = core
        self._running = threading.Lock()
        self._stop = threading.Event()
        self._failed_at: int | None = None

    def is_due(self, now: int) -> bool:
        """Whether a day has passed since the last finished run, and an hour since one that failed in this process.

        A last run that lies in the future was made by a clock that ran ahead, and does not count.
        """
        if self._failed_at is not None and 0 <= now - self._failed_at < RETRY_AFTER:
            return False
        last = self._store.meta.get(_LAST_RUN)
        return last is None or not 0 <= now - int(last) < MICROSECONDS_PER_DAY

    def next_due(self) -> int | None:
        """The instant (µs) at which the next run is due; None if there was never one."""
        last = self._store.meta.get(_LAST_RUN)
        return None if last is None else int(last) + MICROSECONDS_PER_DAY

    def stop(self) -> None:
        """Make the run in progress return after the batch it is in, and later ones at once."""
        self._stop.set()

    def run(
        self,
        now: int,
        *,
        dry_run: bool = False,
        scope: str | None = None,
        asked: bool = False,
        progress: Progress = no_progress,
    ) -> DailyReport:
        """Run every step as of `now` (µs), unless a run is under way in this process or another.

        A step that fails is reported and the others run all the same: room on a full disk is made by a later one.

        Raises:
            StoreError: if the lease can't be asked for.
        """
        if not self._running.acquire(blocking=False):
            return DailyReport(now, ran=False, dry_run=dry_run)
        try:
            if not self._store.leases.acquire(LEASE, self._holder, now, LEASE_DURATION):
                return DailyReport(now, ran=False, dry_run=dry_run)
            pace = _Pace(self._renewal(now), self._stop, self._monotonic)
            report = self._report(RunContext(now, pace.rest, dry_run, scope, asked), progress)
            self._wind_up(report)
        finally:
            self._running.release()
        return report

    def last_report(self) -> DailyReport | None:
        """The report of the newest run that changed anything on purpose, or None."""
        text = self._store.meta.get(_REPORT)
        if text is None:
            return None
        data = json.loads(text)
        steps = tuple(StepOutcome(**step) for step in data.pop("steps"))
        return DailyReport(**data, steps=steps)

    def _renewal(self, now: int) -> Callable[[], bool]:
        started = self._monotonic()

        def renew() -> bool:
            at = now + round((self._monotonic() - started) * _MICROSECONDS)
            try:
                return self._store.leases.acquire(LEASE, self._holder, at, LEASE_DURATION)
            except StoreError:
                # Not renewed is not lost: nobody can have taken it on a disk that is full for all.
                return True

        return renew

    def _report(self, context: RunContext, progress: Progress) -> DailyReport:
        outcomes: list[StepOutcome] = []
        allotment = Allotment(self._core, sum(step.bounded for step in self._steps))
        for number, step in enumerate(self._steps):
            if context.stopped():
                break
            progress(number, len(self._steps), step.name)
            outcomes.append(self._timed(step, context, allotment))
            context = replace(context, cut=frozenset(outcome.name for outcome in outcomes if outcome.cut))
        progress(len(self._steps), len(self._steps), "done")
        failed = any(outcome.failed for outcome in outcomes)
        self._failed_at = context.now if failed else None
        finished = not context.stopped() and not failed and not context.cut
        return DailyReport(context.now, True, context.dry_run, finished, tuple(outcomes))  # noqa: FBT003

    def _timed(self, step: Step, context: RunContext, allotment: Allotment) -> StepOutcome:
        if context.asked or not step.bounded:
            return self._outcome(step, context)
        turn = allotment.step(context.stopped)
        outcome = self._outcome(step, replace(context, stopped=turn))
        if not turn.over or outcome.failed:
            return outcome
        detail = f"{outcome.detail}; {_REST}" if outcome.detail else _REST
        return replace(outcome, detail=detail, cut=True)

    def _outcome(self, step: Step, context: RunContext) -> StepOutcome:
        started = self._monotonic()
        failed = False
        try:
            result = step.run(context)
        except (EbbingError, OSError) as error:
            failed = True
            result = StepResult(0, str(error) if isinstance(error, EbbingError) else f"a file: {error.strerror}")
            _log.warning("daily run: %s failed: %s", step.name, result.detail)
        seconds = self._monotonic() - started
        _log.info("daily run: %s changed %d in %.2f s", step.name, result.changed, seconds)
        return StepOutcome(step.name, result.changed, round(seconds, 3), result.detail, failed)

    def _wind_up(self, report: DailyReport) -> None:
        # On a full disk, or when the store is being closed, the next run finds the lease expired and goes on.
        try:
            if not report.dry_run:
                self._record(report)
            self._store.leases.release(LEASE, self._holder)
        except StoreError as error:
            _log.log(logging.INFO if self._stop.is_set() else logging.WARNING, "daily run: no report: %s", error)

    def _record(self, report: DailyReport) -> None:
        with self._store.atomic():
            self._store.meta.set(_REPORT, json.dumps(asdict(report)))
            if report.finished and report.steps:
                self._store.meta.set(_LAST_RUN, str(report.at))
            elif _ran_out(report, len(self._steps)):
                self._store.meta.set(_LAST_RUN, str(report.at - MICROSECONDS_PER_DAY + RETRY_AFTER))
            steps = {step.name: step.changed for step in report.steps}
            self._store.journal.append(Entry(report.at, Event.DAILY, data={"steps": steps}))


def _ran_out(report: DailyReport, steps: int) -> bool:
    """Whether nothing but time was missing."""
    every = len(report.steps) == steps and not any(step.failed for step in report.steps)
    return every and any(step.cut for step in report.steps)


class _Pace:
    """What happens between two batches: the lease is renewed in time, and others get as much time as the batch took."""

    def __init__(self, renew: Callable[[], bool], stop: threading.Event, monotonic: Callable[[], float]) -> None:
        self._renew = renew
        self._stop = stop
        self._monotonic = monotonic
        self._renewed = self._resumed = monotonic()
        self._lost = False

    def rest(self) -> bool:
        """Rest a moment; whether the run is to stop, because somebody said so or somebody else has the lease."""
        now = self._monotonic()
        if now - self._renewed > LEASE_DURATION / _MICROSECONDS / 4:
            self._renewed = now
            self._lost = not self._renew()
        stopped = self._stop.wait(min(max(0.0, now - self._resumed), _LONGEST_REST))
        self._resumed = self._monotonic()
        return stopped or self._lost
