"""The shape of a text: what ranking wants to know of it without reading it again."""

from __future__ import annotations

import re

from ..schemas.memory import Shape
from .times import count_time_words

_SPEAKER = re.compile(r"\s*([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)?): +\S")
_WORD = re.compile(r"\w+")
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
# Words before a colon that label a line of engineering prose rather than name somebody who speaks.
_LABELS = frozenset(
    {
        *("note", "warning", "error", "fix", "feat", "bug", "todo", "summary", "example", "usage", "see", "also"),
        *("caution", "important", "refactor", "docs", "test", "tests", "chore", "build", "ci", "perf", "style"),
        *("revert", "update", "fixed", "result", "output", "input", "question", "answer"),
    }
)
_ROLES = frozenset({"user", "assistant", "human", "system", "agent"})


def shape_of(text: str, index_text: str) -> Shape:
    """The shape of a text, given its text for the lexical index (whose words it counts)."""
    body = text.rstrip()
    return Shape(
        words=len(_WORD.findall(index_text)),
        speaker=speaker_of(text),
        question=body.endswith(("?", "？", "؟")),
        first_person=_FIRST_PERSON.search(text) is not None,
        time_words=count_time_words(text),
    )


def speaker_of(text: str) -> str | None:
    """Who speaks, where a text is a turn of a conversation ("Name: …"); None for prose, code and roles of a chat."""
    found = _SPEAKER.match(text)
    if found is None:
        return None
    name = found.group(1)
    lowered = name.lower()
    is_name = name[0].isupper() and lowered not in _LABELS and lowered not in _ROLES
    return name if is_name else None
