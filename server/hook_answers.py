"""What a server answers to hooks: what comes to mind at a prompt, and to take the spool in now."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..schemas.errors import EbbingError
from ..tools.remind import Reminder, record, remind
from ..tools.services import Services

KEPT_SECONDS = 30 * 86_400.0
"""What a session was shown is remembered for that long after its last prompt, for when it is resumed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reminded:
    """The answer to a prompt: the text to add to it and the ids in it."""

    services: Services
    reminder: Reminder

    @property
    def reply(self) -> Mapping[str, Any]:
        """The text and its ids."""
        return {"text": self.reminder.text, "ids": [memory.id for memory in self.reminder.memories]}

    def passed_on(self) -> None:
        """It was shown, which is now written down."""
        record(self.services, self.reminder)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The answer to a request that is carried out by itself."""

    @property
    def reply(self) -> Mapping[str, Any]:
        """That it will be."""
        return {"ok": True}

    def passed_on(self) -> None:
        """Nothing more to do."""


class HookAnswers:
    """Answers requests of hooks from one server's services."""

    def __init__(self, services: Callable[[], Services], flush: Callable[[str], None]) -> None:
        """Answer from `services()`; `flush` takes the spool in and prepares a scope's soft prompt."""
        self._services = services
        self._flush = flush
        self._flushing = threading.Lock()

    def __call__(self, request: Mapping[str, Any]) -> Reminded | Agreed | None:
        """The answer to one request; None to one that means nothing, or where nothing comes to mind.

        Raises:
            StoreError: if the store can't be read.
        """
        scope = request.get("scope")
        if not isinstance(scope, str) or not scope:
            return None
        if request.get("op") == "prompt":
            return self._reminded(request.get("prompt"), scope, request.get("seen"), request.get("session"))
        if request.get("op") == "flush":
            threading.Thread(target=self._flush_quietly, args=(scope,), name="ebbing-flush", daemon=True).start()
            return Agreed()
        return None

    def _reminded(self, prompt: object, scope: str, seen: object, session: object) -> Reminded | None:
        if not isinstance(prompt, str):
            return None
        services = self._services()
        known = frozenset(map(str, seen)) if isinstance(seen, list) else frozenset[str]()  # pyright: ignore[reportUnknownArgumentType]
        named = session if isinstance(session, str) and session else None
        reminder = remind(services, prompt, scope, known, named)
        return None if reminder is None else Reminded(services, reminder)

    def _flush_quietly(self, scope: str) -> None:
        if not self._flushing.acquire(blocking=False):
            return
        try:
            self._flush(scope)
        except (EbbingError, OSError) as error:
            _log.warning("taking in what hooks left: %s", error)
        finally:
            self._flushing.release()


def remove_old_sessions(home: Path, now: float | None = None) -> None:
    """Remove the notes of sessions that nobody has written to for thirty days before `now` (seconds, epoch)."""
    before = (time.time() if now is None else now) - KEPT_SECONDS
    for path in (home / "sessions").glob("*.ids"):
        try:
            if path.stat().st_mtime < before:
                path.unlink()
        except OSError as error:
            _log.debug("an old session's note stays: %s", error)
