"""Progress on stderr for what takes longer than two seconds: a spinner or bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_SECONDS = 2.0


class _Display:
    """A rich progress display that comes up only after a while."""

    def __init__(self, make: Callable[[], Progress]) -> None:
        self._make = make
        self._guard = threading.Lock()
        self._shown: Progress | None = None
        self._ended = False
        self._latest = (0, 0, "")
        self._timer = threading.Timer(PATIENCE_SECONDS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._guard:
            self._ended = True
            if self._shown is not None:
                self._shown.stop()

    def update(self, done: int, total: int, name: str) -> None:
        with self._guard:
            self._latest = (done, total, name)
            self._draw()

    def _show(self) -> None:
        with self._guard:
            if not self._ended:
                self._shown = self._make()
                self._shown.add_task("")
                self._shown.start()
                self._draw()

    def _draw(self) -> None:
        if self._shown is not None:
            done, total, name = self._latest
            task = self._shown.task_ids[0]
            self._shown.update(task, completed=done, total=total or None, description=name)


class _Lines:
    """The same for a stream that is no terminal: a line for what begins after a while, nothing else."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, done: int, total: int, name: str) -> None:
        if time.monotonic() - self._started >= PATIENCE_SECONDS and done < total:
            click.echo(f"{done}/{total} {name} ...", err=True)


@contextmanager
def working(what: str) -> Generator[None]:
    """Show that something is going on while it takes longer than a moment."""
    with _display() as display:
        display.update(0, 0, what)
        yield


@contextmanager
def steps() -> Generator[Callable[[int, int, str], None]]:
    """Give a function that is told (steps done, steps in all, the name of the one that begins)."""
    with _display() as display:
        yield display.update


def _display() -> _Display | _Lines:
    return _Display(_progress) if sys.stderr.isatty() else _Lines()


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=Console(stderr=True), transient=True)
