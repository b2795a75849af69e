"""Cutting words out of a text that says other things too. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..store.spool_purge import contains, plain

LEAST: Final = 16
"""Characters that a text must have for its words to be cut out of others: shorter ones are said by chance."""
_HOLE: Final = "[erased]"
_LEAST_WORDS: Final = 3


def weighty(texts: Sequence[str]) -> list[str]:
    """Those of some texts that are long enough to be nobody else's words."""
    return [text for text in texts if len(" ".join(text.split())) >= LEAST]


def cut(content: str, texts: Sequence[str]) -> str | None:
    """A text without others that stand in it word for word; None where they can't be cut out or little would stay."""
    left = content
    for text in texts:
        left = re.sub(r"\s+".join(map(re.escape, text.split())), _HOLE, left)
    words = re.findall(r"\w{2,}", left.replace(_HOLE, " "))
    # In a tool's output it may stand escaped, and between the holes there may be nothing but punctuation.
    if len(words) < _LEAST_WORDS or contains(left.encode("utf-8", "replace"), plain(texts)):
        return None
    return left
