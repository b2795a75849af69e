"""What an embedding loses at 8, 4, 2 and 1 bits, and whether stores of mixed precision still rank correctly.

    python scripts/bench/quantization.py --data FILE.json.gz [--json]

Every store of the data set is one memory: recall is measured within it, against the ranking by exact float32.

- fidelity_B: mean cosine between a vector and its code at B bits.
- recall10_B: share of the exact top 10 that a store wholly at B bits returns in its top 10.
- mix_…: the same for stores in which each item got a bit width by lot, in the shares named (50 % float32, 30 % 4 bit,
  20 % 2 bit; and 10/20/30/40 % at 8/4/2/1 bits), scored by the codec's unbiased estimate.
- share_gap_points: in the first mix, the greatest difference between a precision's share of the top 10 and its share
  of the store, in percentage points, over all drawings.
- frqad_preference: how often FRQAD prefers the float32 copy of a fact to its 4-bit copy, over 18,840 pairs: each query
  with its 20 nearest facts, or all pairs where there are fewer.
- sigma_coverage: share of the estimates at 8, 4 and 2 bits that are within 1.96 σ of the exact value.

The tables set other scores beside: raw decoded inner products, cosine, and FRQAD as a ranking.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from _report import Report, Table, argument_parser, publish
from numpy.typing import NDArray

from ebbing.encoding.embedder import OnnxEmbedder
from ebbing.encoding.model import locate, verify
from ebbing.store import codec, frqad

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Widths = NDArray[np.intp]

TOP: Final = 10
PAIRS: Final = 18_840
NEAREST: Final = 20
COVERED: Final = 1.96
MIXES: Final[dict[str, dict[int, float]]] = {
    "mix_50_30_20": {32: 0.5, 4: 0.3, 2: 0.2},
    "mix_10_20_30_40": {8: 0.1, 4: 0.2, 2: 0.3, 1: 0.4},
}
SCORES: Final = ("raw", "cosine", "ours", "frqad")


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """One memory: unit vectors of its items (n, d) and queries (q, d), and which items answer each query."""

    items: Floats
    queries: Floats
    relevant: list[set[int]]

    @property
    def exact(self) -> Floats:
        """Inner products by float32, (q, n)."""
        return self.queries @ self.items.T


@dataclass(frozen=True, slots=True, eq=False)
class ScoredStore:
    """A store with the scores (q, n) of all items at every bit width, by kind of score, greater is better."""

    store: Store
    by_kind: Mapping[str, Mapping[int, NDArray[np.floating]]]

    def mixed(self, kind: str, widths: Widths) -> NDArray[np.floating]:
        """The scores when item j is stored at widths[j] bits."""
        if kind == "ours":
            present = [np.flatnonzero(widths == width) for width in codec.BIT_WIDTHS]
            groups = [
                (rows, codec.encode(self.store.items[rows], int(widths[rows[0]]))) for rows in present if len(rows)
            ]
            return codec.score_mixed(self.store.queries, groups, len(widths))
        choices = self.by_kind[kind]
        result = np.empty(self.store.exact.shape)
        for width, scores in choices.items():
            result[:, widths == width] = scores[:, widths == width]
        return result


def load(path: Path) -> list[Store]:
    """Read a data set and embed its items and queries."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        data: dict[str, Any] = json.load(stream)
    files = locate()
    verify(files)
    embedder = OnnxEmbedder(files)
    try:
        return [_embedded(store, embedder) for store in data["stores"]]
    finally:
        embedder.close()


def _embedded(store: dict[str, Any], embedder: OnnxEmbedder) -> Store:
    row_of = {item["id"]: row for row, item in enumerate(store["items"])}
    asked = [query for query in store["queries"] if query["relevant"]]
    texts: list[str] = [item["text"] for item in store["items"]]
    found = [vector for part in _parts(texts) for vector in (e.vector for e in embedder.embed_documents(part))]
    return Store(
        items=np.stack(found),
        queries=np.stack([embedder.embed_query(query["text"]).vector for query in asked]),
        relevant=[{row_of[name] for name in query["relevant"]} for query in asked],
    )


