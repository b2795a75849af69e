"""How the demo looks: headings, lines cut to the terminal's width, a bar on stderr while something takes long."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import click

_WIDEST = 120
_NARROWEST = 20
_INDENT = "   "


class View:
    """Writes the demo's story to stdout, or nothing when it is told as JSON at the end."""

    def __init__(self, *, quiet: bool) -> None:
        """Write unless `quiet`."""
        self._quiet = quiet
        self._number = 0
        self._width = min(_WIDEST, shutil.get_terminal_size((100, 24)).columns)

    def heading(self, text: str) -> None:
        """Begin a numbered part."""
        self._number += 1
        self.plain("")
        self.plain(click.style(f"{self._number}. {text}", bold=True))

    def line(self, text: str, *, mark: str = " ", whole: bool = False) -> None:
        """One line of a part, cut at the terminal's width; `whole` goes on below instead of being cut."""
        flat = " ".join(text.split())
        room = max(_NARROWEST, self._width - len(_INDENT) - len(mark) - 1)
        if not whole:
            self.plain(f"{_INDENT}{mark} {flat if len(flat) <= room else flat[: room - 1].rstrip() + '…'}")
            return
        for number, part in enumerate(textwrap.wrap(flat, room) or [""]):
            self.plain(f"{_INDENT}{mark if number == 0 else ' ' * len(mark)} {part}")

    def block(self, text: str) -> None:
        """A text as it is, set off from the rest."""
        for line in text.rstrip().splitlines():
            self.plain(f"{_INDENT}| {line}")

    def plain(self, text: str) -> None:
        """A line as it is."""
        if not self._quiet:
            click.echo(text)

    @contextmanager
    def progress(self, title: str) -> Generator[Callable[[int, int, str], None]]:
        """Give a function that is told (done, in all, what): a bar on a terminal, nothing elsewhere."""
        if not sys.stderr.isatty():
            yield lambda _done, _total, _what: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn(f"   {title}"), BarColumn(bar_width=30), MofNCompleteColumn())
        named = TextColumn("{task.description}", markup=False)
        with Progress(*columns, named, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("")
            yield lambda done, total, what: bar.update(task, completed=done, total=total or None, description=what)


def resolution(memory: Mapping[str, Any]) -> str:
    """The text of a memory as its state lets recall show it."""
    state = memory["strength"]["state"]
    return str(memory[{"cold": "gist", "archive": "cue", "forgotten": "cue"}.get(state, "content")])
