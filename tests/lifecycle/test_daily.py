"""The daily run: one at a time, renewed while it lives, given up when it dies, stopped within a moment, reported."""

import threading
import time

import pytest
from world import World

from ebbing.lifecycle.daily import LEASE, LEASE_DURATION, RETRY_AFTER, DailyRun, RunContext, Step, StepResult
from ebbing.schemas.errors import ModelError, StoreFullError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Event
from ebbing.store.store import Store
from ebbing.tools.consolidate import consolidate
from ebbing.tools.status import status


@pytest.fixture
def store(world: World) -> Store:
    return world.services.store


class Seconds:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def nothing(_context: RunContext) -> StepResult:
    return StepResult(0)


def test_the_steps_run_in_the_order_of_the_design(world: World) -> None:
    report = world.services.daily.run(world.now)
    names = [step.name for step in report.steps]
    order = ["spool", "decay", "precision", "soft prompts", "eviction", "maintenance"]
    assert [name for name in names if name in order] == order


def test_a_run_is_due_a_day_after_the_last_one(world: World) -> None:
    daily = world.services.daily
    assert daily.is_due(world.now)
    daily.run(world.now)
    assert not daily.is_due(world.now + MICROSECONDS_PER_DAY - 1)
    assert daily.is_due(world.now + MICROSECONDS_PER_DAY)
    assert daily.next_due() == world.now + MICROSECONDS_PER_DAY


def test_a_dry_run_changes_nothing_and_leaves_the_run_due(world: World) -> None:
    memory = world.save("ran the tests: ok", "observation")
    world.work_days(50)
    revision = world.services.store.meta.revision()
    report = world.services.daily.run(world.now, dry_run=True)
    assert {step.name: step.changed for step in report.steps}["decay"] == 1
    assert world.services.store.meta.revision() == revision
    assert world.memory(memory.id) == memory
    assert world.services.daily.is_due(world.now)


def test_a_run_made_by_a_clock_that_ran_ahead_does_not_keep_the_next_one_away(world: World) -> None:
    world.services.daily.run(world.now + 400 * MICROSECONDS_PER_DAY)
    assert world.services.daily.is_due(world.now)


def test_another_process_at_it_means_that_this_one_does_nothing(store: Store) -> None:
    assert store.leases.acquire(LEASE, "another", 0, LEASE_DURATION)
    ran: list[int] = []
    daily = DailyRun(store, [Step("one", lambda context: StepResult(ran.append(context.now) or 0))], "us")
    assert not daily.run(1).ran
    assert ran == []
    assert daily.run(LEASE_DURATION).ran
    assert ran == [LEASE_DURATION]


def test_a_crashed_runs_lease_is_over_in_ten_minutes(store: Store) -> None:
    assert LEASE_DURATION == 600 * 1_000_000
    assert store.leases.acquire(LEASE, "crashed", 0, LEASE_DURATION)
    assert not DailyRun(store, [], "us").run(LEASE_DURATION - 1).ran
    assert DailyRun(store, [], "us").run(LEASE_DURATION).ran


def test_a_lease_from_a_clock_that_ran_ahead_is_over_at_once(store: Store) -> None:
    assert store.leases.acquire(LEASE, "crashed", 300 * MICROSECONDS_PER_DAY, LEASE_DURATION)
    assert DailyRun(store, [], "us").run(0).ran


def test_the_lease_is_given_back_at_the_end(store: Store) -> None:
    DailyRun(store, [Step("one", nothing)], "us").run(0)
    assert store.leases.holder(LEASE, 0) is None


def test_a_long_run_renews_its_lease_between_batches(store: Store) -> None:
    seconds = Seconds()
    held: list[str | None] = []

    def long(context: RunContext) -> StepResult:
        for _ in range(10):
            seconds.now += 200.0
            assert not context.stopped()
            held.append(store.leases.holder(LEASE, round(seconds.now * 1_000_000) + 1))
        return StepResult(10)

    assert DailyRun(store, [Step("long", long)], "us", monotonic=seconds).run(0).finished
    assert held == ["us"] * 10


