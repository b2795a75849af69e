"""Linked memories hold on to each other, and what is linked to what was shown is a little nearer."""

from math import exp
from pathlib import Path

import numpy as np
import pytest
from world import World

from ebbing.lifecycle.activation import LINKS_FOLLOWED, REACHED, in_steps, spread
from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.decay import decay
from ebbing.schemas.memory import Memory
from ebbing.store.graph import Link

UNLINKED = (
    "Amber is a resin.",
    "The queue drains at noon.",
    "Zebra crossings are striped.",
    "Nine pins stand.",
)


def unlinked(world: World, count: int) -> list[Memory]:
    """Memories without any link between them."""
    memories = [
        world.save(f"{UNLINKED[number % 4]} {number}", importance=0.0, said_by="user") for number in range(count)
    ]
    with world.services.store.atomic():
        world.services.store.database.execute("DELETE FROM link")
    decay(world.services.store, world.now)
    return [world.memory(memory.id) for memory in memories]


def link(world: World, one: Memory, other: Memory, weight: float) -> None:
    world.services.store.graph.connect([Link(one.seq, other.seq, "similar", weight)])


def show(world: World, *memories: Memory) -> None:
    world.services.ledger.shown("/projects/ebb", memories, "recall", {}, world.now)


def test_the_daily_run_gives_the_association_of_the_formula_in_steps(world: World) -> None:
    one, other, third = unlinked(world, 3)
    link(world, one, other, 0.8)
    link(world, one, third, 0.3)
    world.work_days(7)
    decay(world.services.store, world.now)
    alone = exp(-(7 + 7 / 30) / 14)
    strength = world.memory(one.id).strength
    expected = round((1 - exp(-(0.8 + 0.3) * alone)) * 32) / 32
    assert strength.association == expected
    assert strength.stability == pytest.approx(14 * (1 + 0.5 * expected))


def test_links_slow_fading_down(tmp_path: Path) -> None:
    rates: list[float] = []
    for weight in (0.5, 0.0):
        with World(tmp_path / str(weight), decay=DecaySettings(weight_association=weight)) as world:
            one, other = unlinked(world, 2)
            link(world, one, other, 1.0)
            world.run_daily()
            rates.append(world.memory(one.id).strength.rate)
    assert rates[0] < rates[1]


def test_a_new_link_strengthens_both_ends_with_the_next_daily_run_and_rewrites_nobody_before(world: World) -> None:
    first = world.save("The staging database runs on host alpha-7 in rack 12.")
    second = world.save("The staging database of host alpha-7 is backed up nightly from rack 12.")
    assert world.memory(first.id).strength == first.strength
    decay(world.services.store, world.now)
    for memory in (first, second):
        assert world.memory(memory.id).strength.association > 0.0
        assert world.memory(memory.id).strength.rate < memory.strength.rate


def test_a_faded_neighbour_holds_less(world: World) -> None:
    one, other = unlinked(world, 2)
    link(world, one, other, 1.0)
    decay(world.services.store, world.now)
    fresh = world.memory(one.id).strength.association
    world.work_days(60)
    decay(world.services.store, world.now)
    assert world.memory(one.id).strength.association < fresh / 10


def test_a_forgotten_neighbour_holds_nothing(world: World) -> None:
    one, other = unlinked(world, 2)
    link(world, one, other, 1.0)
    world.services.ledger.forgotten(other, world.now)
    decay(world.services.store, world.now)
    assert world.memory(one.id).strength.association == 0.0


def test_being_shown_activates_what_is_linked_and_not_what_is_shown(world: World) -> None:
    one, other, third = unlinked(world, 3)
    link(world, one, other, 0.6)
    show(world, one)
    assert world.memory(other.id).strength.activation == pytest.approx(0.6)
    assert world.memory(other.id).strength.rate < other.strength.rate
    assert world.memory(one.id).strength.rate == one.strength.rate
    assert world.memory(third.id).strength == third.strength


def test_activations_add_up_and_die_away_with_the_scopes_clock(world: World) -> None:
    one, other = unlinked(world, 2)
    link(world, one, other, 0.6)
    show(world, one)
    world.work_days(14)
    show(world, one)
    days = 14 + 14 / 30
    assert world.memory(other.id).strength.activation == pytest.approx(0.6 * exp(-days / 14) + 0.6)
    world.work_days(200)
    decay(world.services.store, world.now)
    assert world.memory(other.id).strength.stability == pytest.approx(14.0)


def test_one_recall_reaches_a_bounded_number_of_memories(world: World) -> None:
    memories = unlinked(world, 60)
    hubs, rest = memories[:6], memories[6:]
    for hub in hubs:
        for place, other in enumerate(rest):
            link(world, hub, other, 0.2 + place / 100)
    assert len(spread(world.services.store, [hubs[0].seq])) == LINKS_FOLLOWED
    reached = spread(world.services.store, [hub.seq for hub in hubs])
    assert set(reached) == {memory.seq for memory in rest[-LINKS_FOLLOWED:]}
    show(world, *hubs)
    gained = [memory for memory in rest if world.memory(memory.id).strength.activation]
    assert len(gained) <= REACHED


def test_steps_are_32nds() -> None:
    assert in_steps(np.array([0.0, 0.016, 0.5, 1.0])).tolist() == [0.0, 1 / 32, 0.5, 1.0]


def test_a_memory_whose_figures_have_hardly_changed_is_not_written_again(world: World) -> None:
    one, other = unlinked(world, 2)
    link(world, one, other, 1.0)
    decay(world.services.store, world.now)
    revision = world.services.store.meta.revision()
    world.pass_days(0.1)
    decay(world.services.store, world.now)
    assert world.services.store.meta.revision() == revision
