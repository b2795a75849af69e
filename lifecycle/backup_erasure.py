"""Erasing in backups: each that holds the words is copied, erased in, searched and put back; if not, it is removed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from ..schemas.errors import StoreError
from ..schemas.ids import new_id
from ..store.backup import Draft
from ..store.soundness import checked, knows_any, schema_of
from ..store.store import Store
from ..store.traces import Traces
from .erased_rows import along, erase_rows
from .ledger import Ledger

_TRIES = 3

Outcome = Literal["rewritten", "removed"]

_log = logging.getLogger(__name__)


def backups_holding(store: Store, ids: Collection[str], texts: Sequence[str]) -> list[Path]:
    """The backups that hold memories with some ids, or some texts that no memory of the store says."""
    traces = Traces(texts)
    found = {path: traces.found_in_file(path) for path in store.backups.list()} if traces else {}
    said = store.saying.said(traces) if any(found.values()) else set[bytes]()
    return [path for path in store.backups.list() if found.get(path, set()) - said or knows_any(path, ids)]


def erase_in_backups(
    store: Store, ids: Collection[str], texts: Sequence[str], scopes: Collection[str], done: dict[str, str], now: int
) -> None:
    """Make every backup forget memories with some ids and what says some texts; `done` gets the outcomes by name.

    Raises:
        OSError: if one can be neither rewritten nor removed.
        StoreError: if the write lock can't be had.
    """
    for path in backups_holding(store, ids, texts):
        outcome = _rewrite(store, path, ids, texts, scopes, now)
        if outcome is not None:
            done[path.name] = outcome


def _rewrite(
    store: Store, path: Path, ids: Collection[str], texts: Sequence[str], scopes: Collection[str], now: int
) -> Outcome | None:
    """What became of a backup; None where another process has removed it."""
    for _ in range(_TRIES):
        try:
            with store.backups.draft(path) as draft:
                if not _is_clean_after(store, draft, ids, texts, scopes, now):
                    break
                if store.backups.put_back(draft):
                    return "rewritten"
        except FileNotFoundError:
            return None
        except (StoreError, OSError) as error:
            _log.warning("%s could not be rewritten: %s", path, error)
            break
    path.unlink(missing_ok=True)
    return "removed"


def _is_clean_after(
    store: Store, draft: Draft, ids: Collection[str], texts: Sequence[str], scopes: Collection[str], now: int
) -> bool:
    """Erase in a draft; whether it is sound and nothing is left in it but what its memories say."""
    if schema_of(draft.copy) != store.schema:
        # Its tables are those of another version, which only migrating it would make ours.
        return False
    vectors = store.vectors
    with Store(draft.home, now, model_name=vectors.model_name, dimension=vectors.dimension) as copy:
        memories = copy.memories.with_ids(sorted(ids))
        everything = [*texts, *(memory.content for memory in memories)]
        found = along(copy, memories, everything, {*scopes, *(memory.scope for memory in memories)})
        erase_rows(copy, Ledger(copy), memories, found, everything, now, new_id(now))
        copy.lexical.optimize()
        copy.database.checkpoint()
        traces = Traces([*everything, *(memory.content for memory in found.removed)])
        said = copy.saying.said(traces)
    with checked(draft.copy):
        return not traces.found_in_file(draft.copy) - said
