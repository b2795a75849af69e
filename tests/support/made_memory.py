"""Memories as values, for the pure parts of the lifecycle."""

from __future__ import annotations

from typing import Any

from ebbing.encoding.extract import cue, gist
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import parse
from ebbing.schemas.memory import Kind, Memory, Provenance, Strength

SAID_AT = parse("2026-03-02T09:00:00Z")


def made(content: str, kind: str = "preference", *, number: int = 0, actor: str = "user", **columns: Any) -> Memory:
    """A memory that somebody saved on 2 March 2026; `number` makes ids sort, `columns` replaces what is given here."""
    identifier = f"{new_id(SAID_AT)[:24]}{number:012x}"
    values: dict[str, Any] = {
        "seq": number,
        "id": identifier,
        "scope": "/projects/ebb",
        "kind": Kind(kind),
        "content": content,
        "gist": gist(content),
        "cue": cue(content),
        "entities": (),
        "slots": (),
        "tags": (),
        "importance": 0.0,
        "arousal": 0.0,
        "confirmations": 0,
        "trust": {"user": 1.0, "tool": 0.8, "agent": 0.6, "outside": 0.4}[actor],
        "pinned": False,
        "provenance": Provenance(actor=actor),
        "recorded_at": SAID_AT,
        "valid_from": None,
        "valid_to": None,
        "superseded_by": None,
        "expires_at": None,
        "forgotten_at": None,
        "version": 1,
        "strength": Strength(),
    }
    return Memory(**{**values, **columns})
