"""Sentences of prose, commit messages and chats, each a stretch of the text with its spaces folded."""

from __future__ import annotations

import re

# A line long enough to have been wrapped goes on in the next one, if that begins in lower case.
_WRAPPED = re.compile(r"^([^\n]{45,}[\w,])\n(?=[a-z(])", re.MULTILINE)
_SENTENCE = re.compile(
    r"[^\n.!?。！？]*(?:[.!?。！？](?=[^\s.!?\"')\]])[^\n.!?。！？]*)*[.!?。！？]*[\"')\]]*\n?|\n"
)  # fmt: skip


def unwrapped(text: str) -> str:
    """Return the text with the lines of wrapped paragraphs joined."""
    return _WRAPPED.sub(r"\1 ", text)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in its order; none is empty."""
    parts = (" ".join(part.split()) for part in _SENTENCE.findall(unwrapped(text)))
    return [part for part in parts if part]
