"""import of what other memories wrote: each note is cleaned, redacted, embedded and reconciled like a save."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..encoding.foreign.notes import Note
from ..encoding.writer import Draft, prepare, presentable
from ..lifecycle.feedback import starting_trust
from ..schemas.errors import InvalidInputError
from ..schemas.memory import Provenance
from .save import WAIT_FOR_MODEL
from .services import Services

_BATCH = 16


@dataclass(slots=True)
class NotesImported:
    """How many notes were added, were known, superseded something; what was refused and why; kinds of secrets removed.

    `vouched` counts the known ones that had come from outside and are trusted as the user's own word now.
    `conflicts` are (new id, known id) pairs that may contradict each other: text from outside replaces nothing.
    """

    added: int = 0
    known: int = 0
    vouched: int = 0
    superseded: int = 0
    conflicts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    redacted: dict[str, int] = field(default_factory=dict[str, int])


def import_notes(
    services: Services,
    notes: Sequence[Note],
    *,
    scope: str,
    trusted: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None,
) -> NotesImported:
    """Remember notes in a scope: as text from outside, or as the user's own word when somebody vouches for them.

    What is remembered already, in the same words, is passed over without a trace, so that importing twice adds nothing.

    Raises:
        StoreError: if the store can't be written; the notes before are in it.
    """
    done = NotesImported()
    fresh = list(_fresh(services, notes, scope, trusted=trusted, done=done))
    for start in range(0, 0 if dry_run else len(fresh), _BATCH):
        progress(start, len(fresh), "remembering")
        _write(services, fresh[start : start + _BATCH], done)
    if trusted and not dry_run:
        _vouch(services, notes, scope, done)
    done.added = len(fresh) if dry_run else done.added
    return done


def _fresh(
    services: Services, notes: Sequence[Note], scope: str, *, trusted: bool, done: NotesImported
) -> Iterator[Draft]:
    """What is not remembered yet; the rest is counted."""
    actor = "user" if trusted else "outside"
    seen: set[str] = set()
    for note in notes:
        try:
            text, found = presentable(note.text)
        except InvalidInputError as error:
            done.refused.append((note.source, str(error)))
            continue
        identifier = _event_id(scope, text)
        memories = services.store.memories
        if identifier in seen or memories.by_event(identifier) or memories.same_text(scope, text):
            done.known += 1
            continue
        seen.add(identifier)
        for name in found:
            done.redacted[name] = done.redacted.get(name, 0) + 1
        now = services.clock()
        yield Draft(
            content=note.text,
            scope=scope,
            kind=note.kind,
            recorded_at=now if note.recorded_at is None else min(now, note.recorded_at),
            trust=starting_trust(actor, services.decay),
            tags=_tags(services, note.tags),
            provenance=Provenance(actor=actor, client=services.client, tool="import", source=note.source),
            event_id=identifier,
        )


def _write(services: Services, drafts: Sequence[Draft], done: NotesImported) -> None:
    for prepared in prepare(drafts, services.embedder(WAIT_FOR_MODEL)):
        written = services.recorder.write(prepared, services.clock())
        if written.operation == "confirmed":
            done.known += 1
            continue
        done.added += 1
        done.superseded += len(written.superseded)
        done.conflicts += [(written.id, other) for other in written.conflicts]


def _vouch(services: Services, notes: Sequence[Note], scope: str, done: NotesImported) -> None:
    """What an earlier import brought from outside is the user's word from now on."""
    for note in notes:
        with suppress(InvalidInputError):
            memory = services.store.memories.by_event(_event_id(scope, presentable(note.text)[0]))
            if memory is not None and memory.trust < services.decay.trust_user:
                trust = services.decay.trust_user
                services.ledger.confirmed(memory, services.clock(), source=note.source, at_least=trust)
                done.vouched += 1


def _event_id(scope: str, text: str) -> str:
    folded = f"{scope}\0{' '.join(text.split())}"
    return "import-" + hashlib.blake2b(folded.encode(), digest_size=16).hexdigest()


def _tags(services: Services, tags: Sequence[str]) -> tuple[str, ...]:
    limits = services.limits
    cleaned = dict.fromkeys(" ".join(tag.split()) for tag in tags)
    return tuple(tag for tag in cleaned if tag and len(tag) <= limits.tag_characters)[: limits.tags]
