"""Smallest edits of JSON text: one item in, one item out, in the style that the text has."""

from __future__ import annotations

import json
import re
from typing import Any

from .jsonc import Item, Node, comments
from .placement import as_list, as_object

DEFAULT_INDENT = "  "


def newline_of(text: str) -> str:
    """The line ending of a text: that of its first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def with_item(text: str, root: Node, container: Node, key: str | None, value: Any) -> str:
    """The text with one more item at the end of a container; every other byte stays."""
    if not container.items:
        return _with_first(text, root, container, key, value)
    last = container.items[-1]
    begin = last.value.end if last.comma is None else last.comma + 1
    anchor = _after_comments(text, begin, container.end - 1)
    if "\n" in text[container.start : container.end]:
        indent = _items_indent(text, root, container)
        piece = newline_of(text) + indent + rendered(text, root, key, value, indent)
    else:
        piece = " " + _inline(key, value)
    if last.comma is None:
        return f"{text[: last.value.end]},{text[last.value.end : anchor]}{piece}{text[anchor:]}"
    return f"{text[:anchor]}{piece},{text[anchor:]}"


def without_item(text: str, container: Node, index: int) -> str:
    """The text without one of a container's items and one comma; what stood around it stays."""
    item = container.items[index]
    before = container.items[index - 1] if index else None
    begin = container.start + 1 if before is None or before.comma is None else before.comma + 1
    cuts = [(_after_comments(text, begin, item.start), item.value.end)]
    comma = item.comma if item.comma is not None or before is None else before.comma
    if comma is not None:
        cuts.append((comma, comma + 1))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def with_value(text: str, node: Node, source: str) -> str:
    """The text with a value's source replaced."""
    return text[: node.start] + source + text[node.end :]


def rendered(text: str, root: Node, key: str | None, value: Any, indent: str) -> str:
    """An item over several lines in the text's style; `indent` is that of its own line."""
    return _named(key, _spread(value, _unit(text, root), newline_of(text) + indent))


def is_hollow(text: str, container: Node) -> bool:
    """Whether nothing but space stands in a container."""
    return not container.items and not inside(text, container).strip(" \t\r\n\ufeff")


def inside(text: str, container: Node) -> str:
    """What stands between a container's brackets."""
    return text[container.start + 1 : container.end - 1]


def notes_in(text: str, container: Node) -> list[str]:
    """The comments of a container without items."""
    return [text[start:end] for start, end in comments(text, container.start + 1, container.end - 1)]


def _with_first(text: str, root: Node, container: Node, key: str | None, value: Any) -> str:
    if root.items and "\n" not in text[root.start : root.end]:
        return text[: container.start + 1] + _inline(key, value) + text[container.end - 1 :]
    outer = _line_indent(text, container.start)
    indent = outer + _unit(text, root)
    start = _after_comments(text, container.start + 1, container.end - 1)
    newline = newline_of(text)
    rest = text[start : container.end - 1]
    if "\n" not in rest or start == container.start + 1:
        rest = newline + outer
    piece = newline + indent + rendered(text, root, key, value, indent)
    return text[:start] + piece + rest + text[container.end - 1 :]


def _after_comments(text: str, start: int, end: int) -> int:
    """The end of the last comment in a stretch between tokens, or its start."""
    return max((stop for _, stop in comments(text, start, end)), default=start)


def _inline(key: str | None, value: Any) -> str:
    return _named(key, json.dumps(value, ensure_ascii=False))


def _spread(value: Any, unit: str, line: str) -> str:
    """A value over several lines, each begun by `line`; a list of plain values stays on one."""
    inner = line + unit
    members, elements = as_object(value), as_list(value)
    if members:
        parts = [_named(key, _spread(part, unit, inner)) for key, part in members.items()]
        return "{" + ",".join(inner + part for part in parts) + line + "}"
    if elements and any(isinstance(part, dict | list) for part in elements):
        parts = [_spread(part, unit, inner) for part in elements]
        return "[" + ",".join(inner + part for part in parts) + line + "]"
    return _inline(None, value)


def _named(key: str | None, body: str) -> str:
    return body if key is None else f"{json.dumps(key, ensure_ascii=False)}: {body}"


def _items_indent(text: str, root: Node, container: Node) -> str:
    own = [indent for item in container.items if (indent := _own_line_indent(text, item)) is not None]
    return own[0] if own else _line_indent(text, container.start) + _unit(text, root)


def _unit(text: str, root: Node) -> str:
    """One step of indentation: that of the outermost items."""
    own = [_own_line_indent(text, item) for item in root.items]
    return next((indent for indent in own if indent), DEFAULT_INDENT)


def _own_line_indent(text: str, item: Item) -> str | None:
    """The space before an item that begins its line; None for one that doesn't."""
    line_start = text.rfind("\n", 0, item.start) + 1
    before = text[line_start : item.start]
    return before if line_start and not before.strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    line_start = text.rfind("\n", 0, at) + 1
    match = re.match(r"[ \t]*", text[line_start:at])
    return match[0] if match else ""
