"""Objects in the shapes that clients document, and the answers that each of them reads."""

from collections.abc import Mapping
from typing import Any

import pytest

from ebbing.hooks.clients import answer, client_of, our_event, our_fields, takes_in

SHAPES: dict[str, tuple[str, dict[str, Any], str, dict[str, Any], str]] = {
    "codex prompt": (
        "UserPromptSubmit",
        {"session_id": "c1", "turn_id": "t1", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": "hi"},
        "user-prompt-submit",
        {"session_id": "c1", "cwd": "/p", "prompt": "hi"},
        "claude",
    ),
    "gemini prompt": (
        "BeforeAgent",
        {"session_id": "g1", "cwd": "/p", "hook_event_name": "BeforeAgent", "timestamp": "2026-03-01", "prompt": "hi"},
        "user-prompt-submit",
        {"session_id": "g1", "prompt": "hi"},
        "gemini",
    ),
    "gemini answer": (
        "AfterAgent",
        {"session_id": "g1", "hook_event_name": "AfterAgent", "prompt": "hi", "prompt_response": "Done."},
        "stop",
        {"last_assistant_message": "Done."},
        "gemini",
    ),
    "gemini tool": (
        "AfterTool",
        {
            "session_id": "g1",
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "make"},
            "tool_response": {"llmContent": "exit 2", "returnDisplay": "exit 2", "error": "exit 2"},
        },
        "post-tool-use",
        {"tool_name": "run_shell_command", "error": "exit 2"},
        "gemini",
    ),
    "gemini compaction": (
        "PreCompress",
        {"session_id": "g1", "hook_event_name": "PreCompress", "trigger": "auto"},
        "pre-compact",
        {"trigger": "auto"},
        "gemini",
    ),
    "cursor start": (
        "sessionStart",
        {"conversation_id": "u1", "hook_event_name": "sessionStart", "workspace_roots": ["/p", "/q"]},
        "session-start",
        {"session_id": "u1", "cwd": "/p"},
        "cursor",
    ),
    "cursor prompt": (
        "beforeSubmitPrompt",
        {"conversation_id": "u1", "generation_id": "n", "workspace_roots": [], "prompt": "hi", "attachments": []},
        "user-prompt-submit",
        {"session_id": "u1", "prompt": "hi"},
        "cursor",
    ),
    "cursor tool": (
        "postToolUse",
        {"conversation_id": "u1", "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "a\nb"},
        "post-tool-use",
        {"tool_name": "Shell", "tool_response": "a\nb"},
        "cursor",
    ),
    "cursor failure": (
        "postToolUseFailure",
        {"conversation_id": "u1", "tool_name": "Shell", "error_message": "timed out", "failure_type": "timeout"},
        "post-tool-use-failure",
        {"error": "timed out"},
        "cursor",
    ),
    "cursor answer": (
        "afterAgentResponse",
        {"conversation_id": "u1", "text": "Done."},
        "stop",
        {"last_assistant_message": "Done."},
        "cursor",
    ),
    "copilot prompt": (
        "userPromptSubmitted",
        {"sessionId": "o1", "timestamp": 1_790_000_000_000, "cwd": "/p", "prompt": "hi"},
        "user-prompt-submit",
        {"session_id": "o1", "cwd": "/p", "prompt": "hi"},
        "copilot",
    ),
    "copilot tool": (
        "postToolUse",
        {
            "sessionId": "o1",
            "cwd": "/p",
            "toolName": "bash",
            "toolArgs": '{"command":"make"}',
            "toolResult": {"resultType": "failure", "textResultForLlm": "exit 2"},
        },
        "post-tool-use",
        {"tool_name": "bash", "tool_input": '{"command":"make"}', "tool_response": "exit 2", "error": "exit 2"},
        "copilot",
    ),
    "copilot answer": ("agentStop", {"sessionId": "o1", "stopReason": "end_turn"}, "stop", {}, "copilot"),
    "windsurf prompt": (
        "pre_user_prompt",
        {"agent_action_name": "pre_user_prompt", "trajectory_id": "w1", "tool_info": {"user_prompt": "hi"}},
        "user-prompt-submit",
        {"session_id": "w1", "prompt": "hi", "hook_event_name": "pre_user_prompt"},
        "windsurf",
    ),
    "windsurf command": (
        "post_run_command",
        {"agent_action_name": "post_run_command", "tool_info": {"command_line": "make", "cwd": "/p"}},
        "post-tool-use",
        {"tool_name": "run_command", "tool_input": {"command": "make"}, "cwd": "/p"},
        "windsurf",
    ),
    "windsurf file": (
        "post_write_code",
        {"agent_action_name": "post_write_code", "tool_info": {"file_path": "/p/a.py", "edits": []}},
        "post-tool-use",
        {"tool_name": "write_code", "tool_input": {"file_path": "/p/a.py", "edits": []}},
        "windsurf",
    ),
    "windsurf tool": (
        "post_mcp_tool_use",
        {
            "agent_action_name": "post_mcp_tool_use",
            "tool_info": {
                "mcp_server_name": "ebbing",
                "mcp_tool_name": "recall",
                "mcp_tool_arguments": {"query": "x"},
                "mcp_result": "y",
            },
        },
        "post-tool-use",
        {"tool_name": "mcp__ebbing__recall", "tool_input": {"query": "x"}, "tool_response": "y"},
        "windsurf",
    ),
    "windsurf answer": (
        "post_cascade_response",
        {"agent_action_name": "post_cascade_response", "tool_info": {"response": "Done."}},
        "stop",
        {"last_assistant_message": "Done."},
        "windsurf",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_clients_object_is_read(shape: str) -> None:
    event, given, ours, fields, client = SHAPES[shape]
    read = our_fields(given)
    assert our_event(event) == ours
    assert {name: read.get(name) for name in fields} == fields
    assert client_of("", read, {}) == client


@pytest.mark.parametrize(
    ("named", "client"),
    [
        ("claude-code", "claude"),
        ("Codex", "claude"),
        ("codex-cli", "claude"),
        ("gemini-cli", "gemini"),
        ("gemini", "gemini"),
        ("CURSOR", "cursor"),
        ("copilot-cli", "copilot"),
        ("windsurf", "windsurf"),
        ("unheard-of", "claude"),
    ],
)
def test_a_named_client_decides_whatever_its_object_looks_like(named: str, client: str) -> None:
    assert client_of(named, {"conversation_id": "u1"}, {}) == client


def test_a_hook_of_another_client_that_cursor_runs_answers_as_cursor_reads_it() -> None:
    assert client_of("", {"session_id": "s", "hook_event_name": "SessionStart"}, {"CURSOR_VERSION": "3"}) == "cursor"


def hooked(name: str, text: str) -> Mapping[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


@pytest.mark.parametrize(
    ("client", "start", "prompt"),
    [
        ("claude", hooked("SessionStart", "x"), hooked("UserPromptSubmit", "x")),
        ("gemini", hooked("SessionStart", "x"), hooked("BeforeAgent", "x")),
        ("cursor", {"additional_context": "x"}, {"continue": True, "additional_context": "x"}),
        ("copilot", {"additionalContext": "x"}, {"additionalContext": "x"}),
    ],
)
def test_each_client_gets_a_text_in_the_form_it_reads(
    client: str, start: Mapping[str, Any], prompt: Mapping[str, Any]
) -> None:
    assert takes_in(client)
    assert answer(client, "session-start", "x") == start
    assert answer(client, "user-prompt-submit", "x") == prompt


def test_windsurf_takes_nothing_in() -> None:
    assert not takes_in("windsurf")


@pytest.mark.parametrize("odd", [{"tool_info": 7}, {"workspace_roots": "x"}, {"tool_response": [1]}, {"cwd": None}])
def test_fields_of_an_unexpected_type_are_left_alone(odd: dict[str, Any]) -> None:
    assert odd.items() <= our_fields(odd).items()
