"""save: keep a piece of knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..encoding.writer import Draft, prepare
from ..lifecycle.feedback import starting_trust
from ..lifecycle.recorder import Written
from ..schemas.errors import InvalidInputError, TooLargeError
from ..schemas.memory import Kind, Provenance
from ..schemas.wire import SaveReply
from .checks import between, instant, kind_of, memories_by_id, ordered, scope_key
from .prompts import withdrawn
from .services import Services

WAIT_FOR_MODEL = 10.0
_ACTORS = ("user", "tool", "agent", "outside")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveArguments:
    """What a caller may say; dates are ISO 8601; `source` is a file, commit or URL; `said_by` sets first trust.

    After `expires_at` it is no longer recalled, and removed when the time to undo that is over.
    """

    content: str
    kind: str = "fact"
    scope: str | None = None
    importance: float | None = None
    pinned: bool = False
    tags: Sequence[str] = ()
    supersedes: Sequence[str] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    source: str | None = None
    said_by: str = "agent"


def save(services: Services, arguments: SaveArguments) -> SaveReply:
    """Store a memory, or confirm, update or supersede what is there.

    Raises:
        InvalidInputError: for arguments that can't be used; nothing was stored.
        StoreError: if the store can't be written; nothing was stored.
    """
    now = services.clock()
    draft = _draft(services, arguments, now)
    scopes = (draft.scope,)
    replaced = memories_by_id(services, arguments.supersedes, scopes) if arguments.supersedes else []
    [prepared] = prepare([draft], services.embedder(WAIT_FOR_MODEL), services.store.catch_up)
    written = services.recorder.write(prepared, now, supersedes=replaced)
    if written.superseded:
        withdrawn(services, written.superseded)
    return SaveReply(
        id=written.id,
        operation=written.operation,
        text=_text(written, prepared.redacted, draft.kind),
        redacted=list(prepared.redacted),
        superseded=list(written.superseded),
        conflicts=list(written.conflicts),
    )


def _draft(services: Services, arguments: SaveArguments, now: int) -> Draft:
    valid_from = instant(arguments.valid_from, "valid_from")
    valid_to = instant(arguments.valid_to, "valid_to", end_of_day=True)
    ordered(valid_from, valid_to, "valid_from and valid_to")
    expires_at = instant(arguments.expires_at, "expires_at", end_of_day=True)
    if expires_at is not None and expires_at <= now:
        raise InvalidInputError("expires_at lies in the past: nothing would be remembered")
    if arguments.said_by not in _ACTORS:
        raise InvalidInputError(f"said_by must be one of {', '.join(_ACTORS)}")
    kind = kind_of(arguments.kind)
    importance = arguments.importance
    return Draft(
        content=arguments.content,
        scope=scope_key(services, arguments.scope),
        kind=kind,
        recorded_at=now,
        trust=starting_trust(arguments.said_by, services.decay),
        importance=None if importance is None else between(importance, 0.0, 1.0, "importance"),
        pinned=arguments.pinned,
        tags=_tags(services, arguments.tags),
        provenance=Provenance(
            actor=arguments.said_by,
            client=services.client,
            session=services.session,
            tool="save",
            source=_source(services, arguments.source),
        ),
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=expires_at,
    )


def _tags(services: Services, tags: Sequence[str]) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
    limits = services.limits
    if len(cleaned) > limits.tags or any(len(tag) > limits.tag_characters for tag in cleaned):
        raise TooLargeError(f"at most {limits.tags} tags of at most {limits.tag_characters} characters each")
    return cleaned


def _source(services: Services, source: str | None) -> str | None:
    if source is not None and len(source) > services.limits.note_characters:
        raise TooLargeError(f"source is longer than {services.limits.note_characters} characters: give a path or URL")
    return source


def _text(written: Written, redacted: Sequence[str], kind: Kind) -> str:
    said = {
        "added": f"saved as {written.id}",
        "confirmed": f"already known as {written.id}; confirmed{_stated(written, kind)}",
        "updated": f"saved as {written.id}, as further evidence of what was known",
        "superseded": f"saved as {written.id}; it replaces {', '.join(written.superseded)}",
    }[written.operation]
    parts = [said + "."]
    if redacted:
        parts.append(f"Removed before storing: {', '.join(redacted)}.")
    if written.conflicts:
        parts.append(
            f"It may contradict {', '.join(written.conflicts)}: if it replaces them, "
            f"call save again with the same content and supersedes={list(written.conflicts)!r}."
        )
    return " ".join(parts)


def _stated(written: Written, kind: Kind) -> str:
    """What was stated anew of the known one, and what it stays."""
    names = dict.fromkeys(_STATED[name] for name in written.stated if name in _STATED)
    taken = f", and {', '.join(names)} taken over" if names else ""
    return taken + (f"; it stays a {written.kind}" if written.kind not in (None, kind) else "")


_STATED = {
    "kind": "its kind",
    "tags": "its tags",
    "importance": "its importance",
    "pinned": "the pin",
    "valid_from": "its validity",
    "valid_to": "its validity",
    "expires_at": "its expiry",
    "source": "its source",
}
