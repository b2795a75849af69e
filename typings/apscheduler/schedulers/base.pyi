from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Literal

from apscheduler.job import Job
from apscheduler.triggers.base import BaseTrigger

STATE_STOPPED: int
STATE_RUNNING: int
STATE_PAUSED: int

class BaseScheduler:
    state: int
    def __init__(
        self,
        gconfig: Mapping[str, object] = ...,
        *,
        timezone: tzinfo | str | None = ...,
        daemon: bool = ...,
        executors: Mapping[str, object] = ...,
        job_defaults: Mapping[str, object] = ...,
    ) -> None: ...
    @property
    def running(self) -> bool: ...
    def start(self, paused: bool = False) -> None: ...
    def shutdown(self, wait: bool = True) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def add_listener(self, callback: Callable[[object], object], mask: int = ...) -> None: ...
    def add_job(
        self,
        func: Callable[..., object],
        trigger: BaseTrigger | Literal["cron", "date", "interval"] | None = None,
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
        id: str | None = None,
        name: str | None = None,
        misfire_grace_time: int | None = ...,
        coalesce: bool = ...,
        max_instances: int = ...,
        next_run_time: datetime | None = ...,
        jobstore: str = "default",
        executor: str = "default",
        replace_existing: bool = False,
        *,
        weeks: float = ...,
        days: float = ...,
        hours: float = ...,
        minutes: float = ...,
        seconds: float = ...,
        start_date: datetime | str | None = ...,
        end_date: datetime | str | None = ...,
        run_date: datetime | str | None = ...,
        jitter: int | None = ...,
        timezone: tzinfo | str | None = ...,
    ) -> Job: ...
    def get_job(self, job_id: str, jobstore: str | None = None) -> Job | None: ...
    def get_jobs(self, jobstore: str | None = None, pending: bool | None = None) -> list[Job]: ...
    def remove_job(self, job_id: str, jobstore: str | None = None) -> None: ...
    def remove_all_jobs(self, jobstore: str | None = None) -> None: ...
