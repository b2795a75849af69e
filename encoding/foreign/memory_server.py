"""The reference MCP memory server's file: a line of JSON for each entity with its observations and each relation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...schemas.memory import Kind
from .notes import Document, Note, Reading, spoken


def is_sure(documents: Sequence[Document]) -> bool:
    """Whether the first line is an entity or a relation."""
    if len(documents) != 1:
        return False
    first = next((line for line in documents[0].text.split("\n") if line.strip()), "")
    return any(_said(_parsed(first)))


def read(documents: Sequence[Document]) -> Reading:
    """A note for each observation and each relation; an entity without observations says nothing."""
    reading = Reading()
    for document in documents:
        # Not splitlines: a line ends at \n alone, and an observation may hold other separators.
        for number, line in enumerate(document.text.split("\n"), 1):
            if not line.strip():
                continue
            record = _parsed(line)
            if not _is_known(record):
                reading.problems.append((f"{document.name} line {number}", "it is neither an entity nor a relation"))
            reading.notes += [Note(text, Kind.FACT, document.source, tags) for text, tags in _said(record)]
    return reading


def _is_known(record: dict[str, Any]) -> bool:
    return any(_said(record)) or (record.get("type") == "entity" and isinstance(record.get("name"), str))


def _parsed(line: str) -> dict[str, Any]:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _said(record: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if record.get("type") == "entity" and isinstance(record.get("name"), str):
        sort = record.get("entityType") or record.get("entity_type")
        known = f" ({sort})" if isinstance(sort, str) and sort else ""
        for observation in _listed(record.get("observations")):
            yield f"{record['name']}{known}: {observation}", (sort,) if known and isinstance(sort, str) else ()
    elif record.get("type") == "relation":
        parts = [record.get("from"), record.get("relationType") or record.get("relation_type"), record.get("to")]
        if all(isinstance(part, str) and part for part in parts):
            yield f"{parts[0]} {spoken(str(parts[1]))} {parts[2]}", ("relation",)


def _listed(value: object) -> Iterator[str]:
    for item in cast("list[object]", value) if isinstance(value, list) else []:
        text = cast("dict[str, object]", item).get("content") if isinstance(item, dict) else item
        if isinstance(text, str) and text.strip():
            yield text.strip()
