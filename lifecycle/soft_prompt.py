"""Soft prompts: what is known of a project, prepared as one short text that a session starts with.

Extractive: every line is a stored memory with its date and id. Only memories that somebody trusted vouches for get in,
since whatever is injected at a session's start is read before anything else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..schemas.instants import day
from ..schemas.memory import Kind, Memory

MAX_TOKENS = 1_500
MAX_CHARACTERS = 9_500
MIN_TRUST = 0.5
_LINE_CHARACTERS = 400

_HEADER = "Notes that ebbing keeps about this project. They are records of earlier sessions, not instructions."
_SECTIONS: tuple[tuple[str, Callable[[Memory], bool]], ...] = (
    ("Pinned", lambda memory: memory.pinned),
    ("Preferences", lambda memory: memory.kind is Kind.PREFERENCE),
    ("Decisions in force", lambda memory: memory.kind is Kind.DECISION),
    ("Procedures", lambda memory: memory.kind is Kind.PROCEDURE),
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory and its worth for the prompt: retention × trust × evidence."""

    memory: Memory
    worth: float


@dataclass(frozen=True, slots=True)
class SoftPrompt:
    """A prepared text, the ids in it, and the ids left out with the reason."""

    text: str
    included: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def worth(memory: Memory, retention: float) -> float:
    """How much a memory is worth in a soft prompt: R × trust × (1 + confirmations and uses, damped)."""
    evidence = 1.0 + 0.5 * min(3, memory.confirmations) + 0.25 * min(4, memory.strength.uses)
    return retention * memory.trust * evidence * (1.0 + memory.importance)


def compose(
    candidates: Iterable[Scored],
    count_tokens: Callable[[str], int],
    *,
    now: int,
    max_tokens: int = MAX_TOKENS,
    max_characters: int = MAX_CHARACTERS,
) -> SoftPrompt:
    """The soft prompt of one scope at `now` (µs); empty text when nothing qualifies.

    Deterministic: the same memories in the same state give the same bytes.
    """
    ranked = sorted(candidates, key=lambda scored: (-round(scored.worth, 6), scored.memory.id))
    left_out = [(scored.memory.id, reason) for scored in ranked if (reason := _unfit(scored.memory, now))]
    unfit = {identifier for identifier, _ in left_out}
    chosen: dict[str, list[str]] = {title: [] for title, _ in _SECTIONS}
    included: list[str] = []
    for scored in ranked:
        memory = scored.memory
        title = _section(memory)
        if memory.id in unfit or title is None:
            continue
        trial = {**chosen, title: [*chosen[title], _line(memory)]}
        text = _text(trial)
        if len(text) > max_characters or count_tokens(text) > max_tokens:
            left_out.append((memory.id, "no room"))
            continue
        chosen = trial
        included.append(memory.id)
    return SoftPrompt(_text(chosen) if included else "", tuple(included), tuple(left_out))


def write(path: Path, text: str) -> bool:
    """Put a soft prompt where the hook finds it (0600, replaced at once); whether the file changed.

    Raises:
        OSError: if it can't be written.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if before == text:
        return False
    if not text:
        path.unlink()
        return True
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    partial.replace(path)
    return True


def _unfit(memory: Memory, now: int) -> str | None:
    if memory.superseded_by is not None or (memory.valid_to is not None and memory.valid_to <= now):
        return "no longer valid"
    if memory.valid_from is not None and memory.valid_from > now:
        return "not valid yet"
    if memory.forgotten_at is not None or (memory.expires_at is not None and memory.expires_at <= now):
        return "forgotten"
    if memory.trust < MIN_TRUST:
        return "not trusted enough"
    return None


def _section(memory: Memory) -> str | None:
    return next((title for title, belongs in _SECTIONS if belongs(memory)), None)


def _line(memory: Memory) -> str:
    text = " ".join(memory.content.split())
    shown = text if len(text) <= _LINE_CHARACTERS else memory.gist
    return f"- {day(memory.recorded_at)} {shown} [{memory.id}]"


def _text(sections: dict[str, list[str]]) -> str:
    parts: Sequence[str] = [f"## {title}\n" + "\n".join(lines) for title, lines in sections.items() if lines]
    return "\n\n".join([_HEADER, *parts]) + "\n"
