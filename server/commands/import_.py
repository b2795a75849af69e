"""`ebbing import`: memories of another store."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from ...schemas.errors import EbbingError
from .files import binary
from .invocation import invocation, shared_options
from .progress import steps

if TYPE_CHECKING:
    from ...tools.transfer.load import Loaded


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--skip-bad", is_flag=True, help="Leave bad lines out, instead of importing nothing.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, file: str, skip_bad: bool, dry_run: bool) -> None:
    """Take memories in from FILE, which `ebbing export` wrote; `-` reads standard input.

    A memory that is here too is replaced only by one with more of a history; importing a file twice changes nothing.
    """
    from ...tools.transfer.load import load

    run = invocation(ctx)
    with _opened(file) as source, run.services(with_model=True) as services, steps() as progress:
        done = load(services, source, skip_bad=skip_bad, dry_run=dry_run, progress=progress)
    run.answer(asdict(done), lambda: "\n".join(_text(done)))


@contextmanager
def _opened(file: str) -> Generator[BinaryIO]:
    """The file as one that can be read twice."""
    try:
        if file == "-":
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(binary("stdin"), copy)
                yield cast("BinaryIO", copy)
        else:
            with Path(file).open("rb") as source:
                yield source
    except OSError as error:
        raise EbbingError(f"{file} can't be read: {error.strerror}") from error


def _text(done: Loaded) -> Iterator[str]:
    would = "would be " if done.dry_run else ""
    yield f"{done.added:,} memories {would}added, {done.updated:,} updated; {done.unchanged:,} were here already."
    if not done.dry_run:
        yield f"With them came {done.links:,} links and {done.journal:,} journal entries."
    if done.kept:
        yield f"{done.kept:,} were left as they are: they have gone on here since."
    if done.erased:
        yield f"{done.erased:,} were left out: they were erased here."
    if done.doubles:
        yield f"{done.doubles:,} were left out: the same events are remembered here already."
    yield from (f"Left out, line {number}: {wrong}." for number, wrong in done.bad.items())
    if done.embedded < done.added and not done.dry_run:
        yield "Embeddings are missing and will be computed by the next daily run; until then recall goes by words."
