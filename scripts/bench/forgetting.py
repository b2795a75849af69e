"""Does forgetting keep what will be needed? An engineering stream replayed under budgets, policy against policy.

    python scripts/bench/forgetting.py --data curl-dev.json.gz [--chats locomo-dev.json.gz] [--ratio] [--json]

A commit whose message names earlier ones is a question at its time; a use is such a confirmed citation. The budget is a
share of all items that will ever come, so a store at 5 % holds the same number from start to end; one item goes for
each that comes. The lexical search is held constant (see `_stream.py`), the policies are in `_policies.py`.

- r10_POLICY_BUDGET: mean share of a question's answers among its top 10, in percent; "second" in a key: second half of
  the questions only. The exponents of ours were
  chosen with these figures in sight, so neither half is a clean hold-out. r10_all: nothing deleted.
- ours_minus_fifo_5_low, ours_minus_lru_5_low: lower ends of 95 % paired bootstrap intervals of the difference, points.
- old_needs_kept_ours_5, old_needs_kept_best_other_5: answers older than two years still in the store when asked for, in
  percent; the other is the best of the policies that don't know the future.
- hot_cold_ratio: stability of memories used daily for 30 days over that of memories never used (--ratio: only this).
- prior_gain: points of R@10 that a bounded, query-gated age prior adds here with nothing deleted. prior_cost_locomo:
  points it costs on chats (--chats, by default the file locomo-dev.json.gz beside --data).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from _policies import Policy, policies
from _prior import priors_compared
from _report import Report, Setting, Table, argument_parser, publish
from _stream import Floats, Lexicon, Rows, Scores, Stream, load_stream, neighbours, top_rows
from numpy.typing import NDArray

from ebbing.lifecycle.clock import tau, touch
from ebbing.lifecycle.strength import Activation, activated, activation, kind_base, next_spacing, stability
from ebbing.schemas.memory import Kind

DAY: Final = 86_400_000_000
TOP: Final = 10
BUDGETS: Final = (1, 5, 10)
MAIN_BUDGET: Final = 5
RESAMPLES: Final = 4000
AGES: Final = (("≤ 7 d", 0, 7), ("≤ 90 d", 7, 90), ("≤ 2 y", 90, 730), ("> 2 y", 730, 10**6))
OLD: Final = "> 2 y"
SEED: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One replay: R@10 of each question, whether each needed item was there, and the bytes held at the end."""

    recall: Floats
    kept: NDArray[np.bool_]
    held_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """What all replays share: the stream, each question's scores over the items before it, and the needs' ages."""

    stream: Stream
    scores: list[Scores]
    age_days: Floats
    second_half: NDArray[np.bool_]


def prepare(stream: Stream, lexicon: Lexicon) -> Setup:
    """Scores of all questions (once, for all policies) and the age of every needed item when it was needed."""
    ages = [(stream.times[query.at] - stream.times[row]) / DAY for query in stream.queries for row in query.relevant]
    second = [2 * place >= len(stream.queries) for place in range(len(stream.queries))]
    return Setup(
        stream=stream,
        scores=[lexicon.scores(query.text, query.at)[0] for query in stream.queries],
        age_days=np.array(ages),
        second_half=np.array(second),
    )


def recall_at_10(scores: Scores, kept: Rows, relevant: tuple[int, ...]) -> float:
    """Share of the relevant items among the ten best kept ones."""
    found = kept[top_rows(scores[kept], TOP)]
    return len(set(relevant).intersection(found.tolist())) / len(relevant)


def replay(setup: Setup, policy: Policy, capacity: int) -> Outcome:
    """Let the stream go by once: question, uses, save, and when full one item dropped, in this order."""
    stream = setup.stream
    asked = {query.at: place for place, query in enumerate(stream.queries)}
    shelf = np.empty(capacity + 1, dtype=np.int64)
    filled = 0
    recall = np.zeros(len(stream.queries))
    there: list[bool] = []
    for now in range(stream.times.size):
        place = asked.get(now)
        if place is not None:
            kept, relevant = np.sort(shelf[:filled]), stream.queries[place].relevant
            recall[place] = recall_at_10(setup.scores[place], kept, relevant)
            there.extend(np.isin(relevant, kept).tolist())
        for row in stream.citations.get(now, ()):
            policy.used(row, now)
        policy.saved(now, shelf[:filled])
        shelf[filled] = now
        filled += 1
        if filled > capacity:
            filled -= 1
            shelf[policy.victim(shelf[: filled + 1], now)] = shelf[filled]
    held = sum(len(stream.texts[int(row)].encode()) for row in shelf[:filled])
    return Outcome(recall=recall, kept=np.array(there), held_bytes=held)


def keep_all(setup: Setup) -> Outcome:
    """Nothing deleted."""
    recall = [
        recall_at_10(scores, np.arange(query.at), query.relevant)
        for scores, query in zip(setup.scores, setup.stream.queries, strict=True)
    ]
    held = sum(len(text.encode()) for text in setup.stream.texts)
    return Outcome(recall=np.array(recall), kept=np.ones(setup.age_days.size, dtype=np.bool_), held_bytes=held)


def interval(ours: Outcome, other: Outcome) -> tuple[float, float, float]:
    """Mean difference in points and the ends of its 95 % interval, resampling questions in pairs."""
    difference = ours.recall - other.recall
    draws = np.random.default_rng(SEED).integers(difference.size, size=(RESAMPLES, difference.size))
    low, high = np.quantile(difference[draws].mean(axis=1), [0.025, 0.975])
    return 100 * float(difference.mean()), 100 * float(low), 100 * float(high)


