from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.times import asks_when, count_time_words, time_expressions

ANCHOR = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2026-03-10", "2026-03-11"),
        ("we met last night", "2026-03-10", "2026-03-11"),
        ("this morning", "2026-03-11", "2026-03-12"),
        ("last Tuesday", "2026-03-10", "2026-03-11"),
        ("last Wednesday", "2026-03-04", "2026-03-05"),
        ("last week", "2026-03-02", "2026-03-09"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("next year", "2027-01-01", "2028-01-01"),
        ("on 2024-02-29", "2024-02-29", "2024-03-01"),
        ("on 8 May, 2023", "2023-05-08", "2023-05-09"),
        ("March 15, 2024", "2024-03-15", "2024-03-16"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("since November", "2025-11-01", "2025-12-01"),
        ("December 2022", "2022-12-01", "2023-01-01"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("two days ago", "2026-03-09", "2026-03-10"),
        ("the day before yesterday", "2026-03-09", "2026-03-10"),
        ("yesterday afternoon", "2026-03-10", "2026-03-11"),
        ("next Tuesday", "2026-03-17", "2026-03-18"),
        ("next Wednesday", "2026-03-18", "2026-03-19"),
        ("this Friday", "2026-03-13", "2026-03-14"),
        ("last weekend", "2026-03-07", "2026-03-09"),
        ("this weekend", "2026-03-14", "2026-03-16"),
        ("last quarter", "2025-10-01", "2026-01-01"),
        ("three months ago", "2025-12-01", "2026-01-01"),
        ("two years ago", "2024-01-01", "2025-01-01"),
        ("a couple of days ago", "2026-03-09", "2026-03-10"),
        ("two days from now", "2026-03-13", "2026-03-14"),
        ("last March", "2025-03-01", "2025-04-01"),
        ("next March", "2027-03-01", "2027-04-01"),
        ("in early June", "2025-06-01", "2025-07-01"),
        ("in mid-March", "2026-03-01", "2026-04-01"),
        ("the 8th of May", "2025-05-08", "2025-05-09"),
        ("Sep 12", "2025-09-12", "2025-09-13"),
        ("March-15-2024", "2024-03-15", "2024-03-16"),
        ("2024/02/29", "2024-02-29", "2024-03-01"),
        ("from 3 to 5 May 2023", "2023-05-03", "2023-05-06"),
        ("3-5 May 2023", "2023-05-03", "2023-05-06"),
        ("May 3-5, 2023", "2023-05-03", "2023-05-06"),
        ("between 28 April and 2 May 2023", "2023-04-28", "2023-05-03"),
        ("from April 28 to May 2, 2023", "2023-04-28", "2023-05-03"),
        ("between March and May", "2025-03-01", "2025-06-01"),
        ("from November to February", "2025-11-01", "2026-03-01"),
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("2024-01-03 to 2024-01-05", "2024-01-03", "2024-01-06"),
        ("Q3 2024", "2024-07-01", "2024-10-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("summer 2023", "2023-06-01", "2023-09-01"),
        ("the past two weeks", "2026-02-25", "2026-03-11"),
        ("31 May 2023.", "2023-05-31", "2023-06-01"),
    ],
)
def test_expressions_become_ranges_as_seen_from_the_anchor(text: str, start: str, end: str) -> None:
    [found] = time_expressions(text, ANCHOR)
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)


def test_two_weeks_ago_is_about_that_week() -> None:
    [found] = time_expressions("two weeks ago", ANCHOR)
    assert found.start <= datetime(2026, 2, 25, tzinfo=UTC) < found.end


def test_a_clock_time_is_read_in_its_zone() -> None:
    [found] = time_expressions("deployed 2026-03-01T09:26:53+02:00", ANCHOR)
    assert found.start == datetime(2026, 3, 1, 7, 26, 53, tzinfo=UTC)
    assert (found.end - found.start, found.granularity) == (timedelta(seconds=1), "second")


def test_minutes_and_hours_ago_are_as_wide_as_they_are_coarse() -> None:
    [found] = time_expressions("it crashed 20 minutes ago", ANCHOR)
    assert found.start < ANCHOR - timedelta(minutes=20) < found.end
    assert found.granularity == "minute"


def test_several_times_come_in_the_order_of_the_text_without_overlap() -> None:
    found = time_expressions("Between March and May 2023 it was slow, yesterday it broke.", ANCHOR)
    assert [stretch.text for stretch in found] == ["Between March and May 2023", "yesterday"]


def test_a_hundred_thousand_characters_of_dates_are_read_at_once() -> None:
    assert len(time_expressions("2024-01-03 " * 9_000, ANCHOR)) == 9_000


@pytest.mark.parametrize(
    "text",
    [
        "this may fail",
        "step 3 may fail",
        "may 3 of them pass",
        "they march on 5 servers",
        "the last 3 commits",
        "expires in 30 days",
        "in 2000 requests",
        "by 2048 bytes",
        "2.10.3, 1.2024.5, v2024.01",
        "dec 0x10, oct 17",
        "localhost:2024 and 127.0.0.1",
        "CVE-2024-1234",
        "never deploy on Fridays",
        "python 3.12 in decimal",
        "upgrade to 2.10.3",
        "port 5433 on 10.0.0.1",
        "it may 3 times fail",
        "RFC 2119 says MUST",
        "line 1999 of main.c",
        "sha 2024-01",
        "31 February",
        "",
    ],
)
def test_a_technical_text_without_dates_yields_none(text: str) -> None:
    assert time_expressions(text, ANCHOR) == ()


@given(st.text(max_size=300))
def test_any_text_gives_ranges_that_end_after_they_start(text: str) -> None:
    for found in time_expressions(text, ANCHOR):
        assert found.start < found.end
        assert found.text in text


def test_questions_about_time_are_known() -> None:
    assert asks_when("When did we switch?")
    assert asks_when("How long did it take?")
    assert not asks_when("Why did we switch?")


def test_time_words_count_up_to_two() -> None:
    assert count_time_words("nothing here") == 0
    assert count_time_words("yesterday only") == 1
    assert count_time_words("last week, last month and last year") == 2
    assert count_time_words("it may march on") == 0
    assert count_time_words("in May") == 1
