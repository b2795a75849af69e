from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.lifecycle.clock import (
    ActivityClock,
    active_day,
    active_days,
    tau,
    tau_series,
    touch,
    wall_days_busy,
    wall_days_idle,
)
from ebbing.lifecycle.constants import DecaySettings

DAY = 86_400_000_000
HOUR = DAY // 24
START = 1_700_000_000_000_000
MAX_SLOPE = 1 + 1 / 30

instants = st.integers(min_value=0, max_value=400 * DAY).map(lambda offset: START + offset)
histories = st.lists(instants, min_size=1, max_size=30)


def replay(activity: list[int]) -> ActivityClock:
    clock = touch(None, activity[0])
    for at in activity[1:]:
        clock = touch(clock, at)
    return clock


def micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_a_scope_without_activity_has_no_time() -> None:
    assert tau(None, START) == 0.0
    assert active_days(None, START) == 0.0
    assert active_day(None, START) == 0


def test_tau_is_zero_at_the_first_activity() -> None:
    assert tau(touch(None, START), START) == 0.0


def test_one_activity_makes_exactly_the_following_day_active() -> None:
    clock = touch(None, START)
    assert active_days(clock, START + DAY // 2) == 0.5
    assert active_days(clock, START + DAY) == 1.0
    assert active_days(clock, START + 50 * DAY) == 1.0


def test_overlapping_activity_is_counted_once_and_a_pause_not_at_all() -> None:
    clock = replay([START, START + 12 * HOUR, START + 10 * DAY])
    assert active_days(clock, START + 10 * DAY) == pytest.approx(1.5)
    assert active_days(clock, START + 30 * DAY) == pytest.approx(2.5)
    assert tau(clock, START + 30 * DAY) == pytest.approx(2.5 + 30 / 30)


def test_twenty_one_idle_days_cost_at_most_a_day_and_the_walls_share() -> None:
    clock = replay([START + day * DAY for day in range(40)])
    last = clock.latest
    assert tau(clock, last + 21 * DAY) - tau(clock, last) == pytest.approx(1 + 21 / 30)


def test_a_machine_clock_that_runs_backwards_stops_time() -> None:
    clock = replay([START, START + 5 * DAY])
    frozen = tau(clock, clock.latest)
    assert tau(clock, START - 3650 * DAY) == frozen
    assert touch(clock, START - 3650 * DAY).latest == clock.latest


def test_a_leap_day_is_a_day() -> None:
    february = micros(datetime(2028, 2, 28, 12, tzinfo=UTC))
    march = micros(datetime(2028, 3, 1, 12, tzinfo=UTC))
    clock = replay([february, february + DAY])
    assert tau(clock, march) == pytest.approx(2 * MAX_SLOPE)


def test_the_32_bit_epoch_of_2038_is_nothing_special() -> None:
    before = micros(datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC))
    clock = replay([before, before + HOUR])
    assert tau(clock, before + HOUR) == pytest.approx(MAX_SLOPE / 24)


def test_a_daylight_saving_change_neither_adds_nor_loses_an_hour() -> None:
    vienna = ZoneInfo("Europe/Vienna")
    evening = datetime(2026, 3, 28, 20, tzinfo=vienna)
    morning = datetime(2026, 3, 29, 8, tzinfo=vienna)
    clock = touch(None, micros(evening.astimezone(UTC)))
    assert active_days(clock, micros(morning.astimezone(UTC))) == pytest.approx(11 / 24)


def test_the_wall_share_is_a_setting() -> None:
    settings = DecaySettings(wall_days_per_day=10.0)
    assert tau(touch(None, START), START + 20 * DAY, settings) == pytest.approx(1 + 2)


def test_days_of_tau_translate_into_idle_and_busy_wall_days() -> None:
    assert wall_days_idle(2.0) == 60.0
    assert wall_days_busy(3.1) == pytest.approx(3.0)


@given(histories, st.lists(instants, min_size=2, max_size=10))
def test_tau_is_monotone_and_never_faster_than_the_wall_and_its_share(activity: list[int], reads: list[int]) -> None:
    clock = replay(activity)
    reads.sort()
    for earlier, later in pairwise(reads):
        step = tau(clock, later) - tau(clock, earlier)
        assert -1e-9 <= step <= (later - earlier) / DAY * MAX_SLOPE + 1e-9


@given(histories, instants, instants)
def test_activity_never_lowers_tau_and_makes_no_jump(activity: list[int], at: int, now: int) -> None:
    before = replay(activity)
    after = touch(before, at)
    now = max(now, after.latest)
    assert tau(after, now) >= tau(before, now) - 1e-9
    assert tau(after, after.latest) == pytest.approx(tau(before, after.latest), abs=1e-9)


@given(histories, instants)
def test_active_days_are_the_measure_of_the_union_of_days(activity: list[int], now: int) -> None:
    monotone = np.maximum.accumulate(np.array(activity, dtype=np.int64))
    now = max(now, int(monotone[-1]))
    covered, reached = 0, 0
    for start in monotone.tolist():
        end = min(start + DAY, now)
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    assert active_days(replay(activity), now) == pytest.approx(covered / DAY, abs=1e-9)


@given(histories)
def test_the_series_equals_the_replay(activity: list[int]) -> None:
    seen = [tau(replay(activity[: count + 1]), at) for count, at in enumerate(activity)]
    assert tau_series(np.array(activity, dtype=np.int64)) == pytest.approx(seen, abs=1e-9)


def test_the_series_of_no_activity_is_empty() -> None:
    assert tau_series(np.zeros(0, dtype=np.int64)).size == 0
