"""observe: hand over raw events cheaply; consolidation makes memories of them or lets them fade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schemas.errors import TooLargeError
from ..schemas.wire import ObserveReply, RejectedEvent
from .services import Services


def observe(services: Services, events: Sequence[Mapping[str, Any]]) -> ObserveReply:
    """Store a batch of events as observations.

    Raises:
        TooLargeError: for more events than one call may bring; none was stored.
        StoreError: if the store can't be written; none was stored.
    """
    limit = services.limits.events
    if len(events) > limit:
        raise TooLargeError(f"{len(events)} events are more than the {limit} of one call: split the batch")
    taken = services.observer.take(events, services.scope, services.session, services.client, services.clock())
    return ObserveReply(
        accepted=taken.accepted,
        duplicates=taken.duplicates,
        rejected=[RejectedEvent(index=index, reason=reason) for index, reason in taken.rejected],
        text=_text(taken.accepted, taken.duplicates, len(taken.rejected)),
    )


def _text(accepted: int, duplicates: int, rejected: int) -> str:
    text = f"{accepted} observed"
    if duplicates:
        text += f", {duplicates} already known"
    if rejected:
        text += f", {rejected} rejected: see rejected for the reasons"
    return text + "."
