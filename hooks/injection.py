"""What session-start prints: the soft prompt that the daily run prepared."""

from __future__ import annotations

from .jsonline import dumps
from .places import GLOBAL_SCOPE, soft_prompt_file

CHARACTER_LIMIT = 9_500
"""Clients cut an injected text at 10,000 characters; they count UTF-16 units."""

_ALREADY_IN_CONTEXT = ("resume", "fork")
_LARGEST_FILE = 1 << 18
_NOTE = "[{lines} more lines are stored; recall returns them]"


def answer(home: str, scope: str, source: object) -> bytes:
    """The client's JSON with the scope's soft prompt, else the global one; empty where there is nothing to add.

    A resumed or forked session still has what an earlier start put into its context.

    Raises:
        OSError: if a prompt file exists and can't be read.
    """
    if source in _ALREADY_IN_CONTEXT:
        return b""
    text = _prepared(home, scope) or _prepared(home, GLOBAL_SCOPE)
    if not text:
        return b""
    output = {"hookEventName": "SessionStart", "additionalContext": fitted(text)}
    return (dumps({"hookSpecificOutput": output}) + "\n").encode("ascii")


def fitted(text: str, limit: int = CHARACTER_LIMIT) -> str:
    """The text within `limit` UTF-16 units: whole lines, then a note of how many were left out."""
    if _units(text) <= limit:
        return text
    lines = text.split("\n")
    room = limit - len(_NOTE.format(lines=len(lines))) - 1
    kept: list[str] = []
    for line in lines:
        room -= _units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, _NOTE.format(lines=len(lines) - len(kept))])


def _prepared(home: str, scope: str) -> str:
    try:
        with open(soft_prompt_file(home, scope), "rb") as file:
            return file.read(_LARGEST_FILE).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
