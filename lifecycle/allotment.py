"""What a daily run may take of a core, and what of it each step may: a large store never keeps a machine busy for long.

A step that is out of time ends after its batch, as if it were stopped, and goes on where it is in the next run. Steps
that somebody waits for, such as embedding what was imported, are not held to it; what they take, the others lack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MOST: Final = 55.0
"""Seconds of a core that a run may take, a few of the budget of 60 left for the batch that goes over."""
RESERVED: Final = 4.0
"""Seconds of a core that a step has in any case, whatever those before it took, so that every run gets on with all."""


class Allotment:
    """Deals out the time of one run to its steps, in their order."""

    def __init__(self, core: Callable[[], float], bounded: int, most: float = MOST) -> None:
        """Begin a run with `bounded` steps that are held to their time; `core` gives seconds of a core, growing."""
        self._core = core
        self._ends = core() + most
        self._waiting = bounded

    def step(self, stopped: Callable[[], bool]) -> Turn:
        """The turn of the next bounded step: it may take what is left but for what is reserved for those after it."""
        self._waiting -= 1
        now = self._core()
        return Turn(self._core, max(now + RESERVED, self._ends - RESERVED * self._waiting), stopped)


class Turn:
    """The time of one step. Call it between two batches: whether to stop."""

    def __init__(self, core: Callable[[], float], ends: float, stopped: Callable[[], bool]) -> None:
        """Stop when `stopped` says so, or when `core` has come to `ends`."""
        self._core = core
        self._ends = ends
        self._stopped = stopped
        self.over = False
        """Whether the step was told that its time is over."""

    def __call__(self) -> bool:
        """Whether to stop, because the run is to or because the time is over."""
        self.over = self.over or self._core() >= self._ends
        return self._stopped() or self.over
