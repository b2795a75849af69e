"""Whether a memory may stand in a soft prompt at all: what is injected at a start is read before anything else."""

from __future__ import annotations

from typing import Final

from ..encoding.directives import addresses_a_model
from ..encoding.redact import redact
from ..schemas.memory import Kind, Memory
from .prompt_sections import Section

MIN_TRUST: Final = 0.5
MIN_RETENTION: Final = 0.05
"""Below it a memory counts as forgotten: the lower bound of the state "archive"."""

_OUTSIDE: Final = "outside"
_GATHERED: Final = "consolidate"
_HOOK: Final = "hook"
_OF_PEOPLE: Final = frozenset({Section.PINNED, Section.PREFERENCES, Section.CONVENTIONS, Section.DECISIONS})
_PEOPLE: Final = frozenset({"user", "agent"})


def unfit(memory: Memory, section: Section | None, retention: float, now: int, *, disputed: bool = False) -> str | None:
    """Why a memory may not stand in a soft prompt at `now` (µs), None if it may.

    One that is `disputed` was said to be wrong and not confirmed since: a user's own word keeps more trust than the
    least that a prompt asks for, and would be told again.
    """
    if section is None:
        return "of no kind that a prompt holds"
    if disputed:
        return "said to be wrong"
    return _ended(memory, now) or _unsupported(memory, section) or _unsafe(memory.content) or _faded(memory, retention)


def _ended(memory: Memory, now: int) -> str | None:
    if memory.forgotten_at is not None or (memory.expires_at is not None and memory.expires_at <= now):
        return "forgotten"
    if memory.superseded_by is not None:
        return f"replaced by {memory.superseded_by}"
    if memory.valid_to is not None and memory.valid_to <= now:
        return "no longer valid"
    return "not valid yet" if memory.valid_from is not None and memory.valid_from > now else None


def _unsupported(memory: Memory, section: Section) -> str | None:
    origin = memory.provenance
    # Repeating a text from outside raises its trust, so trust alone would let a persistent attacker in.
    if origin.actor == _OUTSIDE or memory.trust < MIN_TRUST:
        return "not trusted enough"
    if memory.kind is Kind.OBSERVATION and not memory.pinned:
        return "only observed"
    if section in _OF_PEOPLE and origin.actor not in _PEOPLE:
        return "said by no person and no agent"
    gathered = origin.actor != "user" and (origin.tool == _GATHERED or origin.client == _HOOK)
    if gathered and not (memory.confirmations or memory.strength.uses or memory.pinned):
        return "too little evidence"
    return None


def _unsafe(text: str) -> str | None:
    if redact(text).found:
        return "holds a secret"
    return "reads like an instruction to a model" if addresses_a_model(text) else None


def _faded(memory: Memory, retention: float) -> str | None:
    return "faded" if retention < MIN_RETENTION and not memory.pinned else None
