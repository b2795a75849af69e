"""The order in which evidence is computed: memories of some scopes by session, so that neighbours are adjacent.

Everything here depends only on which memories there are and is computed once for each change of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..store.catalog import Columns

REACH = 3
# Beyond this many words a neighbour counts less, so that long messages do not swamp the short ones beside them.
_FULL_WORDS = 60.0
_SCOPE_BITS = 32
MANY = 8
"""Where more than 1/8 of the rows are wanted, one pass over all of them is quicker than picking some."""

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """n memories ordered by scope, session and seq; a memory without a session is a session of its own.

    Attributes:
        structure: of the catalog it was made from.
        scopes: the row ids of the scopes.
        seqs: int64 (n,), the memory in each row.
        row_of: int32 (m,), the row of each seq, −1 for those that are not in it.
        session: int32 (n,), ordinals of sessions, ascending.
        sessions: how many there are.
        words: float32 (n,), indexed words, at least 1.
        near: for each offset from −3 to 3 but 0, float32 (n,): how much the row's neighbour there counts, from 0
            (another session, or none) to 1.
        offsets: those of `near` at which some row has a neighbour that counts.
    """

    structure: int
    scopes: tuple[int, ...]
    seqs: NDArray[np.int64]
    row_of: NDArray[np.int32]
    session: NDArray[np.int32]
    sessions: int
    words: Floats
    near: Mapping[int, Floats]
    offsets: frozenset[int]

    def __len__(self) -> int:
        return len(self.seqs)

    def spread(self, values: Floats, decay: Mapping[int, float]) -> Floats:
        """Each row's value plus those of its neighbours, decayed by offset: float32 (n,)."""
        result = values.copy()
        for offset, factor in decay.items():
            if offset in self.offsets:
                target, source = shifted(offset, len(values))
                result[target] += np.float32(factor) * self.near[offset][target] * values[source]
        return result

    def around(self, rows: Rows) -> Rows | None:
        """Some rows (k,) and those they are neighbours of, each once; None where they are too many to pick."""
        if len(rows) * MANY > len(self):
            return None
        if not self.offsets:
            return rows
        marked = np.zeros(len(self) + 2 * REACH, np.bool_)
        for offset in (0, *self.offsets):
            marked[rows + (REACH - offset)] = True
        return np.flatnonzero(marked[REACH : REACH + len(self)])

    def spread_at(self, rows: Rows, values: Floats, decay: Mapping[int, float]) -> Floats:
        """What `spread` gives for some rows (k,): float32 (k,)."""
        result = values[rows]
        for offset, factor in decay.items():
            if offset in self.offsets:
                # Where the neighbour would lie outside, `near` is 0, whatever stands in its place.
                beside = values.take(rows + offset, mode="clip")
                result += np.float32(factor) * self.near[offset][rows] * beside
        return result

    def rows_or_none(self, seqs: NDArray[np.int64]) -> Rows:
        """The row of each of some seqs (m,), −1 for those outside."""
        inside = seqs < len(self.row_of)
        rows = np.full(len(seqs), -1, np.intp)
        rows[inside] = self.row_of[seqs[inside]]
        return rows

    def rows(self, seqs: NDArray[np.int64]) -> Rows:
        """The rows of some seqs, those outside left out."""
        found = self.row_of[seqs[seqs < len(self.row_of)]]
        return found[found >= 0].astype(np.intp)


def shifted(offset: int, size: int) -> tuple[slice, slice]:
    """The slices of rows that have a neighbour at `offset`, and of those neighbours."""
    step = min(abs(offset), size)
    if offset > 0:
        return slice(0, size - step), slice(step, size)
    return slice(step, size), slice(0, size - step)


def layout_of(columns: Columns, scopes: Sequence[int]) -> Layout:
    """The layout of everything alive in some scopes (row ids)."""
    seqs = np.flatnonzero(columns.in_scopes(scopes)).astype(np.int64)
    group = columns.session[seqs].astype(np.int64)
    alone = group < 0
    group[alone] = (1 << _SCOPE_BITS - 1) + seqs[alone]
    group += columns.scope[seqs].astype(np.int64) << _SCOPE_BITS
    order = np.argsort(group, kind="stable")
    seqs, group = seqs[order], group[order]
    session = np.cumsum(np.diff(group, prepend=group[:1]) != 0, dtype=np.int32)
    row_of = np.full(len(columns.alive), -1, np.int32)
    row_of[seqs] = np.arange(len(seqs), dtype=np.int32)
    words = np.maximum(columns.words[seqs], 1).astype(np.float32)
    near = neighbours(session, words)
    return Layout(
        structure=columns.structure,
        scopes=tuple(scopes),
        seqs=seqs,
        row_of=row_of,
        session=session,
        sessions=int(session[-1]) + 1 if len(session) else 0,
        words=words,
        near=near,
        offsets=frozenset(offset for offset, share in near.items() if share.any()),
    )


def neighbours(session: NDArray[np.int32], words: Floats) -> dict[int, Floats]:
    """How much each row's neighbours count, by offset; see `Layout.near`."""
    if not (session[1:] == session[:-1]).any():
        return dict.fromkeys((*range(-REACH, 0), *range(1, REACH + 1)), np.zeros(len(session), np.float32))
    return {offset: _near(offset, session, words) for offset in range(-REACH, REACH + 1) if offset}


def _near(offset: int, session: NDArray[np.int32], words: Floats) -> Floats:
    result = np.zeros(len(session), np.float32)
    target, source = shifted(offset, len(session))
    together = session[target] == session[source]
    result[target] = np.where(together, np.minimum(1.0, _FULL_WORDS / words[source]), 0.0)
    return result
