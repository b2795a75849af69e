"""import of ebbing's own format: all of a file or nothing, unless bad lines are to be left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from ...encoding.words import indexed
from ...lifecycle import clock as activity
from ...lifecycle.backfill import backfill
from ...schemas.errors import InvalidInputError
from ...store.carried import Record
from ...store.importing import Shift, digest
from ..services import Services
from .lines import header_of, lines_of
from .survey import Survey

_NAMED = 3
_REPORTED = 500

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What an import did, or would do: how many memories by what became of them, links, journal entries, bad lines."""

    added: int
    updated: int
    unchanged: int
    kept: int
    erased: int
    doubles: int
    links: int
    journal: int
    embedded: int
    bad: dict[int, str]
    dry_run: bool


def quiet(_done: int, _total: int, _what: str) -> None:
    """Nobody wants to know."""


def load(
    services: Services,
    file: BinaryIO,
    *,
    skip_bad: bool = False,
    dry_run: bool = False,
    progress: Progress = quiet,
) -> Loaded:
    """Take in a seekable export: what is new here, and what has more of a history there than here.

    The rows are written in one transaction, the embeddings afterwards in batches of their own.

    Raises:
        InvalidInputError: if the file is no export, or has bad lines that are not to be left out; nothing was changed.
        StoreError: if the store can't be written; nothing was changed.
    """
    survey = _survey(services, file, progress)
    if survey.bad and not skip_bad:
        raise InvalidInputError(_refusal(survey.bad))
    journal, links = (0, 0) if dry_run else _write(services, file, survey, progress)
    embedded = 0 if dry_run else _embed(services, len(survey.added), progress)
    return Loaded(
        added=len(survey.added),
        updated=len(survey.updated),
        unchanged=len(survey.unchanged),
        kept=len(survey.kept),
        erased=len(survey.erased),
        doubles=len(survey.doubles),
        links=links,
        journal=journal,
        embedded=embedded,
        bad=survey.bad,
        dry_run=dry_run,
    )


def _survey(services: Services, file: BinaryIO, progress: Progress) -> Survey:
    importing = services.store.importing
    header = header_of(file)
    with services.store.snapshot():
        survey = Survey(header, importing.ids(), importing.events(), importing.erased())
        progress(0, 0, "reading the file")
        survey.take(lines_of(file, importing.columns()))
        survey.decide(importing)
    return survey


def _refusal(bad: dict[int, str]) -> str:
    said = "; ".join(f"line {number}: {wrong}" for number, wrong in list(bad.items())[:_NAMED])
    more = f"; and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
    return f"{said}{more}. Nothing was imported; --skip-bad imports the rest"


def _write(services: Services, file: BinaryIO, survey: Survey, progress: Progress) -> tuple[int, int]:
    """Write what counts; returns how many journal entries and links were written."""
    store, written, linked = services.store, 0, 0
    total = sum(count for count in survey.header["records"].values() if isinstance(count, int))
    shifts = _shifts(services, survey)
    with store.atomic():
        known = store.importing.history()
        before = store.importing.untold()
        for done, line in enumerate(lines_of(file, store.importing.columns()), 1):
            if done % _REPORTED == 0:
                progress(done, total, "importing")
            record = line.record
            if record is None or line.number in survey.bad:
                continue
            if record["type"] == "journal":
                written += _entry(services, record, survey, known)
            elif record["type"] == "links":
                linked += _links(services, record, survey)
            else:
                _row(services, record, survey, shifts)
        if survey.bad:
            store.importing.leave_out(store.importing.untold() - before, services.clock())
    return written, linked


def _row(services: Services, record: Record, survey: Survey, shifts: dict[str, Shift]) -> None:
    store = services.store
    if record["type"] == "scope":
        store.importing.scope(record)
    elif record["type"] == "meta":
        store.importing.meta(record)
    elif survey.writes(record["id"]):
        placed = store.importing.memory(record, shifts.get(record["scope"], Shift()))
        if placed.reworded:
            store.lexical.remove([placed.seq])
            store.lexical.add(placed.seq, *indexed(record["content"], record.get("tags", ())))


def _links(services: Services, record: Record, survey: Survey) -> int:
    if not survey.writes(record["memory"]):
        return 0
    return len(record["links"]) - services.store.importing.links(record)


def _entry(services: Services, record: Record, survey: Survey, known: dict[bytes, int]) -> bool:
    if not survey.writes_entry(record):
        return False
    same = digest(record)
    if known.get(same, 0) > 0:
        known[same] -= 1
        return False
    services.store.importing.journal(record)
    return True


def _shifts(services: Services, survey: Survey) -> dict[str, Shift]:
    """What keeps a memory's age where the file's scope is here too, with a clock that shows something else."""
    now, found = services.clock(), dict[str, Shift]()
    for key, theirs in survey.clocks.items():
        number = services.store.scopes.find(key)
        ours = None if number is None else services.store.scopes.clock(number)
        if ours is not None and ours != theirs:
            found[key] = Shift(
                activity.tau(ours, now, services.decay) - activity.tau(theirs, now, services.decay),
                activity.active_day(ours, now) - activity.active_day(theirs, now),
            )
    return found


def _embed(services: Services, expected: int, progress: Progress) -> int:
    """Compute the embeddings that an export does not carry, where there is a model; a server does the rest."""
    embedder = services.embedder(0.0)
    if embedder is None or not expected:
        return 0
    return backfill(
        services.store,
        embedder,
        services.decay,
        bits=lambda strength: strength.bit_width,
        progress=lambda count: progress(count, expected, "computing embeddings"),
    )
