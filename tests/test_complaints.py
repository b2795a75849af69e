"""The list of complaints names real tests, at least one a group."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
_GROUPS = re.split(r"^## ", (TESTS / "COMPLAINTS.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
_NAMED = re.compile(r"^- `([\w/.]+)`: `(test_\w+)`$", re.MULTILINE)


def titled(group: str) -> str:
    return group.partition("\n")[0]


@pytest.mark.parametrize("group", _GROUPS, ids=titled)
def test_a_group_of_complaints_has_its_reports_and_its_tests(group: str) -> None:
    assert re.search(r"^Reports: \S", group, re.MULTILINE)
    assert _NAMED.search(group)


@pytest.mark.parametrize("group", _GROUPS, ids=titled)
def test_every_test_that_a_group_names_is_there(group: str) -> None:
    missing = [
        f"{file}: {name}"
        for file, name in _NAMED.findall(group)
        if not re.search(rf"^(?:async )?def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_every_line_that_looks_like_a_test_is_read_as_one() -> None:
    text = (TESTS / "COMPLAINTS.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^- ", text, re.MULTILINE)) == len(_NAMED.findall(text))
