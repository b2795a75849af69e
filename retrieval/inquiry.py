"""One question put to one store: what all channels get to see."""

from __future__ import annotations

from ..encoding.ahead import Ahead
from ..encoding.embedder import TextEmbedding
from ..store.store import Store
from .analysis import Analysis
from .channels.base import Context, nothing
from .eligible import eligible
from .frames import Frames
from .request import RecallRequest


def context_for(
    store: Store,
    frames: Frames,
    request: RecallRequest,
    analysis: Analysis,
    question: TextEmbedding | Ahead[TextEmbedding] | None,
) -> Context:
    """The context of a question, inside the caller's snapshot.

    Raises:
        StoreError: if the store can't be read.
    """
    columns = store.catalog.columns()
    found = [store.scopes.find(key) for key in dict.fromkeys(request.scopes)]
    frame = frames.of(columns, [number for number in found if number is not None])
    return Context(
        store=store,
        columns=columns,
        matrix=store.resident.matrix(),
        frame=frame,
        analysis=analysis,
        eligible=eligible(columns, frame.layout, request),
        question=question,
        now=request.now,
        seeds=nothing(),
    )
