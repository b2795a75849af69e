"""On which active days memories were shown, read for all of them at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .database import Database


def shown_days(database: Database) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Memories that were ever shown: seqs, last active day, mask of the days before it (bit i: i days before), (n,)."""
    rows = database.rows("SELECT seq, heat_day, heat_mask FROM strength WHERE heat_mask <> 0 ORDER BY seq")
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    return table[:, 0], table[:, 1], table[:, 2]
