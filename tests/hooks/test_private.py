import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.clean import strip_private
from ebbing.hooks.events import line
from ebbing.hooks.private import public, without_private

PIECES = st.sampled_from(
    ["<private>", "</private>", "<PRIVATE id='1'>", "</Private >", "a", "İ<b>", " private ", "<privateer>"]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no tags", "no tags"),
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE why='x'>b</private > c", "a  c"),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a <private>never closed", "a "),
        ("a </private> b", "a  b"),
        ("İİİ<private>b</private>ß", "İİİß"),
        ("<privateer> stays", "<privateer> stays"),
        ("a <private", "a "),
    ],
)
def test_private_parts_are_left_out(text: str, expected: str) -> None:
    assert without_private(text) == expected


@given(st.lists(PIECES, max_size=12))
def test_nothing_is_kept_that_the_server_would_take_out(pieces: list[str]) -> None:
    kept = without_private("".join(pieces))
    assert strip_private(kept) == kept


def test_a_structured_value_becomes_text_only_where_it_has_to() -> None:
    assert public({"a": [1]}) == {"a": [1]}
    assert public({"a": "x<private>y</private>z"}) == '{"a":"xz"}'


def test_no_cut_lets_a_private_part_out() -> None:
    prompt = "x" * 500 + "<private>" + "y" * 500 + "secret</private>"
    text = line("user-prompt-submit", {"prompt": prompt}, scope="/p", now=1, noise=bytes(10), limit=100, lost=0)
    assert "secret" not in text
    assert "yy" not in text
