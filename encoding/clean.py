"""Make text fit to store: one normal form, no characters that break JSON, SQLite or a terminal.

Both functions are pure and idempotent. They never raise.
"""

import re
import unicodedata

from ..schemas.texts import whole

# Terminal colours and cursor moves: without their ESC they would stay behind as litter such as "[31m".
_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_LINE_END = re.compile(r"\r\n|[\r\v\f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

# [^<>] rather than [^>] keeps the search linear on a text of many unfinished tags.
_TAG = re.compile(r"<(?P<close>/?)private(?:\s[^<>]*)?/?>", re.IGNORECASE)
_PASSES = 8


def clean(text: str) -> str:
    """Return `text` in NFC, with one kind of line end and no control characters but line feed and tab.

    Surrogate pairs that arrived as two characters become the one character they stand for; a lone surrogate
    becomes U+FFFD. Form feed and vertical tab count as line ends, so that they never join two words.
    """
    plain = _CONTROL.sub("", _LINE_END.sub("\n", _TERMINAL.sub("", whole(text))))
    return unicodedata.normalize("NFC", plain)


def strip_private(text: str) -> str:
    """Return `text` without what stands between `<private>` and `</private>`, tags included.

    Case does not matter, tags may nest and have attributes. An element that is never closed is private to the end
    of the text; a closing tag without a beginning is dropped alone. What is left never holds an opening tag, not even
    one that only came together when an element in its middle was removed.
    """
    for _ in range(_PASSES):
        stripped = _strip_once(text)
        if stripped == text:
            return text
        text = stripped
    # Tags still coming together after so many passes were put there to get through: keep what is surely public.
    tag = _TAG.search(text)
    return text[: tag.start()] if tag else text


def _strip_once(text: str) -> str:
    kept: list[str] = []
    depth = position = 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[position : tag.start()])
        depth = _depth_after(tag, depth)
        position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)


def _depth_after(tag: re.Match[str], depth: int) -> int:
    if tag["close"]:
        return max(0, depth - 1)
    return depth if tag[0].endswith("/>") else depth + 1
