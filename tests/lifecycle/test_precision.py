"""Bits follow state and heat, the bytes leave the disk, and what is promoted is as it was."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fading_store import PROJECT, FadingStore
from fake_embedder import FAKE_MODEL, FakeEmbedder

from ebbing.encoding.embedder import TextEmbedding
from ebbing.lifecycle.copies import pick_copy
from ebbing.lifecycle.precision import PrecisionCounts, requantize, unsettled
from ebbing.schemas.errors import InvalidInputError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Memory, State
from ebbing.store.codec import encode, score
from ebbing.store.store import Store
from ebbing.store.upkeep import upkeep
from ebbing.store.vector_rows import coarser

TEXTS = [f"the service number {number} writes its report to folder {number * 7}" for number in range(6)]


class OvertakenEmbedder(FakeEmbedder):
    """An embedder during whose work something else happens."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def embed_documents(self, texts: Sequence[str]) -> list[TextEmbedding]:
        found = super().embed_documents(texts)
        self._meanwhile()
        return found


@pytest.mark.parametrize(
    ("state", "bits", "tokens"),
    [(State.WARM, 8, True), (State.COLD, 4, False), (State.ARCHIVE, 2, False), (State.FORGOTTEN, 2, False)],
)
def test_an_embedding_has_the_bits_of_its_memorys_state(tmp_path: Path, state: State, bits: int, tokens: bool) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.fade_to(state)
        counts = requantize(world.store, None, world.now)
        assert [world.memory(memory).strength.state for memory in saved] == [state] * len(TEXTS)
        assert world.bits(*saved) == [bits] * len(TEXTS)
        assert world.with_tokens(saved) == [tokens] * len(TEXTS)
        assert counts == PrecisionCounts(demoted=len(TEXTS), tokens_dropped=0 if tokens else len(TEXTS))
        assert world.store.catalog.columns().bit_width[saved[0].seq] == bits


