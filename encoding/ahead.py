"""Work that goes on beside its caller's: a model leaves the interpreter free while it computes.

The threads are kept: a new one for each text took .5 to 1 ms of the 15 that its embedding takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_THREADS: Final = 8

_this = threading.local()


class Ahead(Generic[T]):
    """What another thread is working out, for whoever has something else to do until then.

    Args:
        work: is begun at once. Its caller goes on when it says that it is `computing`, or is done: until then both
            would only keep the interpreter from each other.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        begun = threading.Event()
        self._future: Future[T] = _threads().submit(_work, work, begun)
        begun.wait()

    def result(self) -> T:
        """What came of the work, after waiting for it; what it raised is raised here, each time."""
        return self._future.result()


def computing() -> None:
    """Say that what the calling thread does now leaves the interpreter free; for nobody unless it works ahead."""
    begun: threading.Event | None = getattr(_this, "begun", None)
    if begun is not None:
        begun.set()


def _work(work: Callable[[], T], begun: threading.Event) -> T:
    _this.begun = begun
    try:
        return work()
    finally:
        begun.set()


@cache
def _threads() -> ThreadPoolExecutor:
    """More are only started while all of them work."""
    return ThreadPoolExecutor(_THREADS, "ebbing-ahead")
