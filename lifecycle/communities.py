"""Which fading memories belong together: communities of the graph of their links and of what they both name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

SMALLEST: Final = 3
LARGEST: Final = 12
_LEAST_WEIGHT: Final = 0.3
_RAREST_SHARED: Final = 12

Edges = Mapping[tuple[int, int], float]


def shared_entities(named: Mapping[int, Sequence[str]]) -> dict[tuple[int, int], float]:
    """Weights of pairs that name the same things, each by its rarity; what more than a dozen name tells nothing."""
    holders: dict[str, list[int]] = defaultdict(list)
    for node in sorted(named):
        for value in dict.fromkeys(named[node]):
            holders[value].append(node)
    found: dict[tuple[int, int], float] = defaultdict(float)
    for nodes in holders.values():
        if len(nodes) <= _RAREST_SHARED:
            for place, one in enumerate(nodes):
                for other in nodes[place + 1 :]:
                    found[one, other] += 1.0 / len(nodes)
    return dict(found)


def communities(nodes: Sequence[int], edges: Edges) -> list[list[int]]:
    """Groups of 3 to 12 nodes (seqs, ascending) that hold together, by Louvain's method; deterministic.

    Edges of less weight than 0.3 don't count. A larger group is cut into pieces in the order of the nodes, which for
    memories is the order of time.
    """
    # Imported when it is needed: it takes a quarter of a second, and has no types of its own.
    nx: Any = import_module("networkx")
    graph = nx.Graph()
    graph.add_nodes_from(sorted(nodes))
    for (one, other), weight in sorted(edges.items()):
        if weight >= _LEAST_WEIGHT:
            graph.add_edge(one, other, weight=weight)
    graph.remove_nodes_from([node for node, degree in list(graph.degree()) if not degree])
    if not graph:
        return []
    found: list[set[int]] = nx.community.louvain_communities(graph, weight="weight", seed=0)
    pieces = [piece for group in found for piece in _pieces(sorted(group))]
    return sorted(piece for piece in pieces if len(piece) >= SMALLEST)


def _pieces(group: list[int]) -> list[list[int]]:
    count = -(-len(group) // LARGEST)
    size = -(-len(group) // count)
    return [group[start : start + size] for start in range(0, len(group), size)]
