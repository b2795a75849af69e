"""What the resources show: one memory whole, and a scope's soft prompt."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..schemas.errors import InvalidInputError
from ..schemas.instants import iso
from .checks import memories_by_id, scope_key, visible_scopes
from .services import Services

_INSTANTS = ("recorded_at", "valid_from", "valid_to", "expires_at", "forgotten_at")


def memory_json(services: Services, identifier: str) -> dict[str, Any]:
    """Every column of a memory that this session may see, instants as ISO 8601.

    Raises:
        InvalidInputError: if there is no such memory here.
    """
    services.showings.settle()
    [memory] = memories_by_id(services, [identifier], visible_scopes(services, None))
    data = asdict(memory)
    del data["seq"]
    data["strength"]["state"] = memory.strength.state.label
    return {key: iso(value) if key in _INSTANTS and value is not None else value for key, value in data.items()}


def soft_prompt_text(services: Services, scope: str) -> str:
    """The soft prompt that a session of a scope would start with.

    Raises:
        InvalidInputError: if none was prepared; the text says how to get one.
    """
    path = services.prompt_path(scope_key(services, scope))
    if not path.exists():
        raise InvalidInputError("no soft prompt is prepared for this scope: save a decision or preference, consolidate")
    return path.read_text(encoding="utf-8")
