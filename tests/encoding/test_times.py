from datetime import UTC, datetime

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
    ],
)
def test_expressions_become_ranges_as_seen_from_the_anchor(text: str, start: str, end: str) -> None:
    [found] = time_expressions(text, ANCHOR)
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)


def test_two_weeks_ago_is_about_that_week() -> None:
    [found] = time_expressions("two weeks ago", ANCHOR)
    assert found.start <= datetime(2026, 2, 25, tzinfo=UTC) < found.end


@pytest.mark.parametrize(
    "text",
    [
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