def test_a_second_run_finds_nothing_to_do(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        world.save(*TEXTS)
        world.fade_to(State.COLD)
        assert unsettled(world.store, world.now) == len(TEXTS)
        requantize(world.store, world.embedder, world.now)
        assert unsettled(world.store, world.now) == 0
        assert requantize(world.store, world.embedder, world.now) == PrecisionCounts()


def test_demotion_needs_no_text_and_promotion_embeds_the_text_from_the_attic(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        before = [world.vector(memory) for memory in saved]
        world.fade_to(State.ARCHIVE)
        world.embedder.embedded.clear()
        requantize(world.store, world.embedder, world.now)
        assert world.embedder.embedded == []
        assert world.store.database.value("SELECT count(*) FROM memory WHERE content IS NULL") == len(TEXTS)
        world.ledger.used(saved[2], world.now)
        counts = requantize(world.store, world.embedder, world.now)
        assert (counts.promoted, world.embedder.embedded) == (1, [TEXTS[2]])
        assert world.bits(*saved) == [2, 2, 32, 2, 2, 2]
        assert np.array_equal(world.vector(saved[2]), before[2])
        assert world.with_tokens([saved[2]]) == [True]


def test_a_promoted_memory_scores_as_before(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory] = world.save("the deploy script reads the token from the vault")
        query = world.embedder.embed_query("where does the deploy script read its token").chunks
        [row] = world.store.vectors.rows([memory.seq])
        before = score(query, row.codes)
        world.fade_to(State.ARCHIVE)
        requantize(world.store, world.embedder, world.now)
        world.ledger.used(memory, world.now)
        requantize(world.store, world.embedder, world.now)
        [row] = world.store.vectors.rows([memory.seq])
        assert np.array_equal(score(query, row.codes), before)


def test_without_the_model_what_should_be_sharper_waits(tmp_path: Path) -> None:
    other = FakeEmbedder(spec=replace(FAKE_MODEL, id="another"))
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        world.ledger.used(saved[0], world.now)
        assert requantize(world.store, None, world.now) == PrecisionCounts(waiting=1)
        assert requantize(world.store, other, world.now) == PrecisionCounts(waiting=1)
        assert world.bits(saved[0]) == [2]
        assert requantize(world.store, world.embedder, world.now) == PrecisionCounts(promoted=1)


def test_what_is_shown_on_three_of_seven_days_stays_as_sharp_as_a_warm_memory(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.fade_to(State.ARCHIVE)
        for _ in range(3):
            world.ledger.shown(PROJECT, [saved[1]], "r", {}, world.now)
            world.work(1)
        requantize(world.store, world.embedder, world.now)
        assert world.memory(saved[1]).strength.state == State.ARCHIVE
        assert world.bits(*saved) == [2, 8, 2, 2, 2, 2]
        assert world.with_tokens(saved) == [False, True, False, False, False, False]
        world.work(20)
        requantize(world.store, world.embedder, world.now)
        assert world.bits(saved[1]) == [2]


def test_heat_that_returns_brings_precision_and_tokens_back(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory] = world.save(TEXTS[0])
        world.fade_to(State.ARCHIVE)
        requantize(world.store, world.embedder, world.now)
        for _ in range(3):
            world.ledger.shown(PROJECT, [memory], "r", {}, world.now)
            world.work(1)
        assert requantize(world.store, world.embedder, world.now).promoted == 1
        assert (world.bits(memory), world.with_tokens([memory])) == ([8], [True])


def test_a_use_between_plan_and_write_keeps_the_fine_embedding(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.fade_to(State.COLD)
        used: list[Memory] = []

        def use_one() -> bool:
            if not used:
                used.append(saved[3])
                world.ledger.used(saved[3], world.now)
            return False

        counts = requantize(world.store, None, world.now, stopped=use_one)
        assert world.bits(*saved) == [4, 4, 4, 32, 4, 4]
        assert (counts.demoted, counts.lost) == (5, 1)
        assert world.with_tokens([saved[3]]) == [True]


def test_a_promotion_that_was_overtaken_by_a_demotion_still_lands(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory] = world.save(TEXTS[0])
        world.fade_to(State.COLD)
        requantize(world.store, None, world.now)
        world.ledger.used(memory, world.now)

        def overtake() -> None:
            world.store.vectors.recode(coarser(world.store.vectors.rows([memory.seq]), 2))

        counts = requantize(world.store, OvertakenEmbedder(overtake), world.now)
        assert (counts.promoted, world.bits(memory)) == (1, [32])


def test_a_promotion_that_another_process_has_made_meanwhile_is_left_alone(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory] = world.save(TEXTS[0])
        world.fade_to(State.COLD)
        requantize(world.store, None, world.now)
        world.ledger.used(memory, world.now)
        overtaken = OvertakenEmbedder(lambda: requantize(world.store, FakeEmbedder(), world.now))
        counts = requantize(world.store, overtaken, world.now)
        [row] = world.store.vectors.rows([memory.seq])
        assert (counts.promoted, counts.lost, row.version, row.codes.bit_width) == (0, 1, 3, 32)


def test_a_stopped_run_has_done_whole_batches_and_the_next_one_the_rest(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*(f"entry {number} of the log" for number in range(110)))
        world.fade_to(State.COLD)
        turns = iter([False, True])
        counts = requantize(world.store, None, world.now, stopped=lambda: next(turns, True))
        assert counts.demoted == 50
        assert requantize(world.store, None, world.now).demoted == 60
        assert set(world.bits(*saved)) == {4}


def test_archiving_leaves_an_eighth_of_the_bytes_in_the_file_and_gives_them_to_the_disk(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        world.save(
            *(f"commit {number} touches module {number % 90} and fixes bug {number * 3}" for number in range(2000))
        )
        active = world.vector_bytes()
        whole = world.store.database.size()
        for state in (State.WARM, State.COLD, State.ARCHIVE):
            world.fade_to(state)
            requantize(world.store, None, world.now)
        done = upkeep(world.store.database, world.store.vectors)
        assert world.vector_bytes() <= active / 8
        assert done.released_bytes >= 0.85 * (active - world.vector_bytes())
        assert world.store.database.size() < whole - 0.7 * active
        assert world.store.integrity() == []


def test_codes_that_went_down_the_ladder_are_nearly_as_good_as_those_made_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    exact = rng.standard_normal((400, 384)).astype(np.float32)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    with FadingStore(tmp_path) as world:
        saved = world.save(*(f"text {number}" for number in range(400)))
        scope = world.store.scopes.ensure(PROJECT)
        with world.store.atomic(durable=False):
            for memory, vector in zip(saved, exact, strict=True):
                world.store.vectors.put(memory.seq, scope, vector[np.newaxis], 32)
        for bits in (8, 4, 2):
            world.store.vectors.recode(coarser(world.store.vectors.rows([memory.seq for memory in saved]), bits))
        codes = np.concatenate([world.vector(memory) for memory in saved])
    projected = np.einsum("ij,ij->i", codes, exact)
    assert abs(projected.mean() - 1) < 0.01
    assert (projected / np.linalg.norm(codes, axis=1)).mean() > 0.935


def test_frqad_picks_the_finer_copy_and_the_first_of_equals() -> None:
    rng = np.random.default_rng(1)
    exact = rng.standard_normal((3, 384)).astype(np.float32)
    ladder = [encode(exact, bits) for bits in (2, 8, 4, 32)]
    assert pick_copy(ladder, exact) == 3
    assert pick_copy(ladder) == 3
    assert pick_copy(ladder[:3], exact) == 1
    assert pick_copy([ladder[1], ladder[1]], exact) == 0
    assert pick_copy([encode(exact[:2], 32), ladder[0]], exact) == 1
    with pytest.raises(InvalidInputError):
        pick_copy([])


def test_no_batch_keeps_others_from_writing_for_long(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        world.save(*(f"line {number}" for number in range(600)))
        world.fade_to(State.ARCHIVE)
        other = Store(tmp_path, world.now, model_name=world.embedder.spec.id, dimension=384, busy_timeout_ms=0)
        written: list[int] = []

        def write_from_another_process() -> bool:
            # With no patience at all this raises unless the lock is free between batches.
            with other.atomic(durable=False):
                other.meta.set("turn", str(len(written)))
            written.append(len(written))
            return False

        requantize(world.store, None, world.now, stopped=write_from_another_process)
        other.close()
        assert len(written) >= 6


def test_days_without_work_change_no_precision(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        later = world.now + 30 * MICROSECONDS_PER_DAY
        assert requantize(world.store, None, later) == PrecisionCounts()
        assert world.bits(*saved) == [32] * len(TEXTS)
