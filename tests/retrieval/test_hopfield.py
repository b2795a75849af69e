"""The Hopfield step: it retrieves patterns, not their centroid, and abstains from what it does not know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.retrieval.channels.hopfield import GATE, PERPLEXITY, retrieve, steepness
from ebbing.retrieval.layout import Floats

DIMENSION = 384


def patterns(count: int, seed: int = 0) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_a_random_cue_abstains() -> None:
    assert retrieve(patterns(1, seed=99)[0], patterns(50)) is None


@pytest.mark.parametrize("place", [0, 7, 31])
def test_a_stored_pattern_is_a_fixed_point(place: int) -> None:
    stored = patterns(50)
    found = retrieve(stored[place], stored)
    assert found is not None
    assert int(np.argmax(stored @ found)) == place
    again = retrieve(found, stored)
    assert again is not None
    assert int(np.argmax(stored @ again)) == place


def test_what_it_retrieves_is_not_the_centroid_whatever_the_question() -> None:
    stored = patterns(50)
    first, second = retrieve(stored[0], stored), retrieve(stored[1], stored)
    assert first is not None
    assert second is not None
    assert float(first @ second) < 0.9


def test_a_near_duplicate_pair_is_not_blended_into_something_above_both() -> None:
    stored = patterns(40)
    twin = stored[3] + 0.1 * patterns(1, seed=5)[0]
    stored = np.concatenate([stored, twin[np.newaxis] / np.linalg.norm(twin)]).astype(np.float32)
    found = retrieve(stored[3], stored)
    assert found is not None
    assert set(np.argsort(-(stored @ found))[:2].tolist()) == {3, 40}


@given(st.integers(10, 60), st.integers(0, 1000))
def test_the_softmax_is_spread_over_three_to_eight_patterns(count: int, seed: int) -> None:
    likeness = np.random.default_rng(seed).uniform(0.1, 0.9, count).astype(np.float32)
    beta = steepness(likeness)
    shares = np.exp(beta * (likeness - likeness.max()))
    shares /= shares.sum()
    assert 3.0 <= float(np.exp(-(shares * np.log(shares + 1e-12)).sum())) <= 8.0
    assert PERPLEXITY == 5.0
    assert 0.0 < GATE < 1.0
