"""The composition root: opens the floors below on first use, runs the background work, closes last-in first-out."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..encoding.embedder import Embedder
from ..encoding.loader import BackgroundEmbedder, load_embedder
from ..encoding.model import DEFAULT_MODEL, ModelSpec, locate
from ..encoding.pieces import PieceCounter
from ..encoding.word_counts import WordCounts
from ..hooks.places import soft_prompt_path
from ..lifecycle.channel_lessons import ChannelLessons
from ..lifecycle.daily import DailyRun, RunContext
from ..lifecycle.decay import retention_of
from ..lifecycle.ledger import Ledger
from ..lifecycle.observing import Observer
from ..lifecycle.recorder import Recorder
from ..lifecycle.scheduler import QUIET_SECONDS, SPOOL_SECONDS, Job, Scheduler
from ..lifecycle.showings import Showings
from ..lifecycle.steps import DailySteps
from ..retrieval.recaller import Recaller
from ..schemas.closing import Closing
from ..schemas.errors import EbbingError, ModelError
from ..schemas.ids import new_id
from ..schemas.instants import MICROSECONDS_PER_DAY
from ..store.store import Store
from ..tools.services import Services
from .following import EVERY_SECONDS, Follower
from .settings import Settings

_CHARACTERS_PER_TOKEN = 4
_FLUSHED = ("spool", "knowledge", "soft prompts")

_log = logging.getLogger(__name__)


def system_clock(offset_days: float = 0.0) -> Callable[[], int]:
    """A clock (µs since the epoch, UTC) that runs `offset_days` ahead of the machine's."""
    offset = round(offset_days * MICROSECONDS_PER_DAY)
    return lambda: time.time_ns() // 1000 + offset


