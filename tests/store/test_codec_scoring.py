"""Scoring from packed bytes: unbiased, in the items' order, with a σ that covers; and the sign bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbing.schemas.errors import InvalidInputError
from ebbing.store import codec

DIMENSION = 384
LOSSY = (8, 4, 2, 1)
every_width = pytest.mark.parametrize("bits", codec.BIT_WIDTHS)
every_lossy_width = pytest.mark.parametrize("bits", LOSSY)


def unit_vectors(count: int, dimension: int = DIMENSION, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def pairs_with_cosine(cosine: float, count: int, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors (x, q) whose inner product is `cosine`."""
    x, other = unit_vectors(count, dimension, seed=1), unit_vectors(count, dimension, seed=2)
    across = other - np.sum(other * x, axis=1, keepdims=True) * x
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return x, cosine * x + np.float32(np.sqrt(1 - cosine**2)) * across


@every_width
@pytest.mark.parametrize("count", [0, 1, 255, 256, 600])
def test_scores_are_the_inner_products_with_decoded_vectors(bits: int, count: int) -> None:
    codes, queries = codec.encode(unit_vectors(count), bits), unit_vectors(3, seed=5)
    scores = codec.score(queries, codes)
    assert scores.shape == (3, count)
    assert scores.dtype == np.float32
    assert scores == pytest.approx(queries @ codec.decode(codes).T, abs=1e-5)


def test_no_queries_give_no_scores() -> None:
    assert codec.score(np.empty((0, 384)), codec.encode(unit_vectors(2), 2)).shape == (0, 2)


@every_lossy_width
@pytest.mark.parametrize("cosine", [0.2, 0.9])
def test_the_estimate_is_unbiased_over_rotations(bits: int, cosine: float) -> None:
    x, q = pairs_with_cosine(cosine, 1, 128)
    rotations = [codec.Rotation(128, seed) for seed in range(300)]
    estimates = np.array([codec.score(q, codec.encode(x, bits, rotation=r), rotation=r)[0, 0] for r in rotations])
    standard_error = estimates.std() / np.sqrt(len(estimates))
    assert abs(estimates.mean() - cosine) < 4 * standard_error + 1e-6


@pytest.mark.parametrize("bits", [2, 1])
def test_levels_without_the_scale_would_score_too_low(bits: int) -> None:
    x, q = pairs_with_cosine(0.9, 400, DIMENSION)
    codes = codec.encode(x, bits)
    levels = codec.lloyd_max(bits).centroids[codec.unpack(codes.packed, bits)] / np.sqrt(DIMENSION)
    raw = np.sum(codec.rotation_of(DIMENSION).apply(q) * levels, axis=1)
    ours = np.sum(q * codec.decode(codes), axis=1)
    assert raw.mean() < 0.9 - 0.08
    assert ours.mean() == pytest.approx(0.9, abs=0.01)


@given(
    widths=st.lists(st.sampled_from(codec.BIT_WIDTHS), max_size=12),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_mixed_scores_come_back_in_the_order_of_the_items(widths: list[int], seed: int) -> None:
    vectors, queries = unit_vectors(len(widths), 64, seed), unit_vectors(2, 64, seed + 1)
    groups = [
        (positions, codec.encode(vectors[positions], bits))
        for bits in codec.BIT_WIDTHS
        if len(positions := np.flatnonzero(np.array(widths) == bits)[::-1])
    ]
    mixed = codec.score_mixed(queries, groups, len(widths))
    assert mixed.shape == (2, len(widths))
    for position, bits in enumerate(widths):
        alone = codec.score(queries, codec.encode(vectors[position : position + 1], bits))
        assert mixed[:, position] == pytest.approx(alone[:, 0], abs=1e-5)


@pytest.mark.parametrize("positions", [[0, 0], [0, 2], [0]], ids=["twice", "beyond", "missing"])
def test_groups_that_do_not_name_each_item_once_are_refused(positions: list[int]) -> None:
    group = (np.array(positions), codec.encode(unit_vectors(len(positions)), 4))
    with pytest.raises(InvalidInputError):
        codec.score_mixed(unit_vectors(1), [group], 2)


@every_width
def test_queries_of_another_dimension_are_refused(bits: int) -> None:
    with pytest.raises(InvalidInputError):
        codec.score(unit_vectors(1, 64), codec.encode(unit_vectors(1, 128), bits))


@every_width
def test_queries_that_are_not_finite_are_refused(bits: int) -> None:
    with pytest.raises(InvalidInputError):
        codec.score(np.full((1, 384), np.nan), codec.encode(unit_vectors(1), bits))


@every_lossy_width
@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.9])
def test_sigma_covers_95_of_100_errors(bits: int, cosine: float) -> None:
    x, q = pairs_with_cosine(cosine, 4000, DIMENSION)
    estimates = np.sum(q * codec.decode(codec.encode(x, bits)), axis=1)
    sigma = codec.estimate_sigma(estimates, bits, DIMENSION)
    assert np.mean(np.abs(estimates - cosine) <= 1.96 * sigma) == pytest.approx(0.95, abs=0.015)


