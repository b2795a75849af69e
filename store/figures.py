"""The derived figures of all memories at once, as numpy arrays, and their rewriting in short transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalog import KINDS
from .database import Database
from .graph import COPY, GIST
from .meta import Meta
from .placeholders import marks, slices

_ROWS_AT_ONCE = 5_000
_OWNERS_AT_ONCE = 5_000

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_KIND = " ".join(f"WHEN '{kind}' THEN {number}" for number, kind in enumerate(KINDS))
_SELECT = (
    f"SELECT m.seq, s.rev, m.scope, CASE m.kind {_KIND} END, m.characters, s.state, m.pinned,"
    " m.forgotten_at IS NOT NULL OR m.evicted_at IS NOT NULL OR m.merged_into IS NOT NULL, m.evicted_at IS NOT NULL,"
    " m.importance, m.arousal, m.confirmations, m.trust, s.spaced_uses, s.anchor_tau, s.association,"
    " s.activation, s.activation_tau, s.stability, s.rate FROM strength s JOIN memory m USING (seq)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """What strength depends on and what it came to: one row a memory by seq, every array of shape (n,).

    Attributes:
        seq: int64, ascending.
        revision: of the row when it was read: a rewrite of a row that has changed since is not made.
        scope: row ids, int64.
        kind: index into `KINDS`.
        characters: of the verbatim text.
        state: int64.
        pinned: bool.
        gone: forgotten by a call, evicted or merged into another, bool.
        evicted: bool.
        importance, arousal, confirmations, trust: of the memory, float64, as the rest.
        spaced_uses, anchor_tau, association, activation, activation_tau, stability, rate: as in `Strength`.
    """

    seq: Ints
    revision: Ints
    scope: Ints
    kind: Ints
    characters: Ints
    state: Ints
    pinned: Flags
    gone: Flags
    evicted: Flags
    importance: Floats
    arousal: Floats
    confirmations: Floats
    trust: Floats
    spaced_uses: Floats
    anchor_tau: Floats
    association: Floats
    activation: Floats
    activation_tau: Floats
    stability: Floats
    rate: Floats

    def __len__(self) -> int:
        """How many memories."""
        return len(self.seq)

    def rows(self, chosen: NDArray[Any]) -> Figures:
        """The same figures of some rows, given by number or as a mask."""
        return Figures(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def table(self, values: Floats) -> Floats:
        """Values of the rows (n,) spread out by seq: (largest seq + 1,), 0 where there is no memory."""
        spread = np.zeros(1 + int(self.seq[-1]) if len(self.seq) else 0)
        spread[self.seq] = values
        return spread


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Links as arrays of shape (links,): `owner` and `other` are seqs, int64; `weight` float64."""

    owner: Ints
    other: Ints
    weight: Floats


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New figures of one memory, made from the row of revision `revision`."""

    seq: int
    revision: int
    state: int
    association: float
    activation: float
    activation_tau: float
    stability: float
    rate: float


class FigureTable:
    """Reads and rewrites derived figures in bulk."""

    def __init__(self, database: Database, meta: Meta) -> None:
        """Read and write through `database`."""
        self._database = database
        self._meta = meta

    def read(self) -> Figures:
        """The figures of every memory, read some thousand at a time so that nothing waits for the whole."""
        parts: list[Floats] = []
        last = 0
        while rows := self._database.rows(f"{_SELECT} WHERE s.seq > ? ORDER BY s.seq LIMIT {_ROWS_AT_ONCE}", (last,)):
            parts.append(_table(rows))
            last = rows[-1][0]
        return _figures(np.concatenate(parts) if parts else _table([]))

    def of(self, seqs: Sequence[int]) -> Figures:
        """The figures of some memories by seq; those that are gone are left out."""
        parts: list[Floats] = [_table([])]
        with self._database.snapshot():
            for some in slices(sorted(set(seqs))):
                rows = self._database.rows(f"{_SELECT} WHERE s.seq IN ({marks(some)}) ORDER BY s.seq", some)
                parts.append(_table(rows))
        return _figures(np.concatenate(parts))

    def links(self, figures: Figures, relation: str | None = None) -> Iterator[Links]:
        """The links of the given memories, some thousand owners at a time: of one relation, or all that give strength.

        A gist doesn't keep its sources from fading, nor they it.
        """
        for start in range(0, len(figures), _OWNERS_AT_ONCE):
            seqs = figures.seq[start : start + _OWNERS_AT_ONCE]
            yield self._links(int(seqs[0]), int(seqs[-1]), relation)

    def newest_links(self, seq: int, limit: int) -> list[tuple[int, float]]:
        """(other, weight) of up to `limit` links of a memory, those to the newest memories first."""
        return [
            (int(other), float(weight))
            for other, weight in self._database.rows(
                f"SELECT other, weight FROM link WHERE seq = ? AND relation <> '{COPY}' ORDER BY other DESC LIMIT ?",
                (seq, limit),
            )
        ]

    def rewrite(self, rewrites: Sequence[Rewrite]) -> dict[int, str]:
        """Write figures of the memories that are still as they were read, in the caller's transaction.

        Returns the ids by seq of those that were written; the others changed meanwhile, and are left as they are.
        """
        with self._database.part():
            ids = self._unchanged({rewrite.seq: rewrite.revision for rewrite in rewrites})
            revision = self._meta.next_revision()
            self._database.executemany(
                "UPDATE strength SET state = ?, association = ?, activation = ?, activation_tau = ?, stability = ?,"
                " rate = ?, rev = ? WHERE seq = ?",
                [
                    (
                        rewrite.state,
                        rewrite.association,
                        rewrite.activation,
                        rewrite.activation_tau,
                        rewrite.stability,
                        rewrite.rate,
                        revision,
                        rewrite.seq,
                    )
                    for rewrite in rewrites
                    if rewrite.seq in ids
                ],
            )
        return ids

    def _unchanged(self, revisions: dict[int, int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for some in slices(list(revisions)):
            rows = self._database.execute(
                f"SELECT s.seq, s.rev, m.id FROM strength s JOIN memory m USING (seq) WHERE s.seq IN ({marks(some)})",
                some,
            )
            found.update({int(seq): str(name) for seq, rev, name in rows if revisions[seq] == rev})
        return found

    def _links(self, first: int, last: int, relation: str | None) -> Links:
        # Millions of numbers: SQLite joins them and numpy parses them, both in C.
        only = " AND relation <> ?" if relation is None else " AND relation = ?"
        owner, other, weight = self._database.row(
            "SELECT group_concat(seq), group_concat(other), group_concat(weight) FROM"
            f" (SELECT seq, other, weight FROM link WHERE seq BETWEEN ? AND ?{only})",
            (first, last, GIST if relation is None else relation),
        ) or (None, None, None)
        return Links(
            np.fromstring(owner or "", dtype=np.int64, sep=","),
            np.fromstring(other or "", dtype=np.int64, sep=","),
            np.fromstring(weight or "", dtype=np.float64, sep=","),
        )


def _table(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(fields(Figures)))


def _figures(table: Floats) -> Figures:
    kinds: dict[str, type[np.generic]] = {"Ints": np.int64, "Flags": np.bool_, "Floats": np.float64}
    columns: list[NDArray[Any]] = [
        np.ascontiguousarray(table[:, place]).astype(kinds[str(field.type)])
        for place, field in enumerate(fields(Figures))
    ]
    return Figures(*columns)
