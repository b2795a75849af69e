"""Age as a ranking prior with nothing deleted: what it brings a stream of work, what it costs long chats.

A prior multiplies the lexical score. Exponential: e^(−age/180 d). Power law: (1 + age/1 d)^(−0.3). Bounded: the power
law never takes more than half of a score, so that an old exact match still wins. Gated: only for a text that describes
work in hand; a question, or a text that names a date, asks about the past and is ranked without a prior.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from _report import Setting, Table
from _stream import Floats, Lexicon, Rows, Scores, Stream, load_stores, micros, top_rows

DAY: Final = 86_400_000_000
TOP: Final = 10
SCALE_DAYS: Final = 180.0
POWER: Final = 0.3
FLOOR: Final = 0.5
QUESTION: Final = re.compile(
    r"\?\s*$|^\s*(who|what|when|where|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could|would|will)\b",
    re.IGNORECASE,
)
DATE: Final = re.compile(
    r"\b(19|20)\d\d-\d\d|\b(yesterday|last (week|month|year))\b"
    r"|\b(january|february|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)

Prior = Callable[[Floats], Floats]
PRIORS: Final[dict[str, Prior]] = {
    "none": np.ones_like,
    "exponential": lambda age: np.exp(-age / SCALE_DAYS),
    "power law": lambda age: (1.0 + age) ** -POWER,
    "bounded power law": lambda age: FLOOR + (1.0 - FLOOR) * (1.0 + age) ** -POWER,
}


def is_open(text: str) -> bool:
    """Whether the gate lets the prior through: neither a question nor about a date."""
    return not QUESTION.search(text) and not DATE.search(text)


def recall_with(prior: Prior, scores: Scores, age_days: Floats, relevant: set[int]) -> float:
    """R@10 of one question under a prior."""
    weighted = (scores * prior(np.maximum(0.0, age_days))).astype(np.float32)
    return len(relevant.intersection(top_rows(weighted, TOP).tolist())) / len(relevant)


def priors_compared(stream: Stream, scores: list[Scores], chats: Path) -> tuple[dict[str, float], Table]:
    """Figures and a table: each prior, open and gated, on the stream and on the chats (points of R@10)."""
    cases = [*_stream_cases(stream, scores)], [*_chat_cases(chats)]
    plain = [_mean(PRIORS["none"], some, gated=False) for some in cases]
    rows: list[list[Setting]] = []
    figures: dict[str, float] = {}
    for name, prior in PRIORS.items():
        for gated in (False, True):
            here, there = (_mean(prior, some, gated=gated) for some in cases)
            label = f"{name}, gated" if gated else name
            rows.append([label, round(here, 2), round(here - plain[0], 2), round(there, 2), round(there - plain[1], 2)])
            if name == "bounded power law":
                suffix = "" if gated else "_ungated"
                figures[f"prior_gain{suffix}"] = here - plain[0]
                figures[f"prior_cost_locomo{suffix}"] = plain[1] - there
    return figures, Table("age as a prior, nothing deleted", ("prior", "stream", "gain", "chats", "gain there"), rows)


Case = tuple[str, Scores, Floats, set[int]]


def _mean(prior: Prior, cases: list[Case], *, gated: bool) -> float:
    found = [
        recall_with(PRIORS["none"] if gated and not is_open(text) else prior, scores, age, relevant)
        for text, scores, age, relevant in cases
    ]
    return 100 * float(np.mean(found))


def _stream_cases(stream: Stream, scores: list[Scores]) -> list[Case]:
    return [
        (query.text, found, (stream.times[query.at] - stream.times[: query.at]) / DAY, set(query.relevant))
        for query, found in zip(stream.queries, scores, strict=True)
    ]


def _chat_cases(path: Path) -> list[Case]:
    return [case for store in load_stores(path) for case in _cases_of(store)]


def _cases_of(store: dict[str, Any]) -> list[Case]:
    """Questions of a chat, asked at its end; items and questions as they are on disk."""
    items: list[dict[str, Any]] = store["items"]
    row = {item["id"]: place for place, item in enumerate(items)}
    times: Rows = np.array([micros(item["time"]) for item in items], dtype=np.int64)
    age = (times.max() - times) / DAY
    lexicon = Lexicon([item["text"] for item in items])
    return [
        (query["text"], lexicon.scores(query["text"], len(items))[0], age, {row[one] for one in query["relevant"]})
        for query in store["queries"]
        if query["relevant"]
    ]
