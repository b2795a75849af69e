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
    allowed = (columns.expires_at > request.now) & ~columns.hidden
    if request.kinds is not None:
        wanted = [number for number, kind in enumerate(KINDS) if kind in request.kinds]
        allowed &= np.isin(columns.kind, wanted)
    if request.since is not None:
        allowed &= columns.recorded_at >= request.since
    if request.until is not None:
        allowed &= columns.recorded_at <= request.until
    if not request.include_faded:
        allowed &= ~columns.forgotten & (columns.state != int(State.FORGOTTEN))
    # By seq until here, which reads each column from end to end; picking the rows of each takes several times as long.
    return (allowed & _valid(columns, request))[layout.seqs]


def _valid(columns: Columns, request: RecallRequest) -> NDArray[np.bool_]:
    if request.as_of is not None:
        return (columns.valid_from <= request.as_of) & (request.as_of < columns.valid_to)
    if request.include_superseded:
        return np.ones(len(columns.alive), np.bool_)
    return ~columns.superseded & (columns.valid_to > request.now)
