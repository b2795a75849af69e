import json
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.clean import clean, strip_private

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
TRICKY = st.lists(
    st.sampled_from(["\x1b", "[31m", "\r", "\n", "\x00", "e", "\u0301", "\ud83d", "\ude00", "\ud800", "é", "\x0c"])
).map("".join)
TAGS = ["<private>", "</private>", "<PRIVATE a='b'>", "<private/>", "<pri", "vate>", "</pri", "<", ">", "x "]
TAGGED = st.lists(st.sampled_from(TAGS)).map("".join)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("cafe\u0301", "café"),
        ("nul\x00 byte", "nul byte"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("one\r\ntwo\rthree\x0cfour", "one\ntwo\nthree\nfour"),
        ("bell\x07 and delete\x7f", "bell and delete"),
        ("\x1b[1;31mFAILED\x1b[0m test", "FAILED test"),
        ("tab\tstays", "tab\tstays"),
        ("e\x00\u0301", "é"),
        ("", ""),
    ],
)
def test_clean_gives_one_normal_form(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@given(ANY_TEXT | TRICKY)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@given(ANY_TEXT | TRICKY)
def test_clean_text_can_be_stored_and_sent(text: str) -> None:
    result = clean(text)
    assert json.loads(json.dumps(result, ensure_ascii=False).encode()) == result
    assert unicodedata.is_normalized("NFC", result)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in result)


@given(st.text(st.characters(categories=["L", "N"]), max_size=40))
def test_letters_and_digits_survive_cleaning(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("keep <private>hide</private> keep", "keep  keep"),
        ("a <PRIVATE>b</Private> c", "a  c"),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a <private>b to the end", "a "),
        ("a <private>b <private>c</private> still hidden", "a "),
        ('a <private reason="salary">b</private >c', "a c"),
        ('a <private\nreason="x">b</private>c', "a c"),
        ("a <private/>b", "a b"),
        ("a <private kind='x' />b", "a b"),
        ("a </private>b", "a b"),
        ("<pri<private>x</private>vate>hide", ""),
        ("<private-key> is no such tag", "<private-key> is no such tag"),
        ("private", "private"),
    ],
)
def test_private_elements_are_stripped(raw: str, expected: str) -> None:
    assert strip_private(raw) == expected


@given(TAGGED)
def test_no_opening_tag_is_left_and_stripping_twice_changes_nothing_more(text: str) -> None:
    once = strip_private(text)
    assert re.search(r"<private\b[^<>]*>", once, re.IGNORECASE) is None
    assert strip_private(once) == once


@given(st.text(max_size=20), st.text(max_size=20))
def test_what_stands_inside_never_gets_out(before: str, after: str) -> None:
    assert "S3CR3T" not in strip_private(f"{before}<private>S3CR3T</private>{after}")


def test_tags_nested_to_get_through_are_cut_off() -> None:
    inner = "<private/>"
    for _ in range(50):
        inner = f"<pri{inner}vate/>"
    result = strip_private(f"public <pri{inner}vate>hidden")
    assert result.startswith("public ")
    assert "hidden" not in result
    assert strip_private(result) == result


def test_many_unfinished_tags_take_linear_time() -> None:
    started = time.process_time()
    strip_private("<private " * 50_000)
    assert time.process_time() - started < 2
