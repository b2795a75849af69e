"""Erasing: every form and every place that a text can be in, and nothing else touched."""

import json
import shutil
from collections.abc import Callable, Sequence

import pytest
from fake_embedder import FakeEmbedder
from traces_left import places_of
from world import PROJECT, START, World, hooked

from ebbing.encoding.embedder import TextEmbedding
from ebbing.lifecycle.consolidation import Consolidator
from ebbing.lifecycle.cutting import cut
from ebbing.lifecycle.mending import mend
from ebbing.schemas.memory import Memory, State
from ebbing.server.doctor import diagnose
from ebbing.server.settings import Settings
from ebbing.store.soundness import checked
from ebbing.store.spool import SpoolEvent
from ebbing.tools.forget import forget
from ebbing.tools.observe import observe

SECRET = "Quillfeather Ltd buys the harbour of Bremen in May, said Xanthippe over lunch."
OTHER = "The ferry to Bremen leaves at nine and takes bicycles, said the timetable."


def erase(world: World, *ids: str) -> str:
    """Erase and check that the files are clean; the reply's text."""
    reply = forget(world.services, list(ids), mode="erase", confirmed=True)
    assert reply.verified is True, reply.text
    assert places_of(world, SECRET) == []
    assert world.services.store.integrity() == []
    return reply.text


def everything(world: World) -> list[Memory]:
    return [memory for batch in world.services.store.memories.all() for memory in batch]


def taken(world: World) -> tuple[SpoolEvent, ...]:
    with world.services.store.spool.take() as batch:  # pyright: ignore[reportOptionalContextManager]
        return batch.lines


def preview(world: World, *ids: str) -> str:
    return forget(world.services, list(ids), mode="erase", dry_run=True).text


@pytest.mark.parametrize("state", list(State))
def test_a_text_is_gone_whatever_state_it_has_faded_to(world: World, state: State) -> None:
    memory = world.save(SECRET)
    kept = world.save(OTHER, pinned=True)
    while world.state(memory.id) < state:
        world.work_days(3)
        world.run_daily()
    assert "erased" in erase(world, memory.id)
    assert world.memory(kept.id).content == OTHER


def test_what_fades_out_of_the_budget_is_gone_too(world: World) -> None:
    memory = world.save(SECRET, expires_at="2026-03-03")
    world.pass_days(3)
    world.run_daily()
    assert world.services.store.evictions.evicted_at(memory.seq) is not None
    erase(world, memory.id)


def test_backups_are_rewritten_without_it_and_hold_everything_else(world: World) -> None:
    memory, kept = world.save(SECRET), world.save(OTHER)
    store = world.services.store
    early = store.backups.make("early", START)
    world.work_days(60)
    world.run_daily()
    assert store.memories.by_seqs([memory.seq])[0].strength.state >= State.ARCHIVE
    late = store.backups.make("late", START + 1)
    assert f"2 backups that are rewritten: {early.name}, {late.name}" in preview(world, memory.id)
    text = erase(world, memory.id)
    assert f"Backups rewritten without them: {early.name}, {late.name}." in text
    assert store.backups.list() == [early, late]
    assert {path.stat().st_mode & 0o777 for path in (early, late)} == {0o600}
    assert [path.name for path in store.backups.folder.iterdir()] == sorted([early.name, late.name])
    for backup in (early, late):
        home = world.home.parent / backup.stem
        home.mkdir()
        shutil.copy(backup, home / "memory.db")
        with World(home, now=world.now) as again:
            assert again.memory(kept.id).content == OTHER
            assert again.services.store.integrity() == []
            assert again.found("which ferry takes bicycles") == [OTHER] or again.state(kept.id) >= State.COLD


