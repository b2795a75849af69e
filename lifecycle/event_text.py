"""Hook events in words: what an observation says of a prompt, a tool call, a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_ACTORS = {
    "user-prompt-submit": "user",
    "prompt": "user",
    "post-tool-use": "tool",
    "post-tool-use-failure": "tool",
    "tool": "tool",
    "stop": "agent",
    "subagent-stop": "agent",
}
_BRINGS = re.compile(r"web|fetch|browser|search_(?:issues|code|repo)|slack|mail|jira|notion|http", re.IGNORECASE)
_PARTS = 2_000
_CUT_PARTS = 3
_INPUT_KEYS = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")


def actor_of(event: str, tool: str | None = None) -> str:
    """Who speaks in an event: "user", "tool", "agent" or, where a tool brings text from elsewhere, "outside".

    An event of no known kind is the agent's, unless it names a tool.
    """
    actor = _ACTORS.get(event, "agent" if tool is None else "tool")
    return "outside" if actor == "tool" and tool is not None and _BRINGS.search(tool) else actor


def describe(event: str, payload: Mapping[str, Any]) -> str | None:
    """An event in words, or None for one that only marks activity or repeats what is stored already."""
    if payload.get("own_tool"):
        return None
    if event == "user-prompt-submit":
        return _text(payload.get("prompt"))
    if event in ("post-tool-use", "post-tool-use-failure"):
        return _tool(event, payload)
    if event in ("stop", "subagent-stop"):
        return _text(payload.get("last_assistant_message"))
    return None


def _tool(event: str, payload: Mapping[str, Any]) -> str:
    name = str(payload.get("tool_name") or "tool")
    called = f"{name}: {_input(payload.get('tool_input'))}".strip()
    if event == "post-tool-use-failure":
        return f"{called}\nfailed: {_text(payload.get('error')) or 'without a message'}"
    answer = _text(payload.get("tool_response"))
    return f"{called}\n{answer}" if answer else called


def _input(value: object) -> str:
    if isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        for key in _INPUT_KEYS:
            if isinstance(told := named.get(key), str):
                return _shortened(told)
    return _text(cast("object", value)) or ""


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, Mapping) and (joined := _rejoined(cast("Mapping[str, object]", value))) is not None:
        return joined
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return _shortened(text) if text.strip() else None


def _rejoined(parts: Mapping[str, object]) -> str | None:
    """A text that a hook has cut; None for any other object, such as one that a client has called its parts alike."""
    head, tail, cut = parts.get("head"), parts.get("tail"), parts.get("cut")
    if len(parts) != _CUT_PARTS or not (isinstance(head, str) and isinstance(tail, str) and isinstance(cut, int)):
        return None
    return _joined(head, tail, cut)


def _shortened(text: str) -> str:
    """The beginning and end of a long text, with how much was left out between them: tool output can be megabytes."""
    if len(text) <= 2 * _PARTS:
        return text
    return _joined(text[:_PARTS], text[-_PARTS:], len(text) - 2 * _PARTS)


def _joined(head: str, tail: str, cut: int) -> str:
    left_out = cut + max(0, len(head) - _PARTS) + max(0, len(tail) - _PARTS)
    return f"{head[:_PARTS]}\n[… {left_out:,} characters left out …]\n{tail[-_PARTS:]}"
