import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.states import (
    bit_widths,
    effective_bit_widths,
    effective_bits,
    next_demotion,
    next_state,
    next_states,
)
from ebbing.lifecycle.strength import retention
from ebbing.schemas.memory import State

any_state = st.sampled_from(State)


@pytest.mark.parametrize(
    ("current", "seen", "expected"),
    [
        (State.ACTIVE, 0.81, State.ACTIVE),
        (State.ACTIVE, 0.781, State.ACTIVE),
        (State.ACTIVE, 0.779, State.WARM),
        (State.WARM, 0.819, State.WARM),
        (State.WARM, 0.821, State.ACTIVE),
        (State.ACTIVE, 0.3, State.COLD),
        (State.COLD, 0.17, State.ARCHIVE),
        (State.ARCHIVE, 0.04, State.ARCHIVE),
        (State.ARCHIVE, 0.029, State.FORGOTTEN),
        (State.FORGOTTEN, 0.06, State.FORGOTTEN),
        (State.FORGOTTEN, 0.07, State.ARCHIVE),
        (State.FORGOTTEN, 1.0, State.ACTIVE),
    ],
)
def test_a_state_is_left_only_past_the_dead_band(current: State, seen: float, expected: State) -> None:
    assert next_state(current, seen) is expected


def test_a_pinned_memory_is_active_whatever_its_retention() -> None:
    assert next_state(State.FORGOTTEN, 0.0, pinned=True) is State.ACTIVE


@given(any_state, st.floats(0.0, 1.0))
def test_evaluating_twice_changes_nothing(current: State, seen: float) -> None:
    once = next_state(current, seen)
    assert next_state(once, seen) is once


@given(st.floats(0.001, 2.0), any_state, st.floats(0.0, 5.0))
def test_a_year_of_daily_runs_equals_one_run_at_its_end(rate: float, start: State, elapsed: float) -> None:
    current = next_state(start, retention(rate, elapsed))
    daily = current
    for day in range(1, 366):
        daily = next_state(daily, retention(rate, elapsed + day))
    assert daily is next_state(current, retention(rate, elapsed + 365))


@given(st.lists(st.tuples(any_state, st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=40))
def test_the_batch_form_equals_the_scalar_one(rows: list[tuple[State, float, bool]]) -> None:
    current, seen, pinned = (np.array(column) for column in zip(*rows, strict=True))
    many = next_states(current.astype(np.int8), seen, pinned)
    assert many.dtype == np.int8
    assert many.tolist() == [next_state(s, r, pinned=p) for s, r, p in rows]


def test_the_batch_form_agrees_at_the_exact_bounds() -> None:
    bounds = [b + h for b in (0.8, 0.5, 0.2, 0.05) for h in (-0.02, 0.0, 0.02)]
    for current in State:
        many = next_states(np.full(12, current, dtype=np.int8), np.array(bounds), np.zeros(12, dtype=np.bool_))
        assert many.tolist() == [next_state(current, bound) for bound in bounds]


@given(st.floats(0.001, 2.0), st.sampled_from(list(State)[:-1]))
def test_the_announced_demotion_happens_then_and_not_before(rate: float, current: State) -> None:
    announced = next_demotion(current, rate, 0.0)
    assert announced is not None
    state, days = announced
    assert next_state(current, retention(rate, days * 0.999)) is current
    assert next_state(current, retention(rate, days * 1.001)) is state


def test_a_forgotten_memory_has_nowhere_left_to_fade_to() -> None:
    assert next_demotion(State.FORGOTTEN, 0.1, 0.0) is None


def test_precision_falls_with_the_state() -> None:
    assert bit_widths().tolist() == [32, 8, 4, 2, 2]


def test_heat_keeps_at_least_warm_precision() -> None:
    assert effective_bits(State.ARCHIVE) == 2
    assert effective_bits(State.ARCHIVE, hot=True) == 8
    assert effective_bits(State.ACTIVE, hot=True) == 32


def test_batch_precision_equals_the_scalar_one() -> None:
    states = np.array([*State, *State], dtype=np.int8)
    hot = np.arange(10) >= 5
    expected = [effective_bits(State(s), hot=bool(h)) for s, h in zip(states, hot, strict=True)]
    assert effective_bit_widths(states, hot).tolist() == expected


def test_thresholds_and_widths_are_settings() -> None:
    settings = DecaySettings(active_above=0.9, hysteresis=0.0, bits_warm=4)
    assert next_state(State.ACTIVE, 0.85, settings=settings) is State.WARM
    assert effective_bits(State.FORGOTTEN, hot=True, settings=settings) == 4
