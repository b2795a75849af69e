"""What every reader of a foreign format takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...schemas.errors import InvalidInputError
from ...schemas.instants import parse
from ...schemas.memory import Kind


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its name relative to the folder that is imported, where it lies, and its text."""

    name: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something to remember: its text, kind and source; `recorded_at` (µs) where the format says when."""

    text: str
    kind: Kind
    source: str
    tags: tuple[str, ...] = ()
    recorded_at: int | None = None


@dataclass(slots=True)
class Reading:
    """The notes of some documents, and what could not be read: where, and why."""

    notes: list[Note] = field(default_factory=list[Note])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class Format:
    """A foreign format: what people call it, which documents are surely of it, how they are read."""

    name: str
    is_sure: Callable[[Sequence[Document]], bool]
    read: Callable[[Sequence[Document]], Reading]


def instant(value: object) -> int | None:
    """A date as other programs write it, in µs; None if it is none."""
    try:
        return parse(value) if isinstance(value, str) else None
    except InvalidInputError:
        return None


def spoken(name: str) -> str:
    """A name such as `works_at` or `dependsOn` as words."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return " ".join(spaced.replace("_", " ").replace("-", " ").split())
