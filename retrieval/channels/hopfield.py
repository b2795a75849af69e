"""Associative memory: one step of a modern Hopfield network over the best evidence widens the question.

x' = Xᵀ softmax(β X q) (Ramsauer and others 2020). β = 1/√d would return the centroid of the memories for every
question, so β is found by bisection: about five memories share the softmax. It abstains when none stands out.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...store.codec import decode
from ..layout import Floats
from ..semantic_evidence import best_of_chunks, cosines
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 50
PATTERNS: Final = 50
PERPLEXITY: Final = 5.0
GATE: Final = 0.25
_STEEPEST: Final = 200.0
_BISECTIONS: Final = 30
_LEAST_COSINE: Final = 0.2


class HopfieldChannel:
    """Cosines with the question plus the pattern that it retrieves."""

    name: Final = "hopfield"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        if context.embedding is None or not len(context.seeds):
            return nothing()
        places = context.matrix.rows_of(context.layout.seqs[context.seeds.rows[:PATTERNS]])
        places = places[places >= 0]
        if not len(places):
            return nothing()
        query = _unit(context.embedding.vector)
        retrieved = retrieve(query, _units(decode(context.matrix.codes.take(places))))
        if retrieved is None:
            return nothing()
        widened = _unit(query + retrieved)
        found = np.zeros(len(context.layout), np.float32)
        rows = context.frame.rows_of(context.matrix)
        best = best_of_chunks(context.matrix, cosines(context.matrix, widened[np.newaxis]))
        found[rows[rows >= 0]] = best[rows >= 0]
        return ranked(found, context.eligible, LIMIT)


def retrieve(query: Floats, patterns: Floats) -> Floats | None:
    """The unit pattern (d,) that a unit query (d,) retrieves from unit patterns (p, d); None when the gate is shut."""
    likeness = patterns @ query
    if likeness.max() < _LEAST_COSINE:
        return None
    shares = _softmax(steepness(likeness) * likeness)
    if shares.max() < GATE:
        return None
    return _unit(shares @ patterns)


def steepness(likeness: Floats) -> float:
    """The β at which the softmax of β·likeness spreads over e^entropy = 5 patterns (or all, where there are fewer)."""
    low, high = 0.0, _STEEPEST
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        shares = _softmax(middle * likeness)
        perplexity = float(np.exp(-(shares * np.log(np.maximum(shares, 1e-12))).sum()))
        low, high = (middle, high) if perplexity > PERPLEXITY else (low, middle)
    return high


def _softmax(values: NDArray[np.floating]) -> Floats:
    raised = np.exp(values - values.max())
    return (raised / raised.sum()).astype(np.float32)


def _unit(vector: Floats) -> Floats:
    return vector / np.float32(np.linalg.norm(vector))


def _units(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
