"""Placements into and out of a JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import reduce
from typing import Any

from ...schemas.errors import InvalidInputError
from .jsonc import Item, Node, parse
from .jsonc_text import (
    inside,
    is_hollow,
    newline_of,
    notes_in,
    rendered,
    with_item,
    with_value,
    without_item,
)
from .placement import Placement, Undo, as_list, as_object, is_ours

_NOTHING = Node(0, 0, {})
_GROUP = "hooks"


def put(text: str, placement: Placement) -> tuple[str, list[Undo]]:
    """The text with a placement in it, and how to take that back; no change gives the same text and nothing to undo.

    Raises:
        InvalidInputError: if the text can't be read, or something else stands on the way.
    """
    there = value_at(text, placement.path)
    members = None if placement.listed else as_object(placement.value)
    if members is not None and as_object(there) is not None:
        undos: list[Undo] = []
        for key, value in members.items():
            text, done = _put_one(text, Placement((*placement.path, key), value))
            undos += done
        return text, undos
    if placement.needed and there is not None:
        return text, []
    return _put_one(text, placement)


def take(text: str, undo: Undo) -> str:
    """The text without what a change brought, or with what it replaced; whatever else was changed since stays.

    Raises:
        InvalidInputError: if the text can't be read.
    """
    text = _without_listed(text, undo.path, undo.was) if undo.listed else _without_member(text, undo.path, undo.was)
    return text if undo.was is not None else _without_containers(text, undo)


def strip(text: str, placement: Placement) -> str:
    """The text without a placement of which no record was kept; containers stay."""
    if placement.needed:
        return text
    return take(text, Undo(placement.path, listed=placement.listed, depth=len(placement.path)))


def find(text: str, placement: Placement) -> Any:
    """What stands at a placement: the value, or ebbing's own entry of the list; None if nothing does."""
    there = value_at(text, placement.path)
    if not placement.listed:
        return there
    return next((entry for entry in _handlers_of(there) if is_ours(entry)), None)


