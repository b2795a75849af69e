"""What happens to a memory is journalled and folded into its figures at once."""

from math import exp, log
from pathlib import Path

import pytest
from world import PROJECT, World

from ebbing.lifecycle.decay import retention_of
from ebbing.schemas.memory import Event, State


def retention(world: World, seq: int) -> float:
    store = world.services.store
    import numpy as np

    return float(retention_of(store, store.catalog.columns(), np.array([seq]), world.now)[0])


def test_a_new_facts_stability_and_rate_are_those_of_the_formula(world: World) -> None:
    memory = world.save("The cache is cold.", importance=0.5, said_by="agent")
    assert memory.strength.stability == pytest.approx(14 * (1 + 1.5 * 0.5))
    assert memory.strength.rate == pytest.approx((1 + 2 * 0.4) / memory.strength.stability)


def test_retention_falls_by_the_scopes_own_clock(world: World) -> None:
    memory = world.save("The cache is cold.", importance=0.0, said_by="user")
    world.work_days(14)
    days = 14 + 14 / 30
    assert retention(world, memory.seq) == pytest.approx(exp(-days / 14), rel=1e-6)


def test_idle_days_cost_at_most_one_day_and_a_thirtieth_each(world: World) -> None:
    memory = world.save("The cache is cold.", importance=0.0, said_by="user")
    world.pass_days(180)
    assert retention(world, memory.seq) == pytest.approx(exp(-(1 + 180 / 30) / 14), rel=1e-6)


def test_a_first_use_counts_one_and_starts_retention_anew(world: World) -> None:
    memory = world.save("The cache is cold.", importance=0.0, said_by="user")
    world.work_days(10)
    world.services.ledger.used(world.memory(memory.id), world.now)
    used = world.memory(memory.id).strength
    assert used.uses == 1
    assert used.spaced_uses == 1.0
    assert used.stability == pytest.approx(14 * (1 + 2 * log(2)))
    assert retention(world, memory.seq) == pytest.approx(1.0)


def test_uses_in_a_burst_hardly_count(world: World) -> None:
    memory = world.save("The cache is cold.")
    for _ in range(20):
        world.services.ledger.used(world.memory(memory.id), world.now)
    assert world.memory(memory.id).strength.spaced_uses == pytest.approx(1.0)


def test_confirming_raises_trust_and_stability_and_contradicting_lowers_trust(world: World) -> None:
    memory = world.save("The cache is cold.")
    confirmed = world.services.ledger.confirmed(memory, world.now)
    assert world.memory(memory.id).strength.stability > memory.strength.stability
    assert confirmed.trust > memory.trust
    contradicted = world.services.ledger.contradicted(confirmed, world.now)
    assert contradicted.trust < confirmed.trust
    assert world.memory(memory.id).strength.rate > memory.strength.rate * 0.5


def test_forgetting_and_restoring_give_the_text_back_byte_for_byte(world: World) -> None:
    text = "Exact:  double  spaces, naïve café, 日本語, and a trailing dot.\nSecond line\twith a tab."
    memory = world.save(text)
    world.services.ledger.forgotten(memory, world.now)
    assert world.memory(memory.id).content == text
    assert world.memory(memory.id).strength.state is State.FORGOTTEN
    world.services.ledger.restored(world.memory(memory.id), world.now)
    restored = world.memory(memory.id)
    assert (restored.content, restored.forgotten_at, restored.strength.state) == (text, None, State.ACTIVE)


def test_every_step_of_a_life_is_in_the_journal_in_order(world: World) -> None:
    ledger = world.services.ledger
    memory = world.save("The cache is cold.")
    ledger.used(memory, world.now)
    ledger.confirmed(memory, world.now)
    ledger.contradicted(memory, world.now)
    ledger.pinned(memory, world.now, pinned=True)
    ledger.pinned(memory, world.now, pinned=False)
    ledger.forgotten(memory, world.now)
    ledger.restored(memory, world.now)
    events = [entry.event for entry in world.services.store.journal.of_memory(memory.id)]
    assert events == [
        Event.SAVED,
        Event.USED,
        Event.CONFIRMED,
        Event.CONTRADICTED,
        Event.PINNED,
        Event.UNPINNED,
        Event.FORGOTTEN,
        Event.RESTORED,
    ]


def test_a_pinned_memory_never_fades(world: World) -> None:
    memory = world.save("Never deploy on a Friday.", "observation", pinned=True)
    world.work_days(400)
    world.run_daily()
    assert world.memory(memory.id).strength.state is State.ACTIVE


def test_one_run_after_a_year_equals_a_run_a_day(tmp_path: Path) -> None:
    states: list[list[State]] = []
    for name, daily in (("daily", True), ("once", False)):
        with World(tmp_path / name) as world:
            kinds = ("observation", "episode", "fact", "procedure", "decision", "preference")
            saved = [world.save(f"A {kind} of no consequence.", kind) for kind in kinds]
            for _ in range(90):
                world.work_days(1)
                if daily:
                    world.run_daily()
            world.run_daily()
            states.append([world.memory(memory.id).strength.state for memory in saved])
    assert states[0] == states[1]


def test_another_scopes_work_does_not_age_this_one(world: World) -> None:
    memory = world.save("Ours.", importance=0.0, said_by="user")
    world.work_days(60, scope="/projects/other")
    assert retention(world, memory.seq) == pytest.approx(exp(-(1 + 60 / 30) / 14), rel=1e-6)
    assert world.memory(memory.id).scope == PROJECT
