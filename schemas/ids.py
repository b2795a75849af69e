"""Identifiers: UUID version 7 (RFC 9562), which sort by the time they were made."""

from __future__ import annotations

import secrets
import uuid

from .errors import InvalidInputError

_RANDOM_BITS = 74


def new_id(instant: int) -> str:
    """A fresh UUIDv7 for an instant (µs since the epoch); 74 random bits, millisecond order."""
    milliseconds = max(0, instant // 1000) & (1 << 48) - 1
    random = secrets.randbits(_RANDOM_BITS)
    value = milliseconds << 80 | 0x7 << 76 | (random >> 62) << 64 | 0b10 << 62 | random & (1 << 62) - 1
    return str(uuid.UUID(int=value))


def parse_id(text: str) -> str:
    """The canonical form of an identifier.

    Raises:
        InvalidInputError: if it is not a UUID.
    """
    try:
        return str(uuid.UUID(text.strip()))
    except (ValueError, AttributeError, TypeError):
        msg = f"not a memory id: {str(text)[:60]!r}; ids come from recall and save and look like 0198c2f0-…"
        raise InvalidInputError(msg) from None
