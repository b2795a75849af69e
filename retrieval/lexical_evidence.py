"""BM25 of every memory together with its neighbours, and of whole sessions, from the plain index's posting lists.

BM25 after Robertson and Zaragoza (2009), idf = ln(1 + (N − df + ½)/(df + ½)), k1 = 0.9, b = 0.4. A memory's term
frequency and length include decayed shares of its neighbours', so one index serves all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.lexical import Postings
from .layout import MANY, Floats, Layout, Rows

K1: Final = np.float32(0.9)
B: Final = np.float32(0.4)
DECAY: Final[Mapping[int, float]] = {-1: 0.7, -2: 0.4, -3: 0.2, 1: 0.3, 2: 0.2, 3: 0.1}


@dataclass(frozen=True, slots=True, eq=False)
class LexicalEvidence:
    """What the words of a question say of n rows.

    Attributes:
        near: float32 (n,), BM25 with neighbours.
        alone: float32 (n,), BM25 of the memory itself.
        session: float32 (n,), BM25 of its session.
        covered: float32 (n,), Σ idf over the terms that the memory itself has, however often.
        alone_mass: Σ idf over the terms of `alone`; terms that no memory has count fully.
        mass: Σ idf over the terms of `near`; terms that no memory has count fully, so the ratio tells how much of
            the question the words cover.
        known: Σ idf of the terms that some memory has.
        session_mass: Σ idf over the terms of `session`.
    """

    near: Floats
    alone: Floats
    session: Floats
    covered: Floats
    alone_mass: float
    mass: float
    known: float
    session_mass: float


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Length norms k1·(1 − b + b·length/mean), float32, of rows with neighbours, rows alone, and sessions."""

    near: Floats
    alone: Floats
    session: Floats


def lengths_of(layout: Layout) -> Lengths:
    """The length norms of a layout."""
    of_sessions = np.bincount(layout.session, weights=layout.words, minlength=layout.sessions).astype(np.float32)
    return Lengths(_norm(layout.spread(layout.words, DECAY)), _norm(layout.words), _norm(of_sessions))


def lexical_evidence(layout: Layout, lengths: Lengths, postings: Sequence[Postings]) -> LexicalEvidence:
    """Score n rows against the posting lists of a question's terms, one list a term."""
    size = len(layout)
    near, alone, covered, frequency = (np.zeros(size, np.float32) for _ in range(4))
    of_sessions = np.zeros(layout.sessions, np.float32)
    mass = known = session_mass = alone_mass = 0.0
    for posting in postings:
        rows, counts = _within(layout, posting)
        frequency[rows] = counts
        idf = _add_near(near, layout, lengths.near, rows, frequency)
        frequency[rows] = 0
        rarity = inverse_frequency(len(rows), size)
        alone[rows] += rarity * _saturated(counts, lengths.alone[rows])
        covered[rows] += rarity
        session_idf = _add_sessions(of_sessions, layout.session[rows], counts, lengths.session)
        mass, alone_mass = mass + float(idf), alone_mass + float(rarity)
        session_mass += float(session_idf)
        known += float(idf) if len(rows) else 0.0
    return LexicalEvidence(near, alone, of_sessions[layout.session], covered, alone_mass, mass, known, session_mass)


def _add_near(near: Floats, layout: Layout, norm: Floats, rows: Rows, frequency: Floats) -> np.float32:
    """Add a term's BM25 with neighbours to `near` (n,); returns its idf. `frequency` (n,) is 0 outside of `rows`."""
    around = layout.around(rows)
    if around is None:
        together = layout.spread(frequency, DECAY)
        idf = inverse_frequency(int(np.count_nonzero(together)), len(layout))
        near += idf * _saturated(together, norm)
    else:
        together = layout.spread_at(around, frequency, DECAY)
        idf = inverse_frequency(int(np.count_nonzero(together)), len(layout))
        near[around] += idf * _saturated(together, norm[around])
    return idf


def _add_sessions(total: Floats, sessions: NDArray[np.int32], counts: Floats, norm: Floats) -> np.float32:
    """Add a term's BM25 of whole sessions to `total` (sessions,), given those it occurs in; returns its idf."""
    if len(sessions) * MANY > len(total):
        whole = np.bincount(sessions, weights=counts, minlength=len(total)).astype(np.float32)
        idf = inverse_frequency(int(np.count_nonzero(whole)), len(total))
        total += idf * _saturated(whole, norm)
        return idf
    found, place = np.unique(sessions, return_inverse=True)
    idf = inverse_frequency(len(found), len(total))
    total[found] += idf * _saturated(np.bincount(place, weights=counts).astype(np.float32), norm[found])
    return idf


def inverse_frequency(items: int, total: int) -> np.float32:
    """The idf of a term that `items` of `total` have."""
    return np.float32(np.log1p((total - items + 0.5) / (items + 0.5)))


def rare_share(found: Sequence[Rows], size: int) -> Floats:
    """How much of some names each of `size` rows has, given the rows that have each name: float32 (n,), from 0 to 1.

    A name counts by its rarity, idf over the idf of what one row alone has. All of them together count 1 at most, and
    less where even the rarest is common; names that no row has don't count.
    """
    alone = float(inverse_frequency(1, size))
    rarities = [float(inverse_frequency(len(rows), size)) / alone if len(rows) else 0.0 for rows in found]
    whole = max(1.0, sum(rarities))
    result = np.zeros(size, np.float32)
    for rows, rarity in zip(found, rarities, strict=True):
        result[rows] += np.float32(rarity / whole)
    return result


def _within(layout: Layout, posting: Postings) -> tuple[Rows, Floats]:
    inside = posting.seqs < len(layout.row_of)
    rows = layout.row_of[posting.seqs[inside]]
    kept = rows >= 0
    return rows[kept].astype(np.intp), posting.counts[inside][kept]


def _saturated(frequency: Floats, norm: Floats) -> Floats:
    raised: Floats = frequency * (K1 + np.float32(1))
    return np.divide(raised, frequency + norm, dtype=np.float32)


def _norm(length: Floats) -> Floats:
    mean = float(length.mean(dtype=np.float64)) if len(length) else 1.0
    norm: Floats = K1 * B / np.float32(mean) * length
    norm += K1 * (np.float32(1) - B)
    return norm
