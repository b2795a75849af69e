"""Texts as JSON, SQLite and tokenizers can bear them."""

from __future__ import annotations


def whole(text: str) -> str:
    """A text without half characters: two surrogates that belong together become the character they stand for.

    A lone one, as a broken escape in JSON or a byte of a command line that is no UTF-8 leaves it, becomes U+FFFD.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
