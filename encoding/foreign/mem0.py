"""A mem0 export: JSON with a list of memories, as its `get_all` gives them, and perhaps relations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ...schemas.memory import Kind
from .notes import Document, Note, Reading, instant, spoken

_LISTS = ("results", "memories", "data")
_TEXTS = ("memory", "text", "data", "content")
_KINDS = {
    "preference": Kind.PREFERENCE,
    "preferences": Kind.PREFERENCE,
    "user_preferences": Kind.PREFERENCE,
    "decision": Kind.DECISION,
    "procedure": Kind.PROCEDURE,
    "procedural_memory": Kind.PROCEDURE,
    "episode": Kind.EPISODE,
    "event": Kind.EPISODE,
}

_Item = Mapping[str, Any]


def is_sure(documents: Sequence[Document]) -> bool:
    """Whether the file is a list of objects that call their text `memory`, alone or under a known name."""
    if len(documents) != 1:
        return False
    items = _items(_parsed(documents[0].text))
    return bool(items) and all(isinstance(item.get("memory"), str) for item in items)


def read(documents: Sequence[Document]) -> Reading:
    """A note for each memory and each relation."""
    reading = Reading()
    for document in documents:
        found = _parsed(document.text)
        items = _items(found)
        if not items:
            reading.problems.append((document.name, "it is not a JSON list of memories"))
        for number, item in enumerate(items, 1):
            note = _note(item, document.source)
            if note is None:
                reading.problems.append((f"{document.name} memory {number}", "it has no text"))
            else:
                reading.notes.append(note)
        reading.notes += [Note(text, Kind.FACT, document.source, ("relation",)) for text in _relations(found)]
    return reading


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _items(found: object) -> list[_Item]:
    if isinstance(found, dict):
        named = cast("dict[str, object]", found)
        found = next((named[name] for name in _LISTS if isinstance(named.get(name), list)), None)
    return _objects(found)


def _objects(found: object) -> list[_Item]:
    return [cast("_Item", item) for item in _list(found) if isinstance(item, dict)]


def _list(found: object) -> list[object]:
    return cast("list[object]", found) if isinstance(found, list) else []


def _note(item: _Item, source: str) -> Note | None:
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str) and item[name].strip()), None)
    if text is None:
        return None
    metadata = item.get("metadata")
    named = cast("dict[str, object]", metadata) if isinstance(metadata, dict) else {}
    said = [*(named.get(name) for name in ("kind", "type", "category")), *_list(item.get("categories"))]
    sorts = [value for value in said if isinstance(value, str)]
    kind = next((_KINDS[sort.lower()] for sort in sorts if sort.lower() in _KINDS), Kind.FACT)
    return Note(text.strip(), kind, source, tuple(dict.fromkeys(sorts)), instant(item.get("created_at")))


def _relations(found: object) -> Iterator[str]:
    listed = cast("dict[str, object]", found).get("relations") if isinstance(found, dict) else None
    for relation in _objects(listed):
        parts = [
            relation.get("source"),
            relation.get("relationship") or relation.get("relation"),
            relation.get("target") or relation.get("destination"),
        ]
        if all(isinstance(part, str) and part for part in parts):
            yield " ".join(spoken(str(part)) if number == 1 else str(part) for number, part in enumerate(parts))
