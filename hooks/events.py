"""From what a client says on stdin to one line of the spool."""

from __future__ import annotations

import time

from .clients import our_event
from .jsonline import DEEPEST, as_object, dumps, is_deep, loads
from .own import before_quote, is_own_tool, is_quoted
from .places import digest
from .private import public
from .switches import CAPTURED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = frozenset(
    {
        "session-start",
        "user-prompt-submit",
        "post-tool-use",
        "post-tool-use-failure",
        "stop",
        "subagent-stop",
        "pre-compact",
        "session-end",
    }
)
FIELD_LIMIT = 32_768
"""Characters of a field that are kept; the rest is counted in its `cut`."""
SMALL_FIELD_LIMIT = 256
"""The same while the spool is so large that nobody seems to be taking it."""

_FIELDS = {
    "session-start": ("source",),
    "user-prompt-submit": ("prompt", "source"),
    "post-tool-use": ("tool_name", "tool_input", "tool_response"),
    "post-tool-use-failure": ("tool_name", "tool_input", "error"),
    "stop": ("last_assistant_message",),
    "subagent-stop": ("last_assistant_message",),
    "pre-compact": ("trigger", "custom_instructions"),
    "session-end": ("reason",),
}
_ANYWHERE = ("agent_id",)
_NAMED_BY = {
    "user-prompt-submit": "prompt_id",
    "post-tool-use": "tool_use_id",
    "post-tool-use-failure": "tool_use_id",
}
_TOLD = {"prompt": "prompts", "last_assistant_message": "answers", "custom_instructions": "prompts"}
_OWN_ANSWERS = ("tool_input", "tool_response", "error")
# Prompts that a client makes up by itself: the user did not say them, and some come again every few minutes.
_SAID_BY_NOBODY = ("system", "loop_wakeup", "schedule_wakeup", "poll_event")
_LONGEST_NAME = 256


def event_name(given: str) -> str:
    """The spool's name of an event given that way or a client's, such as `SessionStart`; empty if unknown."""
    name = our_event(given)
    return name if name in EVENTS else ""


def understood(text: str) -> dict[str, object]:
    """The client's object; a text that isn't one comes back whole under `unreadable`."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        value = loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        value = None
    if text.count("[") + text.count("{") > DEEPEST and is_deep(value):
        value = None
    found = as_object(value)
    return found if found or value == {} else {"unreadable": text}


def is_users_prompt(given: Mapping[str, object]) -> bool:
    """Whether the object holds a prompt that a person, or a program in their place, gave."""
    return given.get("prompt") is not None and given.get("source") not in _SAID_BY_NOBODY


def is_own(given: Mapping[str, object]) -> bool:
    """Whether a tool event is about ebbing itself: a call of its tools, or a result that quotes what it showed.

    What it answered is in the store already; spooling it would let memories feed on themselves.
    """
    if is_own_tool(_name(given, "tool_name")):
        return True
    answers = (given.get("tool_response"), given.get("error"))
    return any(answer is not None and is_quoted(as_text(answer)) for answer in answers)


def line(
    event: str,
    given: Mapping[str, object],
    *,
    scope: str,
    now: int,
    noise: bytes,
    limit: int,
    lost: int,
    capture: frozenset[str] = frozenset(CAPTURED),
) -> str:
    """One line of the spool, newline included.

    Args:
        event: its name as in `EVENTS`.
        given: the client's object, with the names of fields that `our_fields` gives them.
        scope: the project key.
        now: nanoseconds since the epoch.
        noise: ten random bytes for the identifier.
        limit: characters of a field that are kept.
        lost: bytes of the client's text that never got here, counted in the cut of `unreadable`.
        capture: which of `CAPTURED` may be in it.
    """
    record = {
        "v": 1,
        "id": _event_id(event, given) or uuid7(now, noise),
        "at": iso(now),
        "scope": scope,
        "session": _name(given, "session_id"),
        "event": event,
        "payload": _payload(event, given, limit, lost, capture),
    }
    return dumps(record) + "\n"


def uuid7(now: int, noise: bytes) -> str:
    """A UUID version 7 (RFC 9562) from nanoseconds since the epoch and ten random bytes."""
    random = int.from_bytes(noise[:10], "big")
    stamp = max(0, now) // 1_000_000 & (1 << 48) - 1
    value = stamp << 80 | 7 << 76 | (random >> 62 & 0xFFF) << 64 | 2 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _event_id(event: str, given: Mapping[str, object]) -> str:
    """The same identifier for the same event, where the client names it: one hook may be configured twice.

    A UUID version 8 (RFC 9562) made of a digest; empty where only the client's session is known.
    """
    name = _name(given, _NAMED_BY.get(event, ""))
    if not name:
        return ""
    digits = digest("\n".join((_name(given, "session_id"), event, name)))
    return "-".join((digits[:8], digits[8:12], f"8{digits[13:16]}", f"8{digits[17:20]}", digits[20:]))


def iso(now: int) -> str:
    """Nanoseconds since the epoch as ISO 8601 in UTC, to the microsecond."""
    part = time.gmtime(now // 1_000_000_000)
    date = f"{part.tm_year:04}-{part.tm_mon:02}-{part.tm_mday:02}"
    clock = f"{part.tm_hour:02}:{part.tm_min:02}:{part.tm_sec:02}"
    return f"{date}T{clock}.{now // 1000 % 1_000_000:06}Z"


def trimmed(value: object, limit: int) -> object:
    """The value, or its beginning and end with the number of characters between them that were cut.

    A value that isn't a string is measured and cut as the JSON text of it.
    """
    text = as_text(value)
    if len(text) <= limit:
        return value
    tail = limit // 4
    return {"head": text[: limit - tail], "tail": text[len(text) - tail :], "cut": len(text) - limit}


def as_text(value: object) -> str:
    """A string as it is, any other value as JSON."""
    return value if isinstance(value, str) else dumps(value)


def _payload(
    event: str, given: Mapping[str, object], limit: int, lost: int, capture: frozenset[str]
) -> dict[str, object]:
    if "unreadable" in given:
        return _unread(given["unreadable"], limit, lost) if len(capture) == len(CAPTURED) else {}
    kept = {field: given[field] for field in (*_FIELDS[event], *_ANYWHERE) if given.get(field) is not None}
    is_tools = event.startswith("post-tool-use")
    if is_tools and is_own(given):
        return {field: value for field, value in kept.items() if field not in _OWN_ANSWERS} | {"own_tool": True}
    for field, switch in _TOLD.items():
        if switch not in capture or (field == "prompt" and not is_users_prompt(given)):
            kept.pop(field, None)
        elif isinstance(text := kept.get(field), str):
            kept[field] = before_quote(text)
    return {field: trimmed(public(value), limit) for field, value in kept.items()}


def _unread(text: object, limit: int, lost: int) -> dict[str, object]:
    rest = trimmed(public(text), limit)
    if lost and isinstance(rest, dict):
        rest["cut"] += lost
    return {"unreadable": rest}


def _name(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""
