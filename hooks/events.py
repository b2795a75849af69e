"""From what a client says on stdin to one line of the spool."""

from __future__ import annotations

import time

from .jsonline import dumps, loads

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

_FIELDS = (
    "prompt",
    "tool_name",
    "tool_input",
    "tool_response",
    "error",
    "reason",
    "trigger",
    "source",
    "custom_instructions",
    "last_assistant_message",
    "agent_id",
)
_OWN_ANSWERS = ("tool_input", "tool_response")
_LONGEST_NAME = 256


def event_name(given: str) -> str:
    """The spool's name of an event given that way or the client's, such as `SessionStart`; empty if unknown."""
    dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in given.strip())
    name = dashed.lstrip("-")
    return name if name in EVENTS else ""


def understood(text: str) -> dict[str, object]:
    """The client's object; a text that isn't one comes back whole under `unreadable`."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        value = loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return {"unreadable": text}


def line(event: str, given: Mapping[str, object], *, scope: str, now: int, noise: bytes, limit: int, lost: int) -> str:
    """One line of the spool, newline included.

    Args:
        event: its name as in `EVENTS`.
        given: the client's object.
        scope: the project key.
        now: nanoseconds since the epoch.
        noise: ten random bytes for the identifier.
        limit: characters of a field that are kept.
        lost: bytes of the client's text that never got here, counted in the cut of `unreadable`.
    """
    record = {
        "v": 1,
        "id": uuid7(now, noise),
        "at": iso(now),
        "scope": scope,
        "session": _name(given, "session_id"),
        "event": event,
        "payload": _payload(given, limit, lost),
    }
    return dumps(record) + "\n"


def uuid7(now: int, noise: bytes) -> str:
    """A UUID version 7 (RFC 9562) from nanoseconds since the epoch and ten random bytes."""
    random = int.from_bytes(noise[:10], "big")
    stamp = max(0, now) // 1_000_000 & (1 << 48) - 1
    value = stamp << 80 | 7 << 76 | (random >> 62 & 0xFFF) << 64 | 2 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


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
    text = value if isinstance(value, str) else dumps(value)
    if len(text) <= limit:
        return value
    tail = limit // 4
    return {"head": text[: limit - tail], "tail": text[len(text) - tail :], "cut": len(text) - limit}


def _payload(given: Mapping[str, object], limit: int, lost: int) -> dict[str, object]:
    if "unreadable" in given:
        rest = trimmed(given["unreadable"], limit)
        if lost and isinstance(rest, dict):
            rest["cut"] += lost
        return {"unreadable": rest}
    kept = {field: trimmed(given[field], limit) for field in _FIELDS if given.get(field) is not None}
    if _is_own_tool(_name(given, "tool_name")):
        # What ebbing answered is in the store already; spooling it would let memories feed on themselves.
        return {field: value for field, value in kept.items() if field not in _OWN_ANSWERS} | {"own_tool": True}
    return kept


def _is_own_tool(name: str) -> bool:
    return name.startswith("mcp_") and "ebbing" in name


def _name(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""
