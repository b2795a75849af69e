"""What merging and gists make of a store: duplicates before and after, wrong merges, what recall loses by gists, time.

    python scripts/bench/merging.py --data FILE.json.gz [--items N] [--gists] [--large N] [--json]

The items are stored as facts, unreconciled, as an import would. `duplicates_before` and `duplicates_after` are the
shares of memories before which another one stands that says the same, `near_before` and `near_after` those with
another at a cosine of at least .95 (both over what recall may show); `merged` counts memories, `wrong_merges` those of
PAIRS, of which none may be merged. With --gists all items are episodes that have turned cold; `r10_without` and
`r10_with` are recall over the data set's questions (the package's weights) without and with gists, of which there are
`gists`. With --large that many made-up memories are merged (`merging_seconds`), faded and summed up (`gists_seconds`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from _embeddings import cached
from _memory import SCOPE, Loaded, load
from _report import Report, argument_parser, publish
from daily import START, fill, opened
from recall import NOW, UNANSWERABLE, Bench

from ebbing.encoding.associate import associate, nearest
from ebbing.encoding.embedder import Embedder, TextEmbedding
from ebbing.encoding.likeness import said
from ebbing.encoding.loader import load_embedder
from ebbing.encoding.writer import Draft, prepare
from ebbing.lifecycle.decay import decay
from ebbing.lifecycle.gists import make_gists
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.merging import merge_copies
from ebbing.retrieval.settings import RecallSettings
from ebbing.schemas.instants import MICROSECONDS_PER_DAY
from ebbing.schemas.memory import Event, Kind, State
from ebbing.store.codec import decode
from ebbing.store.journal import Entry
from ebbing.store.store import Store

NEAR: Final = 0.95
K: Final = 10
PAIRS: Final = (
    ("Use the API v1 for billing.", "Use the API v2 for billing."),
    ("Use pnpm in the frontend.", "Do not use pnpm in the frontend."),
    ("The port of the cache is 6379.", "The port of the cache is 6380."),
    ("The timeout is 30 seconds.", "The timeout is 30 minutes."),
    ("The limit is 5 MB.", "The limit is 5 Mb."),
    ("We migrate from MySQL to Postgres.", "We migrate from Postgres to MySQL."),
    ("The client retries, the server doesn't.", "The server retries, the client doesn't."),
    ("Deploy on Mondays.", "Deploy on Tuesdays."),
    ("Enable the cache in production.", "Disable the cache in production."),
    ("We use Redis for sessions.", "We used Redis for sessions."),
    ("We use Redis for sessions.", "We use Redis for sessions, unless it is down."),
    ("We use Redis for sessions.", "We use Redis only for sessions."),
    ("Tests need Python 3.11.", "Tests need Python 3.12."),
    ("The host is db-1.internal.", "The host is db-2.internal."),
    ("The parser is written in C.", "The parser is written in C++."),
    ("Always rebase before merging.", "Never rebase before merging."),
    ("Run the migration before the deploy.", "Run the migration after the deploy."),
    ("The staging database is shared.", "The production database is shared."),
    ("Keep at least 2 replicas.", "Keep at most 2 replicas."),
    ("Retries stop when x > 5.", "Retries stop when x < 5."),
    ("Is the build reproducible?", "The build is reproducible."),
    ("Edit __init__.py first.", "Edit init.py first."),
    ("Set LIMIT in the shell.", "Set limit in the shell."),
    ("Version 1.10 is out.", "Version 1.1 is out."),
    ("All jobs run nightly.", "Some jobs run nightly."),
)


def main() -> None:
    """Store, merge, sum up, report."""
    arguments = _arguments()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        home, embedder = Path(folder), load_embedder()
        if arguments.gists:
            figures |= gist_figures(load(arguments.data, embedder, home / "gists"), embedder)
        else:
            figures |= merging_figures(arguments.data, arguments.items, embedder, home)
            figures["wrong_merges"] = wrong_merges(embedder, home / "pairs")
        if arguments.large:
            figures |= large_figures(home / "large", arguments.large)
    settings = {"data": arguments.data.name, "items": arguments.items, "large": arguments.large}
    publish(Report("merging", figures, settings, ("numpy", "networkx", "onnxruntime")), as_json=arguments.json)


def merging_figures(data: Path, items: int, embedder: Embedder, home: Path) -> dict[str, float]:
    """Duplicates over all stores of a data set before and after merging."""
    with gzip.open(data, "rt", encoding="utf-8") as file:
        stores: list[dict[str, Any]] = json.load(file)["stores"]
    totals = np.zeros(4)
    count, merged, seconds = 0, 0, 0.0
    for number, one in enumerate(stores):
        texts = [item["text"] for item in one["items"] if item["text"].strip()][:items]
        with _store(home / f"merging-{number}", embedder) as store:
            fill_with(store, texts, list(cached(embedder, texts)))
            before = duplicates(store)
            started = time.process_time()
            merged += merge_copies(store, START).merged
            seconds += time.process_time() - started
            totals += np.array([*before, *duplicates(store)])
            count += len(texts)
    names = ("duplicates_before", "near_before", "duplicates_after", "near_after")
    shares = dict(zip(names, (totals / count).tolist(), strict=True))
    return {**shares, "memories": count, "merged": merged, "merging_cpu_seconds": seconds}


def fill_with(store: Store, texts: Sequence[str], embeddings: Sequence[TextEmbedding]) -> None:
    """Facts with their embeddings and links, in the order of the texts."""
    ledger = Ledger(store)
    for text, embedding in zip(texts, embeddings, strict=True):
        [prepared] = prepare([Draft(content=text, scope=SCOPE, kind=Kind.FACT, recorded_at=START, trust=0.6)], None)
        near = nearest(store, SCOPE, embedding.vector)
        with store.atomic(durable=False):
            seq = ledger.saved(prepared.new, START)
            store.lexical.add(seq, prepared.new.index_text, prepared.new.trigram_text)
            store.graph.mention(seq, prepared.new.entities)
            store.vectors.put(seq, store.scopes.ensure(SCOPE), embedding.chunks, 32)
            ledger.linked(prepared.new, associate(store, seq, prepared.new, near), START)


def duplicates(store: Store) -> tuple[int, int]:
    """How many standing memories say what an earlier one says, and how many have another at a cosine of .95."""
    memories = [memory for memory in store.memories.in_scope(SCOPE) if memory.merged_into is None]
    spoken = [said(memory.content) for memory in memories]
    standing = {memory.seq for memory in memories}
    rows = store.vectors.rows(sorted(standing))
    near = 0
    for row in rows:
        found = nearest(store, SCOPE, decode(row.codes)[0])
        near += any(seq != row.seq and seq in standing and cosine >= NEAR for seq, cosine in found.items())
    return len(spoken) - len(set(spoken)), near


def wrong_merges(embedder: Embedder, home: Path) -> int:
    """How many memories of pairs that must stay two were merged."""
    texts = [text for pair in PAIRS for text in pair]
    with _store(home, embedder) as store:
        fill_with(store, list(dict.fromkeys(texts)), list(embedder.embed_documents(list(dict.fromkeys(texts)))))
        return merge_copies(store, START).merged


def gist_figures(loaded: Sequence[Loaded], embedder: Embedder) -> dict[str, float]:
    """Recall over cold episodes without and with gists."""
    for one in loaded:
        _turn_cold(one.store)
    bench = Bench(loaded, embedder)
    before = _recall(bench)
    started = time.process_time()
    made = sum(make_gists(one.store, Ledger(one.store), embedder, NOW).made for one in loaded)
    seconds = time.process_time() - started
    after = _recall(bench)
    points = 100 * (after - before)
    shown = sum(int(one.store.database.value("SELECT count(*) FROM memory WHERE dormant")) for one in loaded)
    return {
        "r10_without": before,
        "r10_with": after,
        "points_from_gists": points,
        "gists": made,
        "dormant": shown,
        "gists_cpu_seconds": seconds,
    }


def _turn_cold(store: Store) -> None:
    with store.atomic(durable=False):
        store.database.execute("UPDATE strength SET state = ?", (int(State.COLD),))
        names = [str(name) for (name,) in store.database.execute("SELECT id FROM memory")]
        moved = {"from": State.WARM.label, "to": State.COLD.label}
        store.journal.append(*(Entry(0, Event.STATE, None, name, None, moved) for name in names))
        store.database.execute("UPDATE strength SET rev = ?", (store.meta.next_revision(),))


def _recall(bench: Bench) -> float:
    settings = replace(RecallSettings(), floors=None)
    answers, _ = bench.run(lambda _name: settings)
    shares = [
        len(question.relevant.intersection(answers[number][:K])) / len(question.relevant)
        for number, (_, question) in enumerate(bench.questions())
        if question.category not in UNANSWERABLE
    ]
    return float(np.mean(shares))


def large_figures(home: Path, count: int) -> dict[str, float]:
    """Seconds of a core for both steps over a large store, and for a second run of each."""
    with opened(home) as store:
        fill(store, count, 7)
        ledger = Ledger(store)
        figures: dict[str, float] = {}
        figures["merging_seconds"] = _timed(lambda: merge_copies(store, START))
        figures["merging_again_seconds"] = _timed(lambda: merge_copies(store, START))
        later = START + 300 * MICROSECONDS_PER_DAY
        decay(store, later)
        figures["gists_seconds"] = _timed(lambda: make_gists(store, ledger, None, later))
        figures["gists_again_seconds"] = _timed(lambda: make_gists(store, ledger, None, later))
        figures["gists_of_large"] = store.gists.count()
    return figures


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _store(home: Path, embedder: Embedder) -> Store:
    return Store(home, START, model_name=embedder.spec.id, dimension=embedder.spec.dimension)


def _arguments() -> argparse.Namespace:
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a data set of stores with items and queries")
    parser.add_argument("--items", type=int, default=1_000_000, help="at most so many items of each store")
    parser.add_argument("--gists", action="store_true", help="measure what recall loses by gists instead of merging")
    parser.add_argument("--large", type=int, default=0, help="time both steps over so many made-up memories as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