def test_a_backup_that_can_not_be_rewritten_is_removed_and_named(world: World) -> None:
    memory = world.save(SECRET)
    store = world.services.store
    backup = store.backups.make("test", START)
    data = backup.read_bytes()
    backup.write_bytes(data[: len(data) // 2] + b"\xa5" * 8192)
    assert b"Quillfeather" in backup.read_bytes()
    text = erase(world, memory.id)
    assert f"Backups removed, since they could not be rewritten: {backup.name}." in text
    assert store.backups.list() == []


def test_a_backup_without_it_is_left_as_it_is(world: World) -> None:
    world.save(OTHER)
    backup = world.services.store.backups.make("test", START)
    before = backup.read_bytes()
    memory = world.save(SECRET)
    assert "ackup" not in erase(world, memory.id)
    assert backup.read_bytes() == before


def test_a_merged_copy_goes_with_what_speaks_for_it(world: World) -> None:
    first = world.save("The harbour code of Quillfeather is 4711-tulip, says the gate.", "fact")
    copy = world.save("the harbour code of Quillfeather is 4711-tulip, says the gate", "fact", tags=["again"])
    if copy.id != first.id:
        world.run_daily()
    text = preview(world, first.id)
    assert copy.id == first.id or f"merged into them, erased too: {copy.id}" in text
    reply = forget(world.services, [first.id], mode="erase", confirmed=True)
    assert reply.verified
    assert places_of(world, first.content) == []


def test_the_observations_that_it_was_made_of_lose_the_words_and_keep_the_rest(world: World) -> None:
    said = f"{SECRET} Please also write the release notes for version seven of the ferry planner."
    observe(world.services, [{"text": said, "event": "user-prompt-submit"}])
    memory = world.save(SECRET)
    [observation] = [one for batch in world.services.store.memories.all() for one in batch if one.kind == "observation"]
    assert f"1 go on without their words: {observation.id}" in preview(world, memory.id)
    assert f"cut out of 1 other memories: {observation.id}" in erase(world, memory.id)
    left = world.memory(observation.id)
    assert "Quillfeather" not in left.content + left.gist + left.cue
    assert "release notes for version seven" in left.content
    assert world.found("release notes") == [left.content]


def test_an_observation_that_says_nothing_else_goes_whole(world: World) -> None:
    observe(world.services, [{"text": SECRET, "event": "user-prompt-submit"}])
    memory = world.save(SECRET)
    assert "say nothing else, erased too" in preview(world, memory.id)
    assert "memories that said the same" in erase(world, memory.id)
    assert world.services.store.memories.count() == 0


def test_an_escaped_quotation_in_a_tools_output_is_found(world: World) -> None:
    memory = world.save('He said "Quillfeather buys\nthe harbour of Bremen in May" and left for Xanten.')
    output = json.dumps({"result": json.dumps({"content": memory.content}), "lines": 2})
    observe(world.services, [{"text": output, "event": "post-tool-use", "tool": "Read"}])
    world.save(OTHER)
    reply = forget(world.services, [memory.id], mode="erase", confirmed=True)
    assert reply.verified, reply.text
    assert places_of(world, "Quillfeather") == []
    assert world.found("which ferry takes bicycles")[0] == OTHER


def test_the_spool_the_soft_prompt_and_notes_of_feedback_are_cleaned(world: World) -> None:
    memory = world.save(SECRET, "preference", said_by="user")
    other = world.save(OTHER, "preference", said_by="user")
    world.services.ledger.contradicted(other, world.now, None, f"no: {SECRET}")
    world.services.store.spool.append([hooked(1, "s", f"Mind that {SECRET}"), hooked(2, "s", OTHER)])
    assert places_of(world, SECRET)
    text = erase(world, memory.id)
    assert "1 lines of the spool" in text
    assert [event.event_id for event in taken(world)] == ["s-2"]
    assert world.memory(other.id).content == OTHER


def test_a_soft_prompt_that_is_made_while_somebody_erases_says_nothing_of_it(world: World) -> None:
    memory = world.save(SECRET, "preference", said_by="user")
    world.run_daily()
    [prompt] = (world.home / "soft-prompts").glob("*.md")
    assert "Quillfeather" in prompt.read_text()
    assert "1 soft prompts that lose lines" in preview(world, memory.id)
    steps = world.engine.steps()
    prepared = steps.prompt(PROJECT, world.now)
    erase(world, memory.id)
    assert not steps.put(prompt, prepared)
    assert places_of(world, SECRET) == []


def test_the_same_words_in_another_project_are_left_alone_and_said(world: World) -> None:
    memory = world.save(SECRET)
    theirs = world.save(SECRET, scope="/projects/other")
    reply = forget(world.services, [memory.id], mode="erase", confirmed=True)
    assert "1 other memories hold the same words and were left alone." in reply.text
    assert theirs.id not in reply.text
    assert world.memory(theirs.id).content == SECRET


def test_short_words_are_not_cut_out_of_others(world: World) -> None:
    memory = world.save("Use tabs.", "preference")
    longer = world.save("The linter complains where files use tabs. Use tabs. All the same it is quick.")
    reply = forget(world.services, [memory.id], mode="erase", confirmed=True)
    assert world.memory(longer.id).content == longer.content
    assert reply.ids == [memory.id]


def test_a_file_that_still_holds_it_is_named(world: World) -> None:
    memory = world.save(SECRET)
    note = world.home / "notes.txt"
    note.write_text(f"copied by hand: {SECRET}")
    reply = forget(world.services, [memory.id], mode="erase", confirmed=True)
    assert reply.verified is False
    assert str(note) in reply.text


def test_a_part_of_a_long_text_is_recognised(world: World) -> None:
    text = " ".join(f"word{number * 7919 % 10007}" for number in range(2_000))
    memory = world.save(text)
    (world.home / "part.txt").write_text(text[10_000:10_120])
    reply = forget(world.services, [memory.id], mode="erase", confirmed=True)
    assert "part.txt" in reply.text


def test_words_are_cut_out_whatever_the_white_space_between_them() -> None:
    text = "the quick brown fox"
    assert cut("Yesterday the  quick\nbrown fox came to our house.", [text]) == "Yesterday [erased] came to our house."
    assert cut("the quick brown fox!", [text]) is None


class Meddler(FakeEmbedder):
    """An embedder during whose work somebody does something, once."""

    def __init__(self, deed: Callable[[], object]) -> None:
        super().__init__()
        self.deeds = [deed]

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        if self.deeds:
            self.deeds.pop()()
        return super().embed_documents(texts)


def test_what_is_being_made_of_words_that_somebody_erases_meanwhile_is_made_without_them(world: World) -> None:
    said = f"Mind that {SECRET} Then water the plants of the tower room."
    observe(world.services, [{"text": said, "event": "user-prompt-submit"}])
    memory = world.save(SECRET)
    services = world.services
    meddler = Meddler(lambda: erase(world, memory.id))
    done = Consolidator(services.store, services.ledger).run(world.now, meddler, whole=True)
    assert done.observations == 1
    assert places_of(world, "Quillfeather") == []
    [episode] = [one for one in everything(world) if one.kind == "episode"]
    assert "water the plants" in episode.content


def test_a_text_that_is_packed_away_while_somebody_cuts_words_out_of_it_stays_cut(world: World) -> None:
    memory, other = world.save(SECRET), world.save(f"Mind that {SECRET} Then water the plants of the tower room.")
    packed = world.services.store.attic.packed([other.seq])
    erase(world, memory.id)
    with world.services.store.atomic():
        world.services.store.attic.stow_packed(packed, world.now)
    assert "water the plants" in world.memory(other.id).content
    assert places_of(world, "Quillfeather") == []


def test_a_backup_that_a_killed_process_left_unerased_is_found_by_doctor_and_mended(world: World) -> None:
    memory, kept = world.save(SECRET), world.save(OTHER)
    store = world.services.store
    backup = store.backups.make("test", START)
    # Killed after the rows were gone.
    world.services.ledger.erased([memory], world.now)
    store.lexical.optimize()
    found = diagnose(Settings(home=world.home, scope=PROJECT, model_dir=world.home / "none"), world.now)
    [finding] = [one for one in found if one.check == "backups"]
    assert (finding.level, finding.fix, backup.name in finding.text) == ("problem", "backups", True)
    mend(store, {"backups"}, world.now)
    assert places_of(world, SECRET) == []
    with checked(backup) as (_, _, memories):
        assert memories == 1
    assert world.memory(kept.id).content == OTHER
    found = diagnose(Settings(home=world.home, scope=PROJECT, model_dir=world.home / "none"), world.now)
    assert [one.level for one in found if one.check == "backups"] == ["ok"]
