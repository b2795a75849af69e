"""Memories of the time that the question names: a calendar date, or a stretch such as "last week" seen from now."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...encoding.times import time_expressions
from ...schemas.instants import MICROSECONDS_PER_DAY, from_datetime, to_datetime
from ..dates import date_match
from ..layout import Floats
from .base import Context, Ranking, nothing, ranked

LIMIT: Final = 100
# What happened in a stretch is often told some days after it.
_TOLD_WITHIN: Final = 7 * MICROSECONDS_PER_DAY
_TOLD_LATER: Final = np.float32(0.3)


class TemporalChannel:
    """How well the time of each memory fits; the feature `date` holds for calendar dates."""

    name: Final = "temporal"

    def search(self, context: Context) -> Ranking:
        """See `Channel`."""
        recorded = context.columns.recorded_at[context.layout.seqs]
        dated = date_match(context.analysis.dates, recorded)
        features = {"date": dated}
        scores = dated if context.analysis.dates else _in_stretches(context)
        if not scores.any():
            return nothing(features)
        return ranked(scores, context.eligible, LIMIT, features=features)


def _in_stretches(context: Context) -> Floats:
    """1 for what was recorded or became valid in a stretch that the question names, less for soon after: (n,)."""
    seqs = context.layout.seqs
    result = np.zeros(len(seqs), np.float32)
    for stretch in time_expressions(context.analysis.text, to_datetime(context.now)):
        start, end = from_datetime(stretch.start), from_datetime(stretch.end)
        for instants in (context.columns.recorded_at[seqs], context.columns.valid_from[seqs]):
            inside = (instants >= start) & (instants < end)
            after = (instants >= end) & (instants < end + _TOLD_WITHIN)
            np.maximum(result, np.where(inside, np.float32(1.0), _TOLD_LATER * after), out=result)
    return result