def _parts(texts: Sequence[str], size: int = 128) -> list[Sequence[str]]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def scored(store: Store) -> ScoredStore:
    """Score a store at every bit width by every kind of score but the codec's own."""
    by_kind: dict[str, dict[int, NDArray[np.floating]]] = {"raw": {}, "cosine": {}, "frqad": {}}
    for width in codec.BIT_WIDTHS:
        decoded = codec.decode(codec.encode(store.items, width))
        lengths = np.linalg.norm(decoded, axis=1, keepdims=True)
        by_kind["cosine"][width] = store.queries @ (decoded / lengths).T
        # Undo the scale: a Lloyd–Max code of a unit vector is about as long as its cosine with it.
        by_kind["raw"][width] = store.queries @ (decoded / lengths**2).T
        by_kind["frqad"][width] = -_frqad_distances(store.queries, decoded, width)
    return ScoredStore(store, by_kind)


def _frqad_distances(queries: Floats, decoded: Floats, width: int) -> NDArray[np.float64]:
    widths = np.full(len(decoded), width)
    return np.stack([frqad.frqad(query[np.newaxis], decoded, widths) for query in queries])


def top(scores: NDArray[np.floating], count: int = TOP) -> Rows:
    """The best `count` rows of each query, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :count]


def overlap(found: Rows, exact: Rows) -> NDArray[np.float64]:
    """Share of the exact rows among the found, per query."""
    return np.mean(np.any(exact[:, :, np.newaxis] == found[:, np.newaxis, :], axis=2), axis=1)


def uniform_figures(stores: Sequence[Store], width: int) -> dict[str, float]:
    """Fidelity, recall@10 and σ coverage when everything is stored at one bit width."""
    cosines: list[NDArray[np.floating]] = []
    recalls: list[NDArray[np.floating]] = []
    covered: list[NDArray[np.bool_]] = []
    for store in stores:
        codes, exact = codec.encode(store.items, width), store.exact
        decoded = codec.decode(codes)
        cosines.append(np.sum(store.items * decoded, axis=1) / np.linalg.norm(decoded, axis=1))
        estimates = codec.score(store.queries, codes)
        recalls.append(overlap(top(estimates), top(exact)))
        sigma = codec.estimate_sigma(estimates, width, codes.dimension)
        covered.append((np.abs(estimates - exact) <= COVERED * sigma).ravel())
    return {
        "fidelity": float(np.concatenate(cosines).mean()),
        "recall10": float(np.concatenate(recalls).mean()),
        "coverage": float(np.concatenate(covered).mean()),
    }


def drawn_widths(count: int, shares: Mapping[int, float], rng: np.random.Generator) -> Widths:
    """A bit width for each of `count` items, in these shares, by lot."""
    edges = [round(upto * count) for upto in accumulate(shares.values())]
    counts = [edge - before for before, edge in pairwise([0, *edges])]
    widths = [width for width, times in zip(shares, counts, strict=True) for _ in range(times)]
    return rng.permutation(np.array(widths, dtype=np.intp))


def mix_figures(stores: Sequence[ScoredStore], kind: str, shares: Mapping[int, float], lots: int) -> dict[str, float]:
    """Recall@10, the gap of shares, and hit@1 of one kind of score in a mixed store, over `lots` drawings."""
    recalls: list[NDArray[np.float64]] = []
    hits: list[bool] = []
    seen: list[Widths] = []
    stored: list[Widths] = []
    for lot in range(lots):
        rng = np.random.default_rng(lot)
        for each in stores:
            widths = drawn_widths(len(each.store.items), shares, rng)
            found = top(each.mixed(kind, widths))
            recalls.append(overlap(found, top(each.store.exact)))
            hits += [int(best) in right for best, right in zip(found[:, 0], each.store.relevant, strict=True)]
            seen.append(widths[found].ravel())
            stored.append(np.tile(widths, len(found)))
    gaps = {width: 100 * (_share(seen, width) - _share(stored, width)) for width in shares}
    return {
        "recall10": float(np.concatenate(recalls).mean()),
        "hit1": float(np.mean(hits)),
        "gap": max(abs(gap) for gap in gaps.values()),
    } | {f"gap_{width}": gap for width, gap in gaps.items()}


def _share(widths: Sequence[Widths], width: int) -> float:
    together: Widths = np.concatenate(widths)
    return float(np.count_nonzero(together == width) / len(together))


def preferences(stores: Sequence[Store], pairs: int = PAIRS) -> tuple[dict[str, float], int]:
    """How often each kind of score prefers the float32 copy to the 4-bit copy, and the number of pairs."""
    wins: dict[str, list[NDArray[np.bool_]]] = {kind: [] for kind in SCORES}
    for store in stores:
        coarse = codec.decode(codec.encode(store.items, 4))
        for query, near in zip(store.queries, top(store.exact, NEAREST), strict=True):
            for kind, won in _won(query, store.items[near], coarse[near]).items():
                wins[kind].append(won)
    all_wins = {kind: np.concatenate(won)[:pairs] for kind, won in wins.items()}
    return {kind: float(won.mean()) for kind, won in all_wins.items()}, len(all_wins["frqad"])


def _won(query: Floats, fine: Floats, coarse: Floats) -> dict[str, NDArray[np.bool_]]:
    """The coarse copy comes first, so that a tie counts against the fine one."""
    queries = np.repeat(query[np.newaxis], len(fine), axis=0)
    copies = np.stack([coarse, fine], axis=1)
    lengths = np.linalg.norm(coarse, axis=1)
    estimate = coarse @ query
    chosen = frqad.choose_copy(queries, copies, np.tile([4, 32], (len(fine), 1)))
    exact = fine @ query
    return {
        "raw": exact > estimate / lengths**2,
        "cosine": exact > estimate / lengths,
        "ours": exact > estimate,
        "frqad": chosen == 1,
    }


def measure(stores: Sequence[Store], data: str, lots: int) -> Report:
    """Run everything."""
    uniform = {width: uniform_figures(stores, width) for width in (8, 4, 2, 1)}
    all_scored = [scored(store) for store in stores]
    mixes = {
        name: {kind: mix_figures(all_scored, kind, shares, lots) for kind in SCORES} for name, shares in MIXES.items()
    }
    preferred, pairs = preferences(stores)
    figures = {f"fidelity_{width}": uniform[width]["fidelity"] for width in (8, 4, 2)}
    figures |= {f"recall10_{width}": uniform[width]["recall10"] for width in (8, 4, 2)}
    figures |= {name: kinds["ours"]["recall10"] for name, kinds in mixes.items()}
    figures |= {
        "share_gap_points": mixes["mix_50_30_20"]["ours"]["gap"],
        "frqad_preference": preferred["frqad"],
        "sigma_coverage": float(np.mean([uniform[width]["coverage"] for width in (8, 4, 2)])),
    }
    settings = {
        "data": data,
        "stores": len(stores),
        "items": sum(len(store.items) for store in stores),
        "queries": sum(len(store.queries) for store in stores),
        "lots": lots,
        "preference_pairs": pairs,
        "exact_hit1": float(np.mean([hit for store in stores for hit in _exact_hits(store)])),
    }
    return Report("quantization", figures, settings, ("numpy",), _tables(uniform, mixes, preferred))


def _exact_hits(store: Store) -> list[bool]:
    return [int(row[0]) in right for row, right in zip(top(store.exact, 1), store.relevant, strict=True)]


def _tables(
    uniform: Mapping[int, Mapping[str, float]],
    mixes: Mapping[str, Mapping[str, Mapping[str, float]]],
    preferred: Mapping[str, float],
) -> list[Table]:
    whole = [(str(width), row["fidelity"], row["recall10"], row["coverage"]) for width, row in uniform.items()]
    tables = [Table("one bit width for all", ("bits", "fidelity", "recall@10", "within 1.96 σ"), whole)]
    for name, kinds in mixes.items():
        columns = ("score", "recall@10", "hit@1", *(f"{width} bit" for width in MIXES[name]))
        rows = [
            (kind, row["recall10"], row["hit1"], *(f"{row[f'gap_{width}']:+.1f}" for width in MIXES[name]))
            for kind, row in kinds.items()
        ]
        tables.append(Table(f"{name}; by precision: points of the top 10 over its share of the store", columns, rows))
    tables.append(
        Table("preference for the float32 copy over the 4-bit copy", ("score", "share"), list(preferred.items()))
    )
    return tables


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argument_parser((__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a data set, gzip JSON")
    parser.add_argument("--lots", type=int, default=5, help="how often bit widths are drawn for each mix")
    return parser.parse_args()


def main() -> None:
    """Measure and report."""
    asked = arguments()
    report = measure(load(asked.data), asked.data.name, asked.lots)
    publish(report, as_json=asked.json)


if __name__ == "__main__":
    main()
