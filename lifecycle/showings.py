"""What recalls have shown, recorded after their answers are given: nobody waits for bookkeeping.

Showings are kept in their order and written together, a moment after the first of them, by one thread. Whoever reads
what they change (feedback on a recall, explanations, the daily run) settles them first. A process that is killed loses
the last moment's; being shown is weak evidence, and no other write goes this way.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..schemas.closing import Closing
from ..schemas.errors import StoreBusyError, StoreError
from ..schemas.memory import Memory

DELAY_SECONDS: Final = 0.05
"""Long enough for the answer to be on its way, and for the recalls of a burst to be written together."""
_MOST: Final = 1_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Showing:
    """One recall of a scope at `at` (µs): the memories it showed, its id, and what else the journal is to say of it."""

    scope: str
    memories: tuple[Memory, ...]
    recall_id: str
    data: Mapping[str, Any]
    at: int


class Showings(Closing):
    """Holds showings back for a moment and writes them in order. Thread-safe; a context manager that writes the rest.

    Args:
        write: writes some in one transaction.
        delay_seconds: how long the first of them waits for more.
    """

    def __init__(self, write: Callable[[Sequence[Showing]], None], delay_seconds: float = DELAY_SECONDS) -> None:
        self._write = write
        self._delay = delay_seconds
        self._changed = threading.Condition()
        self._waiting: list[Showing] = []
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def add(self, showing: Showing) -> None:
        """Have a showing written soon; after `close` it is dropped, like the call that it belongs to."""
        with self._changed:
            if self._closed.is_set():
                return
            self._waiting.append(showing)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ebbing-showings", daemon=True)
                self._thread.start()
            self._changed.notify()

    def settle(self) -> None:
        """Write what waits, now, on this thread. What can't be written is said in the log and waits on or is lost."""
        with self._turn:
            taken = self._take()
            if not taken:
                return
            try:
                self._write(taken)
            except StoreBusyError as error:
                self._put_back(taken, error)
            except StoreError as error:
                _log.warning("%d recalls are not recorded: %s", len(taken), error)

    def close(self, wait_seconds: float = 1.0) -> None:
        """Have the rest written and end the thread, which gets `wait_seconds` for it; a second call changes nothing."""
        with self._changed:
            self._closed.set()
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(wait_seconds)

    def _run(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
            self._closed.wait(self._delay)
            self.settle()
        self.settle()

    def _take(self) -> list[Showing]:
        with self._changed:
            taken, self._waiting = self._waiting, []
        return taken

    def _put_back(self, taken: list[Showing], error: StoreBusyError) -> None:
        with self._changed:
            self._waiting = [*taken, *self._waiting]
            lost = len(self._waiting) - _MOST
            if lost > 0:
                del self._waiting[:lost]
                _log.warning("%d recalls are not recorded: %s", lost, error)
