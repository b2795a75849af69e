"""Lists of keys in statements: SQLite takes so many bound values at a time, so long lists are asked about in slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

PLACES: Final = 500
"""Keys of a slice: well below every build's limit, and few enough that preparing the statement is cheap."""

Key = TypeVar("Key")


def slices(keys: Sequence[Key], places: int = PLACES) -> Iterator[Sequence[Key]]:
    """The keys in their order, at most `places` at a time."""
    for start in range(0, len(keys), places):
        yield keys[start : start + places]


def marks(some: Sequence[object]) -> str:
    """As many placeholders as there are keys, with commas between."""
    return ",".join("?" * len(some))
