"""Instants: int microseconds since the Unix epoch, UTC, inside; ISO 8601 at the edges."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from .errors import InvalidInputError

MICROSECONDS_PER_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_datetime(moment: datetime) -> int:
    """The instant (µs) of an aware datetime.

    Raises:
        InvalidInputError: if the datetime has no time zone, since guessing one shifts days.
    """
    if moment.utcoffset() is None:
        msg = "a time without a time zone is ambiguous: add one, such as Z for UTC"
        raise InvalidInputError(msg)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: int) -> datetime:
    """The aware UTC datetime of an instant (µs)."""
    return _EPOCH + timedelta(microseconds=instant)


def iso(instant: int) -> str:
    """An instant (µs) as ISO 8601 in UTC, to the second, ending in Z."""
    return to_datetime(instant).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def day(instant: int) -> str:
    """An instant (µs) as its UTC date."""
    return to_datetime(instant).date().isoformat()


def parse(text: str, *, end_of_day: bool = False) -> int:
    """The instant (µs) of an ISO 8601 date or time; one without a zone is read as UTC.

    `end_of_day` makes a bare date mean its last microsecond, for the closing end of a range.

    Raises:
        InvalidInputError: if the text is not an ISO date or time, or not within the years 1 to 9999 of UTC.
    """
    written = text.strip()
    try:
        moment = datetime.fromisoformat(written)
        instant = from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        to_datetime(instant)
    except (ValueError, OverflowError):
        msg = f"not a date or time: {text[:40]!r}; write ISO 8601, such as 2026-03-01 or 2026-03-01T09:30:00Z"
        raise InvalidInputError(msg) from None
    return instant + MICROSECONDS_PER_DAY - 1 if end_of_day and _is_bare_date(written) else instant


def _is_bare_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
