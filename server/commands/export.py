"""`ebbing export`: everything that is remembered, as a file of lines."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import click

from .files import binary, new_file
from .invocation import invocation, shared_options
from .progress import steps
from .status import size

_OF_ONE_SCOPE = "EBBING_SCOPE"


@click.command("export")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, file: str, force: bool) -> None:
    """Write all memories to FILE or standard output, with their links and history, as lines of JSON.

    Every scope is written, or with --scope that one alone. `ebbing import` reads it, into an empty store or another.
    """
    from ...tools.transfer.export import export

    run = invocation(ctx)
    target: AbstractContextManager[BinaryIO]
    target = nullcontext(binary("stdout")) if file == "-" else new_file(Path(file), force=force)
    with run.services() as services, target as stream, steps() as progress:
        done = export(services.store, stream, run.overrides.get(_OF_ONE_SCOPE), progress)
    if file != "-":
        said = f"{done.records['memory']:,} memories and {done.records['journal']:,} journal entries"
        run.answer({"file": file, **asdict(done)}, lambda: f"Wrote {said} to {file}, {size(done.bytes)}.")