def test_a_run_that_lost_its_lease_stops(store: Store) -> None:
    seconds = Seconds()

    def slept(context: RunContext) -> StepResult:
        # The machine slept for an hour, and another process took over.
        seconds.now += 3600.0
        assert store.leases.acquire(LEASE, "another", 3_600_000_000, LEASE_DURATION)
        return StepResult(1 if context.stopped() else 0)

    report = DailyRun(store, [Step("slept", slept), Step("after", nothing)], "us", monotonic=seconds).run(0)
    assert [step.name for step in report.steps] == ["slept"]
    assert not report.finished
    assert store.leases.holder(LEASE, 3_600_000_001) == "another"


def test_a_stop_returns_within_a_second_and_the_next_run_goes_on(store: Store) -> None:
    started, done = threading.Event(), threading.Event()
    batches: list[int] = []

    def endless(context: RunContext) -> StepResult:
        while not context.stopped():
            batches.append(len(batches))
            started.set()
        return StepResult(len(batches))

    daily = DailyRun(store, [Step("endless", endless), Step("after", nothing)], "us")
    reports: list[bool] = []

    def run() -> None:
        reports.append(daily.run(0).finished)
        done.set()

    threading.Thread(target=run).start()
    assert started.wait(10)
    asked = time.perf_counter()
    daily.stop()
    assert done.wait(10)
    assert time.perf_counter() - asked < 1.0
    assert reports == [False]
    again = DailyRun(store, [Step("one", nothing)], "next process")
    assert again.is_due(1)
    assert again.run(1).finished


def test_two_runs_at_once_in_one_process_are_one(store: Store) -> None:
    inner: list[bool] = []

    def outer(context: RunContext) -> StepResult:
        inner.append(daily.run(context.now).ran)
        return StepResult(0)

    daily = DailyRun(store, [Step("outer", outer)], "us")
    assert daily.run(0).ran
    assert inner == [False]


@pytest.mark.parametrize(
    "error", [ModelError("no model"), StoreFullError("the disk is full"), OSError(28, "No space left on device")]
)
def test_a_step_that_fails_is_reported_and_the_others_run(world: World, error: Exception) -> None:
    def fails(_context: RunContext) -> StepResult:
        raise error

    daily = DailyRun(world.services.store, [Step("bad", fails), Step("good", lambda _: StepResult(3))], "us")
    report = daily.run(world.now)
    assert [(step.name, step.changed, step.failed) for step in report.steps] == [("bad", 0, True), ("good", 3, False)]
    assert report.steps[0].detail
    assert not report.finished
    assert not daily.is_due(world.now + RETRY_AFTER - 1)
    assert daily.is_due(world.now + RETRY_AFTER)
    assert daily.last_report() == report
    facts = status(world.services)
    assert (facts["last_finished"], list(facts["last_failures"])) == (False, ["bad"])


def test_progress_names_each_step_as_it_begins(store: Store) -> None:
    seen: list[tuple[int, int, str]] = []
    daily = DailyRun(store, [Step("one", nothing), Step("two", nothing)], "us")
    daily.run(0, progress=lambda done, total, name: seen.append((done, total, name)))
    assert seen == [(0, 2, "one"), (1, 2, "two"), (2, 2, "done")]


def test_the_report_is_kept_journalled_and_told(world: World) -> None:
    world.save("ran the tests: ok", "observation")
    world.work_days(50)
    reply = consolidate(world.services)
    assert "decay changed 1" in reply.text
    facts = status(world.services)
    assert facts["last_changes"]["decay"] == 1
    assert facts["last_finished"]
    entry = world.services.store.journal.latest(Event.DAILY)
    assert entry is not None
    assert entry.data["steps"]["decay"] == 1


def test_a_batch_is_followed_by_a_rest_as_long_as_it_was_so_that_others_can_write(store: Store) -> None:
    seconds = Seconds()
    spans: list[float] = []

    def batch(context: RunContext) -> StepResult:
        context.stopped()
        seconds.now += 0.02
        before = time.perf_counter()
        context.stopped()
        spans.append(time.perf_counter() - before)
        return StepResult(1)

    DailyRun(store, [Step("batch", batch)], "us", monotonic=seconds).run(0)
    assert spans[0] >= 0.02
