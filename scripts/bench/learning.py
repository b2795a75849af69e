"""Does feedback on recalls help those for whom some channels are worth more, and leave the others alone?

Simulated users with known tastes ask the questions of a data set. The product's recall gives for each question its
ranking and what each channel contributes; the product's fusion orders them anew with what was learned so far; the user
finds one of the ten shown useful, more likely the better it is by the user's own multipliers (Plackett and Luce) and,
for some, the further up it stands; the product's lesson is drawn from it. Quality is the expected reciprocal rank of
what the user would pick from the pool if nothing depended on its place.

Figures, each with the ends of its 95 % interval by bootstrap over runs (`_low`, `_high`): `gain_N`, quality with
learning less quality with fixed weights, a mean over the first N signals and over the users with a taste; the same for
those that nothing can be learned from: `default_N`, whose taste is the default, `first_N`, who besides mostly takes
what stands first, `noise_N`, who answers at random. The table has every user, with the gain of an oracle.
`standard_error_N` is how far chance alone moves a user's mean over N signals: what is smaller nobody can notice.

The constants of learning were chosen on the first three stores of locomo-dev: `--held-out 3` leaves those out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from _memory import SCOPE, Loaded, load
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.encoding.loader import load_embedder
from ebbing.lifecycle.channel_lessons import lesson_of, rounded
from ebbing.lifecycle.channel_weights import Learned, Lesson, taught
from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.answering import answer
from ebbing.retrieval.channels.base import Ranking
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.learned import Parts, of_class, reweighted
from ebbing.retrieval.request import RecallRequest
from ebbing.retrieval.settings import RecallSettings


@dataclass(frozen=True, slots=True)
class User:
    """How a simulated user picks: by multipliers of the channels, in some classes of questions or all, and by place."""

    taste: Mapping[str, float] = field(default_factory=dict[str, float])
    classes: frozenset[str] | None = None
    place: float = 0.0
    is_random: bool = False

    def wants(self, query_class: str) -> Mapping[str, float]:
        """The multipliers that are right for this user in a class of questions."""
        return self.taste if self.classes is None or query_class in self.classes else {}


_WORDS: Final = {"lexical": 2.0, "semantic": 0.5, "interaction": 0.7}
USERS: Final[Mapping[str, User]] = {
    "words": User(_WORDS),
    "meaning": User({"lexical": 0.4, "semantic": 2.0}),
    "exactness": User({"interaction": 1.8, "lexical": 1.3, "semantic": 0.4}),
    "time": User({"temporal": 2.5, "lexical": 0.8, "semantic": 0.6}),
    "words, often the first": User(_WORDS, place=1.0),
    "words in lists only": User(_WORDS, classes=frozenset({"list"})),
    "default": User(),
    "first": User(place=1.5),
    "noise": User(is_random=True),
}
NOTHING: Final = ("default", "first", "noise")
TASTES: Final = tuple(name for name in USERS if name not in NOTHING)
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


def live(questions: Sequence[Asked], user: User, signals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Gain over fixed weights at each signal, the oracle's, and the reciprocal rank of the pick: (signals, 3)."""
    known = Learned()
    gains = np.zeros((signals, 3))
    for at in range(signals):
        one = questions[int(rng.integers(len(questions)))]
        likely = likely_picks(one, user.wants(one.query_class))
        order = reweighted(one.model, one.parts, of_class(known.multipliers(), one.query_class)).rows
        fixed = quality(one.model.rows, likely)
        ideal = reweighted(one.model, one.parts, user.wants(one.query_class)).rows
        shown = order[:_SHOWN].tolist()
        chance = np.array([1.0 if user.is_random else likely[row] + 1e-12 for row in shown])
        chance *= np.arange(1, len(shown) + 1) ** -user.place
        pick = shown[int(rng.choice(len(shown), p=chance / chance.sum()))]
        rank = shown.index(pick) + 1
        gains[at] = quality(order, likely) - fixed, quality(ideal, likely) - fixed, 1.0 / rank
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


def measured(
    gains: Mapping[str, NDArray[np.float64]], rng: np.random.Generator
) -> tuple[dict[str, float], list[tuple[str, int, float, float, float, float]]]:
    """Figures with intervals, and the table's rows, of the gains of each user's lives: (lives, signals, 3)."""
    everybody = np.concatenate(list(gains.values()))[:, :, 2]
    figures = {f"standard_error_{mark}": float(everybody.std() / np.sqrt(mark)) for mark in MARKS}
    rows: list[tuple[str, int, float, float, float, float]] = []
    for name, users in {"gain": TASTES, **{user: (user,) for user in (*NOTHING, *TASTES)}}.items():
        lives = np.concatenate([gains[user] for user in users])
        for mark in MARKS:
            means = lives[:, :mark].mean(axis=1)
            mean = float(means[:, 0].mean())
            low, high = interval(means[:, 0], rng)
            rows.append((name, mark, mean, low, high, float(means[:, 1].mean())))
            if name == "gain" or name in NOTHING:
                figures |= {f"{name}_{mark}": mean, f"{name}_{mark}_low": low, f"{name}_{mark}_high": high}
    return figures, rows


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="memories and questions (.json.gz)")
    parser.add_argument("--runs", type=int, default=10, help="lives of each user")
    parser.add_argument("--held-out", type=int, default=0, metavar="N", help="leave the first N stores out")
    options = parser.parse_args()
    embedder = load_embedder()
    questions: list[Asked] = []
    with tempfile.TemporaryDirectory() as folder:
        for place, loaded in enumerate(load(options.data, embedder, Path(folder))):
            questions += asked(loaded) if place >= options.held_out else []
            loaded.store.close()
    rng = np.random.default_rng(_SEED)
    gains = {
        name: np.stack([live(questions, user, MARKS[-1], rng) for _ in range(options.runs)])
        for name, user in USERS.items()
    }
    figures, rows = measured(gains, rng)
    table = Table("gain over fixed weights", ("user", "signals", "gain", "low", "high", "oracle"), rows)
    settings = {
        "data": options.data.name,
        "stores left out": options.held_out,
        "questions": len(questions),
        "runs": options.runs,
        "seed": _SEED,
    }
    publish(Report("learning", figures, settings, ("numpy",), (table,)), as_json=options.json)


if __name__ == "__main__":
    main()
