"""What the associative channels may add: a bounded bonus, and places of their own at the end of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .channels.base import Ranking
from .layout import Floats, Rows

# Channels that look at the same thing agree for the same reason; only different groups are independent.
GROUPS: Final[Mapping[str, str]] = {
    "semantic": "meaning",
    "hopfield": "meaning",
    "lexical": "words",
    "gist": "words",
    "entity": "names",
    "temporal": "time",
    "activation": "links",
}
AGREEMENT: Final = 0.25
_AGREEING: Final = 10
# A place is given away for an association that is nearly as strong as the best one. Where the answer has the strongest
# already, what evidence puts in the place is worth more.
_LEAST_FOR_PLACE: Final = 0.8


def with_bonus(
    evidence: Ranking, found: Mapping[str, Ranking], shares: Mapping[str, float], cap: float, *, agreement: bool
) -> Floats:
    """Scores of the evidence's rows plus their bonus, float32 (p,).

    A channel adds its share times the row's score relative to its best; with `agreement`, rows among the ten best of
    several independent groups of channels get a quarter more for each group beyond the first. All of it together is at
    most `cap` times the range of the evidence, and no row passes the best of the evidence.
    """
    if not len(evidence):
        return evidence.scores
    total = sum(shares_of(evidence.rows, found, shares).values(), np.zeros(len(evidence), np.float64))
    if agreement:
        total += AGREEMENT * np.maximum(0, _groups(evidence.rows, found) - 1)
    most = cap * float(evidence.scores[0] - evidence.scores[-1])
    raised = evidence.scores + most * np.minimum(1.0, total)
    return np.minimum(raised, evidence.scores[0]).astype(np.float32)


def shares_of(rows: Rows, found: Mapping[str, Ranking], shares: Mapping[str, float]) -> dict[str, NDArray[np.float64]]:
    """What each channel asks for each row: its share times the row's score relative to its best, float64 (p,)."""
    return {name: share * _relative(rows, found[name]) for name, share in shares.items() if name in found}


def _relative(rows: Rows, ranking: Ranking) -> NDArray[np.float64]:
    """Each row's score in a ranking relative to its best, 0 where it is not in it, float64 (p,)."""
    if not len(ranking):
        return np.zeros(len(rows))
    order = np.argsort(ranking.rows)
    places = np.minimum(np.searchsorted(ranking.rows[order], rows), len(order) - 1)
    hit = ranking.rows[order][places] == rows
    return np.where(hit, ranking.scores[order][places] / ranking.scores[0], 0.0)


def _groups(rows: Rows, found: Mapping[str, Ranking]) -> NDArray[np.int64]:
    """In how many groups of channels each row is among the ten best, int64 (p,)."""
    count = np.zeros(len(rows), np.int64)
    for group in sorted(set(GROUPS.values())):
        best = [ranking.rows[:_AGREEING] for name, ranking in found.items() if GROUPS[name] == group]
        if best:
            count += np.isin(rows, np.concatenate(best))
    return count


def spread_out(ranking: Ranking, sessions: NDArray[np.int32], penalty: float, limit: int) -> Ranking:
    """The same rows in an order in which sessions share the first `limit` places; scores fall.

    Each memory that is taken costs the others of its session (p,) `penalty`.
    """
    left = ranking.scores.copy()
    order: list[int] = []
    values: list[float] = []
    for _ in range(min(limit, len(left)) if penalty else 0):
        place = int(np.argmax(left))
        order.append(place)
        values.append(float(left[place]))
        left[sessions == sessions[place]] -= np.float32(penalty)
        left[order] = -np.inf
    rest = np.setdiff1d(np.arange(len(left)), order)
    rest = rest[np.argsort(-left[rest], kind="stable")]
    places = np.concatenate([np.array(order, np.intp), rest])
    return Ranking(ranking.rows[places], np.concatenate([np.array(values, np.float32), left[rest]]))


def with_places(
    ranking: Ranking, found: Mapping[str, Ranking], shares: Mapping[str, float], slots: int, limit: int
) -> Ranking:
    """The ranking with the last of its first `limit` rows replaced by up to `slots` that it does not have there.

    Those are the rows that the channels in `shares` put first among themselves, but for weak ones.
    """
    kept = min(limit, len(ranking))
    free = _foremost(found, shares, set(ranking.rows[: max(0, min(kept, limit - slots))].tolist()))[:slots]
    if not free:
        return ranking
    front = ranking.rows[: min(kept, limit - len(free))]
    rest = ranking.rows[len(front) :]
    rest = rest[~np.isin(rest, free)]
    rows = np.concatenate([front, np.array(free, np.intp), rest])
    scores = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    least = float(ranking.scores[len(front) - 1]) if len(front) else 0.0
    values = [*(scores[row] for row in front.tolist()), *(least for _ in free), *(scores[row] for row in rest.tolist())]
    return Ranking(rows, np.array(values, np.float32))


def _foremost(found: Mapping[str, Ranking], shares: Mapping[str, float], taken: set[int]) -> list[int]:
    total: dict[int, float] = {}
    for name, share in shares.items():
        ranking = found.get(name)
        if ranking is not None and len(ranking):
            relative = (ranking.scores / ranking.scores[0]).tolist()
            for row, value in zip(ranking.rows.tolist(), relative, strict=True):
                total[row] = total.get(row, 0.0) + share * value
    strong = (row for row, value in total.items() if value >= _LEAST_FOR_PLACE and row not in taken)
    return sorted(strong, key=lambda row: (-total[row], row))
