import json
from pathlib import Path

import pytest
from hook_server import HookServer
from hypothesis import given
from hypothesis import strategies as st

from ebbing.hooks import sessions
from ebbing.hooks.injection import CHARACTER_LIMIT, LONGEST_QUESTION, at_prompt, fitted, shortened, start
from ebbing.hooks.places import Place, soft_prompt_path, write_private

ID = "0198c2f0-0000-7000-8000-00000000000"


def utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def place(home: Path, scope: str = "/p", session: str = "s", client: str = "claude") -> Place:
    return Place(str(home), scope, session, client)


def started(where: Place, source: str | None = "startup") -> str:
    """What a session's start injects; empty for nothing."""
    written: list[bytes] = []
    start(where, source, written.append)
    if not written:
        return ""
    value = json.loads(b"".join(written))["hookSpecificOutput"]
    assert value["hookEventName"] == "SessionStart"
    return value["additionalContext"]


def asked(where: Place, prompt: str = "which formatter?", seconds: float = 5.0) -> bytes:
    written: list[bytes] = []
    at_prompt(where, prompt, written.append, seconds=seconds)
    return b"".join(written)


def test_the_projects_prompt_wins_over_the_global_one(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "global"), b"for all\n")
    assert started(place(tmp_path)) == "for all"
    write_private(soft_prompt_path(tmp_path, "/p"), "für dieses 🙂\n".encode())
    assert started(place(tmp_path)) == "für dieses 🙂"
    assert started(place(tmp_path, "/q")) == "for all"


def test_without_a_prompt_there_is_nothing_to_print(tmp_path: Path) -> None:
    assert started(place(tmp_path)) == ""
    write_private(soft_prompt_path(tmp_path, "/p"), b" \n")
    assert started(place(tmp_path)) == ""
    assert not (tmp_path / "sessions").exists()


@pytest.mark.parametrize(
    ("source", "prints"),
    [("startup", True), ("clear", True), ("compact", True), (None, True), ("resume", False), ("fork", False)],
)
def test_what_is_still_in_context_is_not_repeated(source: str | None, prints: bool, tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), b"known")
    assert bool(started(place(tmp_path), source)) is prints


def test_what_a_start_showed_counts_as_seen_until_the_context_is_lost(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), f"- 2026-03-01 one [{ID}1]\n".encode())
    started(place(tmp_path))
    sessions.note(str(tmp_path), "s", [f"{ID}2"])
    started(place(tmp_path), "resume")
    assert sessions.seen(str(tmp_path), "s") == [f"{ID}1", f"{ID}2"]
    started(place(tmp_path), "compact")
    assert sessions.seen(str(tmp_path), "s") == [f"{ID}1"]


def test_a_fork_has_seen_what_its_parents_start_showed(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), f"- 2026-03-01 one [{ID}1]\n".encode())
    assert started(place(tmp_path, session="forked"), "fork") == ""
    assert sessions.seen(str(tmp_path), "forked") == [f"{ID}1"]


def test_a_prompt_gets_what_a_server_answers_and_the_session_has_then_seen_it(tmp_path: Path) -> None:
    with HookServer(tmp_path, {"text": "ruff", "ids": [f"{ID}1"]}) as server:
        sessions.note(str(tmp_path), "s", [f"{ID}0"])
        output = json.loads(asked(place(tmp_path)))
    assert output == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "ruff"},
    }
    assert server.asked[0] == {
        "op": "prompt",
        "prompt": "which formatter?",
        "scope": "/p",
        "session": "s",
        "seen": [f"{ID}0"],
        "token": server.token,
    }
    assert server.passed_on == 1
    assert sessions.seen(str(tmp_path), "s") == [f"{ID}0", f"{ID}1"]


@pytest.mark.parametrize(
    "reply",
    [{}, {"text": "", "ids": []}, {"text": 7, "ids": []}, {"text": "x"}, {"text": "x", "ids": "all"}],
    ids=["nothing", "empty", "no text", "no ids", "no list"],
)
def test_an_answer_without_text_and_ids_is_silence(reply: dict[str, object], tmp_path: Path) -> None:
    with HookServer(tmp_path, reply) as server:
        assert asked(place(tmp_path)) == b""
    assert server.passed_on == 0


def test_without_a_server_a_prompt_gets_nothing(tmp_path: Path) -> None:
    assert asked(place(tmp_path)) == b""
    assert not (tmp_path / "sessions").exists()


def test_what_could_not_be_printed_was_not_seen(tmp_path: Path) -> None:
    def closed(_: bytes) -> None:
        raise BrokenPipeError

    with HookServer(tmp_path, {"text": "ruff", "ids": [f"{ID}1"]}) as server, pytest.raises(BrokenPipeError):
        at_prompt(place(tmp_path), "which formatter?", closed, seconds=5.0)
    assert server.passed_on == 0
    assert sessions.seen(str(tmp_path), "s") == []


def test_a_client_that_takes_nothing_in_is_not_told_anything(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), f"- one [{ID}1]".encode())
    written: list[bytes] = []
    start(place(tmp_path, client="windsurf"), "startup", written.append)
    assert b"".join(written) == b""


def test_invalid_utf8_in_the_file_is_replaced(tmp_path: Path) -> None:
    write_private(soft_prompt_path(tmp_path, "/p"), b"a\xffb")
    assert started(place(tmp_path)) == "a\ufffdb"


@given(st.text(max_size=LONGEST_QUESTION * 2))
def test_of_a_long_prompt_the_beginning_and_the_end_are_asked_about(prompt: str) -> None:
    question = shortened(prompt)
    assert len(question) <= LONGEST_QUESTION + 1
    assert question == prompt or (prompt.startswith(question[:1000]) and prompt.endswith(question[-1000:]))


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
