"""Feedback on recalls teaches how much channels count; it is shown, forgotten and replayed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World

from ebbing.lifecycle.channel_lessons import KEY, ChannelLessons
from ebbing.lifecycle.channel_weights import Learned
from ebbing.lifecycle.rebuild import rebuild
from ebbing.retrieval.learned import of_class
from ebbing.schemas.memory import Event
from ebbing.tools.learn import learn
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.status import learned_facts

QUERY = "uploader retry budget"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home") as made:
        for text in (
            "The retry budget of the uploader is five attempts.",
            "The uploader writes to a bucket.",
            "The budget of the team is small.",
        ):
            made.save(text)
        yield made


def asked(world: World) -> tuple[str, list[str]]:
    reply = recall(world.services, RecallArguments(query=QUERY))
    return reply.recall_id, [memory.id for memory in reply.memories]


def test_a_used_memory_teaches_once_for_each_recall(world: World) -> None:
    recall_id, ids = asked(world)
    learn(world.services, "used", [ids[-1]], recall_id)
    first = learned_facts(world.services)["learned"]["simple"]
    assert first["signals"] == 1
    learn(world.services, "useful", [ids[-1]], recall_id)
    assert learned_facts(world.services)["learned"]["simple"] == first
    learn(world.services, "used", [ids[0]], asked(world)[0])
    assert learned_facts(world.services)["learned"]["simple"]["signals"] == 2


def test_without_a_recall_id_the_latest_recall_that_showed_it_is_meant(world: World) -> None:
    _, ids = asked(world)
    learn(world.services, "used", [ids[1]])
    assert learned_facts(world.services)["learned"]["simple"]["signals"] == 1
    entry = world.services.store.journal.latest(Event.LEARNED)
    assert entry is not None
    assert entry.data["useful"] == [ids[1]]


@pytest.mark.parametrize("signal", ["wrong", "outdated"])
def test_what_speaks_against_a_memory_says_nothing_of_the_channels(world: World, signal: str) -> None:
    recall_id, ids = asked(world)
    learn(world.services, signal, [ids[0]], recall_id)
    assert learned_facts(world.services)["learned"] == {}


def test_when_all_that_was_shown_is_useful_nothing_is_told_apart(world: World) -> None:
    recall_id, _ = asked(world)
    learn(world.services, "useful", recall_id=recall_id)
    assert learned_facts(world.services)["learned"] == {}


def test_what_was_learned_counts_in_the_next_recall(world: World) -> None:
    before = recall(world.services, RecallArguments(query=QUERY)).memories
    for _ in range(25):
        recall_id, ids = asked(world)
        learn(world.services, "used", [ids[-1]], recall_id)
    after = recall(world.services, RecallArguments(query=QUERY)).memories
    assert {memory.id: memory.score for memory in after} != {memory.id: memory.score for memory in before}


def test_classes_without_signals_of_their_own_learn_from_the_others(world: World) -> None:
    for _ in range(25):
        recall_id, ids = asked(world)
        learn(world.services, "used", [ids[-1]], recall_id)
    multipliers = world.services.lessons.multipliers()
    assert of_class(multipliers, "list") == multipliers["every"]
    assert of_class(multipliers, "simple") == multipliers["simple"]
    assert any(value != 1.0 for value in multipliers["every"].values())
    assert of_class({}, "list") == {}


@pytest.mark.parametrize(
    "kept",
    [
        "[]",
        "{}",
        "no",
        (
            '{"signals": 1, "evidence": NaN, "common": {"names": [], "mean": [], "covariance": []},'
            ' "plain": {"names": ["heat"], "mean": [], "covariance": []}, "classes": {}}'
        ),
    ],
)
def test_a_row_that_nobody_wrote_counts_for_nothing_and_breaks_no_recall(world: World, kept: str) -> None:
    plain = [memory.score for memory in recall(world.services, RecallArguments(query=QUERY)).memories]
    world.services.store.meta.set(KEY, kept)
    recall_id, ids = asked(world)
    assert [memory.score for memory in recall(world.services, RecallArguments(query=QUERY)).memories] == plain
    learn(world.services, "used", [ids[0]], recall_id)
    assert world.services.lessons.known().signals == 1


def test_a_reset_forgets_it_and_another_process_sees_that(world: World) -> None:
    recall_id, ids = asked(world)
    learn(world.services, "used", [ids[-1]], recall_id)
    other = ChannelLessons(world.services.store)
    assert other.multipliers().keys() == {"every", "simple"}
    assert learned_facts(world.services, reset=True) == {"reset": True, "believed": 0.0, "learned": {}}
    assert other.multipliers() == {}
    assert learned_facts(world.services, reset=True)["reset"] is False


def test_the_journal_alone_gives_what_was_learned(world: World) -> None:
    for round_number in range(6):
        recall_id, ids = asked(world)
        learn(world.services, "used", [ids[round_number % 3]], recall_id)
        if round_number == 1:
            learned_facts(world.services, reset=True)
    lived = world.services.lessons.known()
    assert lived.classes["simple"].signals == lived.signals == 4
    store = world.services.store
    store.meta.set(KEY, json.dumps(Learned(signals=9.0).as_data()))
    rebuild(store, world.now)
    assert world.services.lessons.known() == lived
