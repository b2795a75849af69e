"""Does feedback on recalls help those for whom some channels are worth more, and leave the others alone?

Simulated users with known tastes ask the questions of a data set. The product's recall gives for each question its
ranking and what each channel contributes; the product's fusion orders them anew with what was learned so far; the user
finds one of the ten shown useful, more likely the better it is by the user's own multipliers (Plackett and Luce); the
product's lesson is drawn from it. Quality is the expected reciprocal rank of what the user would pick from the pool.

Figures: `gain_N`, quality with learning less quality with fixed weights, a mean over the first N signals and over the
users with a taste; `default_N` the same for the user to whom the defaults are right, `noise_N` for one who answers at
random while the defaults are right. 95 % intervals by bootstrap over runs are in the table, with the gain of an oracle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from _memory import SCOPE, Loaded, load
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.encoding.loader import load_embedder
from ebbing.lifecycle.channel_lessons import lesson_of, rounded
from ebbing.lifecycle.channel_weights import ClassWeights, Lesson, taught
from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.answering import answer
from ebbing.retrieval.channels.base import Ranking
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.learned import Parts, reweighted
from ebbing.retrieval.request import RecallRequest
from ebbing.retrieval.settings import RecallSettings

USERS: Final[Mapping[str, Mapping[str, float]]] = {
    "words": {"lexical": 2.0, "semantic": 0.5, "interaction": 0.7},
    "meaning": {"lexical": 0.4, "semantic": 2.0},
    "exactness": {"interaction": 1.8, "lexical": 1.3, "semantic": 0.4},
    "default": {},
    "noise": {},
}
TASTES: Final = ("words", "meaning", "exactness")
MARKS: Final = (50, 200, 1_000)
_SHOWN: Final = 10
_SEED: Final = 20_260_301


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as recall answered it by default."""

    query_class: str
    model: Ranking
    parts: Parts


def asked(loaded: Loaded) -> list[Asked]:
    """Every question of a store."""
    settings, frames, found = RecallSettings(), Frames(loaded.store), list[Asked]()
    for question in loaded.questions:
        analysis = analyse(question.text)
        request = RecallRequest(query=question.text, scopes=(SCOPE,), now=question.asked_at or 0)
        with loaded.store.snapshot():
            context = context_for(loaded.store, frames, request, analysis, question.embedding)
            result = answer(context, settings, _SHOWN)
        if len(result.model) > _SHOWN:
            found.append(Asked(str(analysis.query_class), result.model, result.parts))
    return found


def quality(order: NDArray[np.intp], likely: Mapping[int, float]) -> float:
    """The expected reciprocal rank of the user's pick."""
    return sum(likely[row] / rank for rank, row in enumerate(order.tolist(), 1))


def likely_picks(one: Asked, taste: Mapping[str, float]) -> dict[int, float]:
    """How likely a user picks each row of the pool."""
    liked = reweighted(one.model, one.parts, taste)
    weight = np.exp(liked.scores.astype(np.float64) - float(liked.scores.max()))
    return dict(zip(liked.rows.tolist(), (weight / weight.sum()).tolist(), strict=True))


def live(questions: Sequence[Asked], user: str, signals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Gain over fixed weights at each signal, and the oracle's: (signals, 2)."""
    known: dict[str, ClassWeights] = {}
    gains = np.zeros((signals, 2))
    for at in range(signals):
        one = questions[int(rng.integers(len(questions)))]
        likely = likely_picks(one, USERS[user])
        weights = known.get(one.query_class)
        order = reweighted(one.model, one.parts, weights.multipliers() if weights else {}).rows
        fixed = quality(one.model.rows, likely)
        ideal = reweighted(one.model, one.parts, USERS[user]).rows
        gains[at] = quality(order, likely) - fixed, quality(ideal, likely) - fixed
        shown = order[:_SHOWN].tolist()
        chance = np.ones(len(shown)) if user == "noise" else np.array([likely[row] for row in shown]) + 1e-12
        pick = shown[int(rng.choice(len(shown), p=chance / chance.sum()))]
        known = taught(known, _lesson(one, shown, pick))
    return gains


def _lesson(one: Asked, shown: Sequence[int], pick: int) -> Lesson:
    entry = {
        "class": one.query_class,
        "memories": [str(row) for row in shown],
        "parts": {str(row): rounded(one.parts.of(row)) for row in shown},
    }
    return lesson_of(entry, [str(pick)], (), 1.0)


def interval(values: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """A 95 % interval of the mean of some runs, by bootstrap."""
    means = values[rng.integers(len(values), size=(2_000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="memories and questions (.json.gz)")
    parser.add_argument("--runs", type=int, default=10, help="lives of each user")
    options = parser.parse_args()
    embedder = load_embedder()
    questions: list[Asked] = []
    with tempfile.TemporaryDirectory() as folder:
        for loaded in load(options.data, embedder, Path(folder)):
            questions += asked(loaded)
            loaded.store.close()
    rng = np.random.default_rng(_SEED)
    gains = {user: np.stack([live(questions, user, MARKS[-1], rng) for _ in range(options.runs)]) for user in USERS}
    figures: dict[str, float] = {}
    rows: list[tuple[str, int, float, float, float, float]] = []
    for name, users in {
        "gain": TASTES,
        "default": ("default",),
        "noise": ("noise",),
        **{u: (u,) for u in TASTES},
    }.items():
        lives = np.concatenate([gains[user] for user in users])
        for mark in MARKS:
            means = lives[:, :mark].mean(axis=1)
            low, high = interval(means[:, 0], rng)
            rows.append((name, mark, float(means[:, 0].mean()), low, high, float(means[:, 1].mean())))
            if name in ("gain", "default", "noise"):
                figures[f"{name}_{mark}"] = float(means[:, 0].mean())
    table = Table("gain over fixed weights", ("user", "signals", "gain", "low", "high", "oracle"), rows)
    settings = {"data": options.data.name, "questions": len(questions), "runs": options.runs, "seed": _SEED}
    publish(Report("learning", figures, settings, ("numpy",), (table,)), as_json=options.json)


if __name__ == "__main__":
    main()
