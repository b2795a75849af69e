"""Instants: int microseconds since the Unix epoch, UTC, inside; ISO 8601 at the edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .errors import InvalidInputError

MICROSECONDS_PER_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_datetime(moment: datetime) -> int:
    """The instant (µs) of an aware datetime.

    Raises:
        InvalidInputError: if the datetime has no time zone, since guessing one shifts days.
    """
    if moment.tzinfo is None:
        msg = "a time without a time zone is ambiguous: add one, such as Z for UTC"
        raise InvalidInputError(msg)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: int) -> datetime:
    """The aware UTC datetime of an instant (µs)."""
    return _EPOCH + timedelta(microseconds=instant)


def iso(instant: int) -> str:
    """An instant (µs) as ISO 8601 in UTC, to the second, ending in Z."""
    return to_datetime(instant).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(instant: int) -> str:
    """An instant (µs) as its UTC date."""
    return to_datetime(instant).strftime("%Y-%m-%d")


def parse(text: str, *, end_of_day: bool = False) -> int:
    """The instant (µs) of an ISO 8601 date or time; one without a zone is read as UTC.

    `end_of_day` makes a bare date mean its last microsecond, for the closing end of a range.

    Raises:
        InvalidInputError: if the text is not an ISO date or time.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        msg = f"not a date or time: {text[:40]!r}; write ISO 8601, such as 2026-03-01 or 2026-03-01T09:30:00Z"
        raise InvalidInputError(msg) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    instant = from_datetime(moment)
    is_bare_date = len(text.strip()) <= len("2026-03-01")
    return instant + MICROSECONDS_PER_DAY - 1 if end_of_day and is_bare_date else instant
