"""`ebbing import`: memories of another store, or what another memory wrote."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from ...schemas.errors import EbbingError, InvalidInputError
from .files import binary
from .invocation import Invocation, invocation, shared_options
from .progress import steps

if TYPE_CHECKING:
    from ...encoding.foreign.notes import Reading
    from ...tools.foreign import NotesImported
    from ...tools.transfer.load import Loaded

_OURS = "ebbing"
_NAMES = (_OURS, "claude-memory", "instructions", "basic-memory", "memory-server", "mem0", "markdown")
_SHOWN = 10


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--from", "origin", type=click.Choice(_NAMES), help="What wrote FILE, where that isn't plain.")
@click.option("--trust", is_flag=True, help="Vouch for it: trust it as your own word. An export is always trusted.")
@click.option("--skip-bad", is_flag=True, help="Leave bad lines out, instead of importing nothing.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, file: str, origin: str | None, trust: bool, skip_bad: bool, dry_run: bool) -> None:
    """Take memories in from FILE, a file or folder; `-` reads an export from standard input.

    It reads what `ebbing export` wrote, Claude Code's memory folders, CLAUDE.md and AGENTS.md, Markdown, the files of
    the reference memory server and of basic-memory, and mem0's JSON. Importing twice changes nothing.
    """
    run = invocation(ctx)
    if origin is None and not _is_export(file):
        origin = _recognised(file)
    if origin in (None, _OURS):
        _take_export(run, file, skip_bad=skip_bad, dry_run=dry_run)
    else:
        _take_notes(run, file, str(origin), trusted=trust, skip_bad=skip_bad, dry_run=dry_run)


def _is_export(file: str) -> bool:
    if file == "-":
        return True
    with _told(file):
        path = Path(file)
        if path.is_dir():
            return False
        with path.open("rb") as source:
            return source.readline(200).startswith(b'{"type":"ebbing-export"')


def _recognised(file: str) -> str:
    from ...encoding.foreign.registry import recognised
    from ..foreign_files import documents

    found = recognised(documents(Path(file)))
    if found is None:
        names = ", ".join(_NAMES)
        raise InvalidInputError(f"it is not plain what wrote {file}: say --from with one of {names}")
    return found.name


def _take_export(run: Invocation, file: str, *, skip_bad: bool, dry_run: bool) -> None:
    from ...tools.transfer.load import load

    with _opened(file) as source, run.services(with_model=True) as services, steps() as progress:
        done = load(services, source, skip_bad=skip_bad, dry_run=dry_run, progress=progress)
    run.answer(asdict(done), lambda: "\n".join(_export_text(done)))


def _take_notes(run: Invocation, file: str, origin: str, *, trusted: bool, skip_bad: bool, dry_run: bool) -> None:
    from ...encoding.foreign.registry import FORMATS
    from ...tools.foreign import import_notes
    from ..foreign_files import documents

    reading = FORMATS[origin].read(documents(Path(file)))
    if reading.problems and not skip_bad:
        said = "; ".join(f"{where}: {why}" for where, why in reading.problems[:3])
        raise InvalidInputError(f"{said}. Nothing was imported; --skip-bad imports the rest")
    with run.services(with_model=not dry_run) as services, steps() as progress:
        scope = services.scope
        done = import_notes(services, reading.notes, scope=scope, trusted=trusted, dry_run=dry_run, progress=progress)
    data = {"from": origin, "scope": scope, "notes": len(reading.notes), "bad": reading.problems, "dry_run": dry_run}
    run.answer(data | asdict(done), lambda: "\n".join(_notes_text(reading, done, scope, trusted, dry_run)))


@contextmanager
def _opened(file: str) -> Generator[BinaryIO]:
    """The file as one that can be read twice."""
    with _told(file):
        if file == "-":
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(binary("stdin"), copy)
                yield cast("BinaryIO", copy)
        else:
            with Path(file).open("rb") as source:
                yield source


@contextmanager
def _told(file: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise EbbingError(f"{file} can't be read: {error.strerror}") from error


def _export_text(done: Loaded) -> Iterator[str]:
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


def _notes_text(reading: Reading, done: NotesImported, scope: str, trusted: bool, dry_run: bool) -> Iterator[str]:
    would = "would be " if dry_run else ""
    yield f"{done.added:,} of {len(reading.notes):,} notes {would}added to {scope}; {done.known:,} were known already."
    if dry_run:
        yield from (f"  {note.kind:<10} {' '.join(note.text.split())[:100]}" for note in reading.notes[:_SHOWN])
    if done.added and not trusted:
        yield "They are trusted as text from outside is: little. With --trust you vouch for them as your own word."
    if done.vouched:
        yield f"{done.vouched:,} that had come before are trusted as your own word now."
    if done.superseded:
        yield f"{done.superseded:,} older memories were superseded."
    if done.conflicts:
        yield f"{len(done.conflicts):,} may contradict what is known:"
        yield from (f"  {new} and {known}" for new, known in done.conflicts[:_SHOWN])
    if done.redacted:
        yield "Removed before storing: " + ", ".join(f"{count} {name}" for name, count in done.redacted.items()) + "."
    yield from (f"Left out, {where}: {why}." for where, why in (*reading.problems, *done.refused))
