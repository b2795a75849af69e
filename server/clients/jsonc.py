"""JSON with comments and trailing commas, read with the place of every part, so that an edit leaves the rest alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from ...schemas.errors import InvalidInputError

DEEPEST = 200
"""Containers in containers that are read; no client's file comes near."""

_SPACE = re.compile(r"[ \t\r\n\ufeff]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object or an element of an array: where it starts, its key, its value, where its comma is."""

    start: int
    key: str | None
    value: Node
    comma: int | None


class Node:
    """A value: its offsets in the text, what it is in Python, its items in order."""

    __slots__ = ("_items", "_text", "end", "start", "value")

    def __init__(self, start: int, end: int, value: Any, items: tuple[Item, ...] | None = (), text: str = "") -> None:
        """Hold them; items that are None are looked for in `text` when they are asked for."""
        self.start = start
        self.end = end
        self.value = value
        self._items = items
        self._text = text

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of a container."""
        if self._items is None:
            self._items = _Reader(self._text, self.start).items()
        return self._items

    def member(self, key: str) -> Item | None:
        """The member of that name.

        Raises:
            InvalidInputError: if there are several, of which clients read different ones.
        """
        found = [item for item in self.items if item.key == key]
        if len(found) > 1:
            raise InvalidInputError(f"{key!r} stands there {len(found)} times")
        return found[0] if found else None


def parse(text: str) -> Node | None:
    """The one value of a text; None where there is nothing but space and comments.

    Raises:
        InvalidInputError: with the line and column of what can't be read.
    """
    return _Reader(text).document()


def comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The offsets of the comments in a stretch that holds nothing but space, comments and commas."""
    while start < end:
        match = _COMMENT.match(text, start, end)
        if match:
            yield match.span()
        start = match.end() if match else start + 1


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_ORDINARY = json.JSONDecoder(parse_constant=_refuse)


class _Reader:
    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._at = at
        self._depth = 0

    def document(self) -> Node | None:
        self._skip()
        if self._at == len(self._text):
            return None
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            self._fail("more text after the end")
        return node

    def items(self) -> tuple[Item, ...]:
        """The items of the container that starts here."""
        return self._container().items

    def _value(self) -> Node:
        character = self._text[self._at : self._at + 1]
        if character in ("{", "["):
            return self._plain() or self._container()
        if character != '"':
            return self._scalar()
        start = self._at
        value = self._string()
        return Node(start, self._at, value)

    def _scalar(self) -> Node:
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            self._fail("a value is missing")
        try:
            value = json.loads(match[0])
        except ValueError:
            # Python turns no more than a few thousand digits into a number.
            self._fail("a number has too many digits")
        self._at = match.end()
        return Node(match.start(), match.end(), value)

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        try:
            value = json.loads(match[0]) if match else None
        except ValueError:
            value = None
        if match is None or value is None:
            self._fail("a string is not closed or has a bad escape")
        self._at = match.end()
        return value

    def _plain(self) -> Node | None:
        """A container in ordinary JSON, read a hundred times faster; its items are left for later."""
        start = self._at
        try:
            value, self._at = _ORDINARY.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            return None
        return Node(start, self._at, value, None, self._text)

    def _container(self) -> Node:
        start = self._at
        close = "}" if self._text[start] == "{" else "]"
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail("it is nested too deeply")
        self._at += 1
        items: list[Item] = []
        while not self._closes(close):
            if items and items[-1].comma is None:
                self._fail("a comma is missing")
            items.append(self._item(named=close == "}"))
        self._at += 1
        self._depth -= 1
        value = {item.key: item.value.value for item in items} if close == "}" else [i.value.value for i in items]
        return Node(start, self._at, value, tuple(items))

    def _closes(self, close: str) -> bool:
        self._skip()
        if self._at >= len(self._text):
            self._fail(f"{close} is missing at the end")
        return self._text[self._at] == close

    def _item(self, *, named: bool) -> Item:
        start, key = self._at, None
        if named:
            if self._text[self._at] != '"':
                self._fail("a name in double quotes is missing")
            key = self._string()
            self._skip()
            if self._text[self._at : self._at + 1] != ":":
                self._fail("a colon is missing")
            self._at += 1
            self._skip()
        value = self._value()
        self._skip()
        comma = self._at if self._text[self._at : self._at + 1] == "," else None
        self._at += comma is not None
        return Item(start, key, value, comma)

    def _skip(self) -> None:
        while match := _SPACE.match(self._text, self._at) or _COMMENT.match(self._text, self._at):
            self._at = match.end()

    def _fail(self, what: str) -> NoReturn:
        before = self._text[: self._at]
        line = before.count("\n") + 1
        column = self._at - before.rfind("\n")
        raise InvalidInputError(f"line {line}, column {column}: {what}")
