"""Leaving out what somebody marked as private, before anything is cut: a cut could take one of the two tags away."""

from __future__ import annotations

from .jsonline import dumps

_OPENING, _CLOSING = "<private", "</private"
_ENDS_A_NAME = " \t\r\n/>"
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def without_private(text: str) -> str:
    """A text without what stands between `<private>` and `</private>`, tags included, in whatever case.

    Tags may nest and have attributes; what is never closed is private to the end of the text.
    """
    lower = text.translate(_LOWER) if "<" in text else ""
    if _OPENING not in lower and _CLOSING not in lower:
        return text
    kept: list[str] = []
    depth = place = 0
    while (found := _next_tag(lower, place)) >= 0:
        if not depth:
            kept.append(text[place:found])
        depth = max(0, depth - 1) if lower.startswith(_CLOSING, found) else depth + 1
        place = lower.find(">", found) + 1 or len(text)
    return "".join(kept) if depth else "".join([*kept, text[place:]])


def public(value: object) -> object:
    """A JSON value as it is, or where it holds something private its text without that."""
    text = value if isinstance(value, str) else dumps(value)
    rest = without_private(text)
    return value if rest == text else rest


def _next_tag(lower: str, place: int) -> int:
    """Where the next tag begins; -1 if there is none."""
    while (place := lower.find("private", place)) >= 0:
        for name in (_CLOSING, _OPENING):
            start = place + len("private") - len(name)
            after = lower[start + len(name) : start + len(name) + 1]
            if start >= 0 and lower.startswith(name, start) and after in _ENDS_A_NAME:
                return start
        place += 1
    return -1
