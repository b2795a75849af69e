import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.hooks.injection import CHARACTER_LIMIT, answer, fitted
from ebbing.hooks.places import soft_prompt_path, write_private


def utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def injected(output: bytes) -> str:
    value = json.loads(output)["hookSpecificOutput"]
    assert value["hookEventName"] == "SessionStart"
    return value["additionalContext"]


def test_the_projects_prompt_wins_over_the_global_one(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "global"), b"for all\n")
    assert injected(answer(str(tmp_path), "/p", "startup")) == "for all"
    write_private(soft_prompt_path(tmp_path, "/p"), "für dieses 🙂\n".encode())
    assert injected(answer(str(tmp_path), "/p", "startup")) == "für dieses 🙂"
    assert injected(answer(str(tmp_path), "/q", "startup")) == "for all"


def test_without_a_prompt_there_is_nothing_to_print(tmp_path: Path) -> None:
    assert answer(str(tmp_path), "/p", "startup") == b""
    write_private(soft_prompt_path(tmp_path, "/p"), b" \n")
    assert answer(str(tmp_path), "/p", "startup") == b""


@pytest.mark.parametrize(
    ("source", "prints"),
    [("startup", True), ("clear", True), ("compact", True), (None, True), ("resume", False), ("fork", False)],
)
def test_what_is_still_in_context_is_not_repeated(source: str | None, prints: bool, tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), b"known")
    assert bool(answer(str(tmp_path), "/p", source)) is prints


def test_invalid_utf8_in_the_file_is_replaced(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), b"a\xffb")
    assert injected(answer(str(tmp_path), "/p", "startup")) == "a\ufffdb"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40), max_size=30))
def test_a_text_that_is_too_long_ends_at_a_line_with_a_note(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = fitted(text, 300)
    assert utf16_units(found) <= 300
    if found != text:
        *kept, note = found.split("\n")
        assert kept == lines[: len(kept)]
        assert note == f"[{len(lines) - len(kept)} more lines are stored; recall returns them]"


def test_the_limit_counts_units_as_clients_do() -> None:
    text = "\n".join(["🙂" * 40] * 200)
    assert utf16_units(fitted(text)) <= CHARACTER_LIMIT
    assert fitted("x" * CHARACTER_LIMIT) == "x" * CHARACTER_LIMIT
