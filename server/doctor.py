"""What `ebbing doctor` looks at: each check gives findings and says what to do. Nothing is changed by looking."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from ..encoding.model import locate, verify
from ..schemas.errors import EbbingError, StoreCorruptError
from ..schemas.instants import MICROSECONDS_PER_DAY, iso, parse
from ..store.checkup import Checkup, backups_in, examine, versions
from ..store.faults import Part
from ..store.files import refuse_lost, refuse_strange
from ..store.soundness import knows_any, way_back
from ..store.spool import Spool
from .clients.inspection import Standing
from .settings import Settings

Level = Literal["ok", "note", "problem"]
Fix = Literal["permissions", "file", "backups"] | Part

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_SAFE_SQLITE = (3, 51, 3)
_EARLIEST = parse("2024-01-01")
_FEW = 3
_NEGLECTED_SPOOL_BYTES = 16 << 20
_STANDINGS: Mapping[str, Level] = {"in place": "ok", "incomplete": "note", "absent": "note"}
_PARTS: Mapping[Part, tuple[str, str]] = {
    "schema": ("tables", "all are there"),
    "definitions": ("definitions", "all tables are what they were"),
    "rows": ("rows", "each belongs to something"),
    "texts": ("texts", "all {memories:,} are what was stored"),
    "columns": ("values", "all can be read"),
    "journal": ("journal", "every entry can be read"),
    "figures": ("figures", "every memory has figures that can be"),
    "words": ("index of words", "covers all {memories:,} memories"),
    "embeddings": ("index of embeddings", "holds every embedding there is"),
}
_PACKAGES = ("mcp", "onnxruntime", "numpy")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: its name, how bad it is, what is so, what to do about it, and which fix would do it."""

    check: str
    level: Level
    text: str
    remedy: str = ""
    fix: Fix | None = None


def diagnose(settings: Settings, now: int, standings: Sequence[Standing] = ()) -> list[Finding]:
    """Every check of a home folder, as of `now` (µs); the machine's own clock is judged by it too.

    `standings` say how ebbing stands in the clients of this machine.
    """
    findings = [*_home(settings.home), *_model(settings), *_versions(), *_machine_clock(settings, now)]
    findings += _clients(standings)
    path = settings.home / "memory.db"
    try:
        if settings.home.is_dir():
            refuse_lost(path)
            refuse_strange(path)
    except StoreCorruptError as error:
        said, _, remedy = str(error).partition(": ")
        return [*findings, Finding("database", "problem", said, remedy), *_spool(settings.home)]
    if not path.is_file():
        return [*findings, Finding("database", "note", f"{path} does not exist yet: the first save makes it")]
    findings += _files(settings.home)
    try:
        found = examine(path)
    except EbbingError as error:
        return [*findings, _unreadable(path, error), *_spool(settings.home)]
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _database(path, found),
        lambda: _parts(path, found),
        lambda: _leases(found, now),
        lambda: _scope_clocks(found, now),
        lambda: _spool(settings.home),
        lambda: _backups(settings.home, found),
    )
    return [*findings, *(finding for check in checks for finding in check())]


def _home(home: Path) -> Iterator[Finding]:
    if not home.exists():
        yield Finding("home", "note", f"{home} does not exist yet: the first save makes it")
    elif not home.is_dir():
        yield Finding("home", "problem", f"{home} is not a folder", "name a folder in EBBING_HOME")
    elif not os.access(home, os.W_OK | os.X_OK):
        yield Finding("home", "problem", f"{home} can't be written", "change its owner or permissions")
    else:
        yield Finding("home", "ok", str(home))


def _files(home: Path) -> Iterator[Finding]:
    if sys.platform == "win32":
        return
    exposed = exposed_paths(home)
    if exposed:
        named = ", ".join(str(path) for path in exposed[:_FEW]) + (" and others" if len(exposed) > _FEW else "")
        text = f"{len(exposed)} files or folders can be read by other users: {named}"
        yield Finding("permissions", "problem", text, "run `ebbing doctor --fix`", "permissions")
    else:
        yield Finding("permissions", "ok", "only you can read what is stored")


def exposed_paths(home: Path) -> list[Path]:
    """The home folder and what lies in it, as far as others than the owner have any permission for it."""
    paths = [home, *sorted(path for path in home.rglob("*") if not path.is_symlink())]
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


def make_private(home: Path) -> None:
    """Take others' permissions from everything in the home folder.

    Raises:
        OSError: if something belongs to somebody else.
    """
    for path in exposed_paths(home):
        path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)


def _unreadable(path: Path, error: EbbingError) -> Finding:
    if not isinstance(error, StoreCorruptError):
        return Finding("database", "problem", str(error), "see the text; nothing was changed")
    remedy = f"run `ebbing doctor --fix` with all clients ended, which saves what it can; otherwise {way_back(path)}"
    return Finding("database", "problem", f"{path} is damaged or is no database", remedy, "file")


def _database(path: Path, found: Checkup) -> Iterator[Finding]:
    if found.integrity:
        text = f"{path}: {'; '.join(found.integrity[:_FEW])}"
        # What is wrong inside an index of words is mended in place.
        fix: Fix = "words" if all(said.startswith("fts5") for said in found.integrity) else "file"
        remedy = f"run `ebbing doctor --fix` with all clients ended; if that can't repair it, {way_back(path)}"
        yield Finding("database", "problem", text, remedy, fix)
    elif found.schema > found.known_schema:
        text = f"{path} was written by a newer ebbing (schema {found.schema}, this one knows {found.known_schema})"
        yield Finding("database", "problem", text, "upgrade ebbing")
    elif found.schema < found.known_schema:
        text = f"{path} has schema {found.schema}; the next server brings it to {found.known_schema}, after a backup"
        yield Finding("database", "note", text)
    else:
        yield Finding("database", "ok", f"{path} is sound: schema {found.schema}, {found.memories:,} memories")


