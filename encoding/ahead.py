"""Work that goes on beside its caller's: a model leaves the interpreter free while it computes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """What a thread of its own is working out, for whoever has something else to do until then.

    Args:
        work: is begun at once.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._made: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ebbing-ahead", daemon=True)
        self._thread.start()

    def result(self) -> T:
        """What came of the work, after waiting for it; what it raised is raised here, each time."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._made[0]

    def _run(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:  # noqa: BLE001 - handed to whoever asks for the result
            self._error = error
