"""An engineering stream as a benchmark sees it: items in time order, questions, citations, and one BM25 for all.

The lexical search is held constant: every policy ranks by the same scores, computed over all items before the question
(k1 0.9, b 0.4, no stemming), and differs only in what it has kept.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scores = NDArray[np.float32]
Rows = NDArray[np.int64]

K1: Final = 0.9
B: Final = 0.4
STOP: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
        "this to was will with",
    )
)
WORD: Final = re.compile(r"[a-z0-9]+")
COMMIT: Final = re.compile(r"\b[0-9a-f]{7,40}\b")
ID_LENGTH: Final = 12
SHORT_ID: Final = 7
NEIGHBOURS: Final = 128
COMMON: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question: asked when item `at` arrives, of the items before it; `relevant` are the rows that answer it."""

    at: int
    text: str
    relevant: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Items sorted by time: instants (µs, int64), texts, queries in time order, and which rows each row cites."""

    times: Rows
    texts: list[str]
    queries: list[Query]
    citations: dict[int, tuple[int, ...]]


def micros(text: str) -> int:
    """An ISO 8601 time as µs since the epoch; one without a zone is read as UTC."""
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def load_stores(path: Path) -> list[dict[str, Any]]:
    """The stores of a data set as they are on disk."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stores: list[dict[str, Any]] = json.load(file)["stores"]
    return stores


def load_stream(path: Path) -> Stream:
    """The first store of a data set whose items are commits named by later ones."""
    store = load_stores(path)[0]
    items = sorted(store["items"], key=lambda item: micros(item["time"]))
    row = {item["id"]: place for place, item in enumerate(items)}
    queries = [
        Query(at=row[query["id"]], text=query["text"], relevant=tuple(row[one] for one in query["relevant"]))
        for query in store["queries"]
    ]
    queries.sort(key=lambda query: query.at)
    texts = [str(item["text"]) for item in items]
    times = np.array([micros(item["time"]) for item in items], dtype=np.int64)
    return Stream(times=times, texts=texts, queries=queries, citations=_citations(texts, row, queries))


def _citations(texts: Sequence[str], row: dict[str, int], queries: Sequence[Query]) -> dict[int, tuple[int, ...]]:
    """What each item names: by commit ids in its text, and the answers of the query that was made from it."""
    by_short: dict[str, list[str]] = defaultdict(list)
    for commit in row:
        by_short[commit[:SHORT_ID]].append(commit)
    found: dict[int, set[int]] = defaultdict(set)
    for place, text in enumerate(texts):
        for named in COMMIT.findall(text):
            start = named[:ID_LENGTH]
            cited = {row[one] for one in by_short.get(named[:SHORT_ID], ()) if one.startswith(start)}
            found[place] |= {one for one in cited if one < place}
    for query in queries:
        found[query.at] |= set(query.relevant)
    return {place: tuple(sorted(cited)) for place, cited in found.items() if cited}


def words(text: str) -> list[str]:
    """Lower-case words and numbers without stop words."""
    return [word for word in WORD.findall(text.lower()) if word not in STOP]


class Lexicon:
    """Posting lists over items in time order; every score is over the items before a row only."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(words(text)) for text in texts]
        self.lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        self._total = np.concatenate([[0.0], np.cumsum(self.lengths)])
        lists: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for place, count in enumerate(counts):
            for word, times in count.items():
                lists[word][0].append(place)
                lists[word][1].append(times)
        self._postings = {
            word: (np.array(rows, dtype=np.int64), np.array(times, dtype=np.float64))
            for word, (rows, times) in lists.items()
        }

    def scores(self, text: str, before: int, *, rare_only: bool = False) -> tuple[Scores, float]:
        """BM25 of rows 0 … before − 1, and the sum of the words' idf that no item can exceed.

        `rare_only` skips words that more than a tenth of the items have: they can't tell neighbours apart.
        """
        found = np.zeros(before, dtype=np.float32)
        mean = max(self._total[before] / max(before, 1), 1.0)
        bound = 0.0
        for word in sorted(set(words(text)) & self._postings.keys()):
            rows, times = self._postings[word]
            df = int(np.searchsorted(rows, before))
            idf = float(np.log1p((before - df + 0.5) / (df + 0.5)))
            bound += idf
            if df and not (rare_only and df > before * COMMON):
                rows, times = rows[:df], times[:df]
                found[rows] += idf * times / (times + K1 * (1 - B + B * self.lengths[rows] / mean))
        return found, bound


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The older items most like each item, best first: rows (n, 128), −1 where there are none; similarity in [0, 1]."""

    rows: Rows
    similarity: Floats


def neighbours(lexicon: Lexicon, texts: Sequence[str]) -> Neighbours:
    """Each item's 128 best by BM25 among all older ones, as a share of the best possible score."""
    rows = np.full((len(texts), NEIGHBOURS), -1, dtype=np.int64)
    similarity = np.zeros((len(texts), NEIGHBOURS))
    for place in range(1, len(texts)):
        found, bound = lexicon.scores(texts[place], place, rare_only=True)
        best = top_rows(found, NEIGHBOURS)
        rows[place, : best.size] = best
        similarity[place, : best.size] = found[best] / max(bound, 1e-9)
    return Neighbours(rows=rows, similarity=similarity)


def top_rows(scores: Scores, count: int) -> Rows:
    """The rows of the `count` highest scores above zero, best first; equal scores by row."""
    if scores.size > count:
        bar = np.partition(scores, scores.size - count)[scores.size - count]
        rows = np.flatnonzero((scores >= bar) & (scores > 0))
    else:
        rows = np.flatnonzero(scores > 0)
    order = np.lexsort((rows, -scores[rows]))
    return rows[order][:count].astype(np.int64)
