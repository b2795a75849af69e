"""Looking for what is left of texts in bytes: windows over the whole of each, in every form it may be stored in.

A text is looked for as it is, with its white space folded, escaped as JSON does it (also within JSON), and packed for
the attic. How long a search takes depends on the bytes that are searched, hardly on how many windows are looked for.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from .attic import pack

WIDTH: Final = 24
"""Bytes of a window."""
LEAST: Final = 8
"""Bytes that a text must have at least to be recognised; a shorter one is looked for as a whole, or not at all."""
_STEP: Final = 8
_MOST_WINDOWS: Final = 1_000
_ANCHOR: Final = 8
_BLOCK: Final = 1 << 20
_BITS: Final = 20
_SHIFT: Final = np.uint64(64 - _BITS)
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing: 2^64 over the golden ratio


class Traces:
    """The windows by which some texts are recognised; false when all of them are too short for that."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Prepare for searching."""
        self._by_anchor: dict[bytes, list[bytes]] = defaultdict(list)
        for window in sorted({window for text in texts for form in _forms(text) for window in _windows(form)}):
            self._by_anchor[window[:_ANCHOR]].append(window)
        self._anchors = np.frombuffer(b"".join(self._by_anchor), dtype="<u8")
        self._table = np.zeros(1 << _BITS, np.bool_)
        self._table[(self._anchors * _MIX) >> _SHIFT] = True

    def __bool__(self) -> bool:
        return bool(self._by_anchor)

    def found(self, data: bytes) -> set[bytes]:
        """The windows that stand in some bytes."""
        places: list[int] = []
        for shift in range(min(_ANCHOR, max(0, len(data) - _ANCHOR + 1))):
            words = np.frombuffer(data, "<u8", (len(data) - shift) // _ANCHOR, shift)
            near = np.flatnonzero(self._table[(words * _MIX) >> _SHIFT])
            near = near[np.isin(words[near], self._anchors)]
            places += (near * _ANCHOR + shift).tolist()
        return {
            window
            for place in places
            for window in self._by_anchor.get(data[place : place + _ANCHOR], ())
            if data.startswith(window, place)
        }

    def found_in(self, blocks: Iterable[bytes]) -> set[bytes]:
        """The windows that stand in bytes that come in pieces, also across two of them."""
        found: set[bytes] = set()
        kept = b""
        for block in blocks:
            data = kept + block
            found |= self.found(data)
            kept = data[-(WIDTH - 1) :]
        return found

    def found_in_file(self, path: Path) -> set[bytes]:
        """The windows that stand in a file; none if it is gone.

        Not for a database that is open: see `store/scan.py`.

        Raises:
            OSError: if it can't be read.
        """
        try:
            with path.open("rb") as file:
                return self.found_in(_blocks(file))
        except FileNotFoundError:
            return set()


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


def _forms(text: str) -> set[bytes]:
    folded = " ".join(text.split())
    escaped = {json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    twice = {json.dumps(form, ensure_ascii=plain)[1:-1] for form in escaped for plain in (True, False)}
    packed = pack(text)[1]
    return {form.encode("utf-8", "surrogatepass") for form in (text, folded, *escaped, *twice)} | {packed}


def _windows(form: bytes) -> Iterator[bytes]:
    """Windows from the first byte to the last, close to each other; a short form whole."""
    if LEAST <= len(form) <= WIDTH:
        yield form
    last = len(form) - WIDTH
    if last > 0:
        step = max(_STEP, -(-last // _MOST_WINDOWS))
        yield from (form[at : at + WIDTH] for at in range(0, last, step))
        yield form[last:]
