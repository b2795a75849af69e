"""Smaller JSON schemas: every session of every client pays for tools/list, so what says nothing is left out.

Dropped are generated titles, the null alternative of optional arguments (leaving an argument out means the same), their
null and false defaults, and in replies the descriptions and required lists, which clients need neither to read nor to
validate a reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_NULL = {"type": "null"}
_ONLY_IN_ARGUMENTS = frozenset({"description", "required", "additionalProperties", "default"})


def slim_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input schema without what says nothing."""
    return cast("dict[str, Any]", _slim(schema, frozenset({"title"})))


def slim_reply(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's output schema: names and types of the reply, without what lies inside its lists."""
    slim = cast("dict[str, Any]", _slim(schema, frozenset({"title"}) | _ONLY_IN_ARGUMENTS))
    slim["properties"] = {name: _shallow(inner) for name, inner in slim["properties"].items()}
    return {key: value for key, value in slim.items() if key != "$defs"}


def _shallow(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "items"}


def _slim(node: object, dropped: frozenset[str]) -> object:
    if isinstance(node, list):
        return [_slim(item, dropped) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, Any]", node)
    if "$ref" in schema:
        return {"type": "object"}
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _slim(inner, dropped) for name, inner in value.items()}
        elif key not in dropped and not (key == "default" and value in (None, False)):
            result[key] = _slim(value, dropped)
    return _without_null(result)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    alternatives = [each for each in schema.get("anyOf", []) if each != _NULL]
    if len(alternatives) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**alternatives[0], **rest}
