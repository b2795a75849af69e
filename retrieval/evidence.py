"""The evidence for every memory of a scope: what the direct channels and the cues say, on fixed scales.

No feature depends on how many memories there are, so weights hold in small scopes and in large ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .channels.base import Context, Ranking
from .channels.registry import EMBEDDED, channel
from .cues import dialogue_cues
from .late_interaction import late_interaction, query_tokens
from .layout import Floats, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of n rows before fusion.

    Attributes:
        features: by name, each float32 (n,).
        rankings: the channels' own, by name.
    """

    features: Mapping[str, Floats]
    rankings: Mapping[str, Ranking]


def gather(context: Context, names: Sequence[str]) -> Evidence:
    """Ask the direct channels in `names`, and read cues, lengths and trust.

    Those that need the question's embedding come last, since it may still be in the making.

    Raises:
        StoreError: if the store can't be read.
        ModelError: if the model failed.
    """
    found = {name: channel(name).search(context) for name in names if name not in EMBEDDED}
    features = _features(context, found)
    embedded = {name: channel(name).search(context) for name in names if name in EMBEDDED}
    for ranking in embedded.values():
        features.update(ranking.features)
    found |= embedded
    return Evidence(features, {name: found[name] for name in names})


def _features(context: Context, rankings: Mapping[str, Ranking]) -> dict[str, Floats]:
    features: dict[str, Floats] = {}
    for ranking in rankings.values():
        features.update(ranking.features)
    features["length"] = context.frame.length
    features["trust"] = context.columns.trust[context.layout.seqs]
    if context.frame.dialogue:
        alone = features.get("words_alone", np.zeros(len(context.layout), np.float32))
        cues = dialogue_cues(context.columns, context.layout, context.analysis, context.frame.speakers, alone)
        features.update(cues)
    return features


def combined(features: Mapping[str, Floats], weights: Mapping[str, float], size: int) -> Floats:
    """Σ weight · feature over the features that there are, float32 (n,)."""
    total = np.zeros(size, np.float32)
    for name, weight in weights.items():
        if name in features:
            total += np.float32(weight) * features[name]
    return total


def combined_at(features: Mapping[str, Floats], weights: Mapping[str, float], rows: Rows) -> Floats:
    """What `combined` gives for some rows (k,): float32 (k,)."""
    return combined({name: features[name][rows] for name in weights if name in features}, weights, len(rows))


def interaction(context: Context, pool: Rows) -> Floats:
    """Late interaction over the rows of a pool, best first, float32 (p,); NaN where it can't be had.

    Raises:
        StoreError: if the store can't be read.
    """
    embedding = context.embedding
    if embedding is None or not len(embedding.pieces) or not len(pool):
        return np.full(len(pool), np.float32(np.nan))
    store = context.store
    model = store.vectors.model
    query = query_tokens(embedding.tokens, embedding.pieces, store.tokens, model)
    return late_interaction(context.layout, pool, query, store.tokens, model)
