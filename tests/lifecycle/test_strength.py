from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.strength import (
    Activation,
    activated,
    activation,
    activations,
    association,
    associations,
    decay_rate,
    decay_rates,
    fade_factor,
    kind_base,
    next_spacing,
    retention,
    retentions,
    spaced_uses,
    stabilities,
    stability,
    stability_terms,
    tau_until,
)
from ebbing.schemas.memory import Kind

DAY = 86_400_000_000
START = 1_700_000_000_000_000
share = st.floats(0.0, 1.0)
rates = st.floats(1e-4, 10.0)
days = st.floats(0.0, 3000.0)


def test_each_kind_has_its_documented_base() -> None:
    assert [kind_base(kind) for kind in Kind] == [1, 7, 14, 21, 30, 60]


def test_the_first_use_counts_one_and_later_ones_by_their_gap() -> None:
    assert next_spacing(None, START) == 1.0
    assert next_spacing(START, START + DAY) == pytest.approx(0.6321205588)
    assert next_spacing(START, START + DAY // 24) == pytest.approx(0.0408105743)
    assert next_spacing(START, START) == 0.0
    assert next_spacing(START, START - DAY) == 0.0


def test_cramming_counts_less_than_spacing() -> None:
    crammed = spaced_uses(START + np.arange(10) * (DAY // 240))
    spaced = spaced_uses(START + np.arange(10) * DAY)
    assert spaced > 5 * crammed / 2


@given(st.lists(st.integers(0, 10**13), max_size=20))
def test_spaced_uses_are_the_sum_of_their_increments(uses: list[int]) -> None:
    total, previous = 0.0, None
    for at in uses:
        total += next_spacing(previous, at)
        previous = at
    assert spaced_uses(np.array(uses, dtype=np.int64)) == pytest.approx(total)


def test_stability_of_a_fresh_fact_is_its_base() -> None:
    assert stability(14.0) == 14.0


def test_stability_adds_the_six_terms_inside_the_bracket() -> None:
    # By hand: 14 · (1 + 2·ln 3 + 1.5·0.4 + 1·2 + 0.5·0.6 + 0.5·0.5 + 0.25·0.8) = 14 · 6.547224577
    value = stability(
        14.0, spaced_uses=2.0, importance=0.4, confirmations=2.0, arousal=0.6, association=0.5, activation=0.8
    )
    assert value == pytest.approx(91.66114408, abs=1e-7)


def test_the_terms_explain_the_stability() -> None:
    terms = stability_terms(7.0, spaced_uses=1.0, importance=1.0, confirmations=3.0, arousal=1.0)
    assert (terms.importance, terms.confirmations, terms.arousal) == (1.5, 3.0, 0.5)
    assert terms.uses == pytest.approx(1.3862943611)
    assert terms.stability_days == pytest.approx(7 * (1 + 1.3862943611 + 1.5 + 3 + 0.5))


def test_stability_has_a_floor() -> None:
    assert stability(0.01) == 0.1


def test_distrust_makes_a_memory_fade_faster() -> None:
    assert decay_rate(10.0, 1.0) == pytest.approx(0.1)
    assert decay_rate(10.0, 0.4) == pytest.approx(0.22)
    assert decay_rate(10.0, 0.0) == pytest.approx(0.3)


def test_retention_after_one_stability_is_one_over_e() -> None:
    assert retention(decay_rate(14.0, 1.0), 14.0) == pytest.approx(0.3678794412)
    assert retention(0.5, -3.0) == 1.0


def test_the_fade_factor_is_what_one_day_leaves() -> None:
    assert fade_factor(0.1) == pytest.approx(0.904837418)


@given(rates, st.lists(st.floats(0.0, 10.0), min_size=1, max_size=40))
def test_many_small_steps_of_decay_equal_one(rate: float, steps: list[float]) -> None:
    stepwise = 1.0
    for step in steps:
        stepwise *= retention(rate, step)
    assert stepwise == pytest.approx(retention(rate, sum(steps)), rel=1e-9, abs=1e-300)


@given(share, share, st.floats(0.1, 1000), days)
def test_more_trust_and_more_stability_never_lower_retention(
    low: float, high: float, base: float, elapsed: float
) -> None:
    low, high = sorted((low, high))
    assert retention(decay_rate(base, high), elapsed) >= retention(decay_rate(base, low), elapsed)
    assert retention(decay_rate(2 * base, low), elapsed) >= retention(decay_rate(base, low), elapsed)


@given(st.floats(0.01, 0.99), rates, days)
def test_tau_until_is_when_retention_reaches_the_target(target: float, rate: float, elapsed: float) -> None:
    left = tau_until(target, rate, elapsed)
    if left == 0.0:
        assert retention(rate, elapsed) <= target + 1e-9
    else:
        assert retention(rate, elapsed + left) == pytest.approx(target)


def test_what_does_not_fade_never_reaches_a_target() -> None:
    assert tau_until(0.5, 0.0, 3.0) == inf
    assert tau_until(0.0, 1.0, 3.0) == inf


def test_association_saturates_with_linked_retention() -> None:
    assert association(0.0) == 0.0
    assert association(0.8 * 0.5 + 0.6 * 1.0) == pytest.approx(0.6321205588)


def test_associations_sum_each_owners_links() -> None:
    owner = np.array([2, 0, 2], dtype=np.int64)
    value = associations(owner, np.array([0.8, 1.0, 0.6]), np.array([0.5, 0.25, 1.0]), 4)
    assert value == pytest.approx([0.2211992169, 0.0, 0.6321205588, 0.0])


def test_activation_by_hand() -> None:
    # Two activations, 14 days apart, read 14 days after the second: e^-1 + e^-2 = 0.5032147244
    trace = activated(activated(None, 3.0), 17.0)
    assert (trace.level, trace.tau) == (pytest.approx(1.3678794412), 17.0)
    assert activation(trace, 31.0) == pytest.approx(0.3954162132)
    assert activation(None, 31.0) == 0.0


@given(st.lists(st.floats(0.0, 200.0), min_size=1, max_size=20), st.floats(200.0, 300.0))
def test_the_incremental_activation_equals_the_sum_over_history(times: list[float], now: float) -> None:
    times.sort()
    trace = None
    for at in times:
        trace = activated(trace, at)
    total = sum(np.exp((at - now) / 14.0) for at in times)
    assert activation(trace, now) == pytest.approx(1 - np.exp(-total))


def test_an_activation_before_the_last_counts_as_simultaneous() -> None:
    assert activated(Activation(level=1.0, tau=9.0), 4.0) == Activation(level=2.0, tau=9.0)


def test_batch_forms_equal_the_scalar_ones() -> None:
    rng = np.random.default_rng(7)
    base, uses, confirmations, elapsed = (rng.uniform(0.1, 60, 50) for _ in range(4))
    importance, arousal, linked, active, trust = (rng.uniform(0, 1, 50) for _ in range(5))
    many = stabilities(
        base,
        spaced_uses=uses,
        importance=importance,
        confirmations=confirmations,
        arousal=arousal,
        association=linked,
        activation=active,
    )
    one = [
        stability(b, spaced_uses=a, importance=i, confirmations=c, arousal=e, association=w, activation=r)
        for b, a, i, c, e, w, r in zip(base, uses, importance, confirmations, arousal, linked, active, strict=True)
    ]
    assert many == pytest.approx(one, rel=1e-14)
    lam = decay_rates(many, trust)
    assert lam == pytest.approx([decay_rate(s, t) for s, t in zip(one, trust, strict=True)], rel=1e-14)
    assert retentions(lam, elapsed) == pytest.approx([retention(r, t) for r, t in zip(lam, elapsed, strict=True)])
    traces = [Activation(level=x, tau=t) for x, t in zip(uses, elapsed, strict=True)]
    assert activations(uses, elapsed, np.full(50, 60.0)) == pytest.approx([activation(x, 60.0) for x in traces])


@given(st.floats(0.0, 500.0), st.floats(0.0, 500.0))
def test_every_weight_is_a_setting(first: float, second: float) -> None:
    settings = DecaySettings(weight_uses=0.0, weight_confirmations=3.0)
    assert stability(1.0, spaced_uses=first, confirmations=second, settings=settings) == pytest.approx(1 + 3 * second)


def test_more_spaced_uses_mean_more_stability() -> None:
    values = [stability(14.0, spaced_uses=float(a)) for a in range(6)]
    assert all(later > earlier for earlier, later in pairwise(values))