def survival(setup: Setup, outcome: Outcome) -> dict[str, float]:
    """Percent of the needed items that were there, by their age when needed."""
    age = setup.age_days
    return {name: 100 * float(outcome.kept[(age > low) & (age <= high)].mean()) for name, low, high in AGES}


def hot_cold_ratio() -> float:
    """Stability of a fact used once a day for 30 days over that of one saved the same day and left alone."""
    clock = touch(None, 0)
    spaced, previous, trace = 0.0, None, Activation(level=0.0, tau=0.0)
    for day in range(1, 31):
        at = day * DAY
        clock = touch(clock, at)
        spaced += next_spacing(previous, at)
        trace = activated(trace, tau(clock, at))
        previous = at
    base, now = kind_base(Kind.FACT), tau(clock, 30 * DAY)
    return stability(base, spaced_uses=spaced, activation=activation(trace, now)) / stability(base)


def replays(setup: Setup, lexicon: Lexicon) -> dict[int, dict[str, Outcome]]:
    """Every policy at every budget (percent)."""
    near = neighbours(lexicon, setup.stream.texts)
    return {
        budget: {
            name: replay(setup, policy, budget * setup.stream.times.size // 100)
            for name, policy in policies(setup.stream, near).items()
        }
        for budget in BUDGETS
    }


def budget_figures(setup: Setup, found: dict[int, dict[str, Outcome]], everything: Outcome) -> dict[str, float]:
    """The named figures of the replays."""
    second = setup.second_half
    figures = {"r10_all": 100 * everything.recall.mean(), "r10_all_second": 100 * everything.recall[second].mean()}
    for budget, outcomes in found.items():
        for name, outcome in outcomes.items():
            figures[f"r10_{name}_{budget}"] = 100 * float(outcome.recall.mean())
            figures[f"r10_{name}_{budget}_second"] = 100 * float(outcome.recall[second].mean())
    main = found[MAIN_BUDGET]
    for other in ("fifo", "lru"):
        mean, low, high = interval(main["ours"], main[other])
        figures |= {f"ours_minus_{other}_5": mean, f"ours_minus_{other}_5_low": low, f"ours_minus_{other}_5_high": high}
    old = {name: survival(setup, outcome)[OLD] for name, outcome in main.items() if name != "belady"}
    figures["old_needs_kept_ours_5"] = old.pop("ours")
    figures["old_needs_kept_best_other_5"] = max(old.values())
    return figures


def budget_tables(setup: Setup, found: dict[int, dict[str, Outcome]], everything: Outcome) -> list[Table]:
    """One table a budget: recall, its difference to FIFO, survival by age, bytes."""
    columns = ("policy", "R@10", "2nd half", "- fifo", "low", "high", *(name for name, _, _ in AGES), "kB")
    tables: list[Table] = []
    for budget, outcomes in found.items():
        rows: list[list[Setting]] = []
        for name, outcome in {"keep all": everything, **outcomes}.items():
            halves = (outcome.recall.mean(), outcome.recall[setup.second_half].mean())
            figures = (*(100 * float(half) for half in halves), *interval(outcome, outcomes["fifo"]))
            rounded = [round(figure, 2) for figure in (*figures, *survival(setup, outcome).values())]
            rows.append([name, *rounded, outcome.held_bytes // 1000])
        tables.append(Table(f"budget {budget} %", columns, rows))
    return tables


def full_report(data: Path, chats: Path) -> Report:
    """Replay every policy at every budget, and compare the priors."""
    stream = load_stream(data)
    lexicon = Lexicon(stream.texts)
    setup = prepare(stream, lexicon)
    everything = keep_all(setup)
    found = replays(setup, lexicon)
    prior_figures, prior_table = priors_compared(stream, setup.scores, chats)
    return Report(
        bench="forgetting",
        figures={
            **budget_figures(setup, found, everything),
            "hot_cold_ratio": hot_cold_ratio(),
            **prior_figures,
        },
        settings={
            "data": data.name,
            "items": int(stream.times.size),
            "questions": len(stream.queries),
            "needs": int(setup.age_days.size),
            "needs older than 2 years": int((setup.age_days > AGES[-1][1]).sum()),
            "resamples": RESAMPLES,
            "seed": SEED,
        },
        packages=("numpy",),
        tables=[*budget_tables(setup, found, everything), prior_table],
    )


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, help="the stream, curl-dev.json.gz")
    parser.add_argument("--chats", type=Path, help="chats that the prior is tried on; default: beside --data")
    parser.add_argument("--ratio", action="store_true", help="only the hot/cold ratio; needs no data")
    given = parser.parse_args()
    if given.data is None and not given.ratio:
        parser.error("--data is needed unless --ratio is given")
    return given


def main() -> None:
    """Run and print."""
    given = arguments()
    if given.ratio:
        settings = {"days": 30, "uses a day": 1, "kind": "fact"}
        report = Report(bench="forgetting", figures={"hot_cold_ratio": hot_cold_ratio()}, settings=settings)
    else:
        report = full_report(given.data, given.chats or given.data.with_name("locomo-dev.json.gz"))
    publish(report, as_json=given.json)


if __name__ == "__main__":
    main()
