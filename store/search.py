"""Nearest memories by embedding: sign bits first, then 8-bit codes, then the stored codes at their own precision.

Two ways to the candidates, chosen by what is at hand. Resident sign bits (a pass over all rows: half a millisecond for
100,000) where the resident embeddings have been read before. The vec0 index on disk otherwise: it needs nothing in
memory, sees the caller's own uncommitted writes, and takes over above `resident_rows`, where memory would.

A `quick` search stops at the resident 8-bit codes, of fewer candidates. Over 32,108 embeddings of commit messages its
thousand held each of the five nearest of 600 of them, and all but .03 % of those with a cosine of .6 and more.

Layered: active and warm memories first, cold and archived ones when the best evidence is weak or the caller asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from .catalog import Catalog
from .codec import Codes, decode, score, score_mixed, sign_bits
from .codec.arrays import Floats
from .database import WRITING, Database
from .frqad import frqad
from .resident import Matrix, ResidentVectors
from .vector_rows import StoredVectors
from .vectors import Vectors

Seqs = NDArray[np.int64]
Distance = Literal["estimate", "frqad"]

RESIDENT_ROWS: Final = 400_000  # 173 MB at 384 coordinates
_CANDIDATES: Final = 1000
_ROWS_PER_CANDIDATE: Final = 50
_SPARE: Final = 16
"""So many more than were asked for are rescored at least: 8-bit scores are off by ten thousandths, no more."""
_LAST_FRESH: Final = 1  # State.WARM
_WEAK: Final = 0.6
OUT_OF_REACH: Final = int(np.iinfo(np.uint16).max)
"""A distance that no row is found at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a search may find.

    Attributes:
        scopes: row ids of the scopes.
        states: numbers of the states.
        mask: bool by seq, or None for no further condition; seqs beyond its end are out.
        layered: whether cold, archived and forgotten memories wait until the best of the others scores below `weak`.
    """

    scopes: Sequence[int]
    states: range = range(5)
    mask: NDArray[np.bool_] | None = None
    layered: bool = True
    weak: float = _WEAK


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Memories nearest first: seqs int64 (k,), scores float32 (k,) (falling), and whether faded ones were searched.

    Scores are estimated cosines, or with `distance="frqad"` its negative.
    """

    seqs: Seqs
    scores: Floats
    deep: bool


