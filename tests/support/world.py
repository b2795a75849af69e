"""A whole ebbing in one process, with a clock that the test moves and an embedder without a model."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from fake_embedder import FAKE_MODEL, FakeEmbedder

from ebbing.lifecycle.constants import DEFAULTS, DecaySettings
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, parse
from ebbing.schemas.memory import Memory, State
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings
from ebbing.store.spool import SpoolEvent
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save
from ebbing.tools.services import Services

START = parse("2026-03-02T09:00:00Z")
PROJECT = "/projects/ebb"


class World:
    """Owns an engine over a folder; `now` is the instant (µs) that everything in it believes in."""

    def __init__(
        self,
        home: Path,
        *,
        scope: str = PROJECT,
        now: int = START,
        embedder: FakeEmbedder | None = None,
        decay: DecaySettings = DEFAULTS,
    ) -> None:
        self.now = now
        self.home = home
        self.embedder = embedder or FakeEmbedder()
        settings = Settings(home=home, scope=scope, background=False, decay=decay)
        self.engine = Engine(settings, clock=lambda: self.now, load=lambda: self.embedder, spec=FAKE_MODEL)
        self.engine.embedder(5.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()

    @property
    def services(self) -> Services:
        return self.engine.services()

    def pass_days(self, days: float) -> None:
        """Let time pass without anything happening."""
        self.now += round(days * MICROSECONDS_PER_DAY)

    def work_days(self, days: int, scope: str = PROJECT) -> None:
        """Let days pass on each of which somebody works in the project."""
        for _ in range(days):
            self.pass_days(1)
            self.services.ledger.activity(scope, self.now)

    def save(self, content: str, kind: str = "fact", **arguments: object) -> Memory:
        """Save and return the memory as stored."""
        given = SaveArguments(content=content, kind=kind, **arguments)  # pyright: ignore[reportArgumentType]
        return self.memory(save(self.services, given).id)

    def memory(self, identifier: str) -> Memory:
        """A memory as it is now."""
        [found] = self.services.store.memories.by_ids([identifier])
        return found

    def state(self, identifier: str) -> State:
        """The state that a memory is stored in."""
        return self.memory(identifier).strength.state

    def found(self, query: str, **arguments: object) -> list[str]:
        """The texts that a recall gives, best first."""
        given = RecallArguments(query=query, **arguments)  # pyright: ignore[reportArgumentType]
        return [memory.text for memory in recall(self.services, given).memories]

    def run_daily(self) -> None:
        """Run the daily run as of now."""
        self.services.daily.run(self.now)


def hooked(number: int, name: str, text: str, at: int = START) -> SpoolEvent:
    """What a hook notes of a prompt."""
    return SpoolEvent(f"{name}-{number}", at, PROJECT, f"{name}{number % 4}", "user-prompt-submit", {"prompt": text})
