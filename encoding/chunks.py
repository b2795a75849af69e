"""Cut a text into overlapping parts that fit an embedding model's window, losing nothing."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

CHUNK_CHARS: Final = 800
"""Most characters of a chunk once a text has to be cut; 700–800 is what the recall figures were measured with."""
OVERLAP_CHARS: Final = 120
_LEAST_FILL: Final = 0.875
# Texts beyond this many characters for each piece of the window can't fit, so counting them would be wasted time.
_CHARS_PER_PIECE: Final = 100
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, as character positions: `start` inclusive, `end` exclusive."""

    start: int
    end: int


def chunks(text: str, count_pieces: Callable[[str], int], window: int) -> list[str]:
    """Return `text` whole if it fits `window` pieces, else overlapping chunks of at most `CHUNK_CHARS` characters.

    Chunks are cut at line ends or spaces where there are any. Each fits `window` by `count_pieces`, unless a single
    character does not, and every character that is not white space is in at least one.

    Args:
        text: any text; an empty one is one empty chunk.
        count_pieces: the pieces a text has in the unit of `window`.
        window: the most pieces of a chunk.
    """
    return [text[span.start : span.end] for span in spans(text, count_pieces, window)]


def spans(text: str, count_pieces: Callable[[str], int], window: int) -> list[Span]:
    """Return where the `chunks` of `text` are, in order."""
    if len(text) <= window * _CHARS_PER_PIECE and count_pieces(text) <= window:
        return [Span(0, len(text))]
    found: list[Span] = []
    start, last = _skip_space(text, 0), len(text.rstrip())
    while start < last:
        end = _end_of_chunk(text, start, last, count_pieces, window)
        if found and end <= found[-1].end:
            # Too dense for an overlap: nothing new fitted behind it.
            start = _skip_space(text, found[-1].end)
            continue
        found.append(Span(start, end))
        start = last if end == last else _next_start(text, start, end)
    return found or [Span(0, 0)]


def _end_of_chunk(text: str, start: int, last: int, count_pieces: Callable[[str], int], window: int) -> int:
    size = CHUNK_CHARS
    while True:
        end = last if last - start <= size else _cut_before(text, start, start + size)
        pieces = count_pieces(text[start:end])
        if pieces <= window or end - start <= 1:
            return end
        # A tenth less than in proportion, so that one more try is nearly always enough.
        size = max(1, min(end - start - 1, (end - start) * window * 9 // (pieces * 10)))


def _cut_before(text: str, start: int, limit: int) -> int:
    """The best place to cut in the last eighth before `limit`: a line end, else a space, else `limit` itself."""
    least = start + int((limit - start) * _LEAST_FILL)
    for mark in ("\n", " ", "\t"):
        position = text.rfind(mark, max(least, start + 1), limit)
        if position != -1:
            return position
    return limit


def _next_start(text: str, start: int, end: int) -> int:
    """Where the chunk after `start`:`end` begins: at a word within the overlap, always further on than `start`."""
    back = end - min(OVERLAP_CHARS, (end - start) // 4)
    space = _SPACE.search(text, back, end)
    return _skip_space(text, space.start() if space else back)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
