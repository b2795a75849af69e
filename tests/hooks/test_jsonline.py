import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.hooks.jsonline import dumps, loads

TEXT = st.text(st.characters(codec=None), max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_values_are_written_as_json_writes_them_and_read_back(value: Any) -> None:
    text = dumps(value)
    assert text == json.dumps(value, separators=(",", ":"))
    assert text.isascii()
    assert "\n" not in text
    assert loads(text) == json.loads(text)


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\t\\u\x00d8', max_size=30))
def test_any_text_is_accepted_or_refused_as_json_does(text: str) -> None:
    try:
        expected = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            loads(text)
    else:
        assert repr(loads(text)) == repr(expected)


@pytest.mark.parametrize("text", ["", " ", "{", '{"a":1} x', '{"a":', "nul", '"\\ud8', "1" * 5000])
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_the_forms_that_json_adds_are_understood() -> None:
    assert loads(' \r\n{"a": "tab\there"}\n') == {"a": "tab\there"}
    assert dumps(loads("[NaN,Infinity,-Infinity]")) == "[NaN,Infinity,-Infinity]"
    assert math.isnan(loads("[NaN]")[0])  # type: ignore[index]
    assert loads('"\\ud800"') == "\ud800"


def test_what_json_has_no_form_for_is_refused() -> None:
    with pytest.raises(TypeError):
        dumps({"a": {1, 2}})
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"ircular"):
        dumps(loop)
