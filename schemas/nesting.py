"""How deep JSON may nest where it comes from outside.

What has just been read may be too deep to be written again: Python's own limit counts the frames that happen to be on
the stack, and ends whoever is over it with an error of its own.
"""

from __future__ import annotations

from typing import Any, Final, cast

DEEPEST: Final = 100
"""Containers in containers; nothing that people or programs mean comes near."""


def is_too_deep(raw: bytes, value: Any) -> bool:
    """Whether the value that was read from `raw` has more than `DEEPEST` containers in each other."""
    # Fewer opening brackets than that can't nest deeper, and counting them costs next to nothing.
    return raw.count(b"[") + raw.count(b"{") > DEEPEST and _is_deeper(value, DEEPEST)


def _is_deeper(value: object, left: int) -> bool:
    if isinstance(value, dict):
        inner = list(cast("dict[str, object]", value).values())
    elif isinstance(value, list):
        inner = cast("list[object]", value)
    else:
        return False
    return left == 0 or any(_is_deeper(item, left - 1) for item in inner)
