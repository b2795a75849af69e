"""Texts over which an expression once went back again and again, so that a long one kept a server busy for minutes."""

import pytest
from target_growth import judge


@pytest.mark.parametrize(
    ("reader", "start", "unit", "end"),
    [
        ("likeness", "", " ", ""),
        ("likeness", "a", " ", "because"),
        ("likeness", "", "because\n", ""),
        ("told", "", "(", ""),
        ("told", "", "<private>", ""),
        ("directives", "", "\n", ""),
        ("directives", "a. ", "\n ", "to"),
        ("directives", "system", " ", ""),
        ("foreign formats", "- ", " ", "a"),
        ("foreign formats", "- a [[b]]", " ", "a"),
        ("foreign formats", "# a", " ", "a"),
        ("foreign formats", "", "<!--", ""),
    ],
)
def test_four_times_the_text_is_four_times_the_work(reader: str, start: str, unit: str, end: str) -> None:
    judge((reader, start, unit, end))
