"""The journal alone gives every derived column, whatever happened."""

import random
import tempfile
from pathlib import Path

from history import History
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from world import World

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.rebuild import Rebuilt, rebuild
from ebbing.schemas.memory import Event

TIGHT = DecaySettings(budget_memories=150, undo_days=20.0)


# Columns that are derived only where somebody stated something anew, and a wrong value of each.
_RESTATED = {"tags": '["?"]', "kind": "fact", "importance": 0.5, "valid_from": 6, "source": "?"}


def scramble(history: History) -> None:
    """Make every derived column wrong."""
    with history.store.atomic():
        history.store.database.execute(
            "UPDATE memory SET trust = 0.123, confirmations = 77, pinned = 1 - pinned, valid_to = 5,"
            " superseded_by = 'x', forgotten_at = 3, evicted_at = 4, expires_at = 5, merged_into = 'y'"
        )
        history.store.database.execute(
            "UPDATE strength SET state = 3, uses = 9, spaced_uses = 9, last_use_at = 9, anchor_tau = 9,"
            " association = 0.9, activation = 9, activation_tau = 9, stability = 9, rate = 9, heat_day = 9,"
            " heat_mask = 9"
        )
        for name, wrong in _RESTATED.items():
            history.store.database.execute(
                f"UPDATE memory SET {name} = ? WHERE id IN (SELECT memory FROM journal WHERE event = 'confirmed'"  # noqa: S608 - a name from above
                f" AND json_extract(data, '$.stated.{name}') IS NOT NULL)",
                (wrong,),
            )
        history.store.database.execute("UPDATE scope SET clock_closed = 9, clock_latest = 9")
        history.store.database.execute("DELETE FROM link")


def rebuilt_is_what_was_lived(history: History) -> Rebuilt:
    history.decay()
    lived = history.derived()
    scramble(history)
    assert history.derived() != lived
    done = rebuild(history.store, history.now, history.settings)
    assert history.derived() == lived
    return done


def test_five_thousand_random_events_are_rebuilt_bit_for_bit(tmp_path: Path) -> None:
    with History(tmp_path, random.Random(4), TIGHT) as history:
        history.live(5_000)
        events = {event for event in Event if history.store.journal.count(event)}
        done = rebuilt_is_what_was_lived(history)
        assert done.entries > 5_000
        assert (done.memories, done.unknown) == (history.store.memories.count(), 0)
        assert events >= {
            Event.STATE,
            Event.EVICTED,
            Event.EXPIRED,
            Event.GISTED,
            Event.MERGED,
            Event.UNMERGED,
            Event.ERASED,
            Event.LINKED,
            Event.SHOWN,
            Event.USED,
            Event.REUSED,
        }


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 60))
def test_any_short_history_is_rebuilt_bit_for_bit(rng: random.Random, events: int) -> None:
    with tempfile.TemporaryDirectory() as folder, History(Path(folder), rng, TIGHT) as history:
        history.live(events)
        rebuilt_is_what_was_lived(history)


def test_what_the_tools_did_is_rebuilt(world: World) -> None:
    first = world.save("The port of the cache is 6379.")
    world.save("We decided to use the cache because the port was free.", "decision")
    world.work_days(3)
    world.found("which port does the cache have?")
    world.services.ledger.used(world.memory(first.id), world.now)
    world.work_days(2)
    world.run_daily()
    store = world.services.store
    before = [world.memory(identifier) for identifier in store.rebuilding.seqs()]
    rebuild(store, world.now)
    after = [world.memory(memory.id) for memory in before]
    assert [memory.strength for memory in after] == [memory.strength for memory in before]


def test_rebuilding_twice_changes_nothing_more(tmp_path: Path) -> None:
    with History(tmp_path, random.Random(7), TIGHT) as history:
        history.live(200)
        rebuild(history.store, history.now, TIGHT)
        once = history.derived()
        rebuild(history.store, history.now, TIGHT)
        assert history.derived() == once


def test_a_memory_that_came_without_its_journal_keeps_its_figures(world: World) -> None:
    memory = world.save("The port of the cache is 6379.")
    world.services.ledger.confirmed(memory, world.now)
    store = world.services.store
    with store.atomic():
        store.database.execute("DELETE FROM journal")
    assert rebuild(store, world.now).unknown == 1
    assert world.memory(memory.id).confirmations == 1


def test_other_settings_rebuild_other_figures(tmp_path: Path) -> None:
    with History(tmp_path, random.Random(7), TIGHT) as history:
        history.live(100)
        rebuild(history.store, history.now, TIGHT)
        before = history.derived()
        rebuild(history.store, history.now, DecaySettings(wall_days_per_day=1.0, budget_memories=150))
        assert history.derived() != before