def value_at(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path, None where it leads nowhere."""
    chain = _chain(parse(text), path)
    return chain[-1].value if len(chain) == len(path) + 1 else None


# --- in --------------------------------------------------------------------------------------------------------------


def _put_one(text: str, placement: Placement) -> tuple[str, list[Undo]]:
    root = parse(text)
    if root is None:
        return _begun(text, placement)
    chain = _chain(root, placement.path)
    for depth, node in enumerate(chain[: len(placement.path)]):
        _demand(node, dict, placement.path[:depth])
    if len(chain) <= len(placement.path):
        depth, container = len(chain) - 1, chain[-1]
        hollow = None if container.items else inside(text, container)
        undo = Undo(placement.path, placement.listed, depth, hollow)
        return with_item(text, root, container, placement.path[depth], _nested(placement, depth + 1)), [undo]
    put_at = _put_listed if placement.listed else _replaced
    return put_at(text, root, chain[-1], placement)


def _begun(text: str, placement: Placement) -> tuple[str, list[Undo]]:
    """A document of our own, at the end of whatever space and comments there are."""
    gap = newline_of(text) if text.strip(" \t\r\n\ufeff") and not text.endswith("\n") else ""
    body = rendered(text, _NOTHING, None, _nested(placement, 0), "")
    undo = Undo(placement.path, placement.listed, depth=-1, hollow=text)
    return f"{text}{gap}{body}{newline_of(text)}", [undo]


def _replaced(text: str, root: Node, node: Node, placement: Placement) -> tuple[str, list[Undo]]:
    if node.value == placement.value:
        return text, []
    undo = Undo(placement.path, depth=len(placement.path), was=text[node.start : node.end])
    return with_value(text, node, _source(text, root, node, placement.value)), [undo]


def _put_listed(text: str, root: Node, node: Node, placement: Placement) -> tuple[str, list[Undo]]:
    _demand(node, list, placement.path)
    depth = len(placement.path)
    wanted = _handler_in(placement.value)
    ours = [handler for _, handlers in _groups(node) for handler in handlers.items if is_ours(handler.value.value)]
    if any(handler.value.value == wanted for handler in ours):
        return text, []
    if ours:
        old = ours[0].value
        undo = Undo(placement.path, listed=True, depth=depth, was=text[old.start : old.end])
        return with_value(text, old, _source(text, root, old, wanted)), [undo]
    hollow = None if node.items else inside(text, node)
    undo = Undo(placement.path, listed=True, depth=depth, hollow=hollow)
    return with_item(text, root, node, None, placement.value), [undo]


def _nested(placement: Placement, depth: int) -> Any:
    inner = [placement.value] if placement.listed else placement.value
    return reduce(lambda value, key: {key: value}, reversed(placement.path[depth:]), inner)


def _source(text: str, root: Node, old: Node, value: Any) -> str:
    if not isinstance(value, dict | list) or "\n" not in text[old.start : old.end]:
        return json.dumps(value, ensure_ascii=False)
    line = text[text.rfind("\n", 0, old.start) + 1 : old.start]
    return rendered(text, root, None, value, line[: len(line) - len(line.lstrip(" \t"))])


# --- out -------------------------------------------------------------------------------------------------------------


def _without_member(text: str, path: tuple[str, ...], was: str | None) -> str:
    chain = _chain(parse(text), path)
    if len(chain) <= len(path):
        return text
    if was is not None:
        return with_value(text, chain[-1], was)
    return _without_key(text, chain[-2], path[-1])


def _without_listed(text: str, path: tuple[str, ...], was: str | None) -> str:
    """Takes out one handler of ebbing's after the other, and a group with the last one in it."""
    while (place := _first_of_ours(text, path)) is not None:
        node, group, handlers, index = place
        if was is not None:
            return with_value(text, handlers.items[index].value, was)
        alone = handlers is not node and len(handlers.items) == 1
        text = without_item(text, node, group) if alone else without_item(text, handlers, index)
    return text


def _first_of_ours(text: str, path: tuple[str, ...]) -> tuple[Node, int, Node, int] | None:
    chain = _chain(parse(text), path)
    if len(chain) <= len(path) or not isinstance(chain[-1].value, list):
        return None
    for group, handlers in _groups(chain[-1]):
        for index, handler in enumerate(handlers.items):
            if is_ours(handler.value.value):
                return chain[-1], group, handlers, index
    return None


def _without_containers(text: str, undo: Undo) -> str:
    """Takes away what held nothing but ebbing and was made for it, and restores what an empty container looked like."""
    containers = len(undo.path) if undo.listed else len(undo.path) - 1
    for depth in range(containers, max(undo.depth, 0), -1):
        chain = _chain(parse(text), undo.path[:depth])
        if len(chain) == depth + 1 and is_hollow(text, chain[-1]):
            text = _without_key(text, chain[-2], undo.path[depth - 1])
    chain = _chain(parse(text), undo.path[: max(undo.depth, 0)])
    if len(chain) != max(undo.depth, 0) + 1 or chain[-1].items:
        return text
    if undo.depth < 0:
        return _ended(text, chain[0], undo.hollow or "")
    return text if undo.hollow is None else _with_hollow(text, chain[-1], undo.hollow)


def _ended(text: str, root: Node, begun_from: str) -> str:
    """Takes back `_begun`, unless something else has come into the file."""
    around = text[: root.start] + text[root.end :]
    return begun_from if is_hollow(text, root) and around.split() == begun_from.split() else text


def _with_hollow(text: str, node: Node, hollow: str) -> str:
    restored = f"{text[: node.start + 1]}{hollow}{text[node.end - 1 :]}"
    again = Node(node.start, node.start + len(hollow) + 2, None)
    return restored if notes_in(restored, again) == notes_in(text, node) else text


def _without_key(text: str, container: Node, key: str) -> str:
    index = next(number for number, item in enumerate(container.items) if item.key == key)
    return without_item(text, container, index)


# --- reading ---------------------------------------------------------------------------------------------------------


def _chain(root: Node | None, path: tuple[str, ...]) -> list[Node]:
    """The nodes from the root as far along the path as there are any."""
    chain = [root] if root is not None else []
    for key in path if chain else ():
        item = chain[-1].member(key)
        if item is None:
            break
        chain.append(item.value)
    return chain


def _demand(node: Node, kind: type, path: tuple[str, ...]) -> None:
    if not isinstance(node.value, kind):
        where = ".".join(path) or "the whole"
        raise InvalidInputError(f"{where} is not {'an object' if kind is dict else 'a list'}")


def _groups(node: Node) -> Iterator[tuple[int, Node]]:
    """Each list that handlers stand in, with its group's number: a group's own list, or the list itself."""
    for number, item in enumerate(node.items):
        inner = _group_list(item)
        if inner is not None:
            yield number, inner
    yield 0, node


def _group_list(item: Item) -> Node | None:
    inner = item.value.member(_GROUP) if isinstance(item.value.value, dict) else None
    return inner.value if inner is not None and isinstance(inner.value.value, list) else None


def _handlers_of(entries: Any) -> Iterator[Any]:
    for entry in as_list(entries) or ():
        group = as_list((as_object(entry) or {}).get(_GROUP))
        yield from (entry,) if group is None else group


def _handler_in(value: Any) -> Any:
    return next(_handlers_of([value]))
