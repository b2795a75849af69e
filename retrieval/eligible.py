"""Which memories may be shown for a request."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..schemas.memory import State
from ..store.catalog import KINDS, Columns
from .layout import Layout
from .request import RecallRequest


def eligible(columns: Columns, layout: Layout, request: RecallRequest) -> NDArray[np.bool_]:
    """Which rows a request may show, bool (n,).

    Out are: what others speak for, other kinds, what was recorded outside of its range, what has expired, what is
    forgotten unless faded memories are asked for, and what is not valid: at `as_of` where given, else now (superseded
    memories come back on request).
    """
    seqs = layout.seqs
    allowed = (columns.expires_at[seqs] > request.now) & ~columns.hidden[seqs]
    if request.kinds is not None:
        wanted = [number for number, kind in enumerate(KINDS) if kind in request.kinds]
        allowed &= np.isin(columns.kind[seqs], wanted)
    if request.since is not None:
        allowed &= columns.recorded_at[seqs] >= request.since
    if request.until is not None:
        allowed &= columns.recorded_at[seqs] <= request.until
    if not request.include_faded:
        allowed &= ~columns.forgotten[seqs] & (columns.state[seqs] != int(State.FORGOTTEN))
    return allowed & _valid(columns, seqs, request)


def _valid(columns: Columns, seqs: NDArray[np.int64], request: RecallRequest) -> NDArray[np.bool_]:
    valid_from, valid_to = columns.valid_from[seqs], columns.valid_to[seqs]
    if request.as_of is not None:
        return (valid_from <= request.as_of) & (request.as_of < valid_to)
    if request.include_superseded:
        return np.ones(len(seqs), np.bool_)
    return ~columns.superseded[seqs] & (valid_to > request.now)
