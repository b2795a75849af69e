"""What a server answers to the requests of hooks."""

import threading
from typing import Any

import pytest
from world import PROJECT, World

from ebbing.hooks.places import soft_prompt_path, spool_path
from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import Event
from ebbing.server.hook_answers import HookAnswers
from ebbing.store.spool_event import SpoolEvent

WAIT = 30.0


class Flushing:
    """A flush that tells which scopes it was asked for, and blocks until it may go on."""

    def __init__(self, error: Exception | None = None) -> None:
        self.scopes: list[str] = []
        self.began, self.may_end = threading.Event(), threading.Event()
        self._error = error

    def __call__(self, scope: str) -> None:
        self.scopes.append(scope)
        self.began.set()
        assert self.may_end.wait(WAIT)
        if self._error is not None:
            raise self._error


def answers(world: World, flush: Flushing | None = None) -> HookAnswers:
    return HookAnswers(lambda: world.services, flush or Flushing())


def test_a_prompt_is_answered_and_counted_as_shown_once_it_was_passed_on(world: World) -> None:
    memory = world.save("Formatting is done by ruff.", "decision")
    answer = answers(world)({"op": "prompt", "prompt": "formatting with ruff", "scope": PROJECT, "seen": []})
    assert answer is not None
    assert answer.reply["ids"] == [memory.id]
    assert "ruff" in answer.reply["text"]
    world.services.showings.settle()
    assert world.services.store.journal.count(Event.SHOWN) == 0
    answer.passed_on()
    world.services.showings.settle()
    assert world.services.store.journal.count(Event.SHOWN) == 1


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"op": "prompt"},
        {"op": "prompt", "scope": PROJECT},
        {"op": "prompt", "scope": PROJECT, "prompt": 7},
        {"op": "prompt", "scope": 7, "prompt": "formatting with ruff"},
        {"op": "prompt", "scope": "", "prompt": "formatting with ruff"},
        {"op": "drop everything", "scope": PROJECT},
    ],
)
def test_a_request_that_means_nothing_is_not_answered(request_: dict[str, Any], world: World) -> None:
    world.save("Formatting is done by ruff.", "decision")
    assert answers(world)(request_) is None


def test_an_odd_list_of_what_was_seen_hides_nothing(world: World) -> None:
    world.save("Formatting is done by ruff.", "decision")
    given = {"op": "prompt", "prompt": "formatting with ruff", "scope": PROJECT}
    assert all(answers(world)({**given, "seen": odd}) is not None for odd in (None, "all", [7, None]))


def test_a_flush_is_agreed_to_at_once_and_runs_one_at_a_time(world: World) -> None:
    flush = Flushing()
    asked = answers(world, flush)
    for _ in range(3):
        agreed = asked({"op": "flush", "scope": PROJECT})
        assert agreed is not None
        assert agreed.reply == {"ok": True}
        assert flush.began.wait(WAIT)
    flush.may_end.set()
    assert flush.scopes == [PROJECT]


def test_a_flush_that_fails_does_not_keep_the_next_from_running(world: World) -> None:
    flush = Flushing(StoreError("closed"))
    flush.may_end.set()
    asked = answers(world, flush)
    for _ in range(2):
        asked({"op": "flush", "scope": PROJECT})
        assert flush.began.wait(WAIT)
        flush.began.clear()
        for thread in threading.enumerate():
            if thread.name == "ebbing-flush":
                thread.join(WAIT)
    assert flush.scopes == [PROJECT, PROJECT]


def test_flushing_takes_the_spool_in_and_prepares_the_soft_prompt(world: World) -> None:
    world.save("Formatting is done by ruff, not by black.", "decision", said_by="user")
    event = SpoolEvent("e1", world.now, PROJECT, "s", "user-prompt-submit", {"prompt": "please fix the build"})
    world.services.store.spool.append([event])
    world.engine.flush(PROJECT)
    assert not spool_path(world.home).exists()
    assert world.services.store.memories.known_events(["e1"]) == {"e1"}
    assert "ruff" in soft_prompt_path(world.home, PROJECT).read_text("utf-8")
