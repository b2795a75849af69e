"""What somebody states about a text that is known already, by saying it again: nothing of that is dropped.

Tags join those that are there. Importance, validity and expiry are as stated last, and a pin holds. A kind takes the
place of another unless it is `fact`, which is also what a text without a kind is saved as. The source stays the first
that was given. Who is most to be believed of all who said it stands for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..encoding.writer import Prepared
from ..schemas.errors import TooLargeError
from ..schemas.memory import Kind, Memory

AUTHORITY: Final[Mapping[str, int]] = {"outside": 0, "agent": 1, "tool": 2, "user": 3}
"""How much the word of each actor weighs against another's."""

MOST_TAGS: Final = 100
REPLAYED: Final = ("trust", "pinned", "valid_to", "expires_at")
"""What other events change too; the rest is as the last of these statements left it."""

Stated = Mapping[str, Any]
"""By column of `memory`, in values that JSON holds; only what is another than before."""


def restated(memory: Memory, prepared: Prepared, *, unattended: bool = False) -> Stated:
    """What changes in `memory` when somebody says it again as `prepared`; only tags where nobody asked for a save.

    Raises:
        TooLargeError: if it would have more than 100 tags.
    """
    new = prepared.new
    tags = list(dict.fromkeys([*memory.tags, *new.tags]))
    if len(tags) > max(MOST_TAGS, len(memory.tags)):
        raise TooLargeError(f"{memory.id} would have {len(tags)} tags, more than {MOST_TAGS}: use those that it has")
    said: dict[str, Any] = {"tags": tags}
    if not unattended:
        said |= {
            "kind": None if new.kind is Kind.FACT else str(new.kind),
            "importance": prepared.importance,
            "pinned": True if new.pinned else None,
            "valid_from": new.valid_from,
            "valid_to": new.valid_to,
            "expires_at": new.expires_at,
            "source": None if memory.provenance.source else new.provenance.source,
            "actor": max(new.provenance.actor, memory.provenance.actor, key=lambda name: AUTHORITY.get(name, 0)),
        }
    known = _known(memory)
    return {name: value for name, value in said.items() if value is not None and value != known[name]}


def applied(memory: Memory, stated: Stated) -> Memory:
    """The memory with that changed."""
    own = {name: value for name, value in stated.items() if name not in ("source", "actor", "kind", "tags")}
    origin = {name: stated[name] for name in ("source", "actor") if name in stated}
    return replace(
        memory,
        **own,
        kind=Kind(stated.get("kind", memory.kind)),
        tags=tuple(stated.get("tags", memory.tags)),
        provenance=replace(memory.provenance, **origin),
    )


def columns(stated: Stated) -> dict[str, Any]:
    """The same as the columns hold it."""
    return {name: json.dumps(value, ensure_ascii=False) if name == "tags" else value for name, value in stated.items()}


def _known(memory: Memory) -> dict[str, Any]:
    return {
        "tags": list(memory.tags),
        "kind": str(memory.kind),
        "importance": memory.importance,
        "pinned": memory.pinned,
        "valid_from": memory.valid_from,
        "valid_to": memory.valid_to,
        "expires_at": memory.expires_at,
        "source": memory.provenance.source,
        "actor": memory.provenance.actor,
    }
