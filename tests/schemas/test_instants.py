"""Instants: exact, in UTC, and refused where a text leaves open what is meant."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.schemas.errors import InvalidInputError
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, day, from_datetime, iso, parse, to_datetime

FIRST = from_datetime(datetime(1, 1, 1, tzinfo=UTC))
LAST = from_datetime(datetime.max.replace(tzinfo=UTC))
INSTANTS = st.integers(FIRST, LAST)
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"]).map(
    ZoneInfo
)
OFFSETS = st.integers(-24 * 60 + 1, 24 * 60 - 1).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(INSTANTS)
def test_an_instant_survives_being_a_datetime(instant: int) -> None:
    assert from_datetime(to_datetime(instant)) == instant


@given(INSTANTS)
def test_an_instant_survives_being_written_to_the_second(instant: int) -> None:
    assert parse(iso(instant)) == instant - instant % 1_000_000
    assert iso(instant)[:10] == day(instant)
    assert len(iso(instant)) == len("2026-03-01T09:30:00Z")


@given(INSTANTS)
def test_a_day_holds_its_instants_from_first_to_last(instant: int) -> None:
    first, last = parse(day(instant)), parse(day(instant), end_of_day=True)
    assert first <= instant <= last
    assert last - first == MICROSECONDS_PER_DAY - 1


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), ZONES, st.integers(0, 1))  # noqa: DTZ001 - given zones
def test_changing_the_clocks_changes_no_instant(local: datetime, zone: ZoneInfo, fold: int) -> None:
    moment = local.replace(tzinfo=zone, fold=fold)
    assert to_datetime(from_datetime(moment)) == moment.astimezone(UTC)
    assert parse(moment.isoformat()) == from_datetime(moment)


def test_the_hour_that_happens_twice_is_two_hours() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    summer, winter = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1))
    assert from_datetime(winter) - from_datetime(summer) == 3_600_000_000


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), OFFSETS)  # noqa: DTZ001 - gets its zone below
def test_any_offset_means_the_same_instant(local: datetime, offset: timezone) -> None:
    moment = local.replace(tzinfo=offset)
    assert parse(moment.isoformat()) == from_datetime(moment) == from_datetime(moment.astimezone(UTC))


@given(st.datetimes())
def test_a_datetime_without_a_zone_is_refused(naive: datetime) -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        from_datetime(naive)


def test_a_zone_that_knows_no_offset_is_none() -> None:
    class Nowhere(tzinfo):
        def utcoffset(self, dt: datetime | None) -> None:
            return None

    with pytest.raises(InvalidInputError, match="time zone"):
        from_datetime(datetime(2026, 1, 1, tzinfo=Nowhere()))


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("1970-01-01", 0),
        (" 1970-01-02 ", MICROSECONDS_PER_DAY),
        ("19700102", MICROSECONDS_PER_DAY),
        ("1970-01-01T00:00:01", 1_000_000),
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2024-02-29", 19_782 * MICROSECONDS_PER_DAY),
    ],
)
def test_dates_and_times_without_a_zone_are_read_as_utc(text: str, means: int) -> None:
    assert parse(text) == means


@pytest.mark.parametrize("text", ["1970-01-01", "19700101", "1970-W01-4"])
def test_the_end_of_a_bare_date_is_its_last_microsecond(text: str) -> None:
    assert parse(text, end_of_day=True) == MICROSECONDS_PER_DAY - 1


@pytest.mark.parametrize("text", ["1970-01-01T00:00", "1970-01-01T00:00:00Z", "1970W014T00"])
def test_a_time_of_day_has_no_end_of_day(text: str) -> None:
    assert parse(text, end_of_day=True) == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2025-02-29",
        "01.03.2026",
        "2026-03-01T25:00",
        "2026-03-01T09:30:60Z",
        "0000-01-01",
        "10000-01-01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "2026-03-01; DROP TABLE memory",
        "٢٠٢٦-٠٣-٠١",
        "\x00",
        "9" * 5_000,
    ],
)
def test_what_is_no_date_is_refused_with_an_example_in_a_short_text(text: str) -> None:
    with pytest.raises(InvalidInputError, match="2026-03-01") as caught:
        parse(text)
    assert len(str(caught.value)) < 400


@given(st.text(max_size=40))
def test_any_text_is_an_instant_that_can_be_written_or_an_error(text: str) -> None:
    try:
        instant = parse(text)
    except InvalidInputError:
        return
    assert date.fromisoformat(day(instant))
    assert iso(instant).endswith("Z")
