"""Embeddings of one model: given back as stored, with all their chunks, and never mixed with another model's."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_store import DIMENSION, PROJECT, open_store, save

from ebbing.schemas.errors import StoreError
from ebbing.store.codec import decode, sign_bits
from ebbing.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path) as opened:
        yield opened


def rows(seed: int, count: int, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Random unit vectors (n, d)."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def put(store: Store, seq: int, vectors: NDArray[np.float32], bit_width: int = 32) -> None:
    """Store chunk vectors of a memory of the project."""
    number = store.scopes.find(PROJECT)
    assert number is not None
    store.vectors.put(seq, number, vectors, bit_width)


def stored(store: Store, seq: int) -> NDArray[np.float32]:
    """What is stored for a memory, decoded."""
    groups = store.vectors.get([seq])
    return np.concatenate([np.zeros((0, DIMENSION), np.float32), *(decode(group.codes) for group in groups)])


def nearest(store: Store, vector: NDArray[np.float32], k: int = 10) -> list[tuple[int, int]]:
    """(seq, Hamming distance) by the coarse index."""
    number = store.scopes.find(PROJECT)
    assert number is not None
    return store.vectors.coarse(sign_bits(vector[np.newaxis])[0].tobytes(), [number], k)


@pytest.mark.parametrize(("bit_width", "least"), [(32, 0.999_999), (8, 0.999), (4, 0.98), (2, 0.9)])
def test_several_chunks_come_back_in_order_at_their_precision(store: Store, bit_width: int, least: float) -> None:
    seq, other = save(store, "long"), save(store, "short")
    vectors = rows(1, 5)
    put(store, seq, vectors, bit_width)
    put(store, other, rows(2, 1))
    [group, *rest] = store.vectors.get([seq])
    assert (group.codes.bit_width, group.seqs.tolist(), rest) == (bit_width, [seq] * 5, [])
    back = decode(group.codes)
    cosines = np.sum(back * vectors, axis=1) / np.linalg.norm(back, axis=1)
    assert cosines.min() > least
    assert store.memories.strength(seq).bit_width == bit_width


def test_memories_of_several_precisions_come_grouped(store: Store) -> None:
    seqs = [save(store, f"fact {number}") for number in range(4)]
    for seq, width in zip(seqs, (32, 8, 32, 2), strict=True):
        put(store, seq, rows(seq, 2), width)
    groups = {group.codes.bit_width: group.seqs.tolist() for group in store.vectors.get([*seqs, 999])}
    assert groups == {2: [seqs[3]] * 2, 8: [seqs[1]] * 2, 32: [seqs[0]] * 2 + [seqs[2]] * 2}


def test_any_chunk_of_a_memory_leads_to_it_once(store: Store) -> None:
    seq, other = save(store, "long"), save(store, "short")
    vectors = rows(1, 3)
    put(store, seq, vectors)
    put(store, other, rows(9, 1))
    for chunk in vectors:
        found = nearest(store, chunk)
        assert found[0] == (seq, 0)
        assert sorted(name for name, _ in found) == [seq, other]


def test_new_vectors_replace_old_ones_with_more_or_fewer_chunks(store: Store) -> None:
    seq = save(store, "text")
    for count in (3, 1, 4):
        vectors = rows(count, count)
        put(store, seq, vectors)
        assert np.allclose(stored(store, seq), vectors, atol=1e-5)
        assert store.vectors.index_rows() == store.vectors.expected_index_rows() == count
        assert nearest(store, vectors[-1])[0] == (seq, 0)


def test_what_was_removed_is_found_no_more(store: Store) -> None:
    gone, stays = save(store, "one"), save(store, "two")
    put(store, gone, rows(1, 2))
    put(store, stays, rows(2, 2))
    store.vectors.remove([gone, gone, 999])
    assert len(stored(store, gone)) == 0
    assert [seq for seq, _ in nearest(store, rows(1, 2)[0])] == [stays]
    assert store.vectors.missing(10) == [gone]
    assert (store.vectors.count(), store.vectors.index_rows()) == (1, 2)


def test_a_rebuilt_index_answers_as_the_one_that_grew(store: Store) -> None:
    seqs = [save(store, f"fact {number}") for number in range(30)]
    for seq in seqs:
        put(store, seq, rows(seq, 1 + seq % 3), 32 if seq % 2 else 2)
    with store.atomic():
        store.erase(seqs[::5])
    queries = rows(7, 5)
    before = [nearest(store, query) for query in queries]
    assert store.vectors.rebuild() == store.vectors.expected_index_rows()
    assert [nearest(store, query) for query in queries] == before


def test_a_changed_model_starts_without_vectors_and_never_sees_the_others(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        seq, second = save(store, "one"), save(store, "two")
        put(store, seq, rows(1, 2))
        put(store, second, rows(2, 1))
    with open_store(tmp_path, model="another") as changed:
        assert changed.vectors.get([seq, second]) == []
        assert nearest(changed, rows(1, 2)[0]) == []
        assert changed.vectors.missing(10) == [seq, second]
        put(changed, seq, rows(5, 1))
        assert [name for name, _ in nearest(changed, rows(1, 2)[0])] == [seq]
        assert changed.vectors.retire_models() == 0
    with open_store(tmp_path) as back:
        assert [name for name, _ in nearest(back, rows(5, 1)[0])] == [second]
        assert back.vectors.missing(10) == [seq]
        assert back.vectors.index_rows() == back.vectors.expected_index_rows() == 1


def test_a_model_that_nothing_is_left_of_is_dropped(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        seq = save(store, "one")
        put(store, seq, rows(1, 2))
    with open_store(tmp_path, model="another") as changed:
        put(changed, seq, rows(5, 1))
        assert changed.vectors.retire_models() == 1
        assert changed.database.value("SELECT count(*) FROM model") == 1
        assert nearest(changed, rows(5, 1)[0])[0] == (seq, 0)
        assert changed.integrity() == []


def test_a_model_with_other_dimensions_than_were_stored_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        put(store, save(store, "one"), rows(1, 1))
    with pytest.raises(StoreError, match="dimensions"):
        Store(tmp_path, 1, model_name="small", dimension=2 * DIMENSION)
    with open_store(tmp_path) as store:
        assert store.vectors.count() == 1
