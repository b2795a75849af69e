"""From what a caller gives to what the store takes: cleaned, private parts and secrets removed, traced, embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..schemas.errors import InvalidInputError, TooLargeError
from ..schemas.ids import new_id
from ..schemas.instants import to_datetime
from ..schemas.memory import Kind, NewMemory, Provenance
from ..schemas.texts import whole
from .ahead import Ahead
from .clean import clean, strip_private
from .embedder import Embedder, TextEmbedding
from .redact import redact
from .shape import shape_of
from .trace import trace

MAX_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants remembered, as given. Instants are µs since the epoch, UTC."""

    content: str
    scope: str
    kind: Kind
    recorded_at: int
    trust: float
    importance: float | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    valid_from: int | None = None
    valid_to: int | None = None
    expires_at: int | None = None
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory ready to be stored: `embedding` is None while no model is at hand, `redacted` names what was removed.

    `importance` is the one that the caller stated, if any; that of `new` may be read off the text.
    """

    new: NewMemory
    embedding: TextEmbedding | None
    redacted: tuple[str, ...]
    importance: float | None = None


def presentable(text: str, limit: int = MAX_CHARACTERS) -> tuple[str, tuple[str, ...]]:
    """A text as it may be stored, and the kinds of secrets that were taken out of it.

    Raises:
        InvalidInputError: if nothing is left to remember.
        TooLargeError: if it is longer than `limit` characters; it is never cut.
    """
    if len(text) > limit:
        raise TooLargeError(
            f"the text has {len(text):,} characters, more than the {limit:,} one memory holds: "
            "save its parts as several memories, or save what matters in it"
        )
    redacted = redact(strip_private(clean(text)).strip())
    if not redacted.text.strip():
        raise InvalidInputError("there is nothing to remember: the text is empty, or all of it was marked private")
    return redacted.text, tuple(redacted.found)


def label(text: str) -> str:
    """A short text that goes with a memory, such as a tag, a source or a note: on one line, without secrets."""
    return redact(clean(text)).text.replace("\n", " ").strip()


def prepare(
    drafts: Sequence[Draft], embedder: Embedder | None, meanwhile: Callable[[], None] = lambda: None
) -> list[Prepared]:
    """Make drafts ready for the store, in their order; embeds them in one batch where an embedder is at hand.

    What is read off the texts is read while they are embedded, and so is `meanwhile` called.

    Raises:
        InvalidInputError: if a text is empty or too long.
        ModelError: if the embedder fails.
    """
    texts = [presentable(draft.content) for draft in drafts]
    if embedder is None or not drafts:
        return [
            Prepared(_memory(draft, text), None, found, draft.importance)
            for draft, (text, found) in zip(drafts, texts, strict=True)
        ]
    ahead = Ahead(lambda: embedder.embed_documents([text for text, _ in texts]))
    memories = [_memory(draft, text) for draft, (text, _) in zip(drafts, texts, strict=True)]
    meanwhile()
    return [
        Prepared(new, embedding, found, draft.importance)
        for draft, new, embedding, (_, found) in zip(drafts, memories, ahead.result(), texts, strict=True)
    ]


def _memory(draft: Draft, text: str) -> NewMemory:
    tags = tuple(dict.fromkeys(label(tag) for tag in draft.tags))
    traced = trace(text, to_datetime(draft.recorded_at), tags)
    return NewMemory(
        id=new_id(draft.recorded_at),
        scope=whole(draft.scope),
        kind=draft.kind,
        content=text,
        recorded_at=draft.recorded_at,
        gist=traced.gist,
        cue=traced.cue,
        index_text=traced.index_text,
        trigram_text=traced.trigram_text,
        entities=traced.entities,
        slots=traced.slots,
        tags=tags,
        importance=traced.priority if draft.importance is None else draft.importance,
        arousal=traced.arousal,
        trust=draft.trust,
        pinned=draft.pinned,
        provenance=_labelled(draft.provenance),
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        expires_at=draft.expires_at,
        event_id=None if draft.event_id is None else whole(draft.event_id),
        shape=shape_of(text, traced.index_text),
    )


def _labelled(provenance: Provenance) -> Provenance:
    client, session, tool, source = provenance.client, provenance.session, provenance.tool, provenance.source
    return replace(
        provenance,
        client=client and whole(client),
        session=session and whole(session),
        tool=tool and whole(tool),
        source=source and label(source),
    )
