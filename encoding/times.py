"""When a text speaks of: time expressions as ranges against an anchor, and words that point in time.

Precision first: version numbers, ports, sizes and the verbs "may" and "march" are no dates. Where two readings overlap,
the one that begins first counts, and of those the longest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from . import calendar_ranges as calendar
from .calendar_ranges import Stretch

_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
_MONTHS = {form: number for number, name in enumerate(_NAMES, 1) for form in (name, name[:3])} | {"sept": 9}
_VERBS = ("may", "march", "mar")
_WEEKDAYS = {name: number for number, name in enumerate(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))}  # fmt: skip
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
            "eight": 8, "nine": 9, "ten": 10, "couple": 2, "few": 3, "several": 3}  # fmt: skip

_M = "|".join(sorted(_MONTHS, key=len, reverse=True))
_W = "|".join(_WEEKDAYS)
_D = r"\d{1,2}"
_TH = r"(?:st|nd|rd|th)?"
_Y = r"(?:19|20)\d\d"
_N = rf"\d{{1,3}}|{'|'.join(_NUMBERS)}"
_TO = r"\s*(?:-|–|—|\bto\b|\band\b|\buntil\b|\btill\b|\bthrough\b)\s*"
_LEAD = r"(?:\b(?:from|between)\s+(?:the\s+)?)?"
_SEASONS = "spring|summer|autumn|fall|winter"
_CLOCK = (
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
# What follows a year only when the number counts something ("in 2000 requests").
_COUNTED = r"(?!\s*(?:[kKmMgG]?i?[bB]|ms|px|items?|lines?|bytes?|rows?|times|requests?|tests?|files?|tokens?|%)\b|[-./:,]?\d|%)"

_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|what (?:day|date|month|year|time)|which (?:day|date|month|year))\b", re.IGNORECASE
)
_IN_TIME = "in|of|during|since|by|late|early|mid"
_TIME_WORD = re.compile(
    rf"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|weeks?|weekends?|months?|years?|since|recently|just"
    rf"|mornings?|nights?|{_SEASONS}|{_W}|{'|'.join(name for name in _NAMES if name not in _VERBS)}"
    rf"|(?<=\d )(?-i:May|March)|(?:{_IN_TIME})[ -](?:may|march)|(?-i:May|March)(?= \d)|{_Y})\b",
    re.IGNORECASE,
)
_MOST_TIME_WORDS = 2


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time that a text names: `start` ≤ t < `end`, both aware, UTC; `text` is how it was said.

    `granularity` is second, minute, hour, day, week, weekend, month, quarter, season or year.
    """

    start: datetime
    end: datetime
    text: str
    granularity: str


_Match = re.Match[str]
_Reader = Callable[[_Match, datetime], Stretch]


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
    """The times that a text names, as seen from `anchor` (aware), in the order of the text."""
    here = anchor.astimezone(UTC)
    found = [(match, read) for pattern, read in _READERS for match in pattern.finditer(text)]
    found.sort(key=lambda pair: (pair[0].start(), -pair[0].end()))
    ranges: list[TimeRange] = []
    free_from = 0
    for match, read in found:
        if match.start() >= free_from and (stretch := _safely(read, match, here)) is not None:
            ranges.append(stretch)
            free_from = match.end()
    return tuple(ranges)


def _safely(read: _Reader, match: _Match, here: datetime) -> TimeRange | None:
    try:
        start, end, granularity = read(match, here)
    except (ValueError, OverflowError):
        # 31 February, year 0: not a date after all.
        return None
    return TimeRange(start, end, match.group(), granularity) if start < end else None


def _iso(match: _Match, here: datetime) -> Stretch:
    start, end, granularity = calendar.days(*(int(match[part]) for part in ("year", "month", "day")))
    if match["hour"] is None:
        return start, end, granularity
    moment = start.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=int(match["second"] or 0))
    moment -= _offset(match["zone"])
    is_exact = match["second"] is not None
    return moment, moment + timedelta(seconds=1 if is_exact else 60), "second" if is_exact else "minute"


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z", "UTC"):
        return timedelta()
    sign = -1 if zone[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))).utcoffset(None)


def _iso_span(match: _Match, here: datetime) -> Stretch:
    first, last = (calendar.days(*map(int, match[group].split("-"))) for group in ("first", "last"))
    return first[0], last[1], "day"


def _month_of(name: str) -> int:
    return _MONTHS[name.lower()]


def _refuse_verb(match: _Match, *proofs: str | None) -> None:
    """Refuse "may 3 of them", "step 3 may fail", "oct 17": no dates, unless a year or an ordinal proves it."""
    said = match["month"]
    if (said in _VERBS or (said.islower() and said not in _NAMES)) and not any(proofs):
        raise ValueError(match["month"])


