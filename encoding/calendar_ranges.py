"""Calendar arithmetic for time expressions: stretches as (start, end, granularity), half open, aware, UTC.

Every function raises ValueError or OverflowError where there is no such date.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

Stretch = tuple[datetime, datetime, str]

MONTHS_OF_A_YEAR = 12
UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "quarter": 91, "year": 365}
_UNIT_SECONDS = {"minute": 60, "hour": 3_600} | {unit: 86_400 * days for unit, days in UNIT_DAYS.items()}
_SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SATURDAY = 5
_MONTHS_OF_A_QUARTER = 3


def day_of(moment: datetime) -> datetime:
    """The midnight (UTC) at which a moment's day begins."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def days(year: int, month: int, day: int, count: int = 1) -> Stretch:
    """`count` days from a date on."""
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + timedelta(days=count), "day"


def months(year: int, month: int, count: int = 1) -> Stretch:
    """`count` calendar months from a month on; the month may lie outside 1…12 and carries into the year."""
    first, last = year * MONTHS_OF_A_YEAR + month - 1, year * MONTHS_OF_A_YEAR + month - 1 + count
    start, end = (datetime(at // MONTHS_OF_A_YEAR, at % MONTHS_OF_A_YEAR + 1, 1, tzinfo=UTC) for at in (first, last))
    return start, end, "month"


def years(year: int, count: int = 1) -> Stretch:
    """`count` calendar years from a year on."""
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + count, 1, 1, tzinfo=UTC), "year"


def season(name: str, year: int) -> Stretch:
    """The three months of a northern season that begins in a year."""
    start, end, _ = months(year, _SEASON_STARTS[name], _MONTHS_OF_A_QUARTER)
    return start, end, "season"


def latest_season(name: str, here: datetime, shift: int = 0) -> Stretch:
    """The latest season of that name that has begun, or one that many years later (-1: earlier)."""
    year = here.year - (here.month < _SEASON_STARTS[name])
    return season(name, year + shift)


def quarter(number: int, year: int) -> Stretch:
    """A calendar quarter, 1 to 4; numbers beyond carry into the year."""
    start, end, _ = months(year, 1 + _MONTHS_OF_A_QUARTER * (number - 1), _MONTHS_OF_A_QUARTER)
    return start, end, "quarter"


def around(here: datetime, unit: str, shift: int) -> Stretch:
    """The calendar unit that holds a moment (0), the one before (-1) or after (1)."""
    monday = day_of(here) - timedelta(days=here.weekday())
    if unit == "day":
        moved = here + timedelta(days=shift)
        return days(moved.year, moved.month, moved.day)
    if unit == "week":
        return monday + timedelta(weeks=shift), monday + timedelta(weeks=shift + 1), "week"
    if unit == "weekend":
        # "Last weekend" is over: said on a Sunday it is not today.
        start = monday + timedelta(days=_SATURDAY, weeks=shift)
        return start, start + timedelta(days=2), "weekend"
    if unit == "month":
        return months(here.year, here.month + shift)
    if unit == "quarter":
        return quarter((here.month - 1) // _MONTHS_OF_A_QUARTER + 1 + shift, here.year)
    return years(here.year + shift)


def back(here: datetime, unit: str, count: int) -> Stretch:
    """What "`count` units ago" means: as wide as the unit is coarse. A negative count looks ahead."""
    if unit in ("minute", "hour"):
        middle, slack = (
            here - timedelta(seconds=count * _UNIT_SECONDS[unit]),
            timedelta(seconds=_UNIT_SECONDS[unit] / 2),
        )
        return middle - slack, middle + slack, unit
    if unit == "month":
        return months(here.year, here.month - count)
    if unit == "year":
        return years(here.year - count)
    middle = day_of(here) - timedelta(days=count * UNIT_DAYS[unit])
    slack = timedelta(days=UNIT_DAYS[unit] // 2)
    return middle - slack, middle + timedelta(days=1) + slack, unit


def lately(here: datetime, unit: str, count: int) -> Stretch:
    """What "the past `count` units" means: up to now."""
    return here - timedelta(seconds=count * _UNIT_SECONDS[unit]), here + timedelta(microseconds=1), unit


def weekday(here: datetime, number: int, which: str) -> Stretch:
    """A weekday (Monday 0): "last" and "on" before today, "next" after today, "this" in the current week."""
    offsets = {
        "next": (number - here.weekday() - 1) % 7 + 1,
        "this": number - here.weekday(),
    }
    moved = here + timedelta(days=offsets.get(which, -((here.weekday() - number - 1) % 7 + 1)))
    return days(moved.year, moved.month, moved.day)


def latest_year(month: int, here: datetime, which: str = "") -> int:
    """The year of a month named without one: the latest that has begun; "next" looks ahead, "last" leaves out now."""
    if which == "next":
        return here.year + (month <= here.month)
    if which == "this":
        return here.year
    return here.year - (month >= here.month if which == "last" else month > here.month)
