"""The search over embeddings gives the same answer from memory and from the index, layer by layer."""

from pathlib import Path

import numpy as np
import pytest
from fading_store import PROJECT, FadingStore
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbing.lifecycle.precision import requantize
from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import State
from ebbing.store.search import OUT_OF_REACH, Reach, VectorSearch, nearest_rows

TEXTS = [
    f"{colour} {thing} in room {room}"
    for room, colour in enumerate(["red", "blue", "green", "grey"] * 10)
    for thing in ("lamp", "chair", "table")
]


def unit(world: FadingStore, text: str) -> NDArray[np.float32]:
    """The embedding of a question, (d,)."""
    return world.embedder.embed_query(text).chunks[0]


def everywhere(world: FadingStore, **more: object) -> Reach:
    """All scopes, all layers at once."""
    given = {"layered": False, **more}
    return Reach(scopes=list(world.store.scopes.keys()), **given)  # pyright: ignore[reportArgumentType]


@pytest.fixture(params=["resident", "index"])
def way(request: pytest.FixtureRequest) -> str:
    """How candidates are found."""
    return str(request.param)


def prepared(world: FadingStore, way: str) -> VectorSearch:
    """A search that finds its candidates in one of the two ways."""
    store = world.store
    store.resident.matrix()
    rows = 10**6 if way == "resident" else 0
    return VectorSearch(store.database, store.vectors, store.resident, store.catalog, resident_rows=rows)


