"""Links to what is there already: nearest meanings, shared entities, the session before, stated causes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import NewMemory
from ..store.graph import GIST, Link
from ..store.store import Store

__all__ = ["CAUSE", "DERIVED", "ENTITY", "GIST", "SESSION", "SIMILAR", "associate", "nearest"]

SIMILAR: Final = "similar"
ENTITY: Final = "entity"
SESSION: Final = "session"
CAUSE: Final = "cause"
DERIVED: Final = "derived"
"""From a memory that consolidation made to an observation it was made of, and back."""

NEAREST: Final = 5
LEAST_COSINE: Final = 0.45
_CANDIDATES: Final = 24
_SHARERS: Final = 5
_ENTITIES: Final = 8
_SESSION_WEIGHT: Final = 0.5
_CAUSE_WEIGHT: Final = 0.8
_CAUSAL: Final = re.compile(
    r"\b(?:because|since then|so that|therefore|thus|hence|as a result|after|fix(?:es|ed)?|caused by|due to|led to|"
    r"revert(?:s|ed)?|follow[- ]?up)\b",
    re.IGNORECASE,
)


def associate(store: Store, seq: int, new: NewMemory, near: Mapping[int, float]) -> list[Link]:
    """Link a memory that was just stored, in the caller's transaction; returns the links.

    `near` is what `nearest` gives for its embedding, empty without one. Links lead to the five nearest of its scope
    with a cosine of at least 0.45, to the newest memories of its scope that share an entity (weighted by the entity's
    rarity), and to the one before it in its session, which counts as a cause when the text says so ("because",
    "fixes", "caused by", …).

    Raises:
        StoreError: if the store can't be written.
    """
    scope = store.scopes.ensure(new.scope)
    links = [*_before(store, seq, scope, new)]
    links += _sharing(store, seq, scope, new)
    links += similar(seq, near)
    store.graph.connect(links)
    return links


def nearest(store: Store, scope: str, vector: NDArray[np.float32]) -> dict[int, float]:
    """Cosines of the memories of a scope nearest to a unit vector (d,), by seq; empty for a scope without memories.

    Raises:
        StoreError: if the store can't be read.
    """
    number = store.scopes.find(scope)
    if number is None:
        return {}
    found = store.nearest.quick(vector, [number], _CANDIDATES)
    return dict(zip(found.seqs.tolist(), found.scores.tolist(), strict=True))


def similar(seq: int, near: Mapping[int, float]) -> list[Link]:
    """The links of a memory to the five nearest, given the cosines of others by seq."""
    best = sorted((-cosine, other) for other, cosine in near.items() if other != seq)[:NEAREST]
    return [Link(seq, other, SIMILAR, min(1.0, -below)) for below, other in best if -below >= LEAST_COSINE]


def _sharing(store: Store, seq: int, scope: int, new: NewMemory) -> list[Link]:
    values = [entity.value for entity in new.entities][:_ENTITIES]
    weights: dict[int, float] = {}
    for sharers in store.graph.sharing(values, scope, seq, _SHARERS).values():
        for other in sharers:
            weights[other] = weights.get(other, 0.0) + 1.0 / (1.0 + len(sharers))
    return [Link(seq, other, ENTITY, min(1.0, weight)) for other, weight in sorted(weights.items())]


def _before(store: Store, seq: int, scope: int, new: NewMemory) -> list[Link]:
    session = new.provenance.session
    before = None if session is None else store.graph.before_in_session(seq, scope, session)
    if before is None:
        return []
    links = [Link(seq, before, SESSION, _SESSION_WEIGHT)]
    if _CAUSAL.search(new.content):
        links.append(Link(seq, before, CAUSE, _CAUSE_WEIGHT))
    return links
