"""The scheduler inside a server: spool ingestion every half minute, and the daily run when it is due and quiet."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..schemas.errors import EbbingError

QUIET_SECONDS = 60
SPOOL_SECONDS = 30
NICENESS = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do every `seconds`; an EbbingError in it is logged and the next turn comes all the same."""

    name: str
    seconds: float
    run: Callable[[], object]


class Scheduler:
    """Runs jobs on one background thread with APScheduler, never two turns of a job at once."""

    def __init__(self, jobs: list[Job]) -> None:
        """Prepare `jobs`; nothing runs before `start`."""
        self._jobs = jobs
        self._guard = threading.Lock()
        self._scheduler: Any = None

    def start(self) -> None:
        """Start the background thread; a second call changes nothing."""
        from apscheduler.executors.pool import ThreadPoolExecutor
        from apscheduler.schedulers.background import BackgroundScheduler

        with self._guard:
            if self._scheduler is not None:
                return
            self._scheduler = BackgroundScheduler(
                executors={"default": ThreadPoolExecutor(1, {"initializer": give_way})},
                job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
                timezone="UTC",
                daemon=True,
            )
            for job in self._jobs:
                self._scheduler.add_job(guarded(job), "interval", seconds=job.seconds, id=job.name)
            logging.getLogger("apscheduler").setLevel(logging.WARNING)
            self._scheduler.start()

    def close(self) -> None:
        """Take no new turns; a turn in progress ends by itself."""
        with self._guard:
            if self._scheduler is not None:
                self._scheduler.shutdown(wait=False)
                self._scheduler = None


def give_way() -> None:
    """Lower the priority of this thread, where threads have one of their own: background work never presses."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        # Giving priority back is not ours to do: a process that was started gentler stays so.
        os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


def guarded(job: Job) -> Callable[[], None]:
    """A job's function that logs our errors instead of raising them."""

    def turn() -> None:
        try:
            job.run()
        except EbbingError as error:
            _log.warning("%s: %s", job.name, error)

    return turn
