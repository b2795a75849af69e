from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.value import Candidates, evict_order, exempt, exponents, keep_scores, log_values


def alike(count: int) -> Candidates:
    none, no = np.zeros(count), np.zeros(count, dtype=np.bool_)
    return Candidates(
        rate=np.full(count, 0.1),
        elapsed_days=np.full(count, 50.0),
        age_days=np.full(count, 50.0),
        spaced_uses=none,
        confirmations=none,
        importance=none,
        length=np.full(count, 120.0),
        interference=none,
        familiarity=none,
        pinned=no,
        protected=no,
    )


def test_value_by_hand() -> None:
    one = replace(
        alike(1),
        spaced_uses=np.array([1.0]),
        confirmations=np.array([2.0]),
        importance=np.array([0.5]),
        length=np.array([114.0]),
        interference=np.array([1.0]),
        familiarity=np.array([2.0]),
    )
    fast, slow = exponents()
    # 6.24·ln 4 + 3·0.5 + 0.5·ln 20 − 3.94·ln 2 − 1.19·ln 3
    assert log_values(one, fast) == pytest.approx([7.6099], abs=1e-3)
    # 4.02·ln 4 + 3·0.5 + 1.06·ln 20 − 2.79·ln 2
    assert log_values(one, slow) == pytest.approx([8.3145], abs=1e-3)


def test_a_keep_score_is_the_log_of_a_fast_trace_and_a_slow_one() -> None:
    one = replace(alike(1), length=np.zeros(1), elapsed_days=np.array([99.9]))
    # ln(1/10 + e^−1.442 / 10^0.216)
    assert keep_scores(one) == pytest.approx([-1.4114], abs=1e-3)


def test_fresh_memories_go_by_the_fast_trace_and_old_ones_by_the_slow_one() -> None:
    new = replace(alike(2), elapsed_days=np.array([3.0, 3.3]), familiarity=np.array([3.0, 0.0]))
    assert evict_order(new).tolist() == [0, 1]
    old = replace(alike(2), elapsed_days=np.array([9000.0, 9900.0]), length=np.array([100.0, 200.0]))
    assert evict_order(old).tolist() == [0, 1]
    without = replace(old, length=np.full(2, 100.0))
    assert evict_order(without).tolist() == [1, 0]


@pytest.mark.parametrize("merit", ["spaced_uses", "confirmations", "importance", "length"])
def test_merit_makes_a_memory_stay_longer(merit: str) -> None:
    two = replace(alike(2), **{merit: np.array([0.9, 0.1])})
    assert evict_order(two).tolist() == [1, 0]


def test_what_younger_memories_resemble_goes_first() -> None:
    assert evict_order(replace(alike(2), interference=np.array([0.5, 2.0]))).tolist() == [1, 0]


def test_among_equals_the_longer_unused_and_the_faster_fading_go_first() -> None:
    assert evict_order(replace(alike(2), elapsed_days=np.array([60.0, 50.0]))).tolist() == [0, 1]
    assert evict_order(replace(alike(2), rate=np.array([0.1, 0.2]))).tolist() == [1, 0]


def test_a_used_memory_outlives_a_fresher_unused_one() -> None:
    two = replace(alike(2), spaced_uses=np.array([1.0, 0.0]), elapsed_days=np.array([800.0, 30.0]))
    assert evict_order(two).tolist() == [1, 0]


def test_equal_memories_go_in_the_order_of_the_rows() -> None:
    assert evict_order(alike(5)).tolist() == [0, 1, 2, 3, 4]


def test_the_order_survives_ages_at_which_retention_is_zero_to_the_last_bit() -> None:
    ancient = replace(alike(2), rate=np.full(2, 10.0), elapsed_days=np.array([9000.0, 9001.0]))
    assert evict_order(ancient).tolist() == [1, 0]


def test_the_pinned_the_protected_and_the_young_are_exempt() -> None:
    rows = replace(
        alike(4),
        pinned=np.array([True, False, False, False]),
        protected=np.array([False, True, False, False]),
        age_days=np.array([50.0, 50.0, 1.9, 50.0]),
    )
    assert exempt(rows).tolist() == [True, True, True, False]
    assert evict_order(rows).tolist() == [3]


def test_junk_never_pushes_out_a_decision_in_force() -> None:
    store = alike(5001)
    protected = np.zeros(5001, dtype=np.bool_)
    protected[0] = True
    worst = replace(store, protected=protected, elapsed_days=np.linspace(5000.0, 3.0, 5001))
    assert 0 not in evict_order(worst)


def test_exponents_and_the_age_of_the_young_are_settings() -> None:
    settings = DecaySettings(value_uses=0.0, value_importance=0.0, young_days=100.0)
    rows = replace(alike(1), spaced_uses=np.array([5.0]), importance=np.ones(1))
    assert log_values(rows, exponents(settings)[0]) == pytest.approx(0.5 * np.log(21.0))
    assert evict_order(rows, settings).size == 0


@given(st.lists(st.tuples(st.floats(0.001, 5.0), st.floats(0.0, 9000.0), st.floats(0.0, 30.0)), min_size=1))
def test_the_order_is_that_of_the_need_still_expected(rows: list[tuple[float, float, float]]) -> None:
    rate, elapsed, uses = (np.array(column) for column in zip(*rows, strict=True))
    many = replace(alike(len(rows)), rate=rate, elapsed_days=elapsed, spaced_uses=uses)
    order = evict_order(many)
    assert sorted(order.tolist()) == list(range(len(rows)))
    aged = rate * (elapsed + 0.1)
    fast, slow = (np.exp(log_values(many, of)) for of in exponents())
    need = fast / aged + np.exp(-1.442) * slow / aged**0.216
    assert np.all(np.diff(need[order]) >= -1e-9 * need[order][1:])
