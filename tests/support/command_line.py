"""Runs the `ebbing` command in this process, as a person would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from ebbing.server.cli import main
from ebbing.server.commands.invocation import Invocation
from ebbing.server.commands.root import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


def ebbing(*arguments: str, stdin: str | bytes = "", now: int | None = None) -> Ran:
    """Run `ebbing` with at least one argument; `stdin` is what a person types, `now` (µs) what the clock says."""
    with CliRunner().isolation(input=stdin) as (out, err, _):
        code = main(arguments) if now is None else run(arguments, Invocation(clock=lambda: now))
        return Ran(code, out.getvalue().decode("utf-8"), err.getvalue().decode("utf-8"))
