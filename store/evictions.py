"""Which memories were taken out by the budget or an expiry, what memories take up, and what the file takes up."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import StoreReadOnlyError
from .database import Database
from .meta import Meta

_ROWS_AT_ONCE = 5_000
_ENTITIES_AT_ONCE = 2_000
# Rows in a dozen tables and indexes, links, entities, words: what a memory takes besides its texts and vectors.
_OVERHEAD_BYTES = 1_500


class Evictions:
    """Reads and marks evicted memories, and measures."""

    def __init__(self, database: Database, meta: Meta) -> None:
        """Read and write through `database`."""
        self._database = database
        self._meta = meta

    def mark(self, seqs: Sequence[int], at: int) -> None:
        """Mark memories as evicted at `at` (µs), in the caller's transaction, which also rewrites their figures."""
        with self._database.atomic():
            self._database.executemany(
                "UPDATE memory SET evicted_at = ?, version = version + 1 WHERE seq = ?", [(at, seq) for seq in seqs]
            )

    def revoke(self, seq: int, at: int) -> bool:
        """Undo an eviction, and an expiry that lies before `at` (µs); whether there was one to undo."""
        with self._database.atomic():
            self._database.execute(
                "UPDATE memory SET evicted_at = NULL, version = version + 1,"
                " expires_at = CASE WHEN expires_at <= ?2 THEN NULL ELSE expires_at END"
                " WHERE seq = ?1 AND (evicted_at IS NOT NULL OR expires_at <= ?2)",
                (seq, at),
            )
            changed = self._database.changes() > 0
            if changed:
                self._database.execute("UPDATE strength SET rev = ? WHERE seq = ?", (self._meta.next_revision(), seq))
        return changed

    def oldest(self, until: int, limit: int) -> list[tuple[int, str]]:
        """(seq, id) of memories evicted at or before `until` (µs), those evicted first first."""
        rows = self._database.rows(
            "SELECT seq, id FROM memory WHERE evicted_at <= ? ORDER BY evicted_at, seq LIMIT ?", (until, limit)
        )
        return [(int(seq), str(name)) for seq, name in rows]

    def expired(self, now: int) -> list[int]:
        """Memories whose expiry has come by `now` (µs) and that have not been taken out yet."""
        rows = self._database.rows(
            "SELECT seq FROM memory WHERE expires_at <= ? AND evicted_at IS NULL ORDER BY seq", (now,)
        )
        return [int(seq) for (seq,) in rows]

    def evicted_at(self, seq: int) -> int | None:
        """When a memory was evicted (µs); None if it was not."""
        found = self._database.value("SELECT evicted_at FROM memory WHERE seq = ?", (seq,))
        return None if found is None else int(found)

    def newest(self, scope: str, limit: int) -> list[tuple[str, str, int]]:
        """(id, cue, instant (µs)) of the memories of a scope that were evicted last, the latest first."""
        rows = self._database.rows(
            "SELECT id, cue, evicted_at FROM memory WHERE evicted_at IS NOT NULL"
            " AND scope = (SELECT id FROM scope WHERE key = ?) ORDER BY evicted_at DESC, seq DESC LIMIT ?",
            (scope, limit),
        )
        return [(str(identifier), str(cue), int(at)) for identifier, cue, at in rows]

    def counts(self) -> tuple[int, int, int | None]:
        """How many memories there are that are not evicted, how many are, and when the first of those was (µs)."""
        evicted, oldest = self._database.row(
            "SELECT count(*), min(evicted_at) FROM memory WHERE evicted_at IS NOT NULL"
        ) or (0, None)
        everything = int(self._database.value("SELECT count(*) FROM memory"))
        return everything - int(evicted), int(evicted), None if oldest is None else int(oldest)

    def used_bytes(self) -> int:
        """Bytes of the file's pages that hold something."""
        with self._database.snapshot():
            pages = int(self._database.value("PRAGMA page_count")) - int(self._database.value("PRAGMA freelist_count"))
            return pages * int(self._database.value("PRAGMA page_size"))

    def free_bytes(self) -> int:
        """Bytes that the disk under the file has left for us.

        Raises:
            StoreReadOnlyError: if the folder is gone.
        """
        try:
            return shutil.disk_usage(self._database.path.parent).free
        except OSError as error:
            msg = f"the store's folder can't be read ({error.strerror}): check EBBING_HOME"
            raise StoreReadOnlyError(msg) from error

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Seqs (n,) int64 of all memories and their shares (n,) float64 of `used_bytes`, by what their rows hold."""
        parts: list[NDArray[np.int64]] = []
        last = 0
        while rows := self._database.rows(
            "SELECT m.seq, octet_length(m.gist) + octet_length(m.cue) + octet_length(m.entities)"
            " + octet_length(m.slots) + coalesce(octet_length(m.content), 0) + coalesce(octet_length(a.body), 0)"
            " + coalesce(octet_length(v.codes) + octet_length(v.scales), 0)"
            " + coalesce(octet_length(t.codes) + octet_length(t.scales) + octet_length(t.pieces), 0)"
            " FROM memory m LEFT JOIN attic a USING (seq) LEFT JOIN vector v USING (seq) LEFT JOIN token t USING (seq)"
            f" WHERE m.seq > ? ORDER BY m.seq LIMIT {_ROWS_AT_ONCE}",
            (last,),
        ):
            parts.append(np.array(rows, dtype=np.int64))
            last = rows[-1][0]
        if not parts:
            return np.zeros(0, np.int64), np.zeros(0)
        table = np.concatenate(parts)
        held = table[:, 1].astype(np.float64) + _OVERHEAD_BYTES
        return table[:, 0], held * (self.used_bytes() / held.sum())

    def prune_entities(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Remove entities that no memory names any more, some thousand looked at in each transaction."""
        first, last = 0, int(self._database.value("SELECT coalesce(max(id), 0) FROM entity"))
        while first <= last and not stopped():
            with self._database.atomic(durable=False):
                self._database.execute(
                    "DELETE FROM entity WHERE id BETWEEN ? AND ?"
                    " AND NOT EXISTS (SELECT 1 FROM memory_entity WHERE entity = entity.id)",
                    (first, first + _ENTITIES_AT_ONCE - 1),
                )
            first += _ENTITIES_AT_ONCE
