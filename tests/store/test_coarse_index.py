"""The vec0 index: nearest by sign bits, right about states whoever changes them, made again from the codes."""

from pathlib import Path

import numpy as np
import pytest
from fading_store import PROJECT, FadingStore
from numpy.typing import NDArray

from ebbing.schemas.memory import Memory, State
from ebbing.store.coarse import SHARD
from ebbing.store.codec import hamming, sign_bits
from ebbing.store.store import Store
from ebbing.store.upkeep import upkeep

DIMENSION = 64


@pytest.fixture
def bits() -> NDArray[np.uint8]:
    """Sign bits of 9,000 random vectors of 64 coordinates: more than two shards."""
    return np.random.default_rng(0).integers(0, 256, (9_000, DIMENSION // 8), dtype=np.uint8)


def indexed(home: Path, bits: NDArray[np.uint8]) -> Store:
    """A store whose coarse index holds these bits for seqs from 1, in scopes 1 and 2 by turns, in states by turns."""
    store = Store(home, 1, model_name="small", dimension=DIMENSION)
    with store.atomic(durable=False):
        for place, row in enumerate(bits):
            store.vectors.index.add(place + 1, 1 + place % 2, place % 5, row[np.newaxis])
    return store


def exact(bits: NDArray[np.uint8], query: NDArray[np.uint8], wanted: NDArray[np.bool_], k: int) -> list[int]:
    """The k least distances among the wanted rows."""
    return sorted(hamming(query[np.newaxis], bits)[0][wanted].tolist())[:k]


@pytest.mark.parametrize("k", [1, 5, 40])
def test_the_nearest_few_are_those_of_a_plain_pass(tmp_path: Path, bits: NDArray[np.uint8], k: int) -> None:
    with indexed(tmp_path, bits) as store:
        found = store.vectors.index.nearest(bits[76].tobytes(), [1], k)
        assert found[0] == (77, 0)
        assert [distance for _, distance in found] == exact(bits, bits[76], np.arange(len(bits)) % 2 == 0, k)


def test_many_are_asked_of_every_shard_and_hold_nearly_all_the_nearest(tmp_path: Path, bits: NDArray[np.uint8]) -> None:
    with indexed(tmp_path, bits) as store:
        found = store.vectors.index.nearest(bits[76].tobytes(), [1], 300)
        truth = exact(bits, bits[76], np.arange(len(bits)) % 2 == 0, 300)
        assert 300 <= len(found) <= 3 * 200
        assert [distance for _, distance in found[:200]] == truth[:200]


def test_scopes_and_tiers_narrow_the_search(tmp_path: Path, bits: NDArray[np.uint8]) -> None:
    with indexed(tmp_path, bits) as store:
        place = np.arange(len(bits))
        found = store.vectors.index.nearest(bits[10].tobytes(), [2], 30, range(1, 3))
        wanted = (place % 2 == 1) & (place % 5 >= 1) & (place % 5 <= 2)
        assert [distance for _, distance in found] == exact(bits, bits[10], wanted, 30)
        assert {seq % 2 for seq, _ in found} == {0}
        assert {(seq - 1) % 5 for seq, _ in found} == {1, 2}


def test_shards_that_are_mostly_holes_are_moved_and_lose_nothing(tmp_path: Path, bits: NDArray[np.uint8]) -> None:
    with indexed(tmp_path, bits) as store:
        index = store.vectors.index
        chunks = f"SELECT count(*) FROM coarse_{store.vectors.model}_chunks"  # noqa: S608
        assert (index.sparse_shards(), store.database.value(chunks)) == ([], 3)
        with store.atomic(durable=False):
            for seq in range(1, SHARD + 1):
                if seq % 8:
                    index.remove(seq, 1)
        assert index.sparse_shards() == [0]
        assert store.vectors.compact() == SHARD // 8
        assert (index.sparse_shards(), store.database.value(chunks)) == ([], 2)
        assert index.rows() == len(bits) - SHARD * 7 // 8
        assert index.nearest(bits[15].tobytes(), [2], 1) == [(16, 0)]
        assert store.vectors.compact() == 0


def tiers(store: Store) -> list[tuple[int, int]]:
    """(seq, tier) of every row of the index."""
    index = f"coarse_{store.vectors.model}"
    return [(seq, tier) for seq, tier in store.database.rows(f"SELECT key >> 12, tier FROM {index} ORDER BY key")]  # noqa: S608


def with_chunks(world: FadingStore, memory: Memory, count: int) -> None:
    """Give a memory's embedding several chunks."""
    vectors = np.random.default_rng(1).standard_normal((count, 384)).astype(np.float32)
    world.store.vectors.put(memory.seq, world.store.scopes.ensure(PROJECT), vectors, 32)


def test_every_chunk_follows_the_state_whoever_changes_it(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        one, many = world.save("a lamp", "a chair")
        with_chunks(world, many, 3)
        assert tiers(world.store) == [(one.seq, 0)] + [(many.seq, 0)] * 3
        world.fade_to(State.ARCHIVE)
        assert tiers(world.store) == [(one.seq, 3)] + [(many.seq, 3)] * 3
        world.ledger.used(many, world.now)
        assert tiers(world.store) == [(one.seq, 3)] + [(many.seq, 0)] * 3
        world.ledger.forgotten(many, world.now)
        assert tiers(world.store) == [(one.seq, 3)] + [(many.seq, 4)] * 3


def test_an_index_that_was_dropped_is_made_again_the_same(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*(f"lamp number {number}" for number in range(40)))
        with_chunks(world, saved[5], 4)
        world.fade_to(State.COLD)
        store = world.store
        table = f"coarse_{store.vectors.model}"
        everything = f"SELECT key, scope, tier, bits FROM {table} ORDER BY key"  # noqa: S608
        before = store.database.rows(everything)
        with store.atomic():
            store.vectors.index.drop()
        assert store.database.rows("SELECT name FROM sqlite_master WHERE name LIKE 'coarse%'") == []
        assert store.vectors.rebuild() == 43
        assert store.database.rows(everything) == before
        world.ledger.used(saved[0], world.now)
        assert tiers(store)[0] == (saved[0].seq, 0)


def test_upkeep_finds_rows_that_are_missing_and_makes_them_again(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save(*(f"lamp number {number}" for number in range(20)))
        with world.store.atomic():
            world.store.vectors.index.remove(saved[3].seq, 1)
        assert upkeep(world.store.database, world.store.vectors).rebuilt == 20
        assert upkeep(world.store.database, world.store.vectors).rebuilt == 0


def test_a_rebuild_that_was_stopped_is_begun_again_by_upkeep(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        world.save(*(f"lamp number {number}" for number in range(20)))
        assert world.store.vectors.rebuild(stopped=lambda: True) == 0
        assert world.store.vectors.index_rows() == 0
        assert upkeep(world.store.database, world.store.vectors).rebuilt == 20


def test_what_is_saved_during_a_rebuild_is_in_the_index(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        world.save(*(f"lamp number {number}" for number in range(150)))
        added: list[Memory] = []

        def save_one() -> bool:
            added.extend(world.save("a late chair"))
            return False

        world.store.vectors.rebuild(save_one)
        [vector] = world.embedder.embed_query("a late chair").chunks
        query = sign_bits(vector[np.newaxis])[0].tobytes()
        assert [seq for seq, _ in world.store.vectors.coarse(query, [1], 2)] == [memory.seq for memory in added[:2]]
        assert world.store.vectors.index_rows() == world.store.vectors.expected_index_rows()
