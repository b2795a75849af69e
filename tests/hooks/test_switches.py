import pytest

from ebbing.hooks.switches import CAPTURE, CAPTURED, chosen, unknown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, {"prompts", "tools", "answers"}),
        ("  ", {"prompts", "tools", "answers"}),
        ("tools", {"tools"}),
        ("Tools, prompts", {"tools", "prompts"}),
        ("prompts tools answers", {"prompts", "tools", "answers"}),
        ("none", set[str]()),
        ("promts", set[str]()),
    ],
)
def test_what_a_variable_does_not_name_is_off(text: str | None, expected: set[str]) -> None:
    env = {} if text is None else {CAPTURE: text}
    assert chosen(env, CAPTURE, CAPTURED) == expected


def test_words_that_mean_nothing_are_named() -> None:
    assert unknown({CAPTURE: "promts,tools,none"}, CAPTURE, CAPTURED) == ["promts"]
    assert unknown({}, CAPTURE, CAPTURED) == []
