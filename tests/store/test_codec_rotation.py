"""The seeded rotation: orthogonal, invertible, the same everywhere, and good at spreading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.store.codec import Rotation, rotation_of
from ebbing.store.codec.rotation import turned

dimensions = st.integers(1, 700)


@settings(max_examples=40, deadline=None)
@given(dimension=dimensions, seed=st.integers(0, 2**32 - 1))
def test_a_rotation_of_any_dimension_can_be_undone(dimension: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((3, dimension)).astype(np.float32)
    rotation = Rotation(dimension, seed)
    assert rotation.invert(rotation.apply(vectors)) == pytest.approx(vectors, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(dimension=dimensions, seed=st.integers(0, 2**32 - 1))
def test_a_rotation_keeps_inner_products(dimension: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((4, dimension)).astype(np.float32)
    rotated = Rotation(dimension, seed).apply(vectors)
    assert rotated @ rotated.T == pytest.approx(vectors @ vectors.T, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("dimension", [100, 384, 500, 768])
def test_a_single_coordinate_spreads_over_many(dimension: int) -> None:
    rotated = Rotation(dimension).apply(np.eye(dimension, dtype=np.float32))
    assert np.abs(rotated).max(axis=1).mean() < 0.35
    fourth_moment = (rotated**4).sum(axis=1).mean() * dimension
    assert 1.0 <= fourth_moment < 4.5  # 3 for normal coordinates, `dimension` for one that stayed alone


def test_many_rows_rotate_as_each_row_alone() -> None:
    vectors = np.random.default_rng(1).standard_normal((1100, 48)).astype(np.float32)
    rotation = Rotation(48)
    each = np.concatenate([rotation.apply(vectors[row : row + 1]) for row in (0, 511, 512, 1099)])
    assert np.array_equal(rotation.apply(vectors)[[0, 511, 512, 1099]], each)


def test_equal_seeds_turn_alike_and_other_seeds_do_not() -> None:
    vectors = np.ones((1, 384), dtype=np.float32)
    assert np.array_equal(Rotation(384, 3).apply(vectors), Rotation(384, 3).apply(vectors))
    assert not np.allclose(Rotation(384, 3).apply(vectors), Rotation(384, 4).apply(vectors))


def test_the_shared_rotation_is_the_one_of_the_default_seed() -> None:
    assert rotation_of(384) == Rotation(384)
    assert rotation_of(384) is rotation_of(384)


def test_the_input_is_left_as_it_was() -> None:
    vectors = np.ones((2, 16), dtype=np.float32)
    Rotation(16).apply(vectors)
    assert (vectors == 1.0).all()


def test_no_vectors_rotate_to_no_vectors() -> None:
    assert Rotation(16).apply(np.empty((0, 16), np.float32)).shape == (0, 16)


def test_another_dimension_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        Rotation(16).apply(np.ones((1, 24)))
    with pytest.raises(InvalidInputError):
        Rotation(16).invert(np.ones(16))
    with pytest.raises(InvalidInputError):
        Rotation(0)


def test_a_single_row_is_turned_like_one_of_many() -> None:
    rows = np.random.default_rng(5).standard_normal((3, 384)).astype(np.float32)
    many = turned(rows)
    for row, expected in zip(rows, many, strict=True):
        again = turned(row[np.newaxis])
        assert np.array_equal(again[0], expected)
        assert turned(row[np.newaxis].copy()) is again
