"""How well recall finds what answers a question, by the product's own path, leave one store out.

    python scripts/bench/recall.py --data FILE.json.gz [--beside FILE…] [--fusion scores|rrf] [--channels a,b,…]
        [--no-interaction] [--merged] [--weights loso|shipped] [--ablation] [--abstention] [--json]

The data set's stores are loaded with everything that saving a memory writes. Weights are fitted for each store on the
other stores, those of the data sets in --beside included, which is how scripts/fit_weights.py fits those of the package
(they answer with --weights shipped, and where there is no other store, or one scope with --merged).
A question that carries a time sees only what was recorded before it. The floor under which recall says "nothing
relevant" is off while ranking is measured, and on in the figures of --abstention.

Figures: r5, r10, hit10, mrr, ndcg10 (ideal over all relevant items), the same r10 by category and without adversarial
questions; r10_bm25 (FTS5 alone) and r10_rrf_paper (the published weighted reciprocal ranks over all channels);
r10_single_hop_two_channels, the better of two fusions of the semantic and the lexical channel without late interaction:
the fitted model and reciprocal ranks; p50_ms and p95_ms without embedding the question; same_twice, whether a second
run gives the same answers; r1_points_from_random_strengths, what random retention does to the share of right first
answers; points_from_CHANNEL and mrr_points_from_CHANNEL, what a channel adds to R@10 (with the ends of the 95 %
interval of a paired bootstrap) and to MRR;
verbatim_weakest_first (--verbatim), how often a memory's own text finds it first when it has no strength and all others
have it all; abstained_off_topic and abstained_answerable, the share of questions about other stores (at most 200 a
store) and of the store's own that are answered "nothing relevant", and abstained_off_topic_at_P where P % false
abstention are allowed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from _embeddings import Prepared
from _examples import Examples, answerable, asked, off_topic
from _left_out import floors_without, weights_without
from _measures import K, compared, means, measure
from _memory import SCOPE, Loaded, Question, load
from _report import Report, Table, argument_parser, publish
from _weakest import weakest_first
from numpy.typing import NDArray

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.loader import load_embedder
from ebbing.encoding.words import match_expression, query_terms
from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.answering import answer
from ebbing.retrieval.channels.registry import CHANNELS
from ebbing.retrieval.floor import margin
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.fusion import fused
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.recaller import Recaller, RecallRequest
from ebbing.retrieval.settings import RecallSettings
from ebbing.retrieval.weights import Weights, WeightSet
from ebbing.store.catalog import Columns

NOW: Final = 2 * 10**15
FALSE_ABSTENTION: Final = (0.02, 0.05, 0.1, 0.2)
# BEAM's questions that ask for an order, a summary or an instruction are hardly answerable by retrieval.
UNANSWERABLE: Final = frozenset({"abstention", "event_ordering", "instruction_following", "summarization"})

Answers = dict[int, list[int]]
Retention = Callable[[Columns, NDArray[np.int64], int], NDArray[np.float64]]
SettingsOf = Callable[[str], RecallSettings]


@dataclass(frozen=True, slots=True)
class Bench:
    """The loaded data and everything needed to put its questions."""

    loaded: Sequence[Loaded]
    embedder: Embedder
    read: Examples = field(default_factory=Examples)

    def questions(self) -> list[tuple[Loaded, Question]]:
        """Every question that has an answer."""
        return [(one, question) for one in self.loaded for question in one.questions if question.relevant]

    def run(self, settings: SettingsOf, retention: Retention | None = None) -> tuple[Answers, list[float]]:
        """The first ten seqs for each question, by position, and the milliseconds each took."""
        answers: Answers = {}
        times: list[float] = []
        recallers = {one.name: self.recaller(one, settings(one.name), retention) for one in self.loaded}
        for number, (one, question) in enumerate(self.questions()):
            request = request_for(question)
            before = time.perf_counter()
            result = recallers[one.name].recall(request)
            times.append(1000 * (time.perf_counter() - before))
            answers[number] = [hit.memory.seq for hit in result.hits]
        return answers, times

    def recaller(self, one: Loaded, settings: RecallSettings, retention: Retention | None = None) -> Recaller:
        """The product's recall over one store; without `retention` all memories are equally strong."""
        known = {question.text: question.embedding for other in self.loaded for question in other.questions}
        prepared = Prepared(self.embedder, known)
        return Recaller(one.store, lambda: prepared, retention or _full_strength, settings)


