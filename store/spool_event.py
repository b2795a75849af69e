"""One event of the spool, and the line that carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from ..hooks.events import iso
from ..schemas.errors import InvalidInputError
from ..schemas.instants import parse
from ..schemas.nesting import is_too_deep
from ..schemas.texts import whole

_NANOSECONDS = 1000
_NAMES = ("id", "scope", "session", "event")


@dataclass(frozen=True, slots=True)
class SpoolEvent:
    """One event of a client.

    Attributes:
        event_id: a UUID; the same event delivered twice has the same one.
        at: when it happened, in µs since the epoch, UTC.
        scope: the project key.
        session: the client's name of its session; empty if it gave none.
        event: the hook's name, such as `post-tool-use`.
        payload: the fields that were kept; one that was too long is `{"head": …, "tail": …, "cut": characters}`.
    """

    event_id: str
    at: int
    scope: str
    session: str
    event: str
    payload: Mapping[str, Any]

    def text(self, field: str) -> str:
        """A field of the payload as text: a cut is said, a structure is its JSON, a missing field is empty."""
        value = self.payload.get(field)
        if value is None:
            return ""
        if isinstance(value, dict):
            parts = cast("dict[str, Any]", value)
            if parts.keys() == {"head", "tail", "cut"}:
                return f"{parts['head']}\n[{parts['cut']} characters left out]\n{parts['tail']}"
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_line(raw: bytes) -> SpoolEvent | None:
    """The event of a line, or None if it isn't one."""
    try:
        record = json.loads(raw.decode("utf-8"), strict=False)
        names = [record[name] for name in _NAMES]
        payload, moment = record["payload"], parse(record["at"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, InvalidInputError):
        return None
    is_event = all(isinstance(name, str) for name in names) and isinstance(payload, dict)
    if not is_event or is_too_deep(raw, payload):
        return None
    # The payload is cleaned as text; the names go into the store as they are.
    event_id, scope, session, event = map(whole, names)
    if not event_id:
        return None
    fields = MappingProxyType(cast("dict[str, Any]", payload))
    return SpoolEvent(event_id=event_id, at=moment, scope=scope, session=session, event=event, payload=fields)


def write_line(event: SpoolEvent) -> bytes:
    """The line of an event, in ASCII, newline included.

    Raises:
        InvalidInputError: if the payload holds something JSON has no form for.
    """
    record = {
        "v": 1,
        "id": event.event_id,
        "at": iso(event.at * _NANOSECONDS),
        "scope": event.scope,
        "session": event.session,
        "event": event.event,
        "payload": dict(event.payload),
    }
    try:
        return (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("an event's payload must be made of JSON values") from None
