"""The statements of a TOML document with their places. The document must be valid, which `tomllib` has to say first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*(\.?)""")
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"""[^"'\[\]{}#\n]+""")


@dataclass(frozen=True, slots=True)
class Statement:
    """A table's header, or a name with its value (whose offsets are 0 for a header); `end` is after its line."""

    key: tuple[str, ...]
    is_header: bool
    start: int
    value_start: int
    value_end: int
    end: int


def statements(text: str) -> Iterator[Statement]:
    """The statements of a valid document in order."""
    at = _blank_end(text, 0)
    while at < len(text):
        statement = _header(text, at) if text[at] == "[" else _pair(text, at)
        yield statement
        at = _blank_end(text, statement.end)


def _header(text: str, start: int) -> Statement:
    brackets = 2 if text.startswith("[[", start) else 1
    key, at = _key(text, start + brackets)
    return Statement(key, is_header=True, start=start, value_start=0, value_end=0, end=_line_end(text, at + brackets))


def _pair(text: str, start: int) -> Statement:
    key, at = _key(text, start)
    value_start = at + 1 + len(text[at + 1 :]) - len(text[at + 1 :].lstrip(" \t"))
    stop = _value_end(text, value_start)
    value_end = value_start + len(text[value_start:stop].rstrip(" \t\r"))
    return Statement(
        key, is_header=False, start=start, value_start=value_start, value_end=value_end, end=_line_end(text, stop)
    )


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    more = True
    while more and (match := _KEY_PART.match(text, at)):
        basic, literal, bare, dot = match.groups()
        parts.append(_unescaped(basic) if basic is not None else literal if literal is not None else bare)
        at, more = match.end(), bool(dot)
    return tuple(parts), at


def _unescaped(basic: str) -> str:
    """A quoted name; one with escapes that JSON lacks is no name of ours, so any text does for it."""
    try:
        return json.loads(f'"{basic}"')
    except ValueError:
        return basic


def _value_end(text: str, at: int) -> int:
    """The offset of the comment or the line's end after a value."""
    depth = 0
    while at < len(text):
        character = text[at]
        match = _STRINGS.match(text, at) or _PLAIN.match(text, at)
        if match:
            at = match.end()
            continue
        if character in "#\n" and not depth:
            break
        if character == "#":
            at = _line_end(text, at)
            continue
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0)
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _blank_end(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