def test_the_nearest_are_those_of_exact_float32(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        exact = np.stack([world.vector(memory)[0] for memory in saved])
        for text in ("blue lamp in room 5", "table in room 11", "something else"):
            query = unit(world, text)
            found = prepared(world, way).search(query, everywhere(world), 10)
            truth = exact @ query
            assert np.allclose(found.scores, np.sort(truth)[::-1][:10], atol=1e-5)
            assert np.allclose(found.scores, truth[found.seqs - saved[0].seq], atol=1e-5)


def test_mixed_precisions_are_scored_by_their_stored_codes(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS[:60])
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        world.save(*TEXTS[60:])
        query = unit(world, TEXTS[4])
        found = prepared(world, way).search(query, everywhere(world), 120)
        vectors = {memory.seq: world.vector(memory)[0] for memory in saved}
        assert found.seqs[0] == saved[4].seq
        for seq, score in zip(found.seqs.tolist(), found.scores.tolist(), strict=True):
            if seq in vectors:
                assert score == pytest.approx(float(vectors[seq] @ query), abs=1e-4)


def test_scopes_states_and_masks_are_kept_to(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        here = world.save(*TEXTS[:30])
        there = world.save(*TEXTS[:30], scope="/projects/other")
        search = prepared(world, way)
        number = world.store.scopes.ensure(PROJECT)
        query = unit(world, TEXTS[0])
        found = search.search(query, Reach(scopes=[number]), 100)
        assert sorted(found.seqs.tolist()) == [memory.seq for memory in here]
        mask = np.zeros(there[3].seq + 1, np.bool_)
        mask[[here[1].seq, here[2].seq, there[3].seq]] = True
        found = search.search(query, Reach(scopes=[number], mask=mask), 100)
        assert sorted(found.seqs.tolist()) == [here[1].seq, here[2].seq]
        assert len(search.search(query, Reach(scopes=[number], states=range(2, 5)), 100).seqs) == 0
        assert len(search.search(query, Reach(scopes=[]), 100).seqs) == 0


def test_faded_memories_wait_until_the_evidence_of_the_others_is_weak(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        [old] = world.save("the quarterly invoice went to the accountant")
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        world.save("the quarterly invoice went to the bank", "the lamp is blue")
        search = prepared(world, way)
        scopes = list(world.store.scopes.keys())
        strong = search.search(unit(world, "the quarterly invoice went to the bank"), Reach(scopes=scopes), 1)
        assert (strong.deep, old.seq in strong.seqs) == (False, False)
        weak = search.search(unit(world, "accountant"), Reach(scopes=scopes), 1)
        assert (weak.deep, weak.seqs.tolist()) == (True, [old.seq])
        few = search.search(unit(world, "the quarterly invoice went to the bank"), Reach(scopes=scopes), 3)
        assert (few.deep, len(few.seqs)) == (True, 3)
        asked = search.search(unit(world, "the accountant's invoice"), Reach(scopes=scopes, layered=False), 1)
        assert asked.seqs.tolist() == [old.seq]


def test_a_use_puts_a_memory_into_the_first_layer_at_once(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        [old] = world.save("the invoice went to the accountant")
        world.fade_to(State.ARCHIVE)
        world.ledger.used(old, world.now)
        found = prepared(world, way).search(unit(world, "the invoice went to the accountant"), Reach(scopes=[1]), 1)
        assert (found.seqs.tolist(), found.deep) == ([old.seq], False)


def test_a_memory_of_several_chunks_is_found_once_by_its_best(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        one, other = world.save("a lamp", "a chair")
        chunks = np.stack([unit(world, text) for text in ("alpha beta", "gamma delta", "epsilon zeta")])
        world.store.vectors.put(one.seq, 1, chunks, 32)
        found = prepared(world, way).search(unit(world, "gamma delta"), everywhere(world), 5)
        assert found.seqs.tolist() == [one.seq, other.seq]
        assert found.scores[0] == pytest.approx(1, abs=1e-5)


def test_frqad_ranks_by_certainty_where_the_estimate_ranks_by_direction(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        [old] = world.save("the invoice went to the accountant in may")
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        [new] = world.save("the invoice went to the bank in june")
        query = unit(world, "the invoice went to the accountant in may")
        search = prepared(world, way)
        assert search.search(query, everywhere(world), 2).seqs.tolist() == [old.seq, new.seq]
        by_distance = search.search(query, everywhere(world), 2, distance="frqad")
        assert by_distance.seqs.tolist() == [new.seq, old.seq]
        assert (by_distance.scores < 0).all()


def save_find_and_fail(world: FadingStore, text: str) -> None:
    """Find a memory in the transaction that saves it and then fails."""
    with world.store.atomic():
        [memory] = world.save(text)
        assert world.store.nearest.search(unit(world, text), everywhere(world), 1).seqs.tolist() == [memory.seq]
        world.store.resident.matrix()
        raise StoreError("no")


def test_what_was_just_written_is_found_within_its_transaction_and_not_after_its_rollback(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save("a lamp")
        world.store.resident.matrix()
        query = unit(world, "an entirely new thing")
        with pytest.raises(StoreError, match="no"):
            save_find_and_fail(world, "an entirely new thing")
        assert world.store.nearest.search(query, everywhere(world), 5).seqs.tolist() == [saved[0].seq]
        again = world.save("something else instead")
        found = world.store.nearest.search(unit(world, "something else instead"), everywhere(world), 1)
        assert found.seqs.tolist() == [again[0].seq]


def test_before_anything_is_resident_the_index_answers(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        assert not world.store.resident.loaded
        found = world.store.nearest.search(unit(world, TEXTS[7]), everywhere(world), 1)
        assert (found.seqs.tolist(), world.store.resident.loaded) == ([saved[7].seq], False)


def test_equal_scores_come_in_the_order_of_saving(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*["the very same words"] * 6)
        found = prepared(world, way).search(unit(world, "the very same words"), everywhere(world), 4)
        assert found.seqs.tolist() == [memory.seq for memory in saved[:4]]


def test_an_empty_store_has_nothing_near(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        found = prepared(world, way).search(unit(world, "anything"), Reach(scopes=[1]), 3)
        assert (len(found.seqs), len(found.scores)) == (0, 0)


def test_a_quick_search_finds_what_the_exact_one_does_with_nearly_its_scores(tmp_path: Path, way: str) -> None:
    with FadingStore(tmp_path) as world:
        world.save(*TEXTS[:60])
        world.fade_to(State.ARCHIVE)
        requantize(world.store, None, world.now)
        world.save(*TEXTS[60:])
        world.save(*TEXTS[:9], scope="/projects/other")
        number = world.store.scopes.ensure(PROJECT)
        for text in (TEXTS[4], TEXTS[70], "something else"):
            exact = prepared(world, way).search(unit(world, text), Reach(scopes=[number], layered=False), 100)
            found = prepared(world, way).quick(unit(world, text), [number], 100)
            by_seq = dict(zip(exact.seqs.tolist(), exact.scores.tolist(), strict=True))
            assert (len(found.seqs), found.seqs[0]) == (100, exact.seqs[0])
            for seq, score in zip(found.seqs.tolist(), found.scores.tolist(), strict=True):
                assert score == pytest.approx(by_seq.get(seq, exact.scores[-1]), abs=5e-3)


def test_a_quick_search_of_resident_embeddings_reads_none_of_them(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        search = prepared(world, "resident")
        with world.store.atomic():
            world.store.database.execute("DELETE FROM vector")
        query, number = unit(world, TEXTS[7]), world.store.scopes.ensure(PROJECT)
        assert search.quick(query, [number], 1).seqs.tolist() == [saved[7].seq]
        assert search.search(query, Reach(scopes=[number]), 1).seqs.tolist() == []
        assert search.quick(query, [], 1).seqs.tolist() == []


@given(
    distances=st.lists(st.sampled_from([*range(9), OUT_OF_REACH]), max_size=60),
    count=st.integers(1, 70),
)
def test_the_nearest_rows_are_as_many_as_wanted_with_all_that_tie_and_none_out_of_reach(
    distances: list[int], count: int
) -> None:
    rows = nearest_rows(np.array(distances, np.uint16), count).tolist()
    reachable = sorted(distance for distance in distances if distance != OUT_OF_REACH)
    farthest = reachable[:count][-1] if reachable else -1
    assert rows == [row for row, distance in enumerate(distances) if distance <= farthest]