def _parts(path: Path, found: Checkup) -> Iterator[Finding]:
    if found.schema != found.known_schema:
        return
    back = cache(lambda: way_back(path))
    for part, (name, sound) in _PARTS.items():
        faults = [fault for fault in found.faults if fault.part == part]
        if not faults:
            yield Finding(name, "ok", sound.format(memories=found.memories))
            continue
        remedy = "run `ebbing doctor --fix`"
        if part == "texts":
            remedy += ", which looks for them in the backups"
        remedy += f"; for what it can't bring back, {back()}"
        yield Finding(name, "problem", "; ".join(fault.text for fault in faults), remedy, part)


def _leases(found: Checkup, now: int) -> Iterator[Finding]:
    held = [lease for lease in found.leases if lease.expires_at > now]
    for lease in held:
        text = f"{lease.name} is held by process {lease.holder.partition('-')[0]} until {iso(lease.expires_at)}"
        yield Finding("lease", "note", text, "nothing: a lease ends with its time, whatever became of its holder")
    if not held:
        yield Finding("lease", "ok", "nobody is consolidating")


def _scope_clocks(found: Checkup, now: int) -> Iterator[Finding]:
    ahead = [(key, at) for key, at in found.latest_activity if at > now + MICROSECONDS_PER_DAY]
    if not ahead:
        yield Finding("scopes' clocks", "ok", "none is ahead of the machine's clock")
        return
    days = max(at - now for _, at in ahead) / MICROSECONDS_PER_DAY
    text = f"{len(ahead)} scopes were last used up to {days:,.0f} days in the future; until then they don't age"
    remedy = "nothing, if the clock was set forward to try things out; otherwise check the machine's clock"
    yield Finding("scopes' clocks", "problem", text, remedy)


def _machine_clock(settings: Settings, now: int) -> Iterator[Finding]:
    if now < _EARLIEST:
        yield Finding("clock", "problem", f"the machine's clock says {iso(now)}", "set the clock")
    elif settings.clock_offset_days:
        text = f"EBBING_CLOCK_OFFSET_DAYS moves it by {settings.clock_offset_days:g} days"
        yield Finding("clock", "note", text, "unset it to live in the present")
    else:
        yield Finding("clock", "ok", iso(now))


def _clients(standings: Sequence[Standing]) -> Iterator[Finding]:
    for standing in standings:
        # A client that ebbing is not in, or not with all hooks, may well be meant to do without.
        level: Level = _STANDINGS.get(standing.state, "problem")
        # A project's files are shared: what is wrong with them here may be right on the machine they were made on.
        if level == "problem" and standing.scope == "project":
            level = "note"
        yield Finding("clients", level, f"{standing.name} ({standing.scope}): {standing.text}", standing.remedy)


def _spool(home: Path) -> Iterator[Finding]:
    spool = Spool(home / "spool")
    pending, bad = spool.pending_bytes(), spool.bad_bytes()
    if bad:
        text = f"{bad:,} bytes of lines that are no events were set aside in {spool.folder}"
        yield Finding("spool", "note", text, "delete bad.jsonl there once you have seen it")
    if pending > _NEGLECTED_SPOOL_BYTES:
        yield Finding("spool", "problem", f"{pending:,} bytes wait to be taken in", "run `ebbing run-daily`")
    elif not bad:
        yield Finding("spool", "ok", f"{pending:,} bytes wait to be taken in")


def _backups(home: Path, found: Checkup) -> Iterator[Finding]:
    backups = backups_in(home)
    # Erasing rewrites backups after the rows are gone: a process that is killed in between leaves this.
    holding = [path.name for path in backups if knows_any(path, found.erased)]
    if holding:
        text = f"{len(holding)} still hold memories that were erased: {', '.join(holding)}"
        yield Finding("backups", "problem", text, "run `ebbing doctor --fix`, which erases them there", "backups")
        return
    newest = f", the newest is {backups[-1].name}" if backups else "; one is made before each change of the schema"
    yield Finding("backups", "ok", f"{len(backups)} in {home / 'backups'}{newest}")


def _model(settings: Settings) -> Iterator[Finding]:
    try:
        files = locate(model_dir=settings.model_dir)
        verify(files)
    except EbbingError as error:
        yield Finding("model", "problem", str(error), "until then recall works by words, entities and dates")
        return
    yield Finding("model", "ok", f"{files.spec.id} in {files.paths[0].parent}, every file has the hash it should have")


def _versions() -> Iterator[Finding]:
    try:
        found = versions()
    except EbbingError as error:
        yield Finding("versions", "problem", str(error), "install ebbing again: its SQLite extension can't be loaded")
        return
    shown = {"python": platform.python_version(), **found, **_packages()}
    text = ", ".join(f"{name} {version}" for name, version in shown.items())
    if _numbers(found["sqlite"]) < _SAFE_SQLITE:
        remedy = "upgrade apsw: older SQLite can damage a file that several processes write"
        yield Finding("versions", "problem", text, remedy)
    else:
        yield Finding("versions", "ok", text)


def _packages() -> Mapping[str, str]:
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
