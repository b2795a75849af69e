"""forget: let memories fade at once, erase them for good, or bring them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ..retrieval.request import RecallRequest
from ..schemas.errors import ConfirmationRequiredError, InvalidInputError
from ..schemas.ids import new_id
from ..schemas.memory import Memory
from ..schemas.wire import ForgetReply
from .checks import memories_by_id, question, visible_scopes
from .erased import erased_text, touched_text
from .prompts import withdrawn
from .services import Services

Mode = Literal["fade", "erase", "restore"]
MODES: tuple[Mode, ...] = get_args(Mode)
_MATCHES = 10


def targets(services: Services, memory_ids: Sequence[str], query: str | None, scope: str | None) -> list[Memory]:
    """The memories that a call is about, in the scopes it may see.

    Raises:
        InvalidInputError: if neither ids nor a query are given, or an id can't be seen from here.
        TooLargeError: if the query is too long.
    """
    scopes = visible_scopes(services, scope)
    if memory_ids:
        return memories_by_id(services, memory_ids, scopes)
    asked = question(services, query or "")
    if not asked:
        raise InvalidInputError("forget needs memory_ids, or a query with dry_run=true to see what it would find")
    request = RecallRequest(
        query=asked,
        scopes=scopes,
        limit=_MATCHES,
        include_faded=True,
        now=services.clock(),
        session=services.session,
    )
    return [hit.memory for hit in services.recaller.recall(request).hits]


def forget(
    services: Services,
    memory_ids: Sequence[str] = (),
    query: str | None = None,
    mode: str = "fade",
    scope: str | None = None,
    *,
    dry_run: bool = False,
    confirmed: bool = False,
) -> ForgetReply:
    """Fade, erase or restore memories.

    A query alone never changes anything: what it finds is a guess, so the ids must be named.

    Raises:
        InvalidInputError: for arguments that can't be used.
        ConfirmationRequiredError: for an erase that nobody confirmed.
        StoreError: if the store can't be written; nothing was changed.
    """
    if mode not in MODES:
        raise InvalidInputError(f"{mode[:20]!r} is not a mode; modes are {', '.join(MODES)}")
    chosen = mode
    memories = targets(services, memory_ids, query, scope)
    if dry_run or not memory_ids:
        return _preview(services, chosen, memories, asked=dry_run)
    if chosen == "erase" and not confirmed:
        raise ConfirmationRequiredError(
            f"erasing {len(memories)} memories can't be undone: ask the user, then call again with confirm=true"
        )
    services.showings.settle()
    ids = [memory.id for memory in memories]
    if chosen == "erase":
        done = services.recorder.erase(memories, services.clock())
        return ForgetReply(
            mode=chosen, dry_run=False, ids=ids, verified=done.verified, text=erased_text(len(ids), done)
        )
    _apply(services, chosen, memories)
    return ForgetReply(mode=chosen, dry_run=False, ids=ids, text=_text(chosen, len(memories)))


def _apply(services: Services, mode: Mode, memories: list[Memory]) -> None:
    now = services.clock()
    reference = new_id(now)
    with services.store.atomic():
        for memory in memories:
            if mode == "fade":
                services.ledger.forgotten(memory, now, reference)
            elif not services.ledger.parted(memory, now, reference):
                services.ledger.restored(memory, now, reference)
    if mode == "fade":
        withdrawn(services, [memory.id for memory in memories])


def _preview(services: Services, mode: Mode, memories: list[Memory], *, asked: bool) -> ForgetReply:
    found = "\n".join(f"- {memory.id} ({memory.kind}) {memory.cue}" for memory in memories)
    more = touched_text(services.store, memories) if mode == "erase" and memories else ""
    advice = "" if asked else "\nNothing was changed: call again with the memory_ids that are meant."
    text = (
        f"{len(memories)} memories would be affected by {mode}:\n{found}{more}{advice}"
        if memories
        else "Nothing matches."
    )
    return ForgetReply(
        mode=mode,
        dry_run=True,
        ids=[memory.id for memory in memories],
        text=text,
    )


def _text(mode: Mode, count: int) -> str:
    if mode == "fade":
        return f"{count} forgotten; forget with mode restore brings them back."
    return f"{count} restored."
