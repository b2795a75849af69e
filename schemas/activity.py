"""A scope's activity clock as stored; what moves it is `lifecycle/clock.py`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActivityClock:
    """One scope's clock, in constant space.

    Attributes:
        origin: the scope's first activity, in µs since the epoch, like every instant here.
        closed_days: days covered by the active segments that have ended.
        segment_start: start of the last active segment.
        segment_end: its end, a day after its last activity; it may lie in the future.
        latest: the latest activity seen.
    """

    origin: int
    closed_days: float
    segment_start: int
    segment_end: int
    latest: int
