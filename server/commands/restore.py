"""`ebbing restore`: a copy of the store back in its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...schemas.errors import ConfirmationRequiredError
from .invocation import invocation, shared_options
from .progress import working

if TYPE_CHECKING:
    from ...store.restore import Restored

_SHOWN = 10


@click.command("restore")
@click.argument("file", metavar="FILE")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, file: str, yes: bool) -> int:
    """Make the store what FILE is, a copy that `ebbing backup` made. What it replaces is kept among the backups.

    FILE is checked first. End the clients whose servers use the store: with one of them running nothing is changed.
    """
    from ...store.restore import restore
    from ..engine import system_clock

    run = invocation(ctx)
    settings = run.settings()
    database = settings.home / "memory.db"
    if not yes and run.as_json:
        raise ConfirmationRequiredError("restore needs a yes: repeat it with --yes")
    if not yes and not click.confirm(f"Replace the store {database} by {file}?", err=True):
        run.answer({"restored": False}, lambda: "Nothing was changed.")
        return 0
    with working("restoring the store"):
        done = restore(Path(file), database, (run.clock or system_clock(settings.clock_offset_days))())
    data = {
        "restored": True,
        "schema": done.schema,
        "memories": done.memories,
        "kept": None if done.kept is None else str(done.kept),
        "returned": list(done.returned),
    }
    run.answer(data, lambda: "\n".join(_text(done, file)))
    return 0


def _text(done: Restored, file: str) -> Iterator[str]:
    yield f"The store is what {file} was: {done.memories:,} memories."
    if done.kept is not None:
        yield f"What it replaced is kept as {done.kept}."
    if done.returned:
        yield f"{len(done.returned):,} memories that had been erased are back; `ebbing forget ID --mode erase`:"
        yield from (f"  {identifier}" for identifier in done.returned[:_SHOWN])
