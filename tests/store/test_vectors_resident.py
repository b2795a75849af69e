"""What is resident equals what is stored after any changes by anybody, and never changes in a reader's hands."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from fading_store import FadingStore
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.schemas.memory import State
from ebbing.store.codec import hamming, sign_bits, sign_bits_of
from ebbing.store.resident import Matrix, ResidentVectors
from ebbing.store.vector_rows import coarser

CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["save", "erase", "recode", "chunks", "fade"]), st.integers(0, 30), st.sampled_from([8, 4, 2])
    ),
    max_size=12,
)


def same(one: Matrix, other: Matrix) -> bool:
    """Whether two readings hold the same rows."""
    return all(
        np.array_equal(left, right)
        for left, right in (
            (one.seqs, other.seqs),
            (one.codes.whole().packed, other.codes.whole().packed),
            (one.codes.scale, other.codes.scale),
            (one.words, other.words),
            (one.starts, other.starts),
            (one.owners, other.owners),
        )
    )


def change(world: FadingStore, what: str, which: int, bits: int) -> None:
    """Do one of `CHANGES`."""
    alive = np.flatnonzero(world.store.catalog.columns().alive)
    if what == "save" or len(alive) == 0:
        world.save(*(f"text {which} and {number}" for number in range(1 + which % 3)))
        return
    seq = int(alive[which % len(alive)])
    if what == "erase":
        world.ledger.erased(world.store.memories.by_seqs([seq]), world.now)
    elif what == "recode":
        world.store.vectors.recode(coarser(world.store.vectors.rows(alive.tolist()), bits))
    elif what == "chunks":
        vectors = np.random.default_rng(which).standard_normal((1 + which % 4, 384)).astype(np.float32)
        world.store.vectors.put(seq, 1, vectors, bits)
    else:
        world.fade_to(State.WARM)


@settings(max_examples=25)
@given(changes=CHANGES)
def test_a_refresh_gives_what_reading_everything_gives(changes: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as home, FadingStore(Path(home)) as world:
        resident = ResidentVectors(world.store.database, world.store.vectors, block_rows=3)
        handed_out: list[tuple[Matrix, bytes, bytes]] = []
        for step in changes:
            change(world, *step)
            matrix = resident.matrix()
            whole = matrix.codes.whole()
            fresh = ResidentVectors(world.store.database, world.store.vectors).matrix()
            assert same(matrix, fresh)
            assert np.array_equal(
                matrix.hamming(sign_bits_of(matrix.codes.take(np.arange(1)))[0]) if len(matrix.seqs) else [],
                hamming(sign_bits_of(whole)[:1], sign_bits_of(whole))[0] if len(matrix.seqs) else [],
            )
            backwards = np.arange(len(whole))[::-1]
            assert np.array_equal(matrix.codes.take(backwards).packed, whole.packed[::-1])
            handed_out.append((matrix, whole.packed.tobytes(), matrix.words.tobytes()))
        assert all(
            (one.codes.whole().packed.tobytes(), one.words.tobytes()) == (codes, words)
            for one, codes, words in handed_out
        )


def test_what_another_process_writes_arrives_with_the_next_reading(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world, FadingStore(tmp_path) as other:
        world.save("a lamp")
        assert len(other.store.resident.matrix().seqs) == 1
        [late] = world.save("a chair")
        assert other.store.resident.matrix().owners.tolist()[-1] == late.seq
        world.ledger.erased([late], world.now)
        assert len(other.store.resident.matrix().seqs) == 1


def test_going_from_32_to_8_bits_changes_nothing_resident(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        saved = world.save("a lamp", "a chair")
        before = world.store.resident.matrix()
        world.store.vectors.recode(coarser(world.store.vectors.rows([memory.seq for memory in saved]), 8))
        after = world.store.resident.matrix()
        assert after.revision > before.revision
        assert after.codes is before.codes
        assert after.structure == before.structure


def test_a_snapshot_older_than_the_latest_reading_costs_no_second_reading(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world, FadingStore(tmp_path) as other:
        world.save("a lamp")
        with world.store.snapshot():
            world.store.catalog.columns()
            other.save("a chair")
            known = world.store.resident.matrix()
        newer = world.store.resident.matrix()
        assert (len(known.seqs), len(newer.seqs)) == (1, 2)
        assert world.store.resident.matrix() is newer


def test_the_first_row_of_each_memory_is_found(tmp_path: Path) -> None:
    with FadingStore(tmp_path) as world:
        one, other = world.save("a lamp", "a chair")
        world.store.vectors.put(one.seq, 1, np.eye(384, dtype=np.float32)[:3], 32)
        matrix = world.store.resident.matrix()
        assert matrix.rows_of([other.seq, one.seq, 99]).tolist() == [3, 0, -1]
        [query] = sign_bits(np.eye(384, dtype=np.float32)[1:2])
        assert int(np.argmin(matrix.hamming(query))) == pytest.approx(1)
