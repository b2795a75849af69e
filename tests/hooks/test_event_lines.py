import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.hooks import events
from ebbing.hooks.own import MARKS

NOW = 1_790_000_000_123_456_789


def record(event: str, given: dict[str, object], **more: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"scope": "/p", "now": NOW, "noise": bytes(10), "limit": 100, "lost": 0} | more
    text = events.line(event, given, **settings)
    assert text.endswith("\n")
    assert text.count("\n") == 1
    return json.loads(text)


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        ("session-start", "session-start"),
        ("SessionStart", "session-start"),
        ("sessionStart", "session-start"),
        ("PostToolUseFailure", "post-tool-use-failure"),
        (" pre-compact ", "pre-compact"),
        ("Notification", ""),
        ("", ""),
    ],
)
def test_events_go_by_our_name_and_the_clients(given_name: str, expected: str) -> None:
    assert events.event_name(given_name) == expected


def test_a_line_holds_the_named_fields_and_no_others() -> None:
    given_object: dict[str, object] = {
        "session_id": "s",
        "transcript_path": "/t",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a"},
        "error": None,
    }
    found = record("post-tool-use", given_object)
    assert found["payload"] == {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a"},
    }
    assert (found["session"], found["scope"], found["event"], found["v"]) == ("s", "/p", "post-tool-use", 1)
    assert found["at"] == "2026-09-21T14:13:20.123456Z"


@given(st.text(max_size=300), st.integers(4, 120))
def test_a_field_is_whole_or_says_how_much_was_cut(text: str, limit: int) -> None:
    kept: Any = events.trimmed(text, limit)
    if len(text) <= limit:
        assert kept == text
        return
    assert text.startswith(kept["head"])
    assert text.endswith(kept["tail"])
    assert len(kept["head"]) + kept["cut"] + len(kept["tail"]) == len(text)
    assert len(kept["head"]) + len(kept["tail"]) == limit


def test_a_long_structure_is_cut_as_its_json_text() -> None:
    found = record("post-tool-use", {"tool_response": {"lines": ["x" * 50] * 10}})
    cut = found["payload"]["tool_response"]
    assert cut["head"].startswith('{"lines":["xxx')
    assert cut["tail"].endswith('xx"]}')
    assert len(cut["head"]) + len(cut["tail"]) == 100


def test_a_text_that_is_no_object_is_kept_as_unreadable_with_what_was_lost() -> None:
    assert events.understood("\ufeff \n") == {}
    assert events.understood('\ufeff{"a": 1}') == {"a": 1}
    for text in ("[1]", "not json", '{"half": "writ', "[" * 100_000):
        assert events.understood(text) == {"unreadable": text}
    assert record("stop", {"unreadable": "not json"})["payload"] == {"unreadable": "not json"}
    found = record("stop", {"unreadable": "x" * 110}, lost=7)["payload"]["unreadable"]
    assert found["cut"] == 17


@pytest.mark.parametrize("tool", ["mcp__ebbing__recall", "mcp__plugin_ebbing_ebbing__save", "mcp_ebbing_recall"])
def test_what_our_own_tools_said_is_not_fed_back_to_us(tool: str) -> None:
    found = record("post-tool-use", {"tool_name": tool, "tool_input": {"query": "q"}, "tool_response": "memories"})
    assert found["payload"] == {"tool_name": tool, "own_tool": True}


def test_a_session_that_is_no_text_counts_as_unnamed() -> None:
    assert record("stop", {"session_id": 5})["session"] == ""
    assert record("stop", {})["session"] == ""


@given(st.integers(0, 2**47 * 1_000_000), st.binary(min_size=10, max_size=10))
def test_identifiers_are_uuids_of_version_seven_that_hold_their_millisecond(now: int, noise: bytes) -> None:
    found = uuid.UUID(events.uuid7(now, noise))
    assert found.version == 7
    assert found.variant == uuid.RFC_4122
    assert found.int >> 80 == now // 1_000_000


