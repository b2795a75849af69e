"""Turns: what happened from one prompt to the answer to it. Pure: observations in, turns out."""

from __future__ import annotations

from collections.abc import Sequence

from ..schemas.instants import MICROSECONDS_PER_DAY
from .observed import Act, Observed

PAUSE = MICROSECONDS_PER_DAY // 48
"""Half an hour (µs) without an event ends a turn."""
LONGEST = 200
"""Events of a turn; a longer one goes on in the next."""

Turn = tuple[Observed, ...]


def turns(events: Sequence[Observed]) -> list[Turn]:
    """The turns of one session, whose events come in the order in which they happened; none is empty."""
    found: list[list[Observed]] = []
    for event in events:
        if not found or _begins(found[-1], event):
            found.append([])
        found[-1].append(event)
    return [tuple(turn) for turn in found]


def is_over(turn: Turn, now: int) -> bool:
    """Whether nothing more can belong to a turn at `now` (µs)."""
    last = turn[-1]
    return last.act is Act.SAID or len(turn) >= LONGEST or now - last.memory.recorded_at > PAUSE


def _begins(turn: Sequence[Observed], event: Observed) -> bool:
    before = turn[-1]
    is_paused = event.memory.recorded_at - before.memory.recorded_at > PAUSE
    return event.act is Act.ASKED or before.act is Act.SAID or is_paused or len(turn) >= LONGEST
