"""How fast and how exact the search over stored embeddings is, and what a memory's embedding costs at each precision.

    python scripts/bench/index.py --items N [--data FILE.json.gz] [--queries Q] [--json]

Vectors: embeddings of the data set's texts where one is given (by the model that is installed), else random directions
in clusters. Where that is fewer than N, more are made: each is a mixture of two texts of the set, 35 to 65 percent of
each, plus noise of norm 0.4, which keeps cosines between neighbours as they are among related texts. Queries are
embeddings of the set's questions and, where those are fewer than Q, items with noise of norm 0.7.

Everything runs on one thread, numpy's too, and all contenders answer the same queries in turn:

- numpy: exact float32 over a resident matrix, the yardstick (1,536 bytes a memory in memory).
- resident: the product's search over resident sign bits and 8-bit codes (432 bytes a memory), rescored from the file.
- vec0: the product's search over the index on disk (nothing resident), sharded.

recall10 is the share of numpy's top 10 that resident returns, p50_over_numpy the ratio of their medians, and
vector_bytes_archive_over_active what embeddings take in the file when every memory is archived, over what they take
when all are active, token embeddings and indexes included, by counting pages after upkeep.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from _embeddings import cached
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.encoding.embedder import OnnxEmbedder
from ebbing.encoding.model import locate, verify
from ebbing.lifecycle.precision import requantize
from ebbing.schemas.memory import Kind, NewMemory, State, Strength
from ebbing.store.search import Found, Reach
from ebbing.store.store import Store
from ebbing.store.upkeep import upkeep

Floats = NDArray[np.float32]

TOP: Final = 10
DIMENSION: Final = 384
TOKENS: Final = 16
BATCH: Final = 1000
MANY: Final = 200_000
ITEM_NOISE: Final = 0.4
QUERY_NOISE: Final = 0.7
TIERED_ITEMS: Final = 20_000
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main() -> None:
    """Measure and report."""
    asked = arguments()
    # Libraries read these when they are loaded, which has happened.
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})  # noqa: S606 - itself
    rng = np.random.default_rng(asked.seed)
    texts, questions = sources(asked.data, rng)
    items = many(texts, asked.items, rng)
    queries = questions_of(questions, items, asked.queries, rng)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as store:
        fill(store, items, tokens=False)
        seconds, timings, recalls = contest(store, items, queries)
    sizes = tiers(items[:TIERED_ITEMS], asked.items)
    publish(report(asked, timings, recalls, seconds, sizes), as_json=asked.json)


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argument_parser((__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="a data set, gzip JSON")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true", help=f"allow more than {MANY:,} items (10 GB for a million)")
    asked = parser.parse_args()
    if asked.items > MANY and not asked.large:
        parser.error(f"{asked.items:,} items need much time and memory: add --large")
    return asked


def sources(data: Path | None, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Unit vectors of texts and of questions, (n, d) and (q, d)."""
    if data is None:
        centres = rng.standard_normal((500, DIMENSION))
        spread = centres[rng.integers(0, len(centres), 4_000)] + rng.standard_normal((4_000, DIMENSION))
        return unit(spread), np.zeros((0, DIMENSION), np.float32)
    with gzip.open(data, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    files = locate()
    verify(files)
    embedder = OnnxEmbedder(files, threads=2)
    texts = [item["text"] for store in stores for item in store["items"]][:5_000]
    questions = [query["text"] for store in stores for query in store["queries"]]
    found = [
        np.stack([one.vector for one in cached(embedder, part, query=query)])
        for part, query in ((texts, False), (questions, True))
    ]
    return found[0], found[1]


def many(texts: Floats, count: int, rng: np.random.Generator) -> Floats:
    """`count` unit vectors: those of the texts, and mixtures of two of them with noise."""
    made = [texts[:count]]
    missing = count - len(made[0])
    for start in range(0, missing, BATCH):
        size = min(BATCH, missing - start)
        share = rng.uniform(0.35, 0.65, (size, 1)).astype(np.float32)
        pair = texts[rng.integers(0, len(texts), (2, size))]
        made.append(unit(unit(share * pair[0] + (1 - share) * pair[1]) + noise(size, ITEM_NOISE, rng)))
    return np.concatenate(made)


def questions_of(questions: Floats, items: Floats, count: int, rng: np.random.Generator) -> Floats:
    """`count` unit query vectors."""
    missing = max(0, count - len(questions))
    made = unit(items[rng.integers(0, len(items), missing)] + noise(missing, QUERY_NOISE, rng))
    chosen = rng.permutation(len(questions))[:count]
    return np.concatenate([questions[chosen], made])


def noise(count: int, norm: float, rng: np.random.Generator) -> Floats:
    """Random vectors of about a norm, (count, d)."""
    return (rng.standard_normal((count, DIMENSION)) * (norm / DIMENSION**0.5)).astype(np.float32)


def unit(rows: NDArray[np.floating]) -> Floats:
    """The rows at norm 1."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def opened(folder: Path) -> Store:
    """A new store."""
    return Store(folder, 1, model_name="bench", dimension=DIMENSION)


def fill(store: Store, items: Floats, *, tokens: bool) -> None:
    """Store every vector as an active memory, with token embeddings if asked."""
    rng = np.random.default_rng(0)
    for start in range(0, len(items), BATCH):
        with store.atomic(durable=False):
            for number in range(start, min(start + BATCH, len(items))):
                new = NewMemory(
                    id=f"{number:032x}",
                    scope="bench",
                    kind=Kind.FACT,
                    content=str(number),
                    recorded_at=number,
                    gist="",
                    cue="",
                    index_text="",
                )
                seq = store.memories.insert(new, Strength(stability=1.0, rate=1.0))
                store.vectors.put(seq, 1, items[number : number + 1], 32)
                if tokens:
                    pieces = rng.integers(0, 30_000, TOKENS).astype(np.int32)
                    near = unit(items[number] + noise(TOKENS, 1.0, rng))
                    store.tokens.put(seq, store.vectors.model, near, pieces)


def contest(
    store: Store, items: Floats, queries: Floats
) -> tuple[float, dict[str, list[float]], dict[str, list[float]]]:
    """Seconds to make the embeddings resident, then milliseconds and recall@10 of each contender for each query."""
    reach = Reach(scopes=[1])

    def exact(query: Floats) -> NDArray[np.int64]:
        scores = items @ query
        return np.argpartition(scores, -TOP)[-TOP:] + 1

    def product(query: Floats) -> NDArray[np.int64]:
        found: Found = store.nearest.search(query, reach, TOP)
        return found.seqs

    timings: dict[str, list[float]] = {}
    answers: dict[str, list[set[int]]] = {}
    answers["vec0"], timings["vec0"] = timed([product], queries)[0]
    started = time.perf_counter()
    store.resident.matrix()
    seconds = time.perf_counter() - started
    both = timed([exact, product], queries)
    (answers["numpy"], timings["numpy"]), (answers["resident"], timings["resident"]) = both
    recalls = {
        name: [len(one & true) / len(true) for one, true in zip(found, answers["numpy"], strict=True)]
        for name, found in answers.items()
    }
    return seconds, timings, recalls


def timed(
    contenders: Sequence[Callable[[Floats], NDArray[np.int64]]], queries: Floats
) -> list[tuple[list[set[int]], list[float]]]:
    """What each contender answers to each query and in how many milliseconds; they take turns."""
    results: list[tuple[list[set[int]], list[float]]] = [([], []) for _ in contenders]
    for contender in contenders:
        contender(queries[0])
    for query in queries:
        for contender, (found, spent) in zip(contenders, results, strict=True):
            started = time.perf_counter()
            answer = contender(query)
            spent.append((time.perf_counter() - started) * 1000)
            found.append({int(seq) for seq in answer})
    return results


def tiers(items: Floats, asked: int) -> list[tuple[str, float, float]]:
    """(state, bytes of embeddings in the file a memory, seconds of its upkeep) as all memories fade together."""
    sizes: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as store:
        fill(store, items, tokens=True)
        seqs = range(1, len(items) + 1)
        sizes.append((State.ACTIVE.label, vector_bytes(store) / len(items), 0.0))
        for state in (State.WARM, State.COLD, State.ARCHIVE):
            for start in range(0, len(seqs), BATCH):
                with store.atomic(durable=False):
                    store.memories.move_states([(seq, state - 1, state) for seq in seqs[start : start + BATCH]])
            started = time.perf_counter()
            requantize(store, None, asked)
            upkeep(store.database, store.vectors)
            sizes.append((state.label, vector_bytes(store) / len(items), time.perf_counter() - started))
    return sizes


def vector_bytes(store: Store) -> int:
    """Bytes of the pages that hold embeddings, token embeddings and their indexes."""
    store.database.checkpoint()
    return int(
        store.database.value(
            "SELECT sum(pgsize) FROM dbstat WHERE name IN ('vector', 'vector_by_rev', 'token', 'piece')"
            " OR name LIKE 'coarse%' OR name LIKE 'sqlite_autoindex_coarse%'"
        )
    )


def report(
    asked: argparse.Namespace,
    timings: dict[str, list[float]],
    recalls: dict[str, list[float]],
    seconds: float,
    sizes: list[tuple[str, float, float]],
) -> Report:
    """What was found."""
    middle = {name: float(np.median(spent)) for name, spent in timings.items()}
    late = {name: float(np.percentile(spent, 95)) for name, spent in timings.items()}
    right = {name: float(np.mean(found)) for name, found in recalls.items()}
    figures = {
        "recall10": right["resident"],
        "recall10_vec0": right["vec0"],
        "p50_ms": middle["resident"],
        "p95_ms": late["resident"],
        "p50_over_numpy": middle["resident"] / middle["numpy"],
        "vec0_p50_over_numpy": middle["vec0"] / middle["numpy"],
        "load_seconds": seconds,
        "vector_bytes_archive_over_active": sizes[-1][1] / sizes[0][1],
    }
    settings = {
        "items": asked.items,
        "queries": asked.queries,
        "data": "clusters" if asked.data is None else asked.data.name,
        "seed": asked.seed,
        "threads": 1,
    }
    tables = [
        Table(
            "search, milliseconds",
            ("way", "p50", "p95", "recall@10"),
            [(name, middle[name], late[name], right[name]) for name in ("numpy", "resident", "vec0")],
        ),
        Table("embeddings in the file", ("all memories are", "bytes a memory", "seconds to get there"), sizes),
    ]
    return Report("index", figures, settings, ("numpy", "apsw", "sqlite-vec"), tables)


if __name__ == "__main__":
    main()
