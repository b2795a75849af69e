"""`ebbing explain` and `ebbing status` on a real store with a clock that stands still."""

import re
from collections.abc import Iterator
from math import exp, log
from pathlib import Path

import pytest
from command_line import ebbing
from world import PROJECT, START, World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Memory


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EBBING_MODEL_DIR", str(tmp_path / "no-model"))
    monkeypatch.setenv("EBBING_LOG_LEVEL", "ERROR")
    monkeypatch.setenv("EBBING_SCOPE", PROJECT)


@pytest.fixture
def world(ebbing_home: Path) -> Iterator[World]:
    with World(ebbing_home) as made:
        yield made


# --- explain ---------------------------------------------------------------------------------------------------------


def lived(world: World) -> Memory:
    """A decision of an agent's: used on the second and the fifth day, confirmed on the fifth, then left alone."""
    memory = world.save("The port of the cache is 6379.", "decision", importance=0.4, said_by="agent")
    world.save("The cache listens on port 6379 of the host alpha.", said_by="user")
    world.work_days(2)
    world.services.ledger.used(world.memory(memory.id), world.now)
    world.work_days(3)
    world.services.ledger.used(world.services.ledger.confirmed(world.memory(memory.id), world.now), world.now)
    world.work_days(30)
    world.run_daily()
    return memory


def test_the_stability_that_explain_shows_is_that_of_pencil_and_paper(world: World) -> None:
    memory = lived(world)
    facts = ebbing("explain", memory.id, "--json", now=world.now).json
    terms = {term["name"]: term for term in facts["terms"]}
    spaced = 1 + (1 - exp(-3))
    assert terms["spaced uses"]["input"] == pytest.approx(spaced)
    assert terms["spaced uses"]["adds"] == pytest.approx(2 * log(1 + spaced))
    assert (terms["importance"]["input"], terms["importance"]["adds"]) == pytest.approx((0.4, 0.6))
    assert (terms["confirmations"]["input"], terms["confirmations"]["adds"]) == (1, 1.0)
    assert terms["arousal"]["adds"] == pytest.approx(0.5 * memory.arousal)
    linked = 1 - exp(-sum(each["weight"] * each["retention"] for each in facts["neighbours"]))
    assert linked > 0
    assert terms["association"]["input"] == pytest.approx(linked, abs=1 / 64)
    assert terms["association"]["adds"] == pytest.approx(0.5 * terms["association"]["input"])
    assert terms["activation"]["adds"] == pytest.approx(0.25 * terms["activation"]["input"])
    assert facts["stability_days"] == pytest.approx(30 * (1 + sum(term["adds"] for term in facts["terms"])))


def test_the_state_that_explain_shows_is_that_of_pencil_and_paper(world: World) -> None:
    memory = lived(world)
    facts = ebbing("explain", memory.id, "--json", now=world.now).json
    # Five working days and thirty more, each with a thirtieth for the calendar; the last use was on the fifth.
    assert facts["clock"]["tau"] == pytest.approx(35 * 31 / 30)
    assert facts["clock"]["tau_of_last_use_or_save"] == pytest.approx(5 * 31 / 30)
    elapsed = facts["clock"]["tau"] - facts["clock"]["tau_of_last_use_or_save"]
    assert facts["clock"]["elapsed_days"] == pytest.approx(elapsed)

    # An agent's word, confirmed once: a tenth of the trust that was missing is gained.
    rate = (1 + 2 * (1 - (0.6 + 0.1 * 0.4))) / facts["stability_days"]
    assert facts["rate_per_day"] == pytest.approx(rate)
    assert facts["retention"] == pytest.approx(exp(-rate * elapsed))

    # The state follows from the thresholds, and the next one from the time to its lower bound.
    assert facts["thresholds"] == {"active": 0.8, "warm": 0.5, "cold": 0.2, "archive": 0.05}
    assert 0.5 < facts["retention"] < 0.78
    assert facts["state"] == "warm"
    assert facts["next"]["state"] == "cold"
    left = log(1 / (0.5 - facts["hysteresis"])) / rate - elapsed
    assert facts["next"]["tau_days"] == pytest.approx(left)
    assert facts["next"]["active_days"] == pytest.approx(left * 30 / 31)
    assert [entry["event"] for entry in facts["history"] if entry["event"] != "linked"] == [
        "saved",
        "used",
        "confirmed",
        "used",
        "state",
    ]