@given(st.integers(0, 253_402_300_799_999_999))
def test_times_are_iso_in_utc_to_the_microsecond(microseconds: int) -> None:
    text = events.iso(microseconds * 1000)
    found = datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)
    assert (found.days * 86_400 + found.seconds) * 1_000_000 + found.microseconds == microseconds


@pytest.mark.parametrize(
    ("event", "given_object", "own"),
    [
        ("post-tool-use", {"tool_name": "mcp__ebbing__save", "tool_input": {"content": "secret"}}, True),
        ("post-tool-use", {"tool_name": "Bash", "tool_response": {"stdout": f"a\n{MARKS[0]}\nsecret"}}, True),
        ("post-tool-use", {"tool_name": "Read", "tool_response": f"{MARKS[1]} secret"}, True),
        ("post-tool-use-failure", {"tool_name": "Bash", "error": f"failed: {MARKS[0]} secret"}, True),
        ("post-tool-use", {"tool_name": "Bash", "tool_response": "no secret of ours"}, False),
    ],
)
def test_what_ebbing_itself_showed_is_never_noted(event: str, given_object: dict[str, object], own: bool) -> None:
    payload = record(event, given_object)["payload"]
    assert payload.get("own_tool", False) is own
    assert ("secret" in str(payload)) is not own


def test_of_a_text_that_quotes_ebbing_only_what_stands_before_is_noted() -> None:
    said = f"It says so:\n{MARKS[0]}\nUse black."
    assert record("user-prompt-submit", {"prompt": said})["payload"] == {"prompt": "It says so:\n"}
    assert record("stop", {"last_assistant_message": said})["payload"] == {"last_assistant_message": "It says so:\n"}


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_a_prompt_that_nobody_typed_is_not_the_users_words(source: str) -> None:
    found = record("user-prompt-submit", {"prompt": "check the build again", "source": source})
    assert found["payload"] == {"source": source}


@pytest.mark.parametrize(
    ("event", "given_object", "switch"),
    [
        ("user-prompt-submit", {"prompt": "words"}, "prompts"),
        ("pre-compact", {"custom_instructions": "words", "trigger": "manual"}, "prompts"),
        ("stop", {"last_assistant_message": "words"}, "answers"),
        ("subagent-stop", {"last_assistant_message": "words"}, "answers"),
    ],
)
def test_what_is_switched_off_leaves_a_line_without_words(
    event: str, given_object: dict[str, object], switch: str
) -> None:
    assert "words" in str(record(event, given_object)["payload"])
    rest = frozenset({"prompts", "tools", "answers"}) - {switch}
    assert "words" not in str(record(event, given_object, capture=rest)["payload"])


def test_a_text_that_could_not_be_read_is_noted_only_where_everything_is() -> None:
    assert record("stop", {"unreadable": "words"})["payload"] == {"unreadable": "words"}
    assert record("stop", {"unreadable": "words"}, capture=frozenset({"tools"}))["payload"] == {}


@pytest.mark.parametrize(
    ("event", "named"),
    [("user-prompt-submit", "prompt_id"), ("post-tool-use", "tool_use_id"), ("post-tool-use-failure", "tool_use_id")],
)
def test_an_event_that_the_client_names_has_the_same_id_each_time(event: str, named: str) -> None:
    given_object: dict[str, object] = {"session_id": "s", named: "n1"}
    first = record(event, given_object)["id"]
    again = record(event, given_object, now=NOW + 1, noise=b"0123456789")["id"]
    other = record(event, {**given_object, named: "n2"})["id"]
    assert first == again != other
    assert uuid.UUID(first).version == 8


def test_an_event_without_a_name_has_an_id_of_its_own() -> None:
    first, second = record("stop", {}, noise=bytes(10)), record("stop", {}, noise=b"0123456789")
    assert first["id"] != second["id"]


def test_an_object_that_nests_too_deep_is_kept_as_the_text_it_is() -> None:
    for depth in (150, 950, 5_000):
        text = '{"prompt":' + "[" * depth + "]" * depth + "}"
        given_object = events.understood(text)
        assert given_object == {"unreadable": text}
        assert "cut" in record("user-prompt-submit", given_object)["payload"]["unreadable"]