def main() -> None:
    """Load, fit, ask, report."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        embedder = load_embedder()
        loaded = load(arguments.data, embedder, Path(folder, "measured"), merged=arguments.merged)
        bench = Bench(loaded, embedder)
        beside = [load(path, embedder, Path(folder, path.name)) for path in arguments.beside]
        chosen = _weights(bench, beside, arguments.weights)
        base = RecallSettings(
            channels=tuple(arguments.channels.split(",")),
            fusion=arguments.fusion,
            interaction=not arguments.no_interaction,
            floors=None,
        )

        def settings(name: str) -> RecallSettings:
            return replace(base, weights=chosen[name])

        publish(_report(bench, settings, chosen, arguments), as_json=arguments.json)


def _report(bench: Bench, settings: SettingsOf, chosen: Mapping[str, Weights], arguments: argparse.Namespace) -> Report:
    answers, times = bench.run(settings)
    again, _ = bench.run(settings)
    table, figures = _scored(bench, answers)
    figures["r10_bm25"] = _mean_recall(bench, _bm25(bench))
    rrf, _ = bench.run(lambda name: replace(settings(name), fusion="rrf", channels=CHANNELS))
    figures["r10_rrf_paper"] = _mean_recall(bench, rrf)
    figures |= _two_channels(bench, settings)
    figures |= {"p50_ms": float(np.median(times)), "p95_ms": float(np.percentile(times, 95))}
    figures["same_twice"] = float(answers == again)
    shaken, _ = bench.run(settings, _random_strength)
    figures["r1_points_from_random_strengths"] = 100 * (_hit_at_1(bench, shaken) - _hit_at_1(bench, answers))
    tables = [table]
    if arguments.ablation:
        tables += _ablation(bench, settings, answers, figures)
    if arguments.verbatim:
        figures["verbatim_weakest_first"] = weakest_first(bench.loaded, bench.embedder)
    if arguments.abstention:
        tables += _abstention(bench, settings, chosen, figures)
    return Report("recall", figures, _settings_of(bench, arguments), ("numpy", "apsw", "onnxruntime"), tables)


def _settings_of(bench: Bench, arguments: argparse.Namespace) -> dict[str, str | int | bool]:
    return {
        "data": arguments.data.name,
        "stores": len(bench.loaded),
        "questions": len(bench.questions()),
        "fusion": arguments.fusion,
        "channels": arguments.channels,
        "interaction": not arguments.no_interaction,
        "weights": arguments.weights,
        "beside": ",".join(path.name for path in arguments.beside),
        "merged": arguments.merged,
    }


def _weights(bench: Bench, beside: Sequence[Sequence[Loaded]], source: str) -> dict[str, Weights]:
    """The weights for each store: fitted on all others, or those of the package."""
    if source == "shipped":
        return {one.name: RecallSettings().weights for one in bench.loaded}
    return {one.name: weights_without(one, (bench.loaded, *beside), bench.read) for one in bench.loaded}


def _scored(bench: Bench, answers: Answers) -> tuple[Table, dict[str, float]]:
    """Recall and ranks, overall and by category."""
    categories: dict[str, list[int]] = {}
    for number, (_, question) in enumerate(bench.questions()):
        categories.setdefault(question.category, []).append(number)
    measured = {number: measure(question.relevant, answers[number]) for number, (_, question) in _numbered(bench)}
    rows: list[tuple[str | int | float, ...]] = []
    for name, numbers in sorted(categories.items()):
        rows.append((name, len(numbers), *means(measured, numbers)))
    headline = [number for number, (_, question) in _numbered(bench) if question.category not in UNANSWERABLE]
    r5, r10, hit, mrr, ndcg = means(measured, headline)
    rows.append(("all", len(headline), r5, r10, hit, mrr, ndcg))
    figures = {"r5": r5, "r10": r10, "hit10": hit, "mrr": mrr, "ndcg10": ndcg}
    plain = [number for number, (_, question) in _numbered(bench) if question.category != "adversarial"]
    if "adversarial" in categories:
        figures["r10_without_adversarial"] = means(measured, plain)[1]
    for name, numbers in sorted(categories.items()):
        figures[f"r10_{name.replace('-', '_')}"] = means(measured, numbers)[1]
    columns = ("category", "questions", "R@5", "R@10", "hit@10", "MRR", "nDCG@10")
    return Table("Recall by category", columns, rows), figures


def _numbered(bench: Bench) -> list[tuple[int, tuple[Loaded, Question]]]:
    return list(enumerate(bench.questions()))


def _mean_recall(bench: Bench, answers: Answers, category: str | None = None) -> float:
    chosen = list(_recalls(bench, answers, category).values())
    return float(np.mean(chosen)) if chosen else 0.0


def _recalls(bench: Bench, answers: Answers, category: str | None = None) -> dict[int, float]:
    return _measures(bench, answers, 1, category)


def _measures(bench: Bench, answers: Answers, which: int, category: str | None = None) -> dict[int, float]:
    """One measure of each headline question, or of each of a category; 0 where there is no answer."""
    return {
        number: measure(question.relevant, answers.get(number, []))[which]
        for number, (_, question) in _numbered(bench)
        if (category is None and question.category not in UNANSWERABLE) or question.category == category
    }


def _bm25(bench: Bench) -> Answers:
    """The full-text index alone, as SQLite ranks it."""
    answers: Answers = {}
    for number, (one, question) in _numbered(bench):
        scope = one.store.scopes.find(SCOPE)
        expression = match_expression(query_terms(question.text).words)
        found = one.store.lexical.search(expression, [] if scope is None else [scope], 1000)
        recorded = one.store.catalog.columns().recorded_at
        before = NOW if question.asked_at is None else question.asked_at
        answers[number] = [seq for seq, _ in found if recorded[seq] < before][:K]
    return answers


def _two_channels(bench: Bench, settings: SettingsOf) -> dict[str, float]:
    if not any(question.category == "single-hop" for _, question in bench.questions()):
        return {}
    both = ("semantic", "lexical")
    best = 0.0
    for fusion in ("scores", "rrf"):
        answers, _ = bench.run(lambda name, fusion=fusion: _two(settings(name), both, fusion))
        best = max(best, _mean_recall(bench, answers, "single-hop"))
    return {"r10_single_hop_two_channels": best}


def _two(settings: RecallSettings, channels: tuple[str, ...], fusion: str) -> RecallSettings:
    """Two channels and nothing else: no cues, no late interaction."""

    def only(one: WeightSet) -> WeightSet:
        kept = {name: weight for name, weight in one.first.items() if name in {"words", "meaning", "session"}}
        return WeightSet(kept, kept)

    weights = Weights(only(settings.weights.dialogue), only(settings.weights.plain))
    chosen = "rrf" if fusion == "rrf" else "scores"
    return replace(settings, channels=channels, fusion=chosen, interaction=False, weights=weights, slots=0, bonus=0.0)


def _ablation(bench: Bench, settings: SettingsOf, answers: Answers, figures: dict[str, float]) -> list[Table]:
    """Each channel off, with what being on is worth and its 95 % interval; and each channel's own answers."""
    full = _recalls(bench, answers)
    first = _measures(bench, answers, 3)
    off: list[tuple[str | int | float, ...]] = []
    for name in CHANNELS:
        rest = tuple(other for other in CHANNELS if other != name)
        without, _ = bench.run(lambda store, rest=rest: replace(settings(store), channels=rest))
        points, low, high = compared(full, _recalls(bench, without))
        mrr, _, _ = compared(first, _measures(bench, without, 3))
        changed = sum(without[number] != answers[number] for number in answers)
        figures |= {f"points_from_{name}": points, f"points_from_{name}_low": low, f"points_from_{name}_high": high}
        figures |= {f"mrr_points_from_{name}": mrr, f"changed_by_{name}": changed}
        off.append((name, points, low, high, mrr, changed))
    alone = [(name, len(found), _mean_recall(bench, found)) for name, found in _each_alone(bench, settings).items()]
    figures |= {f"r10_only_{name}": recall for name, _, recall in alone}
    return [
        Table("What each channel adds", ("channel", "points R@10", "from", "to", "points MRR", "changed"), off),
        Table("Each channel's own ranking", ("channel", "answered", "R@10"), alone),
    ]