def test_explain_for_people_shows_the_same_figures(world: World) -> None:
    memory = world.save("The port of the cache is 6379.")
    facts = ebbing("explain", memory.id, "--json", now=world.now).json
    said = ebbing("explain", memory.id, now=world.now)
    assert (said.code, said.err) == (0, "")
    assert f"= {facts['stability_days']:.2f} days" in said.out
    assert "unused, it will be warm in" in said.out


def test_a_memory_that_is_not_there_is_not_explained(world: World) -> None:
    assert ebbing("explain", "0198c2f0-0000-7000-8000-000000000000").code == 2
    assert ebbing("explain", "nonsense").code == 2


# --- status ----------------------------------------------------------------------------------------------------------


def test_status_is_plain_where_there_is_no_terminal(world: World) -> None:
    world.save("The port of the cache is 6379.", "decision")
    said = ebbing("status", now=world.now).out
    assert said.isascii()
    assert re.search(r"^  active +1$", said, re.MULTILINE)
    assert re.search(r"^  decision +1$", said, re.MULTILINE)
    assert re.search(r"^  memories +1 of 200,000 \(0\.0%\)$", said, re.MULTILINE)
    assert "of 512.0 MiB" in said


def test_status_has_bars_and_colours_on_a_terminal(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.save("The port of the cache is 6379.", "decision")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    said = ebbing("status", now=world.now).out
    assert "\x1b[32m" in said
    assert "━━━" in said
    assert "512.0 MiB" in said
    monkeypatch.setenv("TERM", "dumb")
    assert ebbing("status", now=world.now).out.isascii()


def test_status_lists_what_the_budget_took_out_and_until_when_it_can_be_had_back(ebbing_home: Path) -> None:
    with World(ebbing_home, decay=DecaySettings(budget_memories=10)) as world:
        for number in range(10):
            world.save(f"Note {number} about the harbour of town {number}.", "fact")
        world.work_days(10)
        world.run_daily()
        evicted = world.services.store.evictions.counts()[1]
        assert evicted >= 3
        facts = ebbing("status", "--json", now=world.now).json
        assert facts["budget"]["evicted"] == evicted
        assert facts["evictions"] == [{"at": facts["last_run"], "event": "evicted", "memories": evicted}]
        assert len(facts["evicted"]) == min(5, evicted)
        said = ebbing("status", now=world.now).out
        assert f"evicted   {evicted} can be had back, the first of them until 2026-04-11" in said
        assert facts["evicted"][0]["id"] in said
        world.services.ledger.restored(world.memory(facts["evicted"][0]["id"]), world.now)
        assert ebbing("status", "--json", now=world.now).json["budget"]["evicted"] == evicted - 1


# --- a caller's expiry -----------------------------------------------------------------------------------------------


def test_what_expires_leaves_recall_then_the_store_and_explain_says_when(world: World) -> None:
    done = ebbing("save", "The demo runs on host alpha-7.", "--expires", "2026-03-10", "--json", now=START)
    identifier = done.json["id"]
    facts = ebbing("explain", identifier, "--json", now=START).json
    assert facts["expires_at"] == "2026-03-10T23:59:59Z"
    world.now = START + 8 * MICROSECONDS_PER_DAY
    assert world.found("which host does the demo run on?") != []
    world.pass_days(1)
    assert world.found("which host does the demo run on?") == []
    world.run_daily()
    assert ebbing("explain", identifier, "--json", now=world.now).json["evicted_at"] is not None
    assert ebbing("status", "--json", now=world.now).json["evictions"][0]["event"] == "expired"
    world.pass_days(31)
    world.run_daily()
    assert world.services.store.memories.count() == 0


def test_an_expiry_given_later_counts_and_none_leaves_it_as_it_is(world: World) -> None:
    text = "The demo runs on host alpha-7."
    memory = world.save(text, expires_at="2026-03-10")
    world.save(text, expires_at="2026-04-10")
    world.save(text)
    assert ebbing("explain", memory.id, "--json", now=world.now).json["expires_at"] == "2026-04-10T23:59:59Z"


@pytest.mark.parametrize("date", ["2026-03-01", "someday"])
def test_an_expiry_that_has_passed_or_is_no_date_is_refused(world: World, date: str) -> None:
    done = ebbing("save", "The demo runs on host alpha-7.", "--expires", date, now=START)
    assert (done.code, world.services.store.memories.count()) == (2, 0)