class VectorSearch:
    """Searches the vectors of one model."""

    def __init__(
        self,
        database: Database,
        vectors: Vectors,
        resident: ResidentVectors,
        catalog: Catalog,
        *,
        resident_rows: int = RESIDENT_ROWS,
    ) -> None:
        """Search `vectors`, in memory up to `resident_rows` rows."""
        self._database = database
        self._vectors = vectors
        self._resident = resident
        self._catalog = catalog
        self._resident_rows = resident_rows

    def search(self, query: Floats, reach: Reach, limit: int, *, distance: Distance = "estimate") -> Found:
        """The memories nearest to a unit vector (d,), at most `limit`; a memory of several chunks by its best.

        Raises:
            InvalidInputError: if the query is not a finite vector with the model's number of coordinates.
            StoreError: if the store can't be read.
        """
        row = query[np.newaxis]
        fresh = range(reach.states.start, min(reach.states.stop, _LAST_FRESH + 1))
        faded = range(max(reach.states.start, _LAST_FRESH + 1), reach.states.stop)
        with self._database.snapshot():
            if not reach.layered or not fresh or not faded:
                return Found(*self._layer(row, reach, reach.states, limit, distance), deep=bool(faded))
            seqs, scores = self._layer(row, reach, fresh, limit, distance)
            if len(seqs) == limit and self._strong(row, seqs, scores, reach.weak, distance):
                return Found(seqs, scores, deep=False)
            more = self._layer(row, reach, faded, limit, distance)
            return Found(*_best(np.concatenate([seqs, more[0]]), np.concatenate([scores, more[1]]), limit), deep=True)

    def quick(self, query: Floats, scopes: Sequence[int], limit: int) -> Found:
        """`search` in all layers of some scopes (row ids), without reading a row where embeddings are resident.

        Cosines may then be off by some ten thousandths. Raises like `search`.
        """
        reach = Reach(scopes=scopes, layered=False)
        with self._database.snapshot():
            resident = self._at_hand()
            if resident is None:
                return self.search(query, reach, limit)
            row, allowed = query[np.newaxis], self._allowed(resident, reach, reach.states)
            return Found(*_best(*_refined(row, resident, allowed, _wide(limit)), limit), deep=True)

    def _strong(self, query: Floats, seqs: Seqs, scores: Floats, weak: float, distance: Distance) -> bool:
        best = scores if distance == "estimate" else self._rescored(query, seqs[:1], "estimate")[1]
        return bool(best[0] >= weak)

    def _layer(self, query: Floats, reach: Reach, states: range, limit: int, distance: Distance) -> tuple[Seqs, Floats]:
        resident = self._at_hand()
        if resident is None:
            near = self._from_index(query, reach, states, limit)
        else:
            candidates = max(_wide(limit), len(resident.seqs) // _ROWS_PER_CANDIDATE)
            refined = _refined(query, resident, self._allowed(resident, reach, states), candidates)
            near = _best(*refined, limit + max(_SPARE, limit // 2))[0]
        return _best(*self._rescored(query, near, distance), limit)

    def _at_hand(self) -> Matrix | None:
        if not self._resident.loaded or self._database.transaction() == WRITING:
            return None
        matrix = self._resident.matrix()
        return matrix if len(matrix.seqs) <= self._resident_rows else None

    def _allowed(self, resident: Matrix, reach: Reach, states: range) -> NDArray[np.bool_]:
        """Which rows of the resident embeddings may be found, bool (r,)."""
        columns = self._catalog.columns()
        known = _masked(columns.in_scopes(reach.scopes), reach.mask)
        known &= (columns.state >= states.start) & (columns.state < states.stop)
        if not len(resident.seqs) or resident.seqs[-1] < len(known):
            return known[resident.seqs]
        inside = resident.seqs < len(known)
        return inside & known[np.where(inside, resident.seqs, 0)] if len(known) else inside

    def _from_index(self, query: Floats, reach: Reach, states: range, limit: int) -> Seqs:
        wanted = None if states == range(5) else states
        near = self._vectors.index.nearest(sign_bits(query)[0].tobytes(), reach.scopes, _wide(limit), wanted)
        seqs = np.array([seq for seq, _ in near[: _wide(limit)]], dtype=np.int64)
        if reach.mask is None:
            return seqs
        inside = seqs < len(reach.mask)
        return seqs[inside][reach.mask[seqs[inside]]]

    def _rescored(self, query: Floats, seqs: Seqs, distance: Distance) -> tuple[Seqs, Floats]:
        """Memories with their scores from the stored codes, each once; those without a vector are left out."""
        groups = self._vectors.get(seqs.tolist())
        owners = np.concatenate([np.zeros(0, np.int64), *(group.seqs for group in groups)])
        if distance == "estimate":
            scores = score_mixed(query, _placed(groups), len(owners))[0]
        else:
            parts = [
                -frqad(query, decode(group.codes), np.full(len(group.seqs), group.codes.bit_width)) for group in groups
            ]
            scores = np.concatenate([np.zeros(0), *parts]).astype(np.float32)
        return _once(owners, scores)


def _refined(query: Floats, resident: Matrix, allowed: NDArray[np.bool_], candidates: int) -> tuple[Seqs, Floats]:
    """The memories whose rows come first by sign bits, each once, with the best score of their 8-bit codes."""
    distances = np.where(allowed, resident.hamming(sign_bits(query)[0]), OUT_OF_REACH)
    rows = nearest_rows(distances, candidates)
    return _once(resident.seqs[rows], score(query, resident.codes.take(rows))[0])


def nearest_rows(distances: NDArray[np.uint16], count: int) -> NDArray[np.intp]:
    """Rows at the least distances, at least `count` where there are so many; none out of reach."""
    if count >= len(distances):
        return np.flatnonzero(distances != OUT_OF_REACH)
    edge = np.partition(distances, count - 1)[count - 1]
    return np.flatnonzero(distances <= min(edge, OUT_OF_REACH - 1))


def _placed(groups: Sequence[StoredVectors]) -> list[tuple[NDArray[np.intp], Codes]]:
    """Groups with the places of their rows when they stand one after the other."""
    placed: list[tuple[NDArray[np.intp], Codes]] = []
    start = 0
    for group in groups:
        placed.append((np.arange(start, start + len(group.codes), dtype=np.intp), group.codes))
        start += len(group.codes)
    return placed


def _wide(limit: int) -> int:
    return max(_CANDIDATES, 20 * limit)


def _masked(known: NDArray[np.bool_], mask: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if mask is None:
        return known
    size = min(len(known), len(mask))
    both = np.zeros(len(known), np.bool_)
    both[:size] = known[:size] & mask[:size]
    return both


def _once(seqs: Seqs, scores: Floats) -> tuple[Seqs, Floats]:
    """Each memory once, ascending, with the best of its scores."""
    if (np.diff(seqs) > 0).all():
        return seqs, scores
    owners, place = np.unique(seqs, return_inverse=True)
    best = np.full(len(owners), -np.inf, np.float32)
    np.maximum.at(best, place, scores)
    return owners, best


def _best(seqs: Seqs, scores: Floats, limit: int) -> tuple[Seqs, Floats]:
    """The highest scores, falling; ties by seq."""
    order = np.lexsort((seqs, -scores))[:limit]
    return seqs[order], scores[order]
