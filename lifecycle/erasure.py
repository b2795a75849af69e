"""Erasing for good: after the rows are gone, the files are made to forget, and searched for what should be gone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..schemas.memory import Memory
from ..store.scan import files_holding
from ..store.store import Store
from .prompt_file import withdraw

_BLOCK = 1 << 20
_MIN_PROBE = 12
_PROBE = 48

_log = logging.getLogger(__name__)


def saying_the_same(store: Store, memories: Sequence[Memory]) -> list[Memory]:
    """What else of a store says what some memories say, and has to go with them: the copies they speak for."""
    chosen = {memory.seq for memory in memories}
    copies = store.copies.merged_into([memory.id for memory in memories])
    return store.memories.by_seqs([seq for seq in copies if seq not in chosen])


def scrub(store: Store, ids: Collection[str], texts: Sequence[str]) -> None:
    """Drop erased memories from derived files: the index's dead segments, the log, the spool, soft prompts, backups."""
    store.lexical.optimize()
    store.spool.purge(texts)
    withdraw(store.home / "soft-prompts", ids, texts)
    store.backups.remove_all_with(texts)
    store.database.checkpoint()


def leftovers(store: Store, texts: Sequence[str]) -> list[Path]:
    """Files under the store's folder in which the bytes of any of some texts still stand."""
    probes = [probe for text in texts for probe in _probes(text)]
    if not probes:
        return []
    # The database's own files are read through SQLite, whose locks on them would not survive our closing them.
    others = (path for path in _files(store.home) if not path.name.startswith(store.database.path.name))
    found = [*files_holding(store.database, probes), *(path for path in others if _contains(path, probes))]
    for path in found:
        _log.warning("an erased text is still found in %s", path)
    return found


def _probes(text: str) -> list[bytes]:
    """Byte strings that stand for a text: its start and its middle, as UTF-8; short texts as a whole."""
    data = text.encode("utf-8")
    if len(data) <= _PROBE:
        return [data] if len(data) >= _MIN_PROBE else []
    middle = len(data) // 2
    return [data[:_PROBE], data[middle : middle + _PROBE]]


def _files(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _contains(path: Path, probes: Sequence[bytes]) -> bool:
    overlap = b""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                window = overlap + block
                if any(probe in window for probe in probes):
                    return True
                overlap = window[-_PROBE:]
    except OSError:
        return False
    return False
