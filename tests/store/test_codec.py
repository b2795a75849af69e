"""Encoding and decoding: levels, packing, scale, refusals, and bytes that are the same everywhere."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ebbing.schemas.errors import InvalidInputError
from ebbing.store import codec

DIMENSION = 384
LOSSY = (8, 4, 2, 1)


def unit_vectors(count: int, dimension: int = DIMENSION, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def known_vectors() -> NDArray[np.float32]:
    """Vectors made of whole numbers, so that nothing but the codec decides their bytes."""
    return ((np.arange(3 * DIMENSION) * 7919 % 211) - 105).reshape(3, DIMENSION).astype(np.float32)


def packed_digest() -> str:
    together = b"".join(codec.encode(known_vectors(), width).packed.tobytes() for width in LOSSY)
    return hashlib.sha256(together).hexdigest()


@pytest.mark.parametrize(
    ("bits", "mse", "positive"),
    [
        (1, 0.363380, [0.79788]),
        (2, 0.117482, [0.45278, 1.51042]),
        (3, 0.034548, [0.24509, 0.75601, 1.34391, 2.15195]),
        (4, 0.009501, [0.12840, 0.38805, 0.65676, 0.94234, 1.25623, 1.61805, 2.06902, 2.73259]),
    ],
)
def test_lloyd_max_levels_have_the_published_values(bits: int, mse: float, positive: list[float]) -> None:
    quantizer = codec.lloyd_max(bits)
    assert quantizer.mse == pytest.approx(mse, abs=5e-7)
    assert quantizer.centroids[1 << (bits - 1) :] == pytest.approx(positive, abs=5e-6)
    assert np.array_equal(quantizer.centroids, -quantizer.centroids[::-1])


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_lloyd_max_levels_meet_both_optimality_conditions_to_twelve_digits(bits: int) -> None:
    quantizer = codec.lloyd_max(bits)
    edges = [-math.inf, *quantizer.boundaries, math.inf]
    for low, level, high in zip(edges, quantizer.centroids, edges[1:], strict=False):
        mass = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
        mean = (math.exp(-low * low / 2) - math.exp(-high * high / 2)) / math.sqrt(2 * math.pi) / mass
        assert level == pytest.approx(mean, abs=1e-12)
    assert quantizer.boundaries == pytest.approx((quantizer.centroids[1:] + quantizer.centroids[:-1]) / 2, abs=1e-12)


def test_one_bit_level_is_the_mean_magnitude_of_a_normal_variable() -> None:
    assert codec.lloyd_max(1).centroids[1] == pytest.approx(math.sqrt(2 / math.pi), abs=1e-15)


@pytest.mark.parametrize("bits", [0, 5])
def test_lloyd_max_refuses_other_widths(bits: int) -> None:
    with pytest.raises(InvalidInputError):
        codec.lloyd_max(bits)


@given(
    bits=st.sampled_from([1, 2, 4]),
    count=st.integers(0, 5),
    eighths=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_packed_codes_come_back_as_they_were(bits: int, count: int, eighths: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 1 << bits, (count, 8 * eighths), dtype=np.uint8)
    packed = codec.pack(codes, bits)
    assert packed.shape == (count, eighths * bits)
    assert np.array_equal(codec.unpack(packed, bits), codes)


@pytest.mark.parametrize("bits", LOSSY)
def test_an_encoded_vector_takes_its_bits_and_one_scale(bits: int) -> None:
    codes = codec.encode(unit_vectors(5), bits)
    assert codes.packed.shape == (5, DIMENSION * bits // 8)
    assert codes.scale.shape == (5,)
    assert codes.scale.dtype == np.float32
    assert (len(codes), codes.dimension) == (5, DIMENSION)


def test_full_precision_comes_back_bit_for_bit() -> None:
    vectors = unit_vectors(7)
    codes = codec.encode(vectors, 32)
    assert codes.packed[0].tobytes() == vectors[0].astype("<f4").tobytes()
    assert np.array_equal(codec.decode(codes), vectors)


@pytest.mark.parametrize(("bits", "fidelity"), [(8, 0.9998), (4, 0.995), (2, 0.939), (1, 0.797)])
def test_a_decoded_vector_points_where_the_vector_did(bits: int, fidelity: float) -> None:
    vectors = unit_vectors(400)
    decoded = codec.decode(codec.encode(vectors, bits))
    cosines = np.sum(vectors * decoded, axis=1) / np.linalg.norm(decoded, axis=1)
    assert cosines.mean() > fidelity
    assert cosines.mean() == pytest.approx(codec.expected_cosine(bits, DIMENSION), abs=2e-3)


@given(bits=st.sampled_from(LOSSY), exponent=st.integers(-20, 20), seed=st.integers(0, 2**32 - 1))
def test_a_vector_has_exactly_its_squared_norm_with_its_own_code(bits: int, exponent: int, seed: int) -> None:
    vectors = unit_vectors(3, dimension=64, seed=seed) * np.float32(10.0**exponent)
    decoded = codec.decode(codec.encode(vectors, bits)).astype(np.float64)
    own = np.sum(decoded * vectors, axis=1)
    assert own == pytest.approx(np.sum(vectors.astype(np.float64) ** 2, axis=1), rel=1e-4)


@pytest.mark.parametrize("bits", [4, 2, 1])
def test_squared_error_of_the_levels_keeps_the_bound(bits: int) -> None:
    vectors = unit_vectors(400)
    packed = codec.encode(vectors, bits).packed
    levels = codec.lloyd_max(bits).centroids[codec.unpack(packed, bits)] / math.sqrt(DIMENSION)
    error = np.sum((codec.rotation_of(DIMENSION).apply(vectors) - levels) ** 2, axis=1).mean()
    assert error == pytest.approx(codec.lloyd_max(bits).mse, rel=0.02)
    assert error <= math.sqrt(3) * math.pi / 2 * 4.0**-bits


def test_two_bits_do_not_reach_the_bound_with_pi_under_the_root() -> None:
    assert codec.lloyd_max(2).mse > math.sqrt(3 * math.pi) / 2 * 4.0**-2


@settings(max_examples=20)
@given(bits=st.sampled_from(LOSSY), count=st.integers(0, 6), eighths=st.integers(1, 40))
def test_any_number_of_vectors_encodes_row_by_row(bits: int, count: int, eighths: int) -> None:
    vectors = unit_vectors(count, dimension=8 * eighths)
    together = codec.encode(vectors, bits)
    assert codec.decode(together).shape == vectors.shape
    for row in range(count):
        alone = codec.encode(vectors[row : row + 1], bits)
        assert np.array_equal(alone.packed[0], together.packed[row])
        assert alone.scale[0] == pytest.approx(together.scale[row], rel=1e-6)


def test_codes_are_rebuilt_from_stored_rows() -> None:
    codes = codec.encode(unit_vectors(4), 2)
    rows = [row.tobytes() for row in codes.packed]
    rebuilt = codec.Codes.from_rows(2, DIMENSION, rows, codes.scale.tolist())
    assert np.array_equal(codec.decode(rebuilt), codec.decode(codes))
    assert len(codec.Codes.from_rows(4, DIMENSION, [], [])) == 0


def test_rows_can_be_taken_from_codes_in_any_order() -> None:
    codes = codec.encode(unit_vectors(4), 4)
    taken = codes.take(np.array([3, 0]))
    assert np.array_equal(taken.packed, codes.packed[[3, 0]])
    assert np.array_equal(taken.scale, codes.scale[[3, 0]])


def test_a_stored_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        codec.Codes.from_rows(2, DIMENSION, [bytes(96), bytes(95)], [1.0, 1.0])


@pytest.mark.parametrize(
    ("packed", "scale"),
    [
        (np.zeros((2, 3), np.uint8), np.ones(2, np.float32)),
        (np.zeros(96, np.uint8), np.ones(96, np.float32)),
        (np.zeros((2, 4), np.int8), np.ones(2, np.float32)),
        (np.zeros((2, 4), np.uint8), np.ones(3, np.float32)),
        (np.zeros((2, 4), np.uint8), np.array([1.0, np.nan], np.float32)),
    ],
    ids=["width", "one axis", "type", "scales", "scale not finite"],
)
def test_arrays_that_can_not_be_codes_are_refused(packed: NDArray[np.uint8], scale: NDArray[np.float32]) -> None:
    with pytest.raises(InvalidInputError):
        codec.Codes(2, packed, scale)


@pytest.mark.parametrize("bits", codec.BIT_WIDTHS)
@pytest.mark.parametrize(
    "bad",
    [
        np.full((1, 16), np.nan),
        np.full((1, 16), np.inf),
        np.full((1, 16), 1e300),
        np.full((1, 16), 1e38),
        np.zeros((1, 16)),
        np.full((1, 16), 1e-40),
        np.ones(16),
        np.ones((1, 12)),
        np.ones((1, 0)),
    ],
    ids=["nan", "inf", "too great for float32", "norm", "zero", "tiny", "one axis", "12 coordinates", "none"],
)
def test_vectors_that_can_not_be_encoded_are_refused(bits: int, bad: NDArray[np.float64]) -> None:
    with pytest.raises(InvalidInputError):
        codec.encode(bad, bits)


def test_an_unknown_bit_width_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        codec.encode(unit_vectors(1), 3)


def test_the_bytes_of_known_vectors_never_change() -> None:
    assert packed_digest() == "de0914dac4f6b97746108ba970b9bbb268dc220129464c4e56a70dcb5ab42dae"


def test_another_process_writes_the_same_bytes() -> None:
    program = (
        "import hashlib, numpy as np; from ebbing.store import codec\n"
        "v = ((np.arange(3 * 384) * 7919 % 211) - 105).reshape(3, 384).astype(np.float32)\n"
        "print(hashlib.sha256(b''.join(codec.encode(v, w).packed.tobytes() for w in (8, 4, 2, 1))).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == packed_digest()


@pytest.mark.parametrize("stored", [32, *LOSSY])
@pytest.mark.parametrize("wanted", [32, *LOSSY])
def test_recoding_equals_encoding_what_was_decoded_up_to_rounding(stored: int, wanted: int) -> None:
    codes = codec.encode(unit_vectors(50), stored)
    direct, around = codec.recode(codes, wanted), codec.encode(codec.decode(codes), wanted)
    queries = unit_vectors(20, seed=1)
    assert codec.score(queries, direct) == pytest.approx(codec.score(queries, around), abs=2e-3)
    assert np.mean(direct.packed == around.packed) > 0.99
