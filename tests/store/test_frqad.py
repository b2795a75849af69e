"""FRQAD: a distance, stable near zero, monotone in bits, and right about which copy is finer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbing.schemas.errors import InvalidInputError
from ebbing.store import codec
from ebbing.store.frqad import choose_copy, effective_sigma, frqad, geodesic

seeds = st.integers(0, 2**32 - 1)


def gaussians(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, 8)), rng.uniform(0.1, 3.0, (count, 8))


def one(value: float) -> NDArray[np.float64]:
    return np.array([[value]])


def unit_vectors(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_gaussians_of_one_mean_are_apart_by_the_ratio_of_their_widths() -> None:
    assert geodesic(one(0), one(1), one(0), one(math.e))[0] == pytest.approx(math.sqrt(2))


def test_gaussians_of_one_width_are_apart_by_the_closed_form() -> None:
    assert geodesic(one(0), one(1), one(3), one(1))[0] == pytest.approx(math.sqrt(2) * math.acosh(1 + 9 / 4))


def test_tiny_distances_keep_their_digits() -> None:
    assert geodesic(one(0), one(1), one(1e-12), one(1))[0] == pytest.approx(1e-12, rel=1e-9)


@given(seeds)
def test_the_geodesic_is_a_metric(seed: int) -> None:
    (a, sa), (b, sb), (c, sc) = (gaussians(4, seed + step) for step in range(3))
    there = geodesic(a, sa, b, sb)
    assert (there > 0).all()
    assert geodesic(a, sa, a, sa).tolist() == [0.0] * 4
    assert there == pytest.approx(geodesic(b, sb, a, sa))
    assert (there <= geodesic(a, sa, c, sc) + geodesic(c, sc, b, sb) + 1e-9).all()


@given(seed=seeds, scale=st.floats(1e-6, 1e6))
def test_the_geodesic_does_not_depend_on_the_unit(seed: int, scale: float) -> None:
    (a, sa), (b, sb) = gaussians(3, seed), gaussians(3, seed + 1)
    assert geodesic(a * scale, sa * scale, b * scale, sb * scale) == pytest.approx(geodesic(a, sa, b, sb))


def test_effective_sigma_grows_as_bits_go() -> None:
    assert effective_sigma(np.array([32, 8, 2]), 0.1).tolist() == pytest.approx([0.1, 0.2, 0.4])
    assert effective_sigma(np.array([8]), 0.1, kappa=1.0)[0] == pytest.approx(0.4)


@given(seed=seeds, eighths=st.integers(1, 48), query_sigma=st.floats(1e-3, 10.0), factor=st.floats(1.45, 100.0))
def test_fewer_bits_are_never_nearer_whatever_query_and_vector(
    seed: int, eighths: int, query_sigma: float, factor: float
) -> None:
    dimension = 8 * eighths
    query, vector = unit_vectors(1, dimension, seed), unit_vectors(1, dimension, seed + 1)
    for q in (query, vector, -vector):
        copies = np.repeat(vector, 6, axis=0)
        observed = factor / math.sqrt(dimension)
        distances = frqad(q, copies, np.array([32, 16, 8, 4, 2, 1]), sigma_observed=observed, sigma_query=query_sigma)
        assert (np.diff(distances) > 0).all()


def test_at_equal_bits_the_nearer_direction_is_nearer() -> None:
    vectors = unit_vectors(50, 384, 1)
    query = vectors[:1] + 0.5 * vectors[1:2]
    distances = frqad(query, vectors, np.full(50, 4))
    assert np.array_equal(np.argsort(distances)[:2], [0, 1])


def test_the_norm_of_a_copy_does_not_matter() -> None:
    query, copy = unit_vectors(1, 64, 1), unit_vectors(1, 64, 2)
    assert frqad(query, copy * 3, np.array([4]))[0] == pytest.approx(frqad(query, copy, np.array([4]))[0])


@pytest.mark.parametrize(("finer", "coarser"), [(32, 8), (32, 4), (8, 4), (4, 2), (2, 1)])
def test_of_two_copies_of_one_memory_the_finer_is_chosen(finer: int, coarser: int) -> None:
    vectors, queries = unit_vectors(500, 384, 1), unit_vectors(500, 384, 2)
    queries[::2] = vectors[::2] + 0.5 * queries[::2]
    copies = np.stack([codec.decode(codec.encode(vectors, bits)) for bits in (coarser, finer)], axis=1)
    widths = np.tile([coarser, finer], (500, 1))
    assert (choose_copy(queries, copies, widths) == 1).all()


def test_of_equal_copies_the_first_is_chosen() -> None:
    copies = np.repeat(unit_vectors(3, 16, 1)[:, None], 2, axis=1)
    assert choose_copy(unit_vectors(3, 16, 2), copies, np.full((3, 2), 8)).tolist() == [0, 0, 0]


def test_no_pairs_give_no_distances() -> None:
    assert frqad(np.empty((0, 16)), np.empty((0, 16)), np.empty(0, np.int64)).shape == (0,)
    assert choose_copy(np.empty((0, 16)), np.empty((0, 2, 16)), np.empty((0, 2), np.int64)).shape == (0,)


def test_an_observed_sigma_that_can_not_be_monotone_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        frqad(np.ones((1, 16)), np.ones((1, 16)), np.array([8]), sigma_observed=0.35)


@pytest.mark.parametrize("bad", [np.zeros((1, 16)), np.full((1, 16), np.nan), np.full((1, 16), np.inf)])
def test_vectors_without_a_direction_are_refused(bad: NDArray[np.float64]) -> None:
    with pytest.raises(InvalidInputError):
        frqad(bad, np.ones((1, 16)), np.array([8]))
    with pytest.raises(InvalidInputError):
        frqad(np.ones((1, 16)), bad, np.array([8]))


@pytest.mark.parametrize("width", [0, 33])
def test_impossible_bit_widths_are_refused(width: int) -> None:
    with pytest.raises(InvalidInputError):
        effective_sigma(np.array([width]), 0.1)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan])
def test_a_gaussian_needs_a_width(sigma: float) -> None:
    with pytest.raises(InvalidInputError):
        geodesic(one(0), one(sigma), one(1), one(1))
