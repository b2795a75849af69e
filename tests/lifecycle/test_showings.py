"""What recalls showed is recorded after their answers, in order, and nothing that depends on it comes too early."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from world import PROJECT, World

from ebbing.lifecycle.showings import Showing, Showings
from ebbing.schemas.errors import StoreBusyError, StoreFullError
from ebbing.schemas.memory import Event
from ebbing.tools.consolidate import consolidate
from ebbing.tools.forget import forget
from ebbing.tools.learn import learn
from ebbing.tools.recall import RecallArguments, recall

NEVER = 3_600.0


class Pages:
    """Keeps what is written, after raising the errors it is given, one a write."""

    def __init__(self, *errors: Exception) -> None:
        self.written: list[list[str]] = []
        self.errors = list(errors)
        self.wrote = threading.Event()

    def write(self, showings: Sequence[Showing]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.written.append([showing.recall_id for showing in showings])
        self.wrote.set()


def showing(recall_id: str) -> Showing:
    return Showing(PROJECT, (), recall_id, {}, 0)


def test_what_waits_is_written_together_and_in_order() -> None:
    pages = Pages()
    with Showings(pages.write, NEVER) as showings:
        for name in ("a", "b", "c"):
            showings.add(showing(name))
        showings.settle()
        showings.settle()
        showings.add(showing("d"))
    assert pages.written == [["a", "b", "c"], ["d"]]


def test_the_thread_writes_without_being_asked() -> None:
    pages = Pages()
    with Showings(pages.write, 0.0) as showings:
        showings.add(showing("a"))
        assert pages.wrote.wait(5.0)
    assert pages.written == [["a"]]


def test_a_busy_store_gets_them_again_before_later_ones() -> None:
    pages = Pages(StoreBusyError("busy"))
    with Showings(pages.write, NEVER) as showings:
        showings.add(showing("a"))
        showings.settle()
        showings.add(showing("b"))
        showings.settle()
    assert pages.written == [["a", "b"]]


def test_a_store_that_stays_busy_does_not_fill_the_memory() -> None:
    pages = Pages(StoreBusyError("busy"))
    with Showings(pages.write, NEVER) as showings:
        for number in range(1_010):
            showings.add(showing(str(number)))
        showings.settle()
    assert [len(page) for page in pages.written] == [1_000]
    assert pages.written[0][0] == "10"


def test_a_full_disk_loses_them_and_not_the_caller() -> None:
    pages = Pages(StoreFullError("full"))
    with Showings(pages.write, NEVER) as showings:
        showings.add(showing("a"))
        showings.settle()
        showings.add(showing("b"))
    assert pages.written == [["b"]]


def test_nothing_is_taken_after_closing() -> None:
    pages = Pages()
    showings = Showings(pages.write, NEVER)
    showings.close()
    showings.add(showing("a"))
    showings.settle()
    assert pages.written == []


def test_an_engine_that_closes_records_what_was_shown(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.save("The cache is cold.")
        services = world.services
        shown = recall(services, RecallArguments(query="cache"))
    with World(tmp_path / "home") as again:
        [entry] = again.services.store.journal.of_ref(shown.recall_id)
    assert entry.event is Event.SHOWN


def test_feedback_right_after_a_recall_finds_what_it_showed(world: World) -> None:
    memory = world.save("The cache is cold.")
    services = world.services
    shown = recall(services, RecallArguments(query="cache"))
    assert learn(services, "used", recall_id=shown.recall_id).changed == [memory.id]


def test_the_daily_run_counts_what_was_shown_just_before(world: World) -> None:
    memory = world.save("The cache is cold.")
    services = world.services
    recall(services, RecallArguments(query="cache"))
    consolidate(services)
    assert services.store.memories.by_ids([memory.id])[0].strength.heat_mask == 1


def test_a_memory_that_was_erased_meanwhile_leaves_the_others_recorded(world: World) -> None:
    kept, erased = world.save("The cache is cold."), world.save("The cache is warm and large.")
    ledger, store = world.services.ledger, world.services.store
    forget(world.services, [erased.id], mode="erase", confirmed=True)
    ledger.shown_all([Showing(PROJECT, (kept, erased), "r", {}, world.now)])
    [entry] = store.journal.of_ref("r")
    assert entry.data["memories"] == [kept.id]
    assert world.memory(kept.id).strength.heat_mask == 1
