"""An explanation's figures are those that a person gets with pencil and paper."""

import json
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
from world import World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.schemas.errors import UnknownMemoryError
from ebbing.schemas.memory import Memory
from ebbing.store.graph import Link
from ebbing.tools.explain import explain, text_of


def adds(facts: dict[str, Any]) -> dict[str, float]:
    return {term["name"]: term["adds"] for term in facts["terms"]}


def lived(world: World) -> Memory:
    """A decision that was used twice, confirmed once, and activated ten active days ago through its only link."""
    ledger, store = world.services.ledger, world.services.store
    memory = world.save("The port of the cache is 6379.", "decision", importance=0.4, said_by="agent")
    other = world.save("Quails nest in March.", importance=0.0, said_by="user")
    with store.atomic():
        store.database.execute("DELETE FROM link")
    store.graph.connect([Link(memory.seq, other.seq, "similar", 0.5)])
    world.work_days(2)
    ledger.used(world.memory(memory.id), world.now)
    world.work_days(1)
    ledger.used(ledger.confirmed(world.memory(memory.id), world.now), world.now)
    ledger.shown("/projects/ebb", [world.memory(other.id)], "recall", {}, world.now)
    world.work_days(10)
    return memory


def test_every_figure_is_recomputed_by_hand(world: World) -> None:
    memory = lived(world)
    facts = explain(world.services, memory.id)
    # The clock: thirteen active days, and a thirtieth of each again; the last use was on the third.
    tau = 13 + 13 / 30
    assert facts["clock"]["tau"] == pytest.approx(tau)
    assert facts["clock"]["elapsed_days"] == pytest.approx(10 + 10 / 30)
    # Spaced uses: the first counts 1, the second a day later 1 − 1/e.
    uses = 1 + (1 - exp(-1))
    # L: one link of 0.5 to a fact that is 13 active days old, has no importance and full trust (S = 14 · 1).
    linked = round((1 - exp(-0.5 * exp(-tau / 14))) * 32) / 32
    # ρ: one activation of 0.5, ten days ago.
    activation = round((1 - exp(-0.5 * exp(-(10 + 10 / 30) / 14))) * 32) / 32
    arousal = memory.arousal
    assert adds(facts) == pytest.approx(
        {
            "spaced uses": 2.0 * log(1 + uses),
            "importance": 1.5 * 0.4,
            "confirmations": 1.0,
            "arousal": 0.5 * arousal,
            "association": 0.5 * linked,
            "activation": 0.25 * activation,
        }
    )
    days = 30 * (1 + 2 * log(1 + uses) + 0.6 + 1 + 0.5 * arousal + 0.5 * linked + 0.25 * activation)
    assert facts["stability_days"] == pytest.approx(days)
    # Trust: an agent's 0.6, confirmed once: a tenth of what was missing is gained.
    rate = (1 + 2 * (1 - 0.64)) / days
    assert facts["rate_per_day"] == pytest.approx(rate)
    assert facts["retention"] == pytest.approx(exp(-rate * (10 + 10 / 30)))
    assert (facts["state"], facts["bit_width_after_daily_run"]) == ("active", 32)
    # It leaves active below 0.78: so many days of τ from now, all of them active, or nearly all of them idle.
    left = log(1 / 0.78) / rate - (10 + 10 / 30)
    assert facts["next"]["state"] == "warm"
    assert facts["next"]["tau_days"] == pytest.approx(left)
    assert facts["next"]["active_days"] == pytest.approx(left * 30 / 31)
    # The day after the last activity is an active one.
    assert facts["next"]["idle_days"] == pytest.approx(1 + (left - 31 / 30) * 30)


@pytest.mark.parametrize("busy", [True, False], ids=["active days", "idle days"])
def test_it_reaches_the_next_state_when_it_was_said_to(world: World, busy: bool) -> None:
    memory = world.save("The port of the cache is 6379.", importance=0.0, said_by="user")
    coming = explain(world.services, memory.id)["next"]
    days = coming["active_days" if busy else "idle_days"]
    for early, state in ((0.01, "active"), (-0.01, coming["state"])):
        with World(world.home.with_name(f"other {early}")) as other:
            same = other.save("The port of the cache is 6379.", importance=0.0, said_by="user")
            if busy:
                other.work_days(int(days))
                other.pass_days(days - int(days) - early)
            else:
                other.pass_days(days - early)
            other.run_daily()
            assert other.state(same.id).label == state


def test_a_gone_or_pinned_memory_has_no_next_state(world: World) -> None:
    pinned = world.save("Never deploy on a Friday.", pinned=True)
    gone = world.save("The cache is cold.")
    world.services.ledger.forgotten(gone, world.now)
    world.work_days(300)
    assert explain(world.services, pinned.id)["next"] is None
    assert explain(world.services, pinned.id)["retention"] == 1.0
    facts = explain(world.services, gone.id)
    assert (facts["next"], facts["state"], facts["state_after_daily_run"]) == (None, "forgotten", "forgotten")


def test_it_says_what_the_next_daily_run_will_do(world: World) -> None:
    memory = world.save("ran the tests: ok", "observation")
    world.work_days(30)
    facts = explain(world.services, memory.id)
    assert (facts["state"], facts["state_after_daily_run"]) == ("active", "forgotten")
    world.run_daily()
    assert explain(world.services, memory.id)["state"] == "forgotten"


def test_the_figures_are_those_of_the_daily_run(world: World) -> None:
    memories = [world.save(f"The staging database runs on host alpha-{number} in rack 12.") for number in range(6)]
    world.work_days(9)
    world.run_daily()
    for memory in memories:
        facts, stored = explain(world.services, memory.id), world.memory(memory.id).strength
        assert facts["stability_days"] == pytest.approx(stored.stability)
        assert facts["rate_per_day"] == pytest.approx(stored.rate)
        assert {term["name"]: term["input"] for term in facts["terms"]}["association"] == stored.association


def test_the_history_is_the_journals_and_the_whole_is_json_and_text(world: World) -> None:
    memory = world.save("The port of the cache is 6379.")
    world.services.ledger.used(memory, world.now)
    facts = explain(world.services, memory.id)
    assert [entry["event"] for entry in facts["history"]] == ["saved", "used"]
    json.dumps(facts, allow_nan=False)
    text = "\n".join(text_of(facts))
    assert f"{facts['stability_days']:.2f} days" in text
    assert "unused, it will be warm in" in text


def test_a_threshold_that_is_never_reached_is_never_promised(tmp_path: Path) -> None:
    with World(tmp_path / "home", decay=DecaySettings(active_above=0.0)) as world:
        facts = explain(world.services, world.save("The port of the cache is 6379.").id)
        assert facts["next"]["active_days"] is None
        assert "unused" not in "\n".join(text_of(facts))


def test_a_memory_of_another_project_is_not_explained(world: World) -> None:
    memory = world.save("Ours.", scope="/projects/other")
    with pytest.raises(UnknownMemoryError):
        explain(world.services, memory.id)
