"""learn: say how recalled memories turned out."""

from __future__ import annotations

from collections.abc import Sequence

from ..encoding.writer import label
from ..schemas.errors import InvalidInputError, TooLargeError
from ..schemas.memory import Event, Memory, Signal
from ..schemas.wire import LearnReply
from .checks import memories_by_id, visible_scopes
from .prompts import withdrawn
from .services import Services


def learn(
    services: Services,
    signal: str,
    memory_ids: Sequence[str] = (),
    recall_id: str | None = None,
    note: str | None = None,
    scope: str | None = None,
) -> LearnReply:
    """Apply feedback.

    Raises:
        InvalidInputError: for an unknown signal, no memories, or ids that can't be seen from here.
        StoreError: if the store can't be written; nothing was changed.
    """
    chosen = _signal(signal)
    if note is not None and len(note) > services.limits.note_characters:
        raise TooLargeError(f"the note is longer than {services.limits.note_characters} characters: shorten it")
    told = None if note is None else label(note)
    scopes = visible_scopes(services, scope)
    services.showings.settle()
    ids = list(memory_ids) or _shown_by(services, recall_id)
    memories = services.store.memories.speaking_for(memories_by_id(services, ids, scopes))
    now = services.clock()
    with services.store.atomic():
        for memory in memories:
            _apply(services, chosen, memory, now, recall_id, told)
        if chosen in (Signal.USED, Signal.USEFUL):
            services.lessons.teach(recall_id, [memory.id for memory in memories], now)
    changed = [memory.id for memory in memories]
    if chosen in (Signal.WRONG, Signal.OUTDATED):
        withdrawn(services, changed)
    return LearnReply(signal=str(chosen), changed=changed, text=f"{len(changed)} marked {chosen}.")


def _signal(signal: str) -> Signal:
    try:
        return Signal(signal.strip().lower())
    except ValueError:
        raise InvalidInputError(f"{signal[:40]!r} is not a signal; signals are {', '.join(Signal)}") from None


def _shown_by(services: Services, recall_id: str | None) -> list[str]:
    if recall_id is None:
        raise InvalidInputError("learn needs memory_ids, or the recall_id of the recall that showed them")
    shown = [entry for entry in services.store.journal.of_ref(recall_id) if entry.event is Event.SHOWN]
    if not shown:
        raise InvalidInputError("no recall has this recall_id; give memory_ids instead")
    return [identifier for entry in shown for identifier in entry.data["memories"]]


def _apply(
    services: Services, signal: Signal, memory: Memory, now: int, recall_id: str | None, note: str | None
) -> None:
    ledger = services.ledger
    if signal is Signal.WRONG:
        ledger.contradicted(memory, now, recall_id, note)
    elif signal is Signal.OUTDATED:
        ledger.superseded(memory, None, now, now, recall_id)
    elif signal is Signal.USED:
        ledger.used(memory, now, recall_id)
    else:
        ledger.used(ledger.confirmed(memory, now, recall_id), now, recall_id)