def _at_most(text: str) -> int:
    """About the most tokens that a text may have: ids are cut every other character, other scripts at each."""
    plain = sum(character.isascii() for character in text)
    return len(text) - plain + -(-plain // 2)


class Engine(Closing):
    """One server's parts. Nothing is opened before the first `services()`, so that a client is answered at once."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Callable[[], int] | None = None,
        load: Callable[[], Embedder] | None = None,
        spec: ModelSpec | None = None,
        follow_seconds: float = EVERY_SECONDS,
    ) -> None:
        """Prepare an engine; `load` gives the embedder of `spec`, by default the model that the settings name.

        What others write is read every `follow_seconds`.
        """
        self.settings = settings
        self.clock = clock or system_clock(settings.clock_offset_days)
        self.model = BackgroundEmbedder(load or self._load)
        self._word_counts = WordCounts(self._count_pieces)
        self._given_spec = spec
        self._follow_seconds = follow_seconds
        self._pieces: PieceCounter | None = None
        self._guard = threading.Lock()
        self._services: Services | None = None
        self._steps: DailySteps | None = None
        self._failure: EbbingError | None = None
        self._scheduler: Scheduler | None = None
        self._follower: Follower | None = None
        self._last_call = time.monotonic()
        self._closed = False

    def start(self) -> None:
        """Begin what may take long, in the background: the model, the store, the scheduler."""
        self.model.start()
        threading.Thread(target=self._open_quietly, name="ebbing-open", daemon=True).start()
        if self.settings.background:
            jobs = [Job("spool", SPOOL_SECONDS, self._ingest), Job("daily", QUIET_SECONDS, self._run_if_due)]
            self._scheduler = Scheduler(jobs)
            self._scheduler.start()

    def services(self) -> Services:
        """The floors below, opened by the first call; what earlier recalls have left to be recorded is recorded.

        Raises:
            StoreError: if the store can't be opened; the next call tries again.
        """
        services = self._opened()
        services.showings.settle()
        return services

    def _opened(self) -> Services:
        self._last_call = time.monotonic()
        with self._guard:
            if self._services is None:
                self._services = self._open()
            return self._services

    def steps(self) -> DailySteps:
        """The steps of the daily run."""
        self.services()
        assert self._steps is not None  # noqa: S101 - services() has made them
        return self._steps

    def flush(self, scope: str) -> None:
        """Take the spool in and prepare a scope's soft prompt anew, without waiting for the daily run.

        Raises:
            StoreError: if the store can't be written; what was done stays done.
            OSError: if the soft prompt's file can't be written.
        """
        context = RunContext(self.clock(), scope=scope)
        for step in self.steps().all():
            if step.name in _FLUSHED:
                step.run(context)

    def close(self) -> None:
        """Stop the background work and close the store; a second call changes nothing."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            services, self._services = self._services, None
        if self._follower is not None:
            self._follower.close()
        if services is not None:
            services.daily.stop()
            services.showings.close()
        if self._scheduler is not None:
            self._scheduler.close()
        if services is not None:
            services.store.close()
        self.model.close()

    def embedder(self, seconds: float = 0.0) -> Embedder | None:
        """The loaded model, after waiting at most `seconds` for it; None where there is none to be had."""
        self.model.start()
        if seconds <= 0:
            return self.model.ready()
        try:
            return self.model.wait(seconds)
        except ModelError:
            return self.model.ready()

    def count_exactly(self, text: str) -> int:
        """Tokens of a text by the model's tokenizer, whether or not the model is loaded; without one, rather too many.

        A soft prompt that is counted again another day must come out the same.
        """
        if self._pieces is None and self._given_spec is None:
            try:
                self._pieces = PieceCounter(locate(model_dir=self.settings.model_dir).path("tokenizer"))
            except ModelError as error:
                _log.info("tokens are estimated: %s", error)
        counter = self._pieces or (self.model.ready() if self._given_spec is not None else None)
        return _at_most(text) if counter is None else counter.count_pieces(text)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text: counted by the model's tokenizer once it is loaded, estimated before."""
        return self._word_counts(text) if self.model.ready() else -(-len(text) // _CHARACTERS_PER_TOKEN)

    def _count_pieces(self, text: str) -> int:
        ready = self.model.ready()
        return -(-len(text) // _CHARACTERS_PER_TOKEN) if ready is None else ready.count_pieces(text)

    def _open(self) -> Services:
        settings = self.settings
        spec = self._spec()
        store = Store(
            settings.home,
            self.clock(),
            model_name=spec.id,
            dimension=spec.dimension,
            busy_timeout_ms=settings.busy_timeout_ms,
        )
        ledger = Ledger(store, settings.decay)
        lessons = ChannelLessons(store)
        observer = Observer(store, ledger, settings.decay)
        self._steps = DailySteps(
            store, observer, self.model.ready, self.count_exactly, self._prompt_path, settings.decay
        )
        return Services(
            store=store,
            ledger=ledger,
            showings=Showings(ledger.shown_all),
            lessons=lessons,
            recorder=Recorder(store, ledger, settings.decay),
            observer=observer,
            recaller=Recaller(
                store,
                self.model.ready,
                lambda columns, seqs, now: retention_of(store, columns, seqs, now, settings.decay),
                learned=lessons.multipliers,
            ),
            daily=DailyRun(store, self._steps.all(), f"{os.getpid()}-{new_id(self.clock())}"),
            embedder=self.embedder,
            count_tokens=self.count_tokens,
            clock=self.clock,
            scope=settings.scope,
            prompt_path=self._prompt_path,
            session=settings.session,
            decay=settings.decay,
        )

    def for_client(self, client: str | None) -> Services:
        """The services, labelled with the name of the client that calls; recalls may still wait to be recorded."""
        services = self._opened()
        return services if client is None else replace(services, client=client)

    def _open_quietly(self) -> None:
        try:
            services = self._opened()
        except EbbingError as error:
            # The first tool call meets the same error and can answer with it.
            _log.warning("%s", error)
            return
        follower = Follower(services.store, self._follow_seconds, then=services.recaller.prepare)
        with self._guard:
            if self._closed:
                return
            self._follower = follower
        follower.start()

    def _ingest(self) -> None:
        services = self.services_if_open()
        if services is not None:
            services.observer.ingest(self.clock())

    def _run_if_due(self) -> None:
        services = self.services_if_open()
        quiet = time.monotonic() - self._last_call >= QUIET_SECONDS
        if services is not None and quiet and services.daily.is_due(self.clock()):
            self.embedder(QUIET_SECONDS)
            services.showings.settle()
            services.daily.run(self.clock())

    def follow(self) -> None:
        """Read in the background what a call may have written; for whoever has just answered one."""
        if self._follower is not None:
            self._follower.look()

    def services_if_open(self) -> Services | None:
        """The services if a call has opened them and nobody closed them."""
        with self._guard:
            return self._services

    def _prompt_path(self, scope: str) -> Path:
        return soft_prompt_path(self.settings.home, scope)

    def _load(self) -> Embedder:
        return load_embedder(self.settings.model_dir, self.settings.home / "model-check.json")

    def _spec(self) -> ModelSpec:
        if self._given_spec is not None:
            return self._given_spec
        try:
            return locate(model_dir=self.settings.model_dir).spec
        except ModelError:
            return DEFAULT_MODEL
