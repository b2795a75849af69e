"""What a memory is: kinds, states, provenance, validity, strength. All instants are int µs since the epoch, UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

GLOBAL_SCOPE = "global"


class Kind(StrEnum):
    """What sort of thing a memory is; it sets how quickly an unused one fades (DESIGN.md §2)."""

    OBSERVATION = "observation"
    EPISODE = "episode"
    FACT = "fact"
    PROCEDURE = "procedure"
    DECISION = "decision"
    PREFERENCE = "preference"

    @property
    def is_event(self) -> bool:
        """Whether it records that something happened: the same words twice are then two memories."""
        return self in (Kind.OBSERVATION, Kind.EPISODE)


class State(IntEnum):
    """How far a memory has faded, strongest first; the number is what the store holds."""

    ACTIVE = 0
    WARM = 1
    COLD = 2
    ARCHIVE = 3
    FORGOTTEN = 4

    @property
    def label(self) -> str:
        """The state's name as people and tools see it."""
        return self.name.lower()


class Signal(StrEnum):
    """What feedback says of a recalled memory."""

    USEFUL = "useful"
    USED = "used"
    WRONG = "wrong"
    OUTDATED = "outdated"


class Event(StrEnum):
    """What the journal records; every derived figure can be replayed from these."""

    SAVED = "saved"
    SHOWN = "shown"
    USED = "used"
    REUSED = "reused"
    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"
    RESTORED_VALIDITY = "restored_validity"
    LINKED = "linked"
    CONSOLIDATED = "consolidated"
    STATE = "state"
    FADED = "faded"
    RESTORED = "restored"
    MERGED = "merged"
    UNMERGED = "unmerged"
    EVICTED = "evicted"
    FORGOTTEN = "forgotten"
    ERASED = "erased"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    EXPIRED = "expired"
    REEMBEDDED = "reembedded"
    LEARNED = "learned"
    UNLEARNED = "unlearned"
    ACTIVITY = "activity"
    DAILY = "daily"
    GISTED = "gisted"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory came from; every part may be unknown.

    `actor` is who said it: "user", "tool", "agent" or "outside"; initial trust follows from it (DESIGN.md §3).
    """

    actor: str = "agent"
    client: str | None = None
    session: str | None = None
    tool: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """One statement that can be compared exactly: subject, attribute, value, and whether it is affirmed."""

    subject: str
    attribute: str
    value: str
    polarity: bool = True


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a text names, normalised for exact comparison."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What ranking wants to know of a text without reading it.

    `words` counts its indexed words; `speaker` is the name before the colon in a turn of a conversation;
    `time_words` counts words that point in time, at most 2.
    """

    words: int = 0
    speaker: str | None = None
    question: bool = False
    first_person: bool = False
    time_words: int = 0


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory on its way into the store: everything that does not depend on what is there already."""

    id: str
    scope: str
    kind: Kind
    content: str
    recorded_at: int
    gist: str
    cue: str
    index_text: str
    trigram_text: str = ""
    entities: tuple[Entity, ...] = ()
    slots: tuple[Slot, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 0.0
    arousal: float = 0.0
    trust: float = 0.6
    pinned: bool = False
    provenance: Provenance = field(default_factory=Provenance)
    valid_from: int | None = None
    valid_to: int | None = None
    expires_at: int | None = None
    event_id: str | None = None
    gist_of: int | None = None
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True, slots=True)
class Strength:
    """What the journal says of a memory's use, folded into the figures that decay needs.

    `anchor_tau` is the scope's activity clock (days) at the last use or the save; `rate` is λ per day, so that
    retention is exp(−rate · (τ − anchor_tau)). `association` is L = 1 − exp(−Σ w·R) over linked memories and
    `activation` the decayed sum of recent activations as of `activation_tau`. `heat_day`/`heat_mask` hold the last
    seven active days on which the memory was shown.
    """

    state: State = State.ACTIVE
    bit_width: int = 32
    uses: int = 0
    spaced_uses: float = 0.0
    last_use_at: int | None = None
    anchor_tau: float = 0.0
    association: float = 0.0
    activation: float = 0.0
    activation_tau: float = 0.0
    stability: float = 0.0
    rate: float = 0.0
    heat_day: int = 0
    heat_mask: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. `content` is the verbatim text, fetched from the attic where it had moved there.

    `merged_into` is the id of the near-duplicate that speaks for it; `gist_of`: of how many memories it is the gist.
    """

    seq: int
    id: str
    scope: str
    kind: Kind
    content: str
    gist: str
    cue: str
    entities: tuple[Entity, ...]
    slots: tuple[Slot, ...]
    tags: tuple[str, ...]
    importance: float
    arousal: float
    confirmations: int
    trust: float
    pinned: bool
    provenance: Provenance
    recorded_at: int
    valid_from: int | None
    valid_to: int | None
    superseded_by: str | None
    expires_at: int | None
    forgotten_at: int | None
    version: int
    strength: Strength
    merged_into: str | None = None
    gist_of: int | None = None
