"""Reading a question: its class with the reason, its dates, its names."""

import numpy as np
import pytest

from ebbing.retrieval.analysis import QueryClass, analyse
from ebbing.retrieval.dates import NamedDate, date_match, named_dates
from ebbing.schemas.instants import parse

CLASSES = [
    ("what does parse_header return", QueryClass.EXACT),
    ('who wrote "never again"', QueryClass.EXACT),
    ("when did the release go out", QueryClass.TIME),
    ("what broke in June 2023", QueryClass.TIME),
    ("what is the latest port of the proxy", QueryClass.CURRENT),
    ("why was the cache dropped", QueryClass.MULTI_HOP),
    ("which libraries do we use", QueryClass.LIST),
    ("list all deploy targets", QueryClass.LIST),
    ("who owns the parser", QueryClass.SIMPLE),
]


@pytest.mark.parametrize(("question", "expected"), CLASSES, ids=[question for question, _ in CLASSES])
def test_each_question_gets_its_class_and_a_reason(question: str, expected: QueryClass) -> None:
    read = analyse(question)
    assert read.query_class is expected
    assert read.reasons[0]


DATES = [
    ("what happened on 3 June 2023", (NamedDate(2023, 6, 3),)),
    ("what happened on June 3rd, 2023", (NamedDate(2023, 6, 3),)),
    ("the run of 2024-02-29", (NamedDate(2024, 2, 29),)),
    ("in May", (NamedDate(None, 5, None),)),
    ("may I go", ()),
    ("we march on", ()),
    ("back in 2022", (NamedDate(2022, None, None),)),
    ("September", (NamedDate(None, 9, None),)),
    ("nothing here", ()),
]


@pytest.mark.parametrize(("text", "expected"), DATES, ids=[text for text, _ in DATES])
def test_dates_are_read_as_far_as_they_are_said(text: str, expected: tuple[NamedDate, ...]) -> None:
    assert named_dates(text) == expected


def test_a_date_fits_its_day_best_then_the_week_after_then_its_month() -> None:
    days = ["2023-06-03", "2023-06-08", "2023-06-25", "2023-07-25", "2022-06-03"]
    instants = np.array([parse(day) for day in days], dtype=np.int64)
    fits = date_match((NamedDate(2023, 6, 3),), instants)
    assert fits[0] > fits[1] > fits[2] > fits[3] == fits[4] == 0


def test_a_year_alone_is_a_weak_hint() -> None:
    instants = np.array([parse("2022-05-05"), parse("2023-05-05")], dtype=np.int64)
    assert date_match((NamedDate(2022),), instants).tolist() == pytest.approx([0.3, 0.0])
