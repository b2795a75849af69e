"""Dates that a question names by the calendar ("in May", "on 3 June 2023", "2022"), and how well an instant fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.instants import MICROSECONDS_PER_DAY
from .layout import Floats

_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTHS: Final = {name[:size]: number for number, name in enumerate(_NAMES, 1) for size in (3, len(name))} | {"sept": 9}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?P<{0}>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<{0}>(?:19|20)\d\d)"
_NAMED: Final = re.compile(
    r"\b(?:(?P<lead>in|of|during|since|by|late|early|mid|until|before|after)[ -]+)?"
    rf"(?:{_DAY.format('day')}\s+(?:of\s+)?)?"
    rf"(?P<month>{_MONTH})\b\.?(?:\s+{_DAY.format('day_after')}\b)?(?:,?\s+{_YEAR.format('year')}\b)?",
    re.IGNORECASE,
)
_ISO: Final = re.compile(rf"\b{_YEAR.format('year')}-(?P<month>0[1-9]|1[0-2])(?:-{_DAY.format('day')})?\b")
_ONLY_YEAR: Final = re.compile(rf"\b{_YEAR.format('year')}\b")
# Months that are everyday words too: only with a day, a year, or a word that expects a date.
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "dec", "jan", "sun"})

IN_MONTH: Final = 1.0
ON_DAY: Final = 1.0
WEEK_AFTER: Final = 0.3
IN_YEAR: Final = 0.3
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as far as it was said; at least a year or a month."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def named_dates(text: str) -> tuple[NamedDate, ...]:
    """The calendar dates that a question names, unique, in no particular order of the text."""
    found = [NamedDate(int(match["year"]), int(match["month"]), _number(match["day"])) for match in _ISO.finditer(text)]
    rest = _ISO.sub(" ", text)
    for match in _NAMED.finditer(rest):
        day = _number(match["day"]) or _number(match["day_after"])
        year = _number(match["year"])
        if match["month"].lower() not in _AMBIGUOUS or day or year or match["lead"]:
            found.append(NamedDate(year, _MONTHS[match["month"].lower()], day))
    if not found:
        found = [NamedDate(year=int(match["year"])) for match in _ONLY_YEAR.finditer(rest)]
    return tuple(dict.fromkeys(found))


def date_match(dates: tuple[NamedDate, ...], instants: NDArray[np.int64]) -> Floats:
    """How well instants (n,) µs fit the best of some dates, float32 (n,).

    1 in the month (and year, where said), 1 more within a day of the day, 0.3 up to a week after the day; 0.3 in a
    year that is all that was said.
    """
    result = np.zeros(len(instants), np.float32)
    if not dates or not len(instants):
        return result
    days = instants // MICROSECONDS_PER_DAY
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    for date in dates:
        np.maximum(result, _match(date, days, months), out=result)
    return result


def _match(date: NamedDate, days: NDArray[np.int64], months: NDArray[np.int64]) -> Floats:
    years = 1970 + months // 12
    same_year = np.ones(len(days), np.bool_) if date.year is None else years == date.year
    if date.month is None:
        return np.where(same_year, np.float32(IN_YEAR), np.float32(0.0))
    in_month = same_year & (months % 12 == date.month - 1)
    score = np.where(in_month, np.float32(IN_MONTH), np.float32(0.0))
    if date.day is not None:
        first = days - (days.astype("datetime64[D]") - months.astype("datetime64[M]").astype("datetime64[D]")).astype(
            np.int64
        )
        # The day in the month of each instant, or in the month before: a week after the 30th lies in the next month.
        gap = days - (first + date.day - 1)
        score += np.where(in_month & (np.abs(gap) <= 1), np.float32(ON_DAY), np.float32(0.0))
        score += np.where(in_month & (gap >= 0) & (gap <= _WEEK), np.float32(WEEK_AFTER), np.float32(0.0))
    return score.astype(np.float32)


def _number(text: str | None) -> int | None:
    return int(text) if text else None