def _each_alone(bench: Bench, settings: SettingsOf) -> dict[str, Answers]:
    """What each channel ranks first by itself; those that need evidence to start from get all of it."""
    alone: dict[str, Answers] = {name: {} for name in CHANNELS}
    frames = {one.name: Frames(one.store) for one in bench.loaded}
    for number, (one, question) in _numbered(bench):
        with one.store.snapshot():
            read = analyse(question.text)
            context = context_for(one.store, frames[one.name], request_for(question), read, question.embedding)
            found = answer(context, replace(settings(one.name), fusion="rrf"), K).found
        for name, ranking in found.items():
            if len(ranking):
                alone[name][number] = context.layout.seqs[ranking.rows[:K]].tolist()
    return alone


def _abstention(
    bench: Bench, settings: SettingsOf, chosen: Mapping[str, Weights], figures: dict[str, float]
) -> list[Table]:
    """How often the floor, fitted on the other stores, answers "nothing relevant", there and at other thresholds."""
    margins: dict[str, list[float]] = {"answerable": [], "off_topic": []}
    for one in bench.loaded:
        wanted = replace(settings(one.name), floors=floors_without(one, bench.loaded, bench.read, chosen[one.name]))
        for name, questions in (("answerable", answerable(one)), ("off_topic", off_topic(bench.loaded, one))):
            margins[name] += _margins(one, questions, wanted)
    own, off = np.array(margins["answerable"]), np.array(margins["off_topic"])
    if not len(off):
        return []
    figures |= {"abstained_off_topic": float((off < 0).mean()), "abstained_answerable": float((own < 0).mean())}
    curve: list[tuple[str | int | float, ...]] = []
    for share in FALSE_ABSTENTION:
        threshold = float(np.quantile(own, share, method="lower"))
        abstained = float((off < threshold).mean())
        curve.append((f"{share:.0%}", float((own < threshold).mean()), abstained))
        figures[f"abstained_off_topic_at_{100 * share:.0f}"] = abstained
    columns = ("false abstention allowed", "answerable", "off topic")
    return [Table("Abstained, by threshold", columns, curve)]


