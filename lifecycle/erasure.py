"""Erasing for good: first the rows, then every file that may hold the words, then a search for what is left of them.

Along with a memory goes what says the same: the copies it speaks for, the gists that quote it, and its words in other
memories of its scope, such as the observations that it was made of. Rows go in one transaction. What comes after can't
undo it, so nothing of it fails the call: what could not be done is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..schemas.errors import StoreError
from ..schemas.memory import Memory
from ..store.files import PROMPT_FOLDER
from ..store.scan import found_in_files
from ..store.store import Store
from ..store.traces import LEAST, Traces
from .backup_erasure import backups_holding, erase_in_backups
from .erased_rows import Along, along, erase_rows
from .ledger import Ledger
from .prompt_file import read, withdraw, without

_LATE = 3

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Erased:
    """What an erase did besides removing the memories that were named.

    Attributes:
        removed: ids of the memories that went along, since they say nothing else.
        gists: how many gists went, since they quoted them.
        cut: ids of the memories that go on without the words.
        lines: how many lines were removed from the spool.
        prompts: how many soft prompts were rewritten.
        backups: what became of those that held the words, by name: "rewritten" or "removed".
        elsewhere: how many other memories hold the same words and were left alone: of other scopes, or by chance.
        left: files that still hold them, and what could not be done.
        recognisable: False where every text is too short to be told from other bytes.
    """

    removed: list[str] = field(default_factory=list[str])
    gists: int = 0
    cut: list[str] = field(default_factory=list[str])
    lines: int = 0
    prompts: int = 0
    backups: dict[str, str] = field(default_factory=dict[str, str])
    elsewhere: int = 0
    left: list[str] = field(default_factory=list[str])
    recognisable: bool = True

    @property
    def verified(self) -> bool:
        """Whether a search of all files found nothing but what other memories say themselves."""
        return not self.left


def erase(store: Store, ledger: Ledger, memories: Sequence[Memory], now: int, ref: str) -> Erased:
    """Remove memories for good from the database and every file, and search the files for what is left.

    Raises:
        StoreError: if the store can't be written; then nothing was removed.
    """
    texts = [memory.content for memory in memories]
    scopes = {memory.scope for memory in memories}
    done = Erased()
    found = along(store, memories, texts, scopes)
    erase_rows(store, ledger, memories, found, texts, now, ref)
    texts += [memory.content for memory in found.removed]
    ids = {memory.id for memory in (*memories, *found.gists, *found.removed)}
    _note(done, found)
    for step in (
        lambda: _drain_spool(store, ledger, texts, scopes, done, now, ref),
        store.lexical.optimize,
        lambda: _withdraw(store, ids, texts, done),
        lambda: erase_in_backups(store, ids, texts, scopes, done.backups, now),
        store.database.checkpoint,
    ):
        try:
            step()
        except (StoreError, OSError) as error:
            _log.warning("erasing: %s", error)
            done.left.append(str(error))
    _search(store, texts, done)
    return done


def holding(store: Store, ids: Collection[str], texts: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """The soft prompts and the backups that an erase of memories with some ids and texts would change."""
    prompts = [path for path in sorted((store.home / PROMPT_FOLDER).glob("*.md")) if _would_change(path, ids, texts)]
    return prompts, backups_holding(store, ids, texts)


def _would_change(path: Path, ids: Collection[str], texts: Sequence[str]) -> bool:
    text = read(path)
    return without(text, ids, texts) != text


def _note(done: Erased, found: Along) -> None:
    done.removed += [memory.id for memory in found.removed]
    done.gists += len(found.gists)
    done.cut += found.cut_ids


def _drain_spool(
    store: Store, ledger: Ledger, texts: list[str], scopes: Collection[str], done: Erased, now: int, ref: str
) -> None:
    """Purge the spool, then the rows that another process has made of its lines meanwhile."""
    for _ in range(_LATE):
        done.lines += store.spool.purge(texts)
        late = along(store, [], texts, scopes)
        if not (late.same or late.cut):
            return
        erase_rows(store, ledger, [], late, texts, now, ref)
        _note(done, late)


def _withdraw(store: Store, ids: Collection[str], texts: Sequence[str], done: Erased) -> None:
    done.prompts += withdraw(store.home / PROMPT_FOLDER, ids, texts)


def _search(store: Store, texts: Sequence[str], done: Erased) -> None:
    """Look for the texts in every file; what other memories say themselves is not what is left of them."""
    traces = Traces(texts)
    done.recognisable = bool(traces)
    try:
        done.elsewhere = len(store.saying.holders([text for text in texts if len(text) >= LEAST]))
        found = {path: windows for path, windows in _found(store, traces) if windows}
        said = store.saying.said(traces) if found else set[bytes]()
        # Lines that hold a text are purged by now: what waits in the others is what they say themselves.
        said |= {window for path in store.spool.files() for window in found.get(path, ())}
    except StoreError as error:
        done.left.append(str(error))
        return
    done.left += [str(path) for path, windows in found.items() if windows - said]


def _found(store: Store, traces: Traces) -> Iterator[tuple[Path, set[bytes]]]:
    if not traces:
        return
    # The database's own files are read through SQLite, whose locks on them would not survive our closing them.
    yield from found_in_files(store.database, traces).items()
    for path in sorted(store.home.rglob("*")):
        is_own = path.parent == store.home and path.name.startswith(store.database.path.name)
        if is_own or store.backups.is_draft(path) or path.is_symlink() or not path.is_file():
            continue
        with suppress(OSError):
            yield path, traces.found_in_file(path)
