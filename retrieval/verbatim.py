"""A memory that says exactly what was asked comes first: who repeats a text wants it, and what lies around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from .channels.base import Context, Ranking

# More than strength and importance can make up for (see `recaller.strengthened`).
_AHEAD: Final = np.float32(1.5)


def verbatim_first(context: Context, model: Ranking) -> Ranking:
    """The model's ranking with rows whose text equals the question, but for white space, ahead of all others.

    Raises:
        StoreError: if the store can't be read.
    """
    seqs = context.store.memories.seqs_saying(context.layout.scopes, context.analysis.text)
    if not seqs or not len(model):
        return model
    same = np.isin(model.rows, context.layout.rows(np.array(seqs, np.int64)))
    scores = np.where(same, model.scores[0] + _AHEAD, model.scores).astype(np.float32)
    order = np.argsort(-scores, kind="stable")
    features = {name: values[order] for name, values in model.features.items()}
    return replace(model, rows=model.rows[order], scores=scores[order], features=features)
