"""Keeps what is resident close to the store while others write, so that no recall has much to catch up with."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Final

from ..schemas.closing import Closing
from ..schemas.errors import StoreError
from ..store.store import Store

EVERY_SECONDS: Final = 1.0
_REPLY_SECONDS: Final = 0.005
"""How long a reply gets to be on the wire before reading competes with it for the interpreter."""

_log = logging.getLogger(__name__)


class Follower(Closing):
    """Reads what changed in a store, once a second and when told to, on a thread of its own.

    Looking costs one row when nothing changed.
    """

    def __init__(
        self,
        store: Store,
        every_seconds: float = EVERY_SECONDS,
        then: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is read before `start`.

        `then` is called after a look, but not again before `every_seconds` have passed by `clock` (in seconds).
        """
        self._store = store
        self._every = every_seconds
        self._then = then
        self._clock = clock
        self._closed = threading.Event()
        self._told = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ebbing-follow", daemon=True)

    def start(self) -> None:
        """Read what is there, and go on following it."""
        self._thread.start()

    def look(self) -> None:
        """Read what a call may just have written as soon as its reply is out, so that the next call finds it read."""
        self._told.set()

    def close(self) -> None:
        """Stop; a reading in progress ends by itself."""
        self._closed.set()
        self._told.set()

    def _run(self) -> None:
        due = -math.inf
        while not self._closed.is_set():
            try:
                self._store.follow()
                if self._clock() >= due:
                    self._then()
                    due = self._clock() + self._every
            except StoreError as error:
                # The next call meets the same error and can answer with it; closing makes one too.
                _log.debug("following the store: %s", error)
            if self._told.wait(self._every):
                self._told.clear()
                self._closed.wait(_REPLY_SECONDS)
