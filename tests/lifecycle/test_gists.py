"""Fading memories that belong together are summed up in their own sentences, and recall finds them through that."""

from pathlib import Path

from world import PROJECT, World

from ebbing.encoding.extract import facts_in
from ebbing.lifecycle.communities import LARGEST, communities, shared_entities
from ebbing.lifecycle.gists import make_gists
from ebbing.lifecycle.rebuild import rebuild
from ebbing.schemas.memory import Event, Kind, Memory, State
from ebbing.tools.forget import forget
from ebbing.tools.status import status

STORY = (
    "The ferry import in src/ferry/load.py failed on the Bremen timetable, 14 rows were not read.",
    "The Bremen timetable in src/ferry/load.py lists each ferry twice in summer.",
    "Summer rows of src/ferry/load.py carry the harbour code, never the name of the ferry.",
)
OTHER = "Invoices are numbered by calendar year."


def told(world: World, days: int = 6) -> list[Memory]:
    """The story, told and then left alone for some days of work."""
    story = [world.save(text, "episode") for text in STORY]
    world.save(OTHER, "decision")
    for _ in range(days):
        world.work_days(1)
        world.run_daily()
    return [world.memory(memory.id) for memory in story]


def gists(world: World) -> list[Memory]:
    return [memory for memory in world.services.store.memories.in_scope(PROJECT) if memory.gist_of is not None]


def test_what_fades_together_is_summed_up_in_its_own_sentences(world: World) -> None:
    story = told(world)
    assert {memory.strength.state for memory in story} <= {State.COLD, State.ARCHIVE}
    [gist] = gists(world)
    assert gist.kind is Kind.EPISODE
    assert gist.gist_of == len(STORY)
    assert all(line in STORY for line in gist.content.split("\n"))
    assert facts_in(gist.content) <= frozenset().union(*map(facts_in, STORY))
    assert gist.trust == min(memory.trust for memory in story)
    store = world.services.store
    assert store.gists.sources([gist.seq]) == [memory.seq for memory in story]
    assert status(world.services)["gists"] == 1


def test_a_gist_is_shown_only_when_its_sources_have_faded_to_cues(world: World) -> None:
    told(world)
    question = "ferry import Bremen timetable"
    assert gists(world)[0].content not in world.found(question)
    world.work_days(4)
    world.run_daily()
    assert gists(world)[0].content in world.found(question)


def test_the_daily_run_reports_gists_and_makes_none_twice(world: World) -> None:
    told(world)
    store, ledger = world.services.store, world.services.ledger
    assert store.journal.count(Event.GISTED) == 1
    again = make_gists(store, ledger, None, world.now)
    assert (again.made, again.retired) == (0, 0)


def test_runs_share_the_work_where_much_fades_at_once(world: World) -> None:
    told(world)
    store, ledger = world.services.store, world.services.ledger
    [gist] = gists(world)
    ledger.erased([gist], world.now, gist.id)
    read = [store.meta.get("gists.read")]
    while not gists(world):
        make_gists(store, ledger, None, world.now, most=1, batch=1)
        assert store.meta.get("gists.read") not in read
        read.append(store.meta.get("gists.read"))
    assert gists(world)[0].content == gist.content


def test_making_a_gist_is_no_activity_and_keeps_no_source_from_fading(world: World, tmp_path: Path) -> None:
    story = told(world)
    with World(tmp_path / "without") as other:
        alone = [other.save(text, "episode") for text in STORY]
        other.save(OTHER, "decision")
        other.work_days(6)
        other.run_daily()
        same = [other.memory(memory.id) for memory in alone]
        assert [(m.strength.state, m.strength.stability) for m in same] == [
            (m.strength.state, m.strength.stability) for m in story
        ]
        assert len(gists(other)) == 1


def test_erasing_a_source_takes_the_gist_along_and_the_rest_is_summed_up_anew(world: World) -> None:
    story = told(world)
    world.save("In winter src/ferry/load.py reads the harbour list of Bremen instead.", "episode")
    reply = forget(world.services, [story[0].id], mode="erase", confirmed=True)
    assert reply.verified
    assert gists(world) == []
    world.work_days(6)
    world.run_daily()
    [gist] = gists(world)
    assert "14 rows" not in gist.content


def test_forgetting_a_source_takes_the_gist_out_of_recall_at_once(world: World) -> None:
    story = told(world)
    forget(world.services, [story[1].id], mode="fade")
    assert gists(world) == []


def test_a_gist_whose_source_was_replaced_is_retired_by_the_next_run(world: World) -> None:
    story = told(world)
    world.services.ledger.superseded(story[0], None, world.now, world.now)
    steps = {step.name: step for step in world.services.daily.run(world.now).steps}
    assert gists(world) == []
    assert steps["gists"].detail == "1 retired because a source changed"


def test_scopes_are_never_summed_up_together(world: World) -> None:
    for place, text in enumerate(STORY):
        world.save(text, "episode", scope=f"/projects/{place}")
    for _ in range(8):
        for place in range(len(STORY)):
            world.services.ledger.activity(f"/projects/{place}", world.now)
        world.work_days(1)
    world.run_daily()
    assert world.services.store.gists.count() == 0


def test_gists_are_rebuilt_from_the_journal(world: World) -> None:
    told(world)
    before = gists(world)
    store = world.services.store
    links = store.database.rows("SELECT * FROM link ORDER BY seq, other, relation")
    with store.atomic():
        store.database.execute("DELETE FROM link")
        store.database.execute("UPDATE memory SET trust = 0.1")
    rebuild(store, world.now)
    assert [memory.strength for memory in gists(world)] == [memory.strength for memory in before]
    assert store.database.rows("SELECT * FROM link ORDER BY seq, other, relation") == links


def test_communities_hold_together_are_bounded_and_do_not_depend_on_order() -> None:
    ring = {(node, node + 1): 0.9 for node in range(1, 30)}
    far = {(100, 101): 0.9, (101, 102): 0.9, (100, 102): 0.9, (30, 100): 0.1}
    found = communities([*range(1, 31), 100, 101, 102, 200], {**ring, **far})
    assert [100, 101, 102] in found
    assert all(3 <= len(group) <= LARGEST for group in found)
    backwards = dict(reversed(list({**ring, **far}.items())))
    assert communities([200, 102, 101, 100, *range(30, 0, -1)], backwards) == found


def test_what_everybody_names_ties_nobody_together() -> None:
    assert shared_entities({node: ["README.md"] for node in range(40)}) == {}
    assert shared_entities({1: ["a.py"], 2: ["a.py"], 3: ["b.py"]}) == {(1, 2): 0.5}
