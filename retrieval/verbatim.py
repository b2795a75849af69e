"""A memory that says exactly what was asked comes first: who repeats a text wants it, and what lies around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from .channels.base import Context, Ranking

# More than strength and importance can make up for (see `recaller.strengthened`).
_AHEAD: Final = np.float32(1.5)


def verbatim_first(context: Context, model: Ranking) -> Ranking:
    """The model's ranking with the first row whose text equals the question, but for white space, ahead of all others.

    Others with the very same text are left out: they have nothing to add, and would crowd the answer out.

    Raises:
        StoreError: if the store can't be read.
    """
    seqs = context.store.memories.seqs_saying(context.layout.scopes, context.analysis.text)
    if not seqs or not len(model):
        return model
    same = np.flatnonzero(np.isin(model.rows, context.layout.rows(np.array(seqs, np.int64))))
    order = np.concatenate([same[:1], np.delete(np.arange(len(model)), same)])
    scores = model.scores[order].astype(np.float32)
    scores[: len(same[:1])] = model.scores[0] + _AHEAD
    features = {name: values[order] for name, values in model.features.items()}
    return replace(model, rows=model.rows[order], scores=scores, features=features)
