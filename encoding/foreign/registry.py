"""The foreign formats by name, and which of them some files surely are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from . import basic_memory, claude_memory, markdown, mem0, memory_server
from .notes import Document, Format

_INSTRUCTIONS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")


def _are_instructions(documents: Sequence[Document]) -> bool:
    return bool(documents) and all(PurePosixPath(document.name).name in _INSTRUCTIONS for document in documents)


def _are_markdown(documents: Sequence[Document]) -> bool:
    # One file that a person names is meant; a folder may hold anything.
    return len(documents) == 1 and documents[0].name.lower().endswith((".md", ".markdown"))


FORMATS: Final[Mapping[str, Format]] = {
    each.name: each
    for each in (
        Format("claude-memory", claude_memory.is_sure, claude_memory.read),
        Format("instructions", _are_instructions, markdown.read),
        Format("basic-memory", basic_memory.is_sure, basic_memory.read),
        Format("memory-server", memory_server.is_sure, memory_server.read),
        Format("mem0", mem0.is_sure, mem0.read),
        Format("markdown", _are_markdown, markdown.read),
    )
}
"""Those with a mark of their own come before those that could be anything."""


def recognised(documents: Sequence[Document]) -> Format | None:
    """The format that the documents surely have, or None."""
    return next((each for each in FORMATS.values() if each.is_sure(documents)), None)
