"""Unused memories fade by steps, holidays cost next to nothing, and it makes no difference how often the run ran."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from world import World

from ebbing.lifecycle import clock, feedback, fold, heat, states, strength, value
from ebbing.lifecycle.constants import DEFAULTS, DecaySettings
from ebbing.lifecycle.decay import decay, pending, retention_of
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, parse
from ebbing.schemas.memory import Event, Kind, NewMemory, Signal, State, Strength
from ebbing.store.graph import Link

PLENTY = DecaySettings(budget_memories=1_000_000, undo_days=1e6)


def states_of(world: World) -> dict[str, State]:
    store = world.services.store
    return {memory.id: memory.strength.state for batch in store.memories.all() for memory in batch}


def in_balance(world: World, days: int = 250) -> None:
    """A project in which things are saved and used every day, for so long that as many fade out as come in."""
    rng = random.Random(3)
    ledger, store = world.services.ledger, world.services.store
    saved: list[str] = []
    for day in range(days):
        with store.atomic(durable=False):
            for kind in (Kind.FACT, Kind.EPISODE, Kind.DECISION, Kind.PROCEDURE):
                new = plain(world.now, f"{kind} of day {day}", kind, rng.random() / 2)
                seq = ledger.saved(new, world.now)
                links = [Link(seq, rng.randint(max(1, seq - 40), seq - 1), "similar", 0.6)] if seq > 1 else []
                store.graph.connect(links)
                ledger.linked(new, links, world.now)
                saved.append(new.id)
            for identifier in rng.choices(saved, [1 / (1 + place) for place in range(len(saved))], k=4):
                ledger.used(world.memory(identifier), world.now)
        world.work_days(1)
        if day % 10 == 0:
            decay(store, world.now)
    decay(store, world.now)


def plain(now: int, text: str, kind: Kind, importance: float) -> NewMemory:
    """A memory with the least that a memory has."""
    return NewMemory(
        id=new_id(now),
        scope="/projects/ebb",
        kind=kind,
        content=text,
        recorded_at=now,
        gist=text,
        cue=text,
        index_text=text,
        importance=importance,
    )


def test_a_holiday_of_three_weeks_changes_fewer_than_one_in_twenty(world: World) -> None:
    in_balance(world)
    before = states_of(world)
    assert len(Counter(before.values())) >= 3
    world.pass_days(21)
    decay(world.services.store, world.now)
    after = states_of(world)
    changed = [identifier for identifier in before if after[identifier] != before[identifier]]
    assert len(changed) < 0.05 * len(before)


def test_a_project_left_alone_for_half_a_year_recalls_its_decisions_first(world: World) -> None:
    subjects = ("cache", "queue", "billing", "search", "login")
    decisions = [
        world.save(f"We decided that the {name} is written in Rust because of latency.", "decision")
        for name in subjects
    ]
    for number in range(30):
        world.save(f"ran the {subjects[number % 5]} tests, {number} passed", "observation")
    world.work_days(5)
    world.pass_days(180)
    world.services.ledger.activity("/projects/ebb", world.now)
    world.run_daily()
    for name, memory in zip(subjects, decisions, strict=True):
        assert world.found(f"why is the {name} written in Rust?")[0] == memory.content
        assert world.state(memory.id) <= State.WARM


def test_every_state_is_passed_on_the_way_down_and_the_text_is_kept(world: World) -> None:
    text = "ran the tests:  ok\twith 日本語 " + "and more " * 40
    memory = world.save(text, "observation", importance=0.0, said_by="user")
    stored = world.memory(memory.id).content
    seen: list[State] = []
    for _ in range(60):
        world.pass_days(0.1)
        world.services.ledger.activity("/projects/ebb", world.now)
        decay(world.services.store, world.now)
        seen.append(world.state(memory.id))
    assert list(dict.fromkeys(seen)) == list(State)
    assert world.memory(memory.id).content == stored
    moves = [e.data for e in world.services.store.journal.of_memory(memory.id) if e.event is Event.STATE]
    assert [move["to"] for move in moves] == ["warm", "cold", "archive", "forgotten"]


def test_a_use_brings_a_faded_memory_back_whole(world: World) -> None:
    memory = world.save("ran the tests: ok, in 日本語 too", "observation")
    world.work_days(100)
    world.run_daily()
    assert world.state(memory.id) is State.FORGOTTEN
    world.services.ledger.used(world.memory(memory.id), world.now)
    assert world.memory(memory.id).content == memory.content
    assert world.state(memory.id) is State.ACTIVE
    assert decay(world.services.store, world.now) == 0


def test_running_again_changes_nothing(world: World) -> None:
    in_balance(world, 20)
    world.work_days(9)
    expected = pending(world.services.store, world.now)
    assert decay(world.services.store, world.now) == expected > 0
    revision = world.services.store.meta.revision()
    assert decay(world.services.store, world.now) == 0
    assert world.services.store.meta.revision() == revision


def test_a_stopped_run_has_done_whole_batches_and_the_next_one_does_the_rest(world: World) -> None:
    events = [{"text": f"ran command {number}: ok"} for number in range(350)]
    world.services.observer.take(events, "/projects/ebb", "s", "c", world.now)
    world.work_days(100)
    asked = iter([False, False, True])
    first = decay(world.services.store, world.now, stopped=lambda: next(asked))
    assert first == 200
    assert decay(world.services.store, world.now) == 150
    assert set(states_of(world).values()) == {State.FORGOTTEN}


def test_what_was_used_while_the_run_looked_at_it_is_looked_at_again(world: World) -> None:
    memories = [world.save(f"ran command {number}: ok", "observation") for number in range(3)]
    world.work_days(100)
    used: list[str] = []

    def use_meanwhile() -> bool:
        if not used:
            used.append(memories[0].id)
            world.services.ledger.used(world.memory(memories[0].id), world.now)
        return False

    assert decay(world.services.store, world.now, stopped=use_meanwhile) == 2
    assert [world.state(memory.id) for memory in memories] == [State.ACTIVE, State.FORGOTTEN, State.FORGOTTEN]


def lived(folder: str, seed: int, days: list[bool], every: int) -> list[tuple[Any, ...]]:
    """The derived columns after a random past and then days, active or idle, with a run each so many of them."""
    with History(Path(folder), random.Random(seed), PLENTY) as history:
        history.live(60)
        history.now = max(history.now, parse("2027-06-01T00:00:00Z"))
        history.decay()
        for number, active in enumerate(days, start=1):
            history.now += MICROSECONDS_PER_DAY
            if active:
                history.ledger.activity("/projects/one", history.now)
            if number % every == 0:
                history.decay()
        history.decay()
        # Ids are made anew in each history.
        return [row[1:5] + row[6:] for row in history.derived() if len(row) == 21]


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.lists(st.booleans(), min_size=1, max_size=365), st.integers(1, 30))
def test_one_run_after_many_days_gives_what_a_run_each_few_days_gave(seed: int, days: list[bool], every: int) -> None:
    with tempfile.TemporaryDirectory() as once, tempfile.TemporaryDirectory() as often:
        assert lived(once, seed, days, len(days)) == lived(often, seed, days, every)


def test_one_run_after_a_year_equals_three_hundred_and_sixty_five(tmp_path: Path) -> None:
    rng = random.Random(5)
    days = [rng.random() < 0.4 for _ in range(365)]
    assert lived(str(tmp_path / "once"), 5, days, 365) == lived(str(tmp_path / "daily"), 5, days, 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),
        ("2028-02-28T12:00:00Z", "2028-03-01T12:00:00Z"),
        ("2038-01-19T03:14:00Z", "2038-01-19T03:15:00Z"),
    ],
    ids=["summer time", "leap day", "2038"],
)
def test_only_the_time_between_two_instants_counts(tmp_path: Path, before: str, after: str) -> None:
    with World(tmp_path / "home", now=parse(before)) as world:
        memory = world.save("The cache is cold.", importance=0.0, said_by="user")
        world.now = parse(after)
        passed = (parse(after) - parse(before)) / MICROSECONDS_PER_DAY
        store = world.services.store
        found = retention_of(store, store.catalog.columns(), np.array([memory.seq]), world.now)[0]
        assert found == pytest.approx(exp(-(min(passed, 1.0) + passed / 30) / 14))


def test_a_clock_that_jumps_back_ages_nothing_and_breaks_nothing(world: World) -> None:
    memory = world.save("The cache is cold.")
    world.work_days(3)
    world.run_daily()
    state = world.state(memory.id)
    tau = world.services.ledger.tau("/projects/ebb", world.now)
    world.pass_days(-400)
    assert world.services.daily.is_due(world.now)
    world.run_daily()
    assert world.services.ledger.tau("/projects/ebb", world.now) == tau
    later = world.save("Another fact altogether, said in the past.")
    assert world.memory(later.id).strength.anchor_tau == tau
    assert world.state(memory.id) is state


# --- every constant changes an outcome ------------------------------------------------------------------------------

_CHANGED: dict[str, Any] = {"heat_days": 2, "heat_window": 5}


def outcomes(given: DecaySettings) -> list[Any]:
    """A little of everything that constants decide."""
    day = MICROSECONDS_PER_DAY
    ticking = clock.touch(clock.touch(None, 0), 10 * day)
    facts = fold.Facts(base_days=10.0, importance=0.5, arousal=0.5, confirmations=1, trust=0.5)
    figures = Strength(spaced_uses=1.0, association=0.5, activation=1.0)
    later = fold.used(fold.used(figures, 0, 0.0, given), day // 2, 1.0, given)
    floors = strength.stability(0.001, settings=given)
    retention = np.linspace(0.0, 1.0, 1001)
    faded = states.next_states(np.zeros(1001, np.int8), retention, np.zeros(1001, np.bool_), given)
    risen = states.next_states(np.full(1001, 4, np.int8), retention, np.zeros(1001, np.bool_), given)
    shown = [heat.is_hot(heat.Heat(6, mask), 6, given) for mask in range(128)]
    return [
        clock.tau(ticking, 12 * day, given),
        [strength.kind_base(kind, given) for kind in Kind],
        fold.folded(facts, later, 20.0, given),
        floors,
        faded.tolist(),
        risen.tolist(),
        states.bit_widths(given).tolist(),
        shown,
        value.keep_scores(_candidates(), given).tolist(),
        value.exempt(_candidates(), given).tolist(),
        [feedback.starting_trust(source, given) for source in ("user", "tool", "agent", "outside")],
        [feedback.after_signal(0.5, signal, given) for signal in Signal],
    ]


def _candidates() -> value.Candidates:
    some = np.linspace(0.5, 3.0, 6)
    nobody = np.zeros(6, np.bool_)
    return value.Candidates(
        rate=some,
        elapsed_days=some,
        age_days=some,
        spaced_uses=some,
        confirmations=some,
        importance=some / 3,
        length=100 * some,
        interference=some,
        familiarity=some,
        pinned=nobody,
        protected=nobody,
    )


# What the budget's marks and the time for undoing decide is seen in test_eviction.py.
BUDGET = {"budget_bytes", "budget_memories", "high_mark", "low_mark", "undo_days"}
# What a weak use counts is seen in test_weak_uses.py.
ELSEWHERE = BUDGET | {"weak_use"}
CONSTANTS = [field for field in fields(DecaySettings) if field.name not in ELSEWHERE]


@pytest.mark.parametrize("name", [field.name for field in CONSTANTS])
def test_every_constant_changes_an_outcome(name: str) -> None:
    default = getattr(DEFAULTS, name)
    changed = _CHANGED.get(name, default * 2 if isinstance(default, int) else default * 0.7)
    assert outcomes(DecaySettings(**{name: changed})) != outcomes(DEFAULTS)


def _evicted(world: World, given: DecaySettings) -> tuple[int, int]:
    from ebbing.lifecycle.eviction import evict

    done = evict(world.services.store, world.now, given, free_bytes=lambda: 1 << 40)
    world.pass_days(10)
    return done.evicted, evict(world.services.store, world.now, given, free_bytes=lambda: 1 << 40).removed


BUDGETS: dict[str, Callable[[int], DecaySettings]] = {
    "as it is": lambda _: DecaySettings(budget_memories=20, undo_days=20.0),
    "budget_memories": lambda _: DecaySettings(budget_memories=40, undo_days=20.0),
    "budget_bytes": lambda used: DecaySettings(budget_memories=20, undo_days=20.0, budget_bytes=used // 3),
    "high_mark": lambda _: DecaySettings(budget_memories=20, undo_days=20.0, high_mark=0.95),
    "low_mark": lambda _: DecaySettings(budget_memories=20, undo_days=20.0, low_mark=0.5),
    "undo_days": lambda _: DecaySettings(budget_memories=20, undo_days=10.0),
}


def test_every_constant_of_the_budget_changes_what_goes(tmp_path: Path) -> None:
    found: dict[str, tuple[int, int]] = {}
    for name, budget in BUDGETS.items():
        with World(tmp_path / name) as world:
            for number in range(18):
                world.save(f"Episode {number} of the saga.", "episode")
            world.work_days(5)
            found[name] = _evicted(world, budget(world.services.store.evictions.used_bytes()))
    usual = found.pop("as it is")
    assert usual == (4, 0)
    assert all(other != usual for other in found.values())
