"""Placements into and out of a TOML document: a table at its end, or values in the table that is there."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from ...schemas.errors import InvalidInputError
from .jsonc_text import newline_of
from .placement import Placement, Undo, as_object
from .toml_lines import Statement, statements

_BOM = "\ufeff"


def put(text: str, placement: Placement) -> tuple[str, list[Undo]]:
    """The text with a table in it, and how to take that back; no change gives the same text and nothing to undo.

    Raises:
        InvalidInputError: if the text can't be read, or has the place in a form that can't be added to.
    """
    before = _loads(text)
    there = _at(before, placement.path)
    if there is None:
        lead = _lead(text)
        changed, undos = text + lead + _table(placement, newline_of(text)), [Undo(placement.path, hollow=lead)]
    else:
        changed, undos = _put_values(text, placement, there)
    expected = {**(as_object(there) or {}), **placement.value}
    if _at(_loads_or_none(changed), placement.path) != expected or _rest(changed, placement) != _rest(text, placement):
        raise InvalidInputError(f"{'.'.join(placement.path)} is written in a way that can't be added to")
    return changed, undos


def take(text: str, undo: Undo) -> str:
    """The text without what a change brought, or with what it replaced; whatever else was changed since stays.

    Raises:
        InvalidInputError: if the text can't be read.
    """
    _loads(text)
    if any(_is_in(statement, undo.path) for statement in statements(text)):
        return _without_table(text, undo)
    pair = _pair_at(text, undo.path)
    if pair is None:
        return text
    if undo.was is None:
        return text[: pair.start] + text[pair.end :]
    return text[: pair.value_start] + undo.was + text[pair.value_end :]


def strip(text: str, placement: Placement) -> str:
    """The text without a table of which no record was kept.

    Raises:
        InvalidInputError: if the text can't be read, or has the table in a form that can't be taken out.
    """
    stripped = take(text, Undo(placement.path))
    if find(stripped, placement) is not None:
        raise InvalidInputError(f"{'.'.join(placement.path)} is written in a way that can't be taken out")
    return stripped


def find(text: str, placement: Placement) -> Any:
    """What stands at a placement, None if nothing does."""
    return _at(_loads(text), placement.path)


# --- in --------------------------------------------------------------------------------------------------------------


def _put_values(text: str, placement: Placement, there: Any) -> tuple[str, list[Undo]]:
    undos: list[Undo] = []
    for key, value in placement.value.items():
        if (as_object(there) or {}).get(key) == value:
            continue
        path = (*placement.path, key)
        pair = _pair_at(text, path)
        if pair is not None:
            undos.append(Undo(path, was=text[pair.value_start : pair.value_end]))
            text = text[: pair.value_start] + _source(value) + text[pair.value_end :]
        elif (header := _header_at(text, placement.path)) is not None:
            undos.append(Undo(path))
            line = f"{key} = {_source(value)}{newline_of(text)}"
            text = text[: header.end] + line + text[header.end :]
    return text, undos


def _lead(text: str) -> str:
    """What must stand between the end of a text and a new table."""
    newline = newline_of(text)
    if not text.removeprefix(_BOM).strip():
        return ""
    return newline if text.endswith("\n") else newline * 2


def _table(placement: Placement, newline: str) -> str:
    lines = [f"[{'.'.join(placement.path)}]", *(f"{key} = {_source(value)}" for key, value in placement.value.items())]
    return newline.join([*lines, ""])


def _source(value: Any) -> str:
    """A string, a number, a truth value or a list of these: JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)


# --- out -------------------------------------------------------------------------------------------------------------


def _without_table(text: str, undo: Undo) -> str:
    """Takes the table and its sub-tables out, each up to its last value: comments after that belong to what follows."""
    for start, end in reversed(list(_stretches(text, undo.path))):
        lead = undo.hollow
        if lead is None:
            lead = newline_of(text) if text[:start].endswith(newline_of(text) * 2) else ""
        kept = text[:start].removesuffix(lead)
        if kept and text[end:] and not kept.endswith("\n"):
            # What was the last line, without an end, isn't any more.
            kept += newline_of(text)
        text = kept + text[end:]
    return text


def _stretches(text: str, path: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    found = list(statements(text))
    for number, statement in enumerate(found):
        if _is_in(statement, path):
            body = list(takewhile(lambda other: not other.is_header, found[number + 1 :]))
            yield statement.start, (body[-1] if body else statement).end


def _is_in(statement: Statement, path: tuple[str, ...]) -> bool:
    return statement.is_header and statement.key[: len(path)] == path


# --- reading ---------------------------------------------------------------------------------------------------------


def _loads(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        # Not only TOMLDecodeError: Python turns no more than a few thousand digits into a number.
        raise InvalidInputError(str(error) or "it is nested too deeply") from error


def _loads_or_none(text: str) -> dict[str, Any]:
    try:
        return _loads(text)
    except InvalidInputError:
        return {}


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = (as_object(document) or {}).get(key)
    return document


def _rest(text: str, placement: Placement) -> Any:
    """A document without what a placement is about."""
    document = _loads_or_none(text)
    holder = as_object(_at(document, placement.path[:-1]))
    if holder is not None:
        holder.pop(placement.path[-1], None)
    if holder == {} and placement.path[:-1]:
        document.pop(placement.path[0])
    return document


def _header_at(text: str, path: tuple[str, ...]) -> Statement | None:
    return next((found for found in statements(text) if found.is_header and found.key == path), None)


def _pair_at(text: str, path: tuple[str, ...]) -> Statement | None:
    """The name and value at a path, where the table has a header of its own."""
    table: tuple[str, ...] = ()
    for statement in statements(text):
        if statement.is_header:
            table = statement.key
        elif table == path[:-1] and statement.key == path[-1:]:
            return statement
    return None
