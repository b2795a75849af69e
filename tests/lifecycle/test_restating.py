"""What is stated about a text that is known already is kept: in the memory, its index, the journal and an export."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World

from ebbing.lifecycle.rebuild import rebuild
from ebbing.lifecycle.restating import MOST_TAGS
from ebbing.schemas.errors import TooLargeError
from ebbing.schemas.instants import parse
from ebbing.schemas.memory import Kind, Memory
from ebbing.schemas.wire import SaveReply
from ebbing.tools.learn import learn
from ebbing.tools.save import SaveArguments, save
from ebbing.tools.transfer.export import export
from ebbing.tools.transfer.load import load

TEXT = "Services are deployed with Helm charts."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "home") as made:
        made.save("Invoices are sent on Mondays.")
        yield made


def again(world: World, **arguments: object) -> SaveReply:
    return save(world.services, SaveArguments(content=TEXT, **arguments))  # pyright: ignore[reportArgumentType]


def told(memory: Memory) -> tuple[object, ...]:
    """All that a caller may state of a memory."""
    return (
        memory.kind,
        memory.tags,
        memory.importance,
        memory.pinned,
        memory.valid_from,
        memory.valid_to,
        memory.expires_at,
        memory.provenance.source,
        memory.provenance.actor,
    )


def test_new_tags_join_the_old_ones_and_find_the_memory(world: World) -> None:
    first = world.save(TEXT, tags=["k8s"])
    reply = again(world, tags=["rollout", "k8s"])
    assert (reply.operation, reply.id) == ("confirmed", first.id)
    assert "its tags taken over" in reply.text
    assert world.memory(first.id).tags == ("k8s", "rollout")
    for question in ("rollout", "k8s"):
        assert world.found(question)[0] == TEXT


def test_everything_that_is_stated_later_is_taken_over(world: World) -> None:
    first = world.save(TEXT)
    reply = again(
        world,
        kind="decision",
        tags=["k8s"],
        importance=0.9,
        pinned=True,
        valid_from="2026-01-01",
        valid_to="2027-01-01",
        expires_at="2028-01-01",
        source="docs/deploy.md",
        said_by="user",
    )
    kept = world.memory(first.id)
    assert (reply.operation, kept.kind, kept.tags, kept.importance) == ("confirmed", Kind.DECISION, ("k8s",), 0.9)
    assert (kept.pinned, kept.trust, kept.confirmations) == (True, 1.0, 1)
    assert kept.valid_from == parse("2026-01-01")
    assert (kept.provenance.source, kept.provenance.actor) == ("docs/deploy.md", "user")
    assert kept.valid_to is not None
    assert kept.expires_at is not None
    assert kept.strength.stability > 30


def test_what_is_not_stated_stays_as_it_was(world: World) -> None:
    first = world.save(
        TEXT, "decision", tags=["k8s"], importance=0.9, pinned=True, valid_from="2026-01-01", said_by="user"
    )
    reply = again(world)
    assert told(world.memory(first.id)) == told(first)
    assert "it stays a decision" in reply.text


def test_the_first_source_stays_and_another_is_in_the_journal(world: World) -> None:
    first = world.save(TEXT, source="docs/deploy.md")
    again(world, source="README.md")
    assert world.memory(first.id).provenance.source == "docs/deploy.md"
    sources = [entry.data.get("source") for entry in world.services.store.journal.of_memory(first.id, 10)]
    assert "README.md" in sources


def test_text_from_outside_lends_nobody_its_name(world: World) -> None:
    first = world.save(TEXT, said_by="user")
    again(world, said_by="outside")
    kept = world.memory(first.id)
    assert (kept.provenance.actor, kept.trust) == ("user", 1.0)


def test_more_tags_than_a_memory_holds_are_refused_and_nothing_is_changed(world: World) -> None:
    first = world.save(TEXT)
    for start in range(0, MOST_TAGS, 20):
        again(world, tags=[f"tag {number}" for number in range(start, start + 20)])
    before = world.memory(first.id)
    with pytest.raises(TooLargeError, match="more than 100"):
        again(world, tags=["one more"])
    assert world.memory(first.id) == before


@pytest.mark.parametrize("ended", [True, False])
def test_what_has_ended_is_saved_anew_and_recalled(world: World, *, ended: bool) -> None:
    first = world.save(TEXT, valid_to="2026-03-01" if ended else None)
    if not ended:
        learn(world.services, "outdated", [first.id])
    world.pass_days(2)
    reply = again(world)
    assert (reply.operation, reply.id == first.id) == ("added", False)
    assert world.found("what are services deployed with?").count(TEXT) == 1


def test_the_same_words_about_an_earlier_time_are_another_memory(world: World) -> None:
    now = world.save(TEXT, valid_from="2026-01-01")
    reply = again(world, valid_from="2020-01-01", valid_to="2021-01-01")
    assert reply.operation == "added"
    assert world.memory(now.id).valid_to is None
    assert world.found("what are services deployed with?").count(TEXT) == 1


def test_a_rebuild_and_an_import_give_the_same(world: World, tmp_path: Path) -> None:
    first = world.save(TEXT)
    again(world, kind="decision", tags=["k8s"], importance=0.9, pinned=True, valid_to="2027-01-01", said_by="user")
    again(world, tags=["rollout"], importance=0.4)
    lived = world.memory(first.id)
    with world.services.store.atomic():
        world.services.store.database.execute(
            "UPDATE memory SET tags = '[]', kind = 'fact', importance = 0, pinned = 0"
        )
    rebuild(world.services.store, world.now)
    assert told(world.memory(first.id)) == told(lived)
    assert world.memory(first.id).strength == lived.strength
    target = io.BytesIO()
    export(world.services.store, target, None)
    with World(tmp_path / "other") as other:
        other.save("Invoices are sent on Fridays.")
        load(other.services, io.BytesIO(target.getvalue()))
        assert told(other.memory(first.id)) == told(lived)
        assert other.found("rollout")[0] == TEXT


def test_an_import_of_new_tags_is_found_by_them(world: World, tmp_path: Path) -> None:
    first = world.save(TEXT)
    with World(tmp_path / "other") as other:
        for _ in range(2):
            target = io.BytesIO()
            export(world.services.store, target, None)
            load(other.services, io.BytesIO(target.getvalue()))
            again(world, tags=["rollout"])
        assert other.memory(first.id).tags == ("rollout",)
        assert other.found("rollout")[0] == TEXT
