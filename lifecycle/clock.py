"""The activity clock: a memory ages by the days on which its own scope was active, and a little by the wall.

Activity is a set of instants, and each makes the day that follows it active. With A(now) the measure, in days, of the
union of these intervals up to now, and W(now) the wall days since the first of them,

    τ(now) = A(now) + W(now) / 30

Only differences of instants enter, so time zones, daylight saving, leap days and 2038 can't. τ is continuous and never
runs backwards: an instant before the latest one seen reads as the latest one.
"""

from dataclasses import replace
from math import floor

import numpy as np
from numpy.typing import NDArray

from ..schemas.activity import ActivityClock
from ..schemas.instants import MICROSECONDS_PER_DAY
from .constants import DEFAULTS, DecaySettings


def touch(clock: ActivityClock | None, at: int) -> ActivityClock:
    """Return the clock after activity at `at` (µs); earlier than the latest activity counts as the latest."""
    if clock is None:
        return ActivityClock(
            origin=at, closed_days=0.0, segment_start=at, segment_end=at + MICROSECONDS_PER_DAY, latest=at
        )
    at = max(at, clock.latest)
    if at <= clock.segment_end:
        return replace(clock, segment_end=at + MICROSECONDS_PER_DAY, latest=at)
    closed = clock.closed_days + (clock.segment_end - clock.segment_start) / MICROSECONDS_PER_DAY
    return replace(clock, closed_days=closed, segment_start=at, segment_end=at + MICROSECONDS_PER_DAY, latest=at)


def active_days(clock: ActivityClock | None, now: int) -> float:
    """Return the measure, in days, of the scope's active time up to `now` (µs); 0 without any activity."""
    if clock is None:
        return 0.0
    reached = min(max(now, clock.latest), clock.segment_end)
    return clock.closed_days + (reached - clock.segment_start) / MICROSECONDS_PER_DAY


def active_day(clock: ActivityClock | None, now: int) -> int:
    """Return the number of the active day that `now` (µs) falls in, counted from 0: the days that heat counts."""
    return floor(active_days(clock, now))


def tau(clock: ActivityClock | None, now: int, settings: DecaySettings = DEFAULTS) -> float:
    """Return τ in days at `now` (µs): active days plus wall days over `wall_days_per_day`; 0 without activity."""
    if clock is None:
        return 0.0
    wall_days = (max(now, clock.latest) - clock.origin) / MICROSECONDS_PER_DAY
    return active_days(clock, now) + wall_days / settings.wall_days_per_day


def tau_series(activity: NDArray[np.int64], settings: DecaySettings = DEFAULTS) -> NDArray[np.float64]:
    """Return τ at each of a scope's activities, in the order in which they were recorded.

    Args:
        activity: instants in µs, int64, shape (n,); one before its predecessor counts as its predecessor.
        settings: gives `wall_days_per_day`.

    Returns:
        float64, shape (n,): what `touch` and `tau` give when replayed over the same instants.
    """
    if activity.size == 0:
        return np.zeros(0)
    at = np.maximum.accumulate(activity)
    gaps = np.diff(at, prepend=at[:1])
    active = np.cumsum(np.minimum(gaps, MICROSECONDS_PER_DAY)) / MICROSECONDS_PER_DAY
    return active + (at - at[0]) / MICROSECONDS_PER_DAY / settings.wall_days_per_day


def wall_days_idle(days: float, settings: DecaySettings = DEFAULTS) -> float:
    """Return the wall days that `days` of τ take while nothing happens in the scope."""
    return days * settings.wall_days_per_day


def wall_days_busy(days: float, settings: DecaySettings = DEFAULTS) -> float:
    """Return the wall days that `days` of τ take while the scope is active every day."""
    return days / (1.0 + 1.0 / settings.wall_days_per_day)