def _margins(one: Loaded, questions: Sequence[Question], settings: RecallSettings) -> list[float]:
    """How far above the floor each question's evidence is, in log-odds."""
    if settings.floors is None:
        return []
    found: list[float] = []
    for _, context, evidence in asked(one, questions):
        with one.store.snapshot():
            found.append(margin(context, evidence, fused(context, evidence, settings), settings.floors))
    return found


def request_for(question: Question) -> RecallRequest:
    """The question as a request; one that was asked at a time sees only what was recorded before."""
    until = None if question.asked_at is None else question.asked_at - 1
    return RecallRequest(query=question.text, scopes=(SCOPE,), now=NOW, until=until)


def _full_strength(_columns: Columns, seqs: NDArray[np.int64], _now: int) -> NDArray[np.float64]:
    return np.ones(len(seqs))


def _random_strength(_columns: Columns, seqs: NDArray[np.int64], _now: int) -> NDArray[np.float64]:
    """A retention for each memory that has nothing to do with it, always the same."""
    return np.random.default_rng(0).uniform(size=int(seqs.max(initial=0)) + 1)[seqs]


def _hit_at_1(bench: Bench, answers: Answers) -> float:
    """How often the first answer is right."""
    return float(
        np.mean(
            [
                answers[number][:1] != [] and answers[number][0] in question.relevant
                for number, (_, question) in _numbered(bench)
            ]
        )
    )


def _arguments() -> argparse.Namespace:
    parser = argument_parser(__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="a data set of the common format")
    parser.add_argument("--beside", type=Path, nargs="+", default=[], help="data sets that take part in every fit")
    parser.add_argument("--fusion", choices=("scores", "rrf"), default="scores")
    parser.add_argument("--channels", default=",".join(CHANNELS), help="the channels to ask, by name")
    parser.add_argument("--no-interaction", action="store_true", help="without late interaction")
    parser.add_argument("--merged", action="store_true", help="all stores of the data in one scope")
    parser.add_argument("--weights", choices=("loso", "shipped"), default="loso")
    parser.add_argument("--ablation", action="store_true", help="each channel off and each alone")
    parser.add_argument("--verbatim", action="store_true", help="whether each memory's own text finds it, however weak")
    parser.add_argument("--abstention", action="store_true", help="how often recall says that nothing is relevant")
    return parser.parse_args()


if __name__ == "__main__":
    main()
