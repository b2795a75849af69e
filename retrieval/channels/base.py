"""What a channel is: one way to find memories, which may find none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...encoding.ahead import Ahead
from ...encoding.embedder import TextEmbedding
from ...store.catalog import Columns
from ...store.resident import Matrix
from ...store.store import Store
from ..analysis import Analysis
from ..cache import Recent
from ..layout import Floats, Layout, Rows
from ..lexical_evidence import Lengths


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What does not depend on the question: the layout and what is derived from it alone.

    Attributes:
        length: float32 (n,), ln(1 + words) of each row.
    """

    layout: Layout
    lengths: Lengths
    length: Floats
    norms: Floats
    speakers: Mapping[str, int]
    dialogue: bool
    _rows_of: Recent[int, Rows] = field(default_factory=lambda: Recent(1), repr=False)

    def rows_of(self, matrix: Matrix) -> Rows:
        """The row of each memory of resident embeddings, (m,); −1 for those that are not in the layout."""
        return self._rows_of.get(matrix.structure, lambda: self.layout.rows_or_none(matrix.owners))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows of the layout, best first, with scores that are only comparable within it; empty when a channel abstains.

    Attributes:
        rows: intp (k,).
        scores: float32 (k,), falling.
        features: what evidence channels tell fusion of every row, each float32 (n,).
    """

    rows: Rows
    scores: Floats
    features: Mapping[str, Floats] = field(default_factory=dict[str, Floats])

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Everything a channel may use for one question.

    Attributes:
        eligible: bool (n,), the rows that may be shown; others still count as neighbours.
        question: its embedding, perhaps still being made; None while there is no model.
        now: the instant of the call, µs.
        seeds: what the evidence channels found together, best first; empty for those channels themselves.
    """

    store: Store
    columns: Columns
    matrix: Matrix
    frame: Frame
    analysis: Analysis
    eligible: NDArray[np.bool_]
    question: TextEmbedding | Ahead[TextEmbedding] | None
    now: int
    seeds: Ranking

    @property
    def layout(self) -> Layout:
        """The order of the rows."""
        return self.frame.layout

    @property
    def embedding(self) -> TextEmbedding | None:
        """Of the question, once it is made; None while there is no model.

        Raises:
            ModelError: if the model failed.
        """
        return self.question.result() if isinstance(self.question, Ahead) else self.question


class Channel(Protocol):
    """One way to find memories. Stateless; the same context gives the same ranking."""

    @property
    def name(self) -> str:
        """What the channel is called in settings and in answers."""
        ...

    def search(self, context: Context) -> Ranking:
        """The memories that this channel finds, or an empty ranking where it has nothing to go by.

        Raises:
            StoreError: if the store can't be read.
        """
        ...


def ranked(
    scores: Floats, eligible: NDArray[np.bool_], limit: int, *, features: Mapping[str, Floats] | None = None
) -> Ranking:
    """The best `limit` eligible rows of dense scores (n,) that are above 0; equal scores in the order of the rows."""
    rows = np.flatnonzero(eligible & (scores > 0))
    if len(rows) > limit:
        edge = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= edge]
    rows = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    return Ranking(rows, scores[rows], features or {})


def nothing(features: Mapping[str, Floats] | None = None) -> Ranking:
    """The ranking of a channel that abstains."""
    return Ranking(np.zeros(0, np.intp), np.zeros(0, np.float32), features or {})
