"""Rows of vectors: rewritten only as they were read, with signs and estimates that outlive every rewrite."""

from pathlib import Path

import numpy as np
import pytest
from fading_store import PROJECT, FadingStore
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbing.schemas.errors import StoreError
from ebbing.schemas.memory import Memory, State
from ebbing.store.codec import encode, score, sign_bits
from ebbing.store.vector_rows import VectorRow, coarser, signs

TEXTS = ["the red lamp", "the blue lamp", "a green chair", "an old table"]


def unit_rows(seed: int, count: int, dimension: int = 384) -> NDArray[np.float32]:
    """Random unit vectors (n, d)."""
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def put_chunks(world: FadingStore, memory: Memory, vectors: NDArray[np.float32]) -> None:
    """Store other chunk vectors for a memory."""
    world.store.vectors.put(memory.seq, world.store.scopes.ensure(PROJECT), vectors, 32)


def put_and_fail(world: FadingStore, memory: Memory) -> None:
    """Store other vectors in a transaction that then fails."""
    with world.store.atomic():
        put_chunks(world, memory, unit_rows(3, 2))
        raise StoreError("enough")


@given(
    seed=st.integers(0, 2**32 - 1),
    chunks=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    path=st.sampled_from([(8,), (4,), (2,), (8, 4), (8, 2), (4, 2), (8, 4, 2)]),
)
def test_fewer_bits_leave_signs_chunks_and_versions_as_they_were(
    seed: int, chunks: list[int], path: tuple[int, ...]
) -> None:
    exact = [unit_rows(seed + place, count) for place, count in enumerate(chunks)]
    rows = [VectorRow(place, place + 7, 1, encode(vectors, 32)) for place, vectors in enumerate(exact)]
    for width in path:
        rows = coarser(rows, width)
    assert [row.codes.bit_width for row in rows] == [path[-1]] * len(chunks)
    assert [(row.seq, row.version, len(row.codes)) for row in rows] == [
        (place, place + 7, count) for place, count in enumerate(chunks)
    ]
    assert all(np.array_equal(own, sign_bits(vectors)) for own, vectors in zip(signs(rows), exact, strict=True))


def test_a_row_never_gets_finer_by_recoding() -> None:
    rows = [VectorRow(width, 1, 0, encode(unit_rows(width, 1), width)) for width in (2, 4, 8, 32)]
    assert [(row.seq, row.codes.bit_width) for row in coarser(rows, 4)] == [(8, 4), (32, 4)]


def test_estimates_from_codes_of_codes_stay_unbiased() -> None:
    exact, query = unit_rows(1, 3000), unit_rows(2, 1)
    near = exact + 2 * query
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    rows = coarser(coarser(coarser([VectorRow(1, 1, 0, encode(near, 32))], 8), 4), 2)
    error = score(query, rows[0].codes)[0] - near @ query[0]
    assert abs(error.mean()) < 4 * error.std() / np.sqrt(len(error)) + 0.003


def test_a_rewrite_of_a_row_that_has_changed_since_is_left_undone(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        seqs = [memory.seq for memory in saved]
        read = world.store.vectors.rows(seqs)
        put_chunks(world, saved[1], unit_rows(1, 2))
        assert world.store.vectors.recode(coarser(read, 8)) == {seqs[0], seqs[2], seqs[3]}
        assert world.bits(*saved) == [8, 32, 8, 8]
        assert [row.version for row in world.store.vectors.rows(seqs)] == [2, 2, 2, 2]
        assert world.store.vectors.recode(coarser(read, 4)) == set()


def test_a_rewrite_for_a_state_that_the_memory_has_left_is_left_undone(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.fade_to(State.WARM)
        read = world.store.vectors.rows([memory.seq for memory in saved])
        world.ledger.used(saved[0], world.now)
        assert saved[0].seq not in world.store.vectors.recode(coarser(read, 8))
        assert world.bits(*saved) == [32, 8, 8, 8]
        number = world.store.scopes.ensure(PROJECT)
        assert not world.store.vectors.replace(read[0], number, unit_rows(1, 1), 32)


def test_a_replacement_rewrites_row_and_index_if_nothing_came_between(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory, *_] = world.save(*TEXTS)
        [read] = world.store.vectors.rows([memory.seq])
        fresh = unit_rows(9, 3)
        number = world.store.scopes.ensure(PROJECT)
        assert world.store.vectors.replace(read, number, fresh, 32)
        assert np.array_equal(world.vector(memory), fresh)
        assert world.store.vectors.coarse(sign_bits(fresh)[2].tobytes(), [number], 1) == [(memory.seq, 0)]
        assert world.store.vectors.index_rows() == world.store.vectors.expected_index_rows() == len(TEXTS) + 2


def test_the_catalog_knows_the_precision_that_is_stored(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        assert world.store.catalog.columns().bit_width[saved[2].seq] == 32
        world.store.vectors.recode(coarser(world.store.vectors.rows([saved[2].seq]), 4))
        assert world.store.catalog.columns().bit_width[saved[2].seq] == 4
        assert world.memory(saved[2]).strength.bit_width == 4


def test_a_write_that_fails_leaves_rows_and_index_as_they_were(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        [memory, *_] = world.save(*TEXTS)
        before = world.vector(memory)
        with pytest.raises(StoreError, match="enough"):
            put_and_fail(world, memory)
        assert np.array_equal(world.vector(memory), before)
        assert world.store.vectors.index_rows() == len(TEXTS)


def test_erased_memories_leave_neither_vectors_nor_index_rows(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*TEXTS)
        world.ledger.erased(saved[:2], world.now)
        assert world.store.vectors.count() == world.store.vectors.index_rows() == 2
        assert world.store.vectors.rows([saved[0].seq]) == []
        assert world.with_tokens(saved) == [False, False, True, True]
