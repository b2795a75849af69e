"""Spreading activation: from the best evidence along the association graph, two steps far.

A bounded push of personalised PageRank (Andersen, Chung and Lang 2006): each memory keeps half of what reaches it and
passes the rest on in proportion to the links' weights, hubs less than others by 1/ln(e + degree).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .base import Context, Ranking, nothing, ranked

if TYPE_CHECKING:
    from networkx import DiGraph

LIMIT: Final = 50
RESTART: Final = 0.5
PER_NODE: Final = (30, 12)
"""Links that are followed from each memory, in the first step and in the second."""
_SEEDS: Final = 6
_WIDEST: Final = 24


class ActivationChannel:
    """What the seeds are associated with; the seeds themselves only as far as others lead back to them."""

    name: Final = "activation"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        if not len(context.seeds):
            return nothing()
        rows = context.seeds.rows[:_SEEDS]
        strength = context.seeds.scores[:_SEEDS].astype(np.float64)
        mass = np.exp(strength - strength.max())
        start = dict(zip(context.layout.seqs[rows].tolist(), (mass / mass.sum()).tolist(), strict=True))
        reached = _spread(_subgraph(context, list(start)), start)
        scores = np.zeros(len(context.layout), np.float32)
        for seq, value in reached.items():
            scores[context.layout.rows(np.array([seq], dtype=np.int64))] = value
        return ranked(scores, context.eligible, LIMIT)


def _subgraph(context: Context, seeds: list[int]) -> DiGraph[Any]:
    """The links within reach of the seeds, the strongest of each memory."""
    from networkx import DiGraph

    graph: DiGraph[Any] = DiGraph()
    graph.add_nodes_from(seeds)
    frontier = seeds
    for per_node in PER_NODE:
        links = context.store.graph.neighbours(frontier, per_node)
        known = set(graph)
        for link in links:
            weight = max(link.weight, graph.get_edge_data(link.seq, link.other, {"weight": 0.0})["weight"])
            graph.add_edge(link.seq, link.other, weight=weight)
        frontier = sorted(set(graph) - known)[:_WIDEST]
    return graph


def _spread(graph: DiGraph[Any], start: dict[int, float]) -> dict[int, float]:
    """What stays with each memory after the push."""
    kept: dict[int, float] = {}
    moving = start
    for _ in PER_NODE:
        arriving: dict[int, float] = {}
        for node, mass in sorted(moving.items()):
            out = graph[node]
            total = sum(edge["weight"] for edge in out.values())
            for other, edge in out.items():
                share = (1 - RESTART) * mass * edge["weight"] / total / math.log(math.e + graph.degree(other))
                arriving[other] = arriving.get(other, 0.0) + share
        for node, mass in arriving.items():
            kept[node] = kept.get(node, 0.0) + mass
        moving = arriving
    return kept
