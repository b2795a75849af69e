"""Frames, kept until the memories they describe change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from ..store.catalog import Columns
from ..store.store import Store
from .channels.base import Frame
from .cues import is_dialogue
from .layout import layout_of
from .lexical_evidence import lengths_of
from .semantic_evidence import norms_of

_KEPT = 4


class Frames:
    """The frames of the scopes that were asked for last. Safe for several threads."""

    def __init__(self, store: Store) -> None:
        """Nothing is computed yet."""
        self._store = store
        self._guard = threading.Lock()
        self._kept: OrderedDict[tuple[int, ...], Frame] = OrderedDict()

    def of(self, columns: Columns, scopes: Sequence[int]) -> Frame:
        """The frame of some scopes (row ids)."""
        key = tuple(sorted(scopes))
        with self._guard:
            kept = self._kept.get(key)
            if kept is None or kept.layout.structure != columns.structure:
                kept = self._made(columns, key)
                self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return kept

    def refresh(self, columns: Columns) -> None:
        """Make those anew whose memories changed."""
        with self._guard:
            keys = list(self._kept)
        for key in keys:
            self.of(columns, key)

    def _made(self, columns: Columns, scopes: Sequence[int]) -> Frame:
        layout = layout_of(columns, scopes)
        return Frame(
            layout=layout,
            lengths=lengths_of(layout),
            length=np.log1p(layout.words),
            norms=norms_of(layout),
            speakers=self._store.catalog.speakers(),
            dialogue=is_dialogue(columns, layout),
        )
