"""What a text names: paths, symbols, versions, hosts, tickets, commits. Compared exactly, never by likeness."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..schemas.memory import Entity

MAX_ENTITIES = 64

# In this order: what an earlier pattern has taken is not offered to a later one.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("url", re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+[^\s<>\"'`)\]}.,;:!?]")),
    ("version", re.compile(r"\bv?\d+\.\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.-]*[0-9A-Za-z])?\b")),
    ("path", re.compile(r"(?<![\w/.~-])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*\w|(?<![\w/.])/[\w.-]+\w")),
    ("file", re.compile(r"\b[\w-]+\.(?:py|ts|tsx|js|jsx|rs|go|c|h|cc|cpp|java|rb|sh|toml|yaml|yml|json|md|sql|css|html|lock|ini|cfg|txt|env)\b")),
    ("ticket", re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d+\b|(?<![\w&])#\d+\b")),
    ("env", re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")),
    ("flag", re.compile(r"(?<![\w-])--[a-zA-Z][\w-]*")),
    ("host", re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|local|internal|test|example)\b|\b[a-z]+(?:-[a-z]+)*-\d+\b|\b(?:\d{1,3}\.){3}\d{1,3}\b")),
    ("commit", re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")),
    ("symbol", re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+\b")),
    ("quoted", re.compile(r"`([^`\n]{2,60})`")),
    ("name", re.compile(r"(?<![.!?:]\s)(?<![\w'’-])(?<!^)\b[A-Z][a-z]+(?:\s[A-Z][a-z]+){0,2}\b")),
)  # fmt: skip
_NOT_NAMES = frozenset(
    [
        "I",
        "The",
        "A",
        "An",
        "We",
        "It",
        "If",
        "When",
        "Then",
        "This",
        "That",
        "There",
        "You",
        "He",
        "She",
        "They",
        "But",
        "And",
        "Or",
        "So",
    ]
)


def entities(text: str) -> tuple[Entity, ...]:
    """The entities of a text, each once, in the order of the text; at most `MAX_ENTITIES`."""
    taken = bytearray(len(text))
    found: list[tuple[int, Entity]] = []
    for kind, pattern in _PATTERNS:
        for start, end, value in _matches(pattern, text):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append((start, Entity(kind, normalised(kind, value))))
    ordered = dict.fromkeys(entity for _, entity in sorted(found, key=lambda pair: pair[0]))
    return tuple(entity for entity in ordered if entity.value not in _NOT_NAMES)[:MAX_ENTITIES]


def normalised(kind: str, value: str) -> str:
    """The form in which two mentions of one thing are equal; numbers and letters stay as they are."""
    if kind == "symbol":
        return value.removesuffix("()")
    if kind == "version":
        return value.removeprefix("v")
    if kind in ("host", "commit"):
        return value.lower()
    if kind == "path":
        return value.removeprefix("./")
    return " ".join(value.split())


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        value = match.group(1) if pattern.groups else match.group()
        yield match.start(), match.end(), value