def test_full_precision_has_no_uncertainty_and_fewer_bits_have_more() -> None:
    score = np.array([0.5])
    sigmas = [codec.estimate_sigma(score, bits, DIMENSION)[0] for bits in codec.BIT_WIDTHS]
    assert sigmas[0] == 0.0
    assert sigmas == sorted(sigmas)
    assert codec.estimate_sigma(score, 2, DIMENSION, cosine=0.5)[0] > sigmas[3]


def test_sigma_stays_a_number_when_an_estimate_exceeds_one() -> None:
    assert codec.estimate_sigma(np.array([1.2, -1.2]), 1, DIMENSION).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("bits", "dimension", "cosine"), [(3, 384, 0.9), (2, 1, 0.9), (2, 384, 0.0), (2, 384, 1.1)])
def test_sigma_refuses_what_can_not_be(bits: int, dimension: int, cosine: float) -> None:
    with pytest.raises(InvalidInputError):
        codec.estimate_sigma(np.array([0.5]), bits, dimension, cosine=cosine)


@every_width
def test_every_code_knows_the_sign_bits_of_its_vector(bits: int) -> None:
    vectors = unit_vectors(50)
    assert np.array_equal(codec.sign_bits_of(codec.encode(vectors, bits)), codec.sign_bits(vectors))


def test_sign_bits_are_the_one_bit_code() -> None:
    vectors = unit_vectors(20)
    assert codec.sign_bits(vectors).shape == (20, 48)
    assert np.array_equal(codec.sign_bits(vectors), codec.encode(vectors, 1).packed)


@given(width=st.integers(1, 48), rows=st.integers(0, 30), queries=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_hamming_distance_counts_the_bits_that_differ(width: int, rows: int, queries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stored = rng.integers(0, 256, (rows, width), dtype=np.uint8)
    asked = rng.integers(0, 256, (queries, width), dtype=np.uint8)
    expected = np.unpackbits(asked[:, None] ^ stored[None], axis=2).sum(axis=2)
    assert np.array_equal(codec.hamming(asked, stored), expected)


def test_hamming_distance_goes_on_past_one_block_of_rows() -> None:
    stored = np.zeros((9000, 48), dtype=np.uint8)
    stored[8999] = 255
    assert codec.hamming(np.zeros((1, 48), np.uint8), stored)[0, [0, 8191, 8192, 8999]].tolist() == [0, 0, 0, 384]


def test_hamming_distance_of_different_widths_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        codec.hamming(np.zeros((1, 48), np.uint8), np.zeros((3, 40), np.uint8))


def test_near_vectors_are_near_in_hamming_distance() -> None:
    vectors = unit_vectors(500)
    x, q = pairs_with_cosine(0.9, 1, DIMENSION)
    distances = codec.hamming(codec.sign_bits(q), codec.sign_bits(np.concatenate([vectors, x])))[0]
    assert distances.argmin() == len(vectors)
    assert distances[-1] / DIMENSION == pytest.approx(np.arccos(0.9) / np.pi, abs=0.06)


@pytest.mark.parametrize("bad", [np.zeros((1, 16)), np.full((1, 16), np.nan), np.ones((1, 12))])
def test_sign_bits_refuse_what_encoding_refuses(bad: NDArray[np.float64]) -> None:
    with pytest.raises(InvalidInputError):
        codec.sign_bits(bad)
