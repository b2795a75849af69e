import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.heat import Heat, are_hot, is_hot, shown

days = st.lists(st.integers(0, 40), min_size=1, max_size=25).map(sorted)


def replay(seen: list[int]) -> Heat:
    heat = shown(None, seen[0])
    for day in seen[1:]:
        heat = shown(heat, day)
    return heat


def test_three_of_the_last_seven_active_days_make_a_memory_hot() -> None:
    assert not is_hot(replay([1, 4]), 4)
    assert is_hot(replay([1, 4, 7]), 7)
    assert not is_hot(replay([1, 4, 7]), 8)


def test_many_shows_on_one_day_are_one_day() -> None:
    assert not is_hot(replay([3] * 50), 3)


def test_a_memory_never_shown_is_not_hot() -> None:
    assert not is_hot(None, 5)


def test_heat_passes_with_active_days() -> None:
    heat = replay([1, 2, 3])
    assert is_hot(heat, 7)
    assert not is_hot(heat, 8)
    assert not is_hot(heat, 1_000_000)


def test_a_day_before_the_last_counts_as_the_last() -> None:
    assert shown(Heat(last_day=9, mask=1), 4) == Heat(last_day=9, mask=1)
    assert is_hot(replay([7, 8, 9]), 2)


@given(days, st.integers(0, 20))
def test_the_mask_counts_what_a_full_history_counts(seen: list[int], later: int) -> None:
    now = seen[-1] + later
    recent = {day for day in seen if now - 7 < day <= now}
    heat = replay(seen)
    assert is_hot(heat, now) == (len(recent) >= 3)
    assert heat.mask < 1 << 7


@given(st.lists(days, min_size=1, max_size=10), st.integers(0, 60))
def test_the_batch_form_equals_the_scalar_one(histories: list[list[int]], now: int) -> None:
    heats = [replay(seen) for seen in histories]
    last_day = np.array([heat.last_day for heat in heats], dtype=np.int64)
    mask = np.array([heat.mask for heat in heats], dtype=np.int64)
    assert are_hot(last_day, mask, now).tolist() == [is_hot(heat, now) for heat in heats]


def test_the_window_and_the_count_are_settings() -> None:
    settings = DecaySettings(heat_days=2, heat_window=3)
    heat = shown(shown(None, 1, settings), 3, settings)
    assert is_hot(heat, 3, settings)
    assert not is_hot(heat, 4, settings)
