"""How much the words of each memory are like those of others, as sums that outlive what they were added up from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .database import Database

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Summed shares by seq, float64, each of shape (n,) with n above the largest seq; 0 where nothing was alike.

    Attributes:
        by_younger: over the memories that came later.
        to_older: over the memories that were there when this one came.
    """

    by_younger: Floats
    to_older: Floats


@dataclass(frozen=True, slots=True)
class Resembling:
    """What was there already and is like memory `seq`: shares in [0, 1] by seq."""

    seq: int
    older: Mapping[int, float]


class Resemblance:
    """Reads and adds to the sums."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def uncounted(self, after: int, limit: int) -> list[int]:
        """Memories above seq `after` that were not compared with older ones yet, the oldest first."""
        rows = self._database.rows(
            "SELECT m.seq FROM memory m LEFT JOIN resemblance r USING (seq)"
            " WHERE r.seq IS NULL AND m.seq > ? ORDER BY m.seq LIMIT ?",
            (after, limit),
        )
        return [int(seq) for (seq,) in rows]

    def add(self, found: Sequence[Resembling]) -> None:
        """Count some memories, in the caller's transaction; those that are gone by now are left out."""
        with self._database.atomic():
            for one in found:
                self._database.execute(
                    "INSERT OR IGNORE INTO resemblance (seq, to_older) SELECT seq, ? FROM memory WHERE seq = ?",
                    (sum(one.older.values()), one.seq),
                )
                self._database.executemany(
                    "UPDATE resemblance SET by_younger = by_younger + ? WHERE seq = ?",
                    [(share, seq) for seq, share in one.older.items()],
                )

    def read(self) -> Likeness:
        """The sums of all memories."""
        rows = self._database.rows("SELECT seq, by_younger, to_older FROM resemblance")
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        size = 1 + int(self._database.value("SELECT coalesce(max(seq), 0) FROM memory"))
        seqs = table[:, 0].astype(np.int64)
        by_younger, to_older = np.zeros(size), np.zeros(size)
        inside = seqs < size
        by_younger[seqs[inside]] = table[inside, 1]
        to_older[seqs[inside]] = table[inside, 2]
        return Likeness(by_younger, to_older)
