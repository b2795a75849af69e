"""Claude Code's own memory: a folder with an index, MEMORY.md, and a file for each topic with its type above."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ...schemas.memory import Kind
from .markdown import front_matter, notes_of
from .notes import Document, Note, Reading

INDEX = "MEMORY.md"

_KINDS = {
    "user": Kind.PREFERENCE,
    "feedback": Kind.PREFERENCE,
    "project": Kind.FACT,
    "reference": Kind.FACT,
}
_POINTER = re.compile(r"\[[^\]]*\]\(([^)#\s]+\.md)\)")
_WHOLE_CHARACTERS = 4_000


def is_sure(documents: Sequence[Document]) -> bool:
    """Whether there is an index among the files."""
    return any(document.name == INDEX for document in documents)


def read(documents: Sequence[Document]) -> Reading:
    """A note for each topic, and what the index says besides pointing to topics."""
    names = {document.name for document in documents}
    reading = Reading()
    for document in documents:
        if document.name == INDEX:
            kept = [line for line in document.text.splitlines() if not _points(line, names)]
            reading.notes += notes_of(replace(document, text="\n".join(kept)))
        else:
            reading.notes += _topic(document)
    return reading


def _points(line: str, names: set[str]) -> bool:
    found = _POINTER.search(line)
    return found is not None and found[1].removeprefix("./") in names


def _topic(document: Document) -> list[Note]:
    fields, body = front_matter(document.text)
    sort = fields.get("type", "").lower()
    text, description = body.strip(), fields.get("description", "")
    if sort not in _KINDS or len(text) > _WHOLE_CHARACTERS:
        return notes_of(document, (sort,) if sort in _KINDS else ())
    if description and description not in text:
        text = f"{description}\n\n{text}".strip()
    return [Note(text, _KINDS[sort], document.source, (sort,))] if text else []
