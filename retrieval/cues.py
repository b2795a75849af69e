"""What the shape of a memory says where people talk: who speaks, whether it asks, whom it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..store.catalog import Columns
from ..store.rows import FLAG_FIRST_PERSON, FLAG_QUESTION
from .analysis import Analysis
from .layout import Floats, Layout

# In a scope where at least this share of the memories are turns of named speakers, the cues of dialogue apply.
DIALOGUE_SHARE: Final = 0.5


def is_dialogue(columns: Columns, layout: Layout) -> bool:
    """Whether a scope holds mostly turns of named speakers."""
    return bool(len(layout)) and float((columns.speaker[layout.seqs] >= 0).mean()) >= DIALOGUE_SHARE


def dialogue_cues(
    columns: Columns, layout: Layout, analysis: Analysis, speakers: Mapping[str, int], alone: Floats
) -> dict[str, Floats]:
    """The cues that only hold for turns of named speakers, each float32 (n,); `alone` is BM25 of the row itself."""
    flags = columns.flags[layout.seqs]
    asks = (flags & FLAG_QUESTION) > 0
    before = np.zeros(len(layout), np.float32)
    before[1:] = alone[:-1] * asks[:-1] * (layout.near[-1][1:] > 0)
    return {
        "who": _who(columns.speaker[layout.seqs], analysis, speakers),
        "question": asks.astype(np.float32),
        "first_person": ((flags & FLAG_FIRST_PERSON) > 0).astype(np.float32),
        "when": columns.time_words[layout.seqs].astype(np.float32) * np.float32(analysis.asks_when),
        "answered": before,
    }


def _who(speaker: NDArray[np.int32], analysis: Analysis, speakers: Mapping[str, int]) -> Floats:
    """+1 for the turns of the one speaker whom the question names, −1 for the others'; 0 when it names none or more."""
    here = set(np.unique(speaker).tolist())
    named = {number for name, number in speakers.items() if number in here and name.lower() in analysis.names}
    if len(named) != 1:
        return np.zeros(len(speaker), np.float32)
    return np.where(speaker < 0, 0.0, np.where(speaker == named.pop(), 1.0, -1.0)).astype(np.float32)
