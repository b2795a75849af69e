"""What a tool may use. `server/engine.py` fills it; tests fill it with parts of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path

from ..encoding.embedder import Embedder
from ..lifecycle.channel_lessons import ChannelLessons
from ..lifecycle.constants import DEFAULTS, DecaySettings
from ..lifecycle.daily import DailyRun
from ..lifecycle.ledger import Ledger
from ..lifecycle.observing import Observer
from ..lifecycle.recorder import Recorder
from ..lifecycle.showings import Showings
from ..retrieval.recaller import Recaller
from ..store.store import Store


@dataclass(frozen=True, slots=True)
class Limits:
    """What a call may ask for; going over is an error, never a cut."""

    query_characters: int = 10_000
    recall_results: int = 100
    recall_tokens: int = 20_000
    ids: int = 100
    tags: int = 20
    tag_characters: int = 64
    events: int = 500
    event_characters: int = 20_000
    note_characters: int = 2_000


@dataclass(frozen=True, slots=True)
class Services:
    """The floors below, opened, and the facts of this session.

    `scope` is the project's key; `embedder` waits at most the given seconds for the model and gives None without one;
    `clock` gives the instant (µs, UTC); `prompt_path` the file of a scope's soft prompt.
    """

    store: Store
    ledger: Ledger
    showings: Showings
    lessons: ChannelLessons
    recorder: Recorder
    observer: Observer
    recaller: Recaller
    daily: DailyRun
    embedder: Callable[[float], Embedder | None]
    count_tokens: Callable[[str], int]
    clock: Callable[[], int]
    scope: str
    prompt_path: Callable[[str], Path]
    session: str | None = None
    client: str | None = None
    timezone: tzinfo = UTC
    limits: Limits = field(default_factory=Limits)
    decay: DecaySettings = DEFAULTS
