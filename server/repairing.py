"""What `ebbing doctor --fix` does: in place where the store can be opened, else by writing its file anew."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from pathlib import Path

from ..lifecycle.mending import mend
from ..schemas.errors import EbbingError, StoreCorruptError
from ..store.refile import refile
from ..store.soundness import way_back
from ..tools.services import Services
from .doctor import make_private

_log = logging.getLogger(__name__)

Open = Callable[[], AbstractContextManager[Services]]


def repair(home: Path, wanted: AbstractSet[str], now: int, services: Open) -> None:
    """Do the fixes that findings ask for (see `doctor.Fix`), as of `now` (µs); `services` opens the store.

    Raises:
        StoreCorruptError: if something is damaged that follows from nothing; the text says the way out.
        StoreBusyError: if the file has to be written anew and another process has it open.
        EbbingError: if something can't be changed.
    """
    if "permissions" in wanted:
        try:
            make_private(home)
        except OSError as error:
            raise EbbingError(f"the permissions can't be changed: {error.strerror}") from error
    parts = set(wanted) - {"permissions", "file", "definitions"}
    if wanted & {"file", "definitions"}:
        parts |= _write_anew(home / "memory.db", now)
    if not parts:
        return
    try:
        _mend(parts, services)
    except StoreCorruptError as error:
        _log.info("mending in place: %s", error)
        # An index that can't even be emptied is left behind with the file that it is in.
        _mend(parts | _write_anew(home / "memory.db", now), services)


def _write_anew(path: Path, now: int) -> set[str]:
    """Write the file anew from its sound tables; which parts have to be mended then."""
    try:
        done = refile(path, now)
    except StoreCorruptError as error:
        raise StoreCorruptError(f"{path} can't be repaired ({error}); nothing was changed: {way_back(path)}") from error
    _log.info("what was damaged is kept as %s", done.kept)
    return {"schema", "rows", "words", "embeddings"}


def _mend(parts: AbstractSet[str], services: Open) -> None:
    with services() as opened:
        mend(opened.store, parts, opened.clock(), opened.decay)
