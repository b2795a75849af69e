"""When a text speaks of: time expressions as ranges against an anchor, and words that point in time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
_MONTHS = {form: number for number, name in enumerate(_NAMES, 1) for form in (name, name[:3])} | {"sept": 9}
_WEEKDAYS = {name: number for number, name in enumerate(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))}  # fmt: skip
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
            "eight": 8, "nine": 9, "ten": 10, "couple": 2, "few": 3}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DECEMBER = 12

_ISO = re.compile(r"(?<![\d.-])(\d{4})-(\d\d)-(\d\d)(?![\d.-])")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_IN_MONTH = re.compile(rf"\b(?:in|of|during|since|by|late|early|mid)[ -]+({_MONTH})\b(?!\s+\d)", re.IGNORECASE)
_RELATIVE_DAY = re.compile(r"\b(today|yesterday|tomorrow|tonight|this morning|last night)\b", re.IGNORECASE)
_RELATIVE_UNIT = re.compile(r"\b(last|this|next)\s+(week|month|year)\b", re.IGNORECASE)
_RELATIVE_WEEKDAY = re.compile(rf"\b(?:last|on|this past)\s+({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_AGO = re.compile(
    rf"\b(?:a\s+)?(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?:of\s+)?(day|week|month|year)s?\s+ago\b", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:in|since|during|of)\s+((?:19|20)\d\d)\b(?!-)", re.IGNORECASE)
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|month|year|time)|which (?:day|month|year))\b", re.IGNORECASE
)
_TIME_WORD = re.compile(
    rf"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|weeks?|weekends?|months?|years?|since|recently|just"
    rf"|mornings?|nights?|spring|summer|autumn|fall|winter|{'|'.join(_WEEKDAYS)}"
    rf"|{'|'.join(name for name in _NAMES if name not in ('may', 'march'))}|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_MOST_TIME_WORDS = 2
_Stretch = tuple[datetime, datetime, str]
_Reader = Callable[[re.Match[str], datetime], _Stretch]
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time that a text names: `start` ≤ t < `end`, both aware, UTC."""

    start: datetime
    end: datetime
    text: str
    granularity: str


def asks_when(text: str) -> bool:
    """Whether a question asks for a time."""
    return _ASKS_WHEN.search(text) is not None


def count_time_words(text: str) -> int:
    """How many words of a text point in time, at most 2."""
    count = 0
    for _ in _TIME_WORD.finditer(text):
        count += 1
        if count == _MOST_TIME_WORDS:
            break
    return count


def time_expressions(text: str, anchor: datetime) -> tuple[TimeRange, ...]:
    """The times that a text names, as seen from `anchor` (aware), in the order of the text; versions are none."""
    here = anchor.astimezone(UTC)
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, TimeRange]] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            stretch = _safely(read, match, here)
            if stretch is not None:
                taken.append(match.span())
                found.append((match.start(), stretch))
    return tuple(stretch for _, stretch in sorted(found, key=lambda pair: pair[0]))


def _safely(read: _Reader, match: re.Match[str], here: datetime) -> TimeRange | None:
    try:
        start, end, granularity = read(match, here)
    except (ValueError, OverflowError):
        # 31 February, year 0: not a date after all.
        return None
    return TimeRange(start, end, match.group(), granularity)


def _day(year: int, month: int, day: int) -> _Stretch:
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + timedelta(days=1), "day"


def _month(year: int, month: int) -> _Stretch:
    start = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // _DECEMBER, month % _DECEMBER + 1, 1, tzinfo=UTC)
    return start, end, "month"


def _year(year: int) -> _Stretch:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), "year"


def _latest_year(month: int, here: datetime) -> int:
    """The year of the latest such month that is not in the future."""
    return here.year if month <= here.month else here.year - 1


def _iso(match: re.Match[str], here: datetime) -> _Stretch:
    return _day(int(match[1]), int(match[2]), int(match[3]))


def _day_month(match: re.Match[str], here: datetime) -> _Stretch:
    month = _MONTHS[match[2].lower()]
    return _day(int(match[3] or _latest_year(month, here)), month, int(match[1]))


def _month_day(match: re.Match[str], here: datetime) -> _Stretch:
    if match[1] in ("may", "march"):
        raise ValueError(match[1])  # a verb: "may 3 of them"
    month = _MONTHS[match[1].lower()]
    return _day(int(match[3] or _latest_year(month, here)), month, int(match[2]))


def _month_year(match: re.Match[str], here: datetime) -> _Stretch:
    return _month(int(match[2]), _MONTHS[match[1].lower()])


def _in_month(match: re.Match[str], here: datetime) -> _Stretch:
    month = _MONTHS[match[1].lower()]
    return _month(_latest_year(month, here), month)


def _relative_day(match: re.Match[str], here: datetime) -> _Stretch:
    shift = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(match[1].lower(), 0)
    day = here + timedelta(days=shift)
    return _day(day.year, day.month, day.day)


def _relative_unit(match: re.Match[str], here: datetime) -> _Stretch:
    shift = {"last": -1, "this": 0, "next": 1}[match[1].lower()]
    unit = match[2].lower()
    if unit == "week":
        monday = (here - timedelta(days=here.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
        start = monday + timedelta(weeks=shift)
        return start, start + timedelta(weeks=1), "week"
    if unit == "month":
        months = here.year * _DECEMBER + here.month - 1 + shift
        return _month(months // _DECEMBER, months % _DECEMBER + 1)
    return _year(here.year + shift)


def _relative_weekday(match: re.Match[str], here: datetime) -> _Stretch:
    back = (here.weekday() - _WEEKDAYS[match[1].lower()] - 1) % 7 + 1
    day = here - timedelta(days=back)
    return _day(day.year, day.month, day.day)


def _ago(match: re.Match[str], here: datetime) -> _Stretch:
    word = match[1].lower()
    count = _NUMBERS[word] if word in _NUMBERS else int(word)
    unit = match[2].lower()
    day = here - timedelta(days=count * _UNIT_DAYS[unit])
    if unit == "month":
        return _month(day.year, day.month)
    if unit == "year":
        return _year(here.year - count)
    start, end, _ = _day(day.year, day.month, day.day)
    slack = timedelta(days=_UNIT_DAYS[unit] // 2)
    return start - slack, end + slack, unit


def _named_year(match: re.Match[str], here: datetime) -> _Stretch:
    return _year(int(match[1]))


_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_ISO, _iso),
    (_DAY_MONTH, _day_month),
    (_MONTH_YEAR, _month_year),
    (_MONTH_DAY, _month_day),
    (_IN_MONTH, _in_month),
    (_RELATIVE_DAY, _relative_day),
    (_RELATIVE_UNIT, _relative_unit),
    (_RELATIVE_WEEKDAY, _relative_weekday),
    (_AGO, _ago),
    (_YEAR, _named_year),
)
