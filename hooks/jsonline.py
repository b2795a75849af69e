"""JSON without the cost of importing `json`.

The standard decoder and encoder compile regular expressions when they are imported, which takes most of the time that
starting Python takes. The C parts they drive don't need those. Where they are missing or refuse an input, the standard
module decides, so results and errors are always its own.
"""

from __future__ import annotations

DEEPEST = 99
"""Containers in containers that a client's object may hold; the line that carries it adds one."""

_SPACE = " \t\n\r"
_SORT_SKIP_ALLOW_NAN = (False, False, True)
_REFUSALS = (ImportError, AttributeError, TypeError, ValueError, StopIteration, SystemError)


class _Rules:
    """What the C scanner reads of a decoder; a raw control character in a string is let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> object:
    """The value of a JSON text, as `json.loads(text, strict=False)` gives it.

    Raises:
        ValueError: if it isn't JSON.
        RecursionError: if it is nested too deeply.
    """
    body = text.strip(_SPACE)
    try:
        from _json import make_scanner

        value, end = make_scanner(_Rules)(body, 0)  # pyright: ignore[reportArgumentType]  # read by attribute
        if end == len(body):
            return value
    except _REFUSALS:
        pass
    import json

    return json.loads(body, strict=False)


def dumps(value: object) -> str:
    """A value as one line of ASCII, as `json.dumps(value, separators=(",", ":"))` gives it.

    Raises:
        TypeError: if it holds something JSON has no form for.
        ValueError: if it contains itself.
    """
    try:
        from _json import encode_basestring_ascii, make_encoder

        encode = make_encoder({}, _refuse, encode_basestring_ascii, None, ":", ",", *_SORT_SKIP_ALLOW_NAN)
        return "".join(encode(value, 0))
    except _REFUSALS:
        import json

        return json.dumps(value, separators=(",", ":"))


def as_object(value: object) -> dict[str, object]:
    """A JSON object as one; any other value as an empty one."""
    if not isinstance(value, dict):
        return {}
    return {str(name): item for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def is_deep(value: object, left: int = DEEPEST) -> bool:
    """Whether more than `left` containers are in each other: the server refuses that, and Python may not write it."""
    if isinstance(value, dict):
        inner: list[object] = list(value.values())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        inner = value  # pyright: ignore[reportUnknownVariableType]
    else:
        return False
    return left == 0 or any(is_deep(item, left - 1) for item in inner)


def _refuse(value: object) -> object:
    raise TypeError(type(value).__name__)