def _date(match: _Match, here: datetime) -> Stretch:
    _refuse_verb(match, match["year"], match["th"], match.groupdict().get("of"))
    month = _month_of(match["month"])
    return calendar.days(int(match["year"] or calendar.latest_year(month, here)), month, int(match["day"]))


def _day_span(match: _Match, here: datetime) -> Stretch:
    """Read "3 to 5 May 2023", "May 3-5", "between 28 April and 2 May"."""
    _refuse_verb(match, match["year"])
    last = _month_of(match["month"])
    year = int(match["year"] or calendar.latest_year(last, here))
    first = _month_of(match.groupdict().get("first_month") or match["month"])
    start = calendar.days(int(match.groupdict().get("first_year") or year - (first > last)), first, int(match["first"]))
    return start[0], calendar.days(year, last, int(match["day"]))[1], "day"


def _month_span(match: _Match, here: datetime) -> Stretch:
    first, last = _month_of(match["first_month"]), _month_of(match["month"])
    year = int(match["year"] or calendar.latest_year(last, here))
    start = calendar.months(int(match["first_year"] or year - (first > last)), first)
    return start[0], calendar.months(year, last)[1], "month"


def _month_year(match: _Match, here: datetime) -> Stretch:
    return calendar.months(int(match["year"]), _month_of(match["month"]))


def _in_month(match: _Match, here: datetime) -> Stretch:
    if match["month"] not in _NAMES and match["month"].islower() and match["month"] != "may":
        raise ValueError(match["month"])  # "in dec", "of mar": a short form without a year is a date only as a name
    if match["which"].lower() in ("this", "next", "last"):
        _refuse_verb(match, None)  # "this may fail"
    month = _month_of(match["month"])
    return calendar.months(calendar.latest_year(month, here, match["which"].lower()), month)


def _relative_day(match: _Match, here: datetime) -> Stretch:
    said = " ".join(match[1].lower().split())
    shifts = {"the day before yesterday": -2, "the day after tomorrow": 2}
    nearer = -1 if said.startswith(("yesterday", "last")) else 1 if said.startswith("tomorrow") else 0
    return calendar.around(here, "day", shifts.get(said, nearer))


def _relative_unit(match: _Match, here: datetime) -> Stretch:
    shift = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}[match[1].lower()]
    return calendar.around(here, match[2].lower(), shift)


def _relative_weekday(match: _Match, here: datetime) -> Stretch:
    return calendar.weekday(here, _WEEKDAYS[match[2].lower()], match[1].lower())


def _relative_season(match: _Match, here: datetime) -> Stretch:
    which, name = match[1].lower(), match[2].lower()
    latest = calendar.latest_season(name, here)
    if which == "last":
        return latest if latest[1] <= here else calendar.latest_season(name, here, -1)
    return calendar.latest_season(name, here, 1) if which == "next" else calendar.season(name, here.year)


def _season(match: _Match, here: datetime) -> Stretch:
    return calendar.season(match[1].lower(), int(match[2]))


def _count(said: str) -> int:
    return _NUMBERS[said.lower()] if said.lower() in _NUMBERS else int(said)


def _ago(match: _Match, here: datetime) -> Stretch:
    return calendar.back(here, match[2].lower(), _count(match[1]))


def _from_now(match: _Match, here: datetime) -> Stretch:
    return calendar.back(here, match[2].lower(), -_count(match[1]))


def _lately(match: _Match, here: datetime) -> Stretch:
    return calendar.lately(here, match[2].lower(), _count(match[1] or "one"))


def _quarter(match: _Match, here: datetime) -> Stretch:
    return calendar.quarter(int(match["quarter"]), int(match["year"]))


def _named_year(match: _Match, here: datetime) -> Stretch:
    return calendar.years(int(match["year"]))


def _year_span(match: _Match, here: datetime) -> Stretch:
    return calendar.years(int(match[1]))[0], calendar.years(int(match[2]))[1], "year"


