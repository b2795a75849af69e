"""basic-memory's notes: Markdown with `- [category] observation #tag (context)` and `- relation [[Target]]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from ...schemas.memory import Kind
from .markdown import front_matter, listed, notes_of
from .notes import Document, Note, Reading, instant, spoken

_OBSERVATION = re.compile(r"\s*[-*]\s+\[([^\[\]()\n]{2,60})\]\s+(.+)$")
_RELATION = re.compile(r"\s*[-*]\s++([^\[\]]{0,80}?)\s*+\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]\s*+(\(.*\))?\s*+$")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_SECTIONS = re.compile(r"\s*#+\s*(observations|relations)\s*$", re.IGNORECASE)
_KINDS = {
    Kind.DECISION: ("decision", "choice"),
    Kind.PREFERENCE: ("preference", "convention", "rule", "principle", "style", "guideline"),
    Kind.PROCEDURE: ("procedure", "technique", "method", "step", "howto", "recipe", "process", "fix", "solution"),
    Kind.EPISODE: ("event", "episode", "log", "incident", "meeting"),
}


def is_sure(documents: Sequence[Document]) -> bool:
    """Whether a file has a permalink above, or both an observation and a relation."""
    return any(_is_note(document.text) for document in documents)


def read(documents: Sequence[Document]) -> Reading:
    """A note for each observation, relation and whatever else is written."""
    reading = Reading()
    for document in documents:
        reading.notes += _notes(document)
    return reading


def _is_note(text: str) -> bool:
    fields, body = front_matter(text)
    lines = body.splitlines()
    if "permalink" in fields:
        return True
    return any(map(_OBSERVATION.match, lines)) and any(map(_RELATION.match, lines))


def _notes(document: Document) -> list[Note]:
    fields, body = front_matter(document.text)
    title = fields.get("title") or PurePosixPath(document.name).stem
    tags, at = listed(fields.get("tags", "")), instant(fields.get("created") or fields.get("date"))
    notes: list[Note] = []
    rest: list[str] = []
    for line in body.splitlines():
        if observation := _OBSERVATION.match(line):
            notes.append(_observation(title, observation, document.source, tags, at))
        elif relation := _RELATION.match(line):
            context = f" {relation[3]}" if relation[3] else ""
            how = spoken(relation[1]) or "relates to"
            notes.append(Note(f"{title} {how} {relation[2].strip()}{context}", Kind.FACT, document.source, tags, at))
        elif not _SECTIONS.match(line):
            rest.append(line)
    prose = notes_of(replace(document, text="\n".join(rest)), tags)
    return [*(replace(note, text=_titled(title, note.text), recorded_at=at) for note in prose), *notes]


def _observation(title: str, found: re.Match[str], source: str, tags: tuple[str, ...], recorded_at: int | None) -> Note:
    category, said = found[1].strip().lower(), found[2].strip()
    own = tuple(_TAG.findall(said))
    text = " ".join(_TAG.sub("", said).split()) or said
    kind = next((kind for kind, names in _KINDS.items() if category in names), Kind.FACT)
    return Note(f"{title}: {text}", kind, source, tuple(dict.fromkeys((category, *own, *tags))), recorded_at)


def _titled(title: str, text: str) -> str:
    return text if text.startswith(title) else f"{title}: {text}"
