"""Keeps what is resident close to the store while others write, so that no recall has much to catch up with."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from ..schemas.errors import StoreError
from ..store.store import Store

EVERY_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class Follower:
    """Reads what changed in a store, once a second, on a thread of its own. Looking costs one row when nothing did."""

    def __init__(
        self, store: Store, every_seconds: float = EVERY_SECONDS, then: Callable[[], None] = lambda: None
    ) -> None:
        """Prepare; nothing is read before `start`. `then` is called after each look."""
        self._store = store
        self._every = every_seconds
        self._then = then
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ebbing-follow", daemon=True)

    def start(self) -> None:
        """Read what is there, and go on following it."""
        self._thread.start()

    def close(self) -> None:
        """Stop; a reading in progress ends by itself."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._store.follow()
                self._then()
            except StoreError as error:
                # The next call meets the same error and can answer with it; closing makes one too.
                _log.debug("following the store: %s", error)
            self._closed.wait(self._every)