def _rule(expression: str, read: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(expression, re.IGNORECASE), read


_DATE = r"(?<![\w./-])(?P<year>\d{4})(?P<cut>[-/])(?P<month>\d\d)(?P=cut)(?P<day>\d\d)"
_ISO_DAY = r"\d{4}-\d\d-\d\d"
_YEAR_AFTER = rf"(?:(?:,\s*|\s+|,?\s+of\s+)(?P<year>{_Y})\b(?![.:]\d))?"
_UNITS = "week|weekend|month|quarter|year"
_READERS = (
    _rule(rf"(?<![\w./-])(?P<first>{_ISO_DAY})(?:\s*(?:to|until|through|and|–|/|\.\.)\s*)(?P<last>{_ISO_DAY})(?![\w-])", _iso_span),
    _rule(rf"{_DATE}{_CLOCK}(?![\w-]|\.\d)", _iso),
    _rule(rf"{_LEAD}\b(?P<first>{_D}){_TH}{_TO}(?P<day>{_D}){_TH}\s+(?:of\s+)?(?P<month>{_M})\b\.?{_YEAR_AFTER}", _day_span),
    _rule(rf"{_LEAD}\b(?P<month>{_M})\.?\s+(?P<first>{_D}){_TH}{_TO}(?P<day>{_D}){_TH}\b(?![.:]\d){_YEAR_AFTER}", _day_span),
    _rule(
        rf"\b(?:from|between)\s+(?:the\s+)?(?P<first>{_D}){_TH}\s+(?:of\s+)?(?P<first_month>{_M})\b\.?(?:,?\s+(?P<first_year>{_Y}))?"
        rf"{_TO}(?:the\s+)?(?P<day>{_D}){_TH}\s+(?:of\s+)?(?P<month>{_M})\b\.?{_YEAR_AFTER}",
        _day_span,
    ),
    _rule(
        rf"\b(?:from|between)\s+(?P<first_month>{_M})\.?\s+(?P<first>{_D}){_TH}\b(?:,?\s+(?P<first_year>{_Y}))?"
        rf"{_TO}(?P<month>{_M})\.?\s+(?P<day>{_D}){_TH}\b{_YEAR_AFTER}",
        _day_span,
    ),
    _rule(
        rf"\b(?:from|between)\s+(?P<first_month>{_M})\b\.?(?:,?\s+(?P<first_year>{_Y}))?{_TO}(?P<month>{_M})\b\.?{_YEAR_AFTER}",
        _month_span,
    ),
    _rule(rf"\b(?:from|between)\s+({_Y}){_TO}({_Y})\b{_COUNTED}", _year_span),
    _rule(rf"\b(?P<day>{_D})(?P<th>st|nd|rd|th)?\s+(?P<of>of\s+)?(?P<month>{_M})\b\.?{_YEAR_AFTER}", _date),
    _rule(rf"\b(?P<month>{_M})\.?[ -](?P<day>{_D})(?P<th>st|nd|rd|th)?\b(?![.:]\d)(?:(?:,\s*|[ -])(?P<year>{_Y})\b(?![.:]\d))?", _date),
    _rule(rf"\b(?P<month>{_M})\.?,?\s+(?:of\s+)?(?P<year>{_Y})\b{_COUNTED}", _month_year),
    _rule(rf"\b(?P<which>in|of|during|since|by|late|early|mid|last|next|this)(?:[ -]+(?:late|early|mid))?[ -]+(?P<month>{_M})\b(?!\s+\d)", _in_month),
    _rule(
        r"\b(the\s+day\s+before\s+yesterday|the\s+day\s+after\s+tomorrow|today|tonight|last\s+night|last\s+evening"
        r"|(?:yesterday|tomorrow)(?:\s+(?:morning|afternoon|evening|night))?|this\s+(?:morning|afternoon|evening))\b",
        _relative_day,
    ),
    _rule(rf"\b(last|previous|this|current|next|coming)\s+({_UNITS})\b", _relative_unit),
    _rule(rf"\b(last|on|this|next)\s+(?:past\s+|coming\s+)?({_W})\b", _relative_weekday),
    _rule(rf"\b(last|this|next)\s+({_SEASONS})\b", _relative_season),
    _rule(rf"\b({_SEASONS})\s+(?:of\s+)?({_Y})\b", _season),
    _rule(rf"\b(?:an?\s+)?({_N})\s+(?:of\s+)?(minute|hour|day|week|month|year)s?\s+ago\b", _ago),
    _rule(rf"\b(?:an?\s+)?({_N})\s+(?:of\s+)?(day|week|month|year)s?\s+from\s+now\b", _from_now),
    _rule(rf"\b(?:the|these)\s+(?:past|last)\s+(?:({_N})\s+(?:of\s+)?)?(minute|hour|day|week|month|year)s?\b", _lately),
    _rule(rf"\b(?:past|last)\s+({_N})\s+(?:of\s+)?(hour|day|week|month|year)s\b", _lately),
    _rule(rf"\bQ(?P<quarter>[1-4])(?:\s+(?:of\s+)?|[-/])(?P<year>{_Y})\b", _quarter),
    _rule(rf"\b(?P<year>{_Y})[ -]?Q(?P<quarter>[1-4])\b", _quarter),
    _rule(rf"\b(?:in|since|during|of|by|until|before|after|early|late|mid)[ -]+(?P<year>{_Y})\b{_COUNTED}", _named_year),
)  # fmt: skip
