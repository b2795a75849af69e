"""A run takes a minute of a core and no more; what it leaves the next ones do, and the end is the same."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from world import PROJECT, World

from ebbing.encoding.writer import Draft, prepare
from ebbing.lifecycle.allotment import MOST, RESERVED, Allotment
from ebbing.lifecycle.constants import DEFAULTS
from ebbing.lifecycle.daily import RETRY_AFTER, DailyRun, RunContext, Step, StepResult
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.observing import Observer
from ebbing.lifecycle.steps import DailySteps
from ebbing.schemas.errors import ModelError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Kind
from ebbing.store.store import Store

TEXT = "Note {0}: the importer read the {0}th of the nightly files and found {0} rows in it."
COUNT = 230


class Core:
    """A core on which every look at the clock takes a while."""

    def __init__(self, look: float = 0.0) -> None:
        self.taken = 0.0
        self.look = look

    def __call__(self) -> float:
        self.taken += self.look
        return self.taken


def never() -> bool:
    return False


def looping(core: Core, batch: float, batches: int) -> Any:
    """A step of so many batches that stops when it is told to; it says how many it did."""

    def step(context: RunContext) -> StepResult:
        for done in range(batches):
            if context.stopped():
                return StepResult(done)
            core.taken += batch
        return StepResult(batches)

    return step


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=8), st.floats(0.001, 1.0))
def test_a_run_takes_what_it_may_and_each_step_has_what_is_reserved(wanted: list[float], batch: float) -> None:
    core = Core()
    allotment = Allotment(core, len(wanted))
    for want in wanted:
        turn, before = allotment.step(never), core.taken
        while core.taken - before < want and not turn():
            core.taken += batch
        assert core.taken - before >= min(want, RESERVED)
        assert turn.over <= (core.taken - before >= RESERVED)
    assert core.taken <= MOST + batch * len(wanted)


def test_a_step_that_is_out_of_time_is_cut_and_the_run_goes_on_in_an_hour(world: World) -> None:
    core = Core()
    steps = [Step("long", looping(core, 1.0, 100), bounded=True), Step("short", looping(core, 1.0, 2), bounded=True)]
    daily = DailyRun(world.services.store, steps, "us", core=core)
    report = daily.run(world.now)
    assert [(step.name, step.changed, step.cut) for step in report.steps] == [("long", 51, True), ("short", 2, False)]
    assert "hour" in report.steps[0].detail
    assert not report.finished
    assert not daily.is_due(world.now + RETRY_AFTER - 1)
    assert daily.is_due(world.now + RETRY_AFTER)
    assert not DailyRun(world.services.store, steps, "another").is_due(world.now + RETRY_AFTER - 1)


def test_a_run_that_has_done_all_is_due_in_a_day(world: World) -> None:
    core = Core()
    daily = DailyRun(world.services.store, [Step("short", looping(core, 1.0, 2), bounded=True)], "us", core=core)
    assert daily.run(world.now).finished
    assert not daily.is_due(world.now + MICROSECONDS_PER_DAY - 1)


def test_a_run_that_somebody_asked_for_is_done_whole(world: World) -> None:
    core = Core()
    daily = DailyRun(world.services.store, [Step("long", looping(core, 1.0, 300), bounded=True)], "us", core=core)
    report = daily.run(world.now, asked=True)
    assert report.finished
    assert report.steps[0].changed == 300


def test_what_somebody_waits_for_is_not_cut_and_costs_the_others_no_more_than_the_reserve(world: World) -> None:
    core = Core()
    steps = [Step("embedding", looping(core, 1.0, 300)), Step("fading", looping(core, 1.0, 100), bounded=True)]
    report = DailyRun(world.services.store, steps, "us", core=core).run(world.now)
    assert [step.changed for step in report.steps] == [300, RESERVED]


def test_a_step_that_fails_is_due_again_as_a_failure(world: World) -> None:
    core = Core()

    def fails(context: RunContext) -> StepResult:
        core.taken += 1000.0
        raise ModelError(f"no model, {context.stopped()}")

    daily = DailyRun(world.services.store, [Step("fails", fails, bounded=True)], "us", core=core)
    [step] = daily.run(world.now).steps
    assert step.failed
    assert not step.cut
    assert daily.next_due() is None


def hurried(world: World) -> DailyRun:
    """The steps of a world when each has time for two batches only."""
    store, core = world.services.store, Core(RESERVED / 2.5)
    observer = Observer(store, Ledger(store))
    steps = DailySteps(store, observer, lambda: world.embedder, len, lambda _: world.home / "prompt.md", DEFAULTS)

    def busy(_context: RunContext) -> StepResult:
        core.taken += 10 * MOST
        return StepResult(0)

    # Maintenance looks at the clock more often than it works, on which this clock takes it for busy.
    chosen = [step for step in steps.all() if step.name != "maintenance"]
    return DailyRun(store, [Step("busy", busy), *chosen], "hurried", core=core)


def faded(world: World) -> None:
    services = world.services
    drafts = [
        Draft(content=TEXT.format(number), kind=Kind.EPISODE, scope=PROJECT, recorded_at=world.now, trust=0.6)
        for number in range(COUNT)
    ]
    with services.store.atomic():
        for prepared in prepare(drafts, world.embedder):
            seq = services.ledger.saved(prepared.new, world.now)
            services.store.lexical.add(seq, prepared.new.index_text, prepared.new.trigram_text)
            services.recorder.embed(seq, prepared.new.scope, prepared)
    world.work_days(60)


def outcome(store: Store) -> list[tuple[Any, ...]]:
    """What fading has made of each memory."""
    rows = store.database.rows(
        "SELECT m.seq, s.state, s.bit_width, s.rate, m.content IS NULL, a.seq IS NULL, t.seq IS NULL, v.bit_width,"
        " v.codes, m.merged_into IS NULL, m.evicted_at IS NULL FROM memory m JOIN strength s USING (seq)"
        " LEFT JOIN attic a USING (seq) LEFT JOIN token t USING (seq) LEFT JOIN vector v USING (seq) ORDER BY m.seq"
    )
    assert len(rows) >= COUNT
    return rows


def test_many_short_runs_leave_what_a_long_one_leaves(tmp_path: Path) -> None:
    with World(tmp_path / "hurried") as short, World(tmp_path / "whole") as whole:
        for world in (short, whole):
            faded(world)
        whole.run_daily()
        daily, runs = hurried(short), 1
        while not daily.run(short.now).finished:
            runs += 1
            assert runs < 100
        assert runs > 2
        assert {state for _, state, *_ in outcome(whole.services.store)} != {0}
        assert outcome(short.services.store) == outcome(whole.services.store)


def test_nothing_is_evicted_while_something_has_yet_to_be_made_smaller(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        faded(world)
        first = hurried(world).run(world.now)
        details = {step.name: step.detail for step in first.steps}
        assert next(step for step in first.steps if step.name == "decay").cut
        assert "waits" in details["eviction"]
        whole = world.services.daily.run(world.now, asked=True)
        assert "waits" not in {step.name: step.detail for step in whole.steps}["eviction"]
