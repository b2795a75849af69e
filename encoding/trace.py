"""A trace: everything that is read off a text when it is remembered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ..schemas.memory import Entity, Slot
from .cues import arousal, priority
from .entities import entities
from .extract import cue, gist
from .slots import slots
from .times import TimeRange, time_expressions
from .words import indexed


@dataclass(frozen=True, slots=True)
class Trace:
    """What a text names, states, points to, how much it insists, its shorter forms and its words for the index."""

    entities: tuple[Entity, ...]
    slots: tuple[Slot, ...]
    times: tuple[TimeRange, ...]
    arousal: float
    priority: float
    gist: str
    cue: str
    index_text: str
    trigram_text: str


def trace(text: str, anchor: datetime, tags: Iterable[str] = ()) -> Trace:
    """The trace of a cleaned text; `anchor` (aware) is when it was said; `tags` are found like its own words."""
    words, names = indexed(text, tags)
    return Trace(
        entities=entities(text),
        slots=slots(text),
        times=time_expressions(text, anchor),
        arousal=arousal(text),
        priority=priority(text),
        gist=gist(text),
        cue=cue(text),
        index_text=words,
        trigram_text=names,
    )
