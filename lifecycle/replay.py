"""The journal read from its start: every event into the life of the memory it happened to.

Pure: entries in, lives and clocks out. The same functions of `fold` that the ledger calls do the arithmetic, so a
replay gives bit for bit what living through the events gave. L, S and λ are left to a refresh afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..schemas.activity import ActivityClock
from ..schemas.memory import Event, Kind, State, Strength
from ..store.graph import COPY, Link
from ..store.journal import Entry
from . import clock as activity
from . import feedback, fold
from .channel_weights import Learned, Lesson, taught
from .constants import DEFAULTS, DecaySettings
from .shares import COPY_WEIGHT, Share

_STATES = {state.label: state for state in State}


@dataclass(slots=True)
class Life:
    """What the journal says of one memory so far."""

    scope: int
    trust: float
    pinned: bool
    valid_to: int | None
    expires_at: int | None
    figures: Strength
    pending: bool = False
    stated: dict[str, Any] = field(default_factory=dict[str, Any])
    confirmations: int = 0
    superseded_by: str | None = None
    forgotten_at: int | None = None
    evicted_at: int | None = None
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link between two memories by their ids; one of weight 0 is a link that was taken away."""

    memory: str
    other: str
    relation: str
    weight: float

    def between(self, seqs: Mapping[str, int]) -> Link | None:
        """The link by seqs; None when one of the two is gone."""
        if self.memory not in seqs or self.other not in seqs:
            return None
        return Link(seqs[self.memory], seqs[self.other], self.relation, self.weight)


@dataclass(slots=True)
class Replay:
    """Takes entries in the order written; `lives`, `clocks`, `links` and `learned` are what they came to."""

    settings: DecaySettings = DEFAULTS
    lives: dict[str, Life] = field(default_factory=dict[str, Life])
    clocks: dict[int, ActivityClock] = field(default_factory=dict[int, ActivityClock])
    links: list[NamedLink] = field(default_factory=list[NamedLink])
    learned: Learned = field(default_factory=Learned)

    def take(self, entries: Sequence[Entry]) -> None:
        """Go on with some more entries."""
        for entry in entries:
            tau = self._touch(entry) if entry.event in _TOUCHING else 0.0
            handler = _HANDLERS.get(entry.event)
            if handler is not None:
                handler(self, entry, tau)

    def drain_links(self) -> list[NamedLink]:
        """The links met since the last call."""
        drained, self.links = self.links, []
        return drained

    def _touch(self, entry: Entry) -> float:
        if entry.scope is None:
            return 0.0
        clock = activity.touch(self.clocks.get(entry.scope), entry.at)
        self.clocks[entry.scope] = clock
        return activity.tau(clock, entry.at, self.settings)

    def saved(self, entry: Entry, tau: float) -> None:
        """A memory begins."""
        # An erased memory's entries are blank.
        if entry.memory is None or entry.scope is None or "trust" not in entry.data:
            return
        self.lives[entry.memory] = Life(
            scope=entry.scope,
            trust=float(entry.data["trust"]),
            pinned=bool(entry.data["pinned"]),
            valid_to=entry.data["valid_to"],
            expires_at=entry.data["expires_at"],
            figures=Strength(anchor_tau=tau, activation_tau=tau),
            pending=entry.data.get("kind") == Kind.OBSERVATION,
        )

    def gisted(self, entry: Entry, _tau: float) -> None:
        """A gist begins, which is no activity of its scope."""
        clock = None if entry.scope is None else self.clocks.get(entry.scope)
        self.saved(entry, activity.tau(clock, entry.at, self.settings))

    def linked(self, entry: Entry, _tau: float) -> None:
        """It is linked to others."""
        links: Sequence[tuple[str, str, float]] = entry.data.get("links", ())
        self.links += [NamedLink(entry.memory or "", other, relation, weight) for other, relation, weight in links]

    def consolidated(self, entry: Entry, _tau: float) -> None:
        """Consolidation is done with some."""
        for memory in entry.data.get("observations", ()):
            if memory in self.lives:
                self.lives[memory].pending = False

    def shown(self, entry: Entry, _tau: float) -> None:
        """Some were shown, and what they are linked to was activated: each by the clock of its own scope."""
        for memory in entry.data.get("memories", ()):
            if memory in self.lives:
                life = self.lives[memory]
                day = activity.active_day(self.clocks.get(life.scope), entry.at)
                life.figures = fold.warmed(life.figures, day, self.settings)
        activated: Mapping[str, float] = entry.data.get("activated", {})
        for memory, amount in activated.items():
            if memory in self.lives:
                life = self.lives[memory]
                tau = activity.tau(self.clocks.get(life.scope), entry.at, self.settings)
                life.figures = fold.activated(life.figures, amount, tau, self.settings)

    def taught(self, entry: Entry, _tau: float) -> None:
        """Feedback taught something about the channels."""
        self.learned = taught(self.learned, Lesson.of_data(entry.data))

    def unlearned(self, _entry: Entry, _tau: float) -> None:
        """Somebody had that forgotten."""
        self.learned = Learned()

    def used(self, life: Life, entry: Entry, tau: float) -> None:
        """It was used, which brings it back unless it was forgotten on purpose."""
        life.figures = fold.used(life.figures, entry.at, tau, self.settings)
        _revoke(life, entry.at)
        if life.forgotten_at is None and life.merged_into is None:
            life.figures = replace(life.figures, state=State.ACTIVE)

    def reused(self, life: Life, entry: Entry, _tau: float) -> None:
        """A reply made use of it, which is no activity of its scope."""
        tau = activity.tau(self.clocks.get(life.scope), entry.at, self.settings)
        life.figures = fold.reused(life.figures, entry.data["share"], tau)

    def confirmed(self, life: Life, entry: Entry, _tau: float) -> None:
        """It was said again or proved right."""
        life.trust = feedback.confirmed(life.trust, self.settings, at_least=entry.data.get("at_least", 0.0))
        life.confirmations += 1
        stated: Mapping[str, Any] = entry.data.get("stated", {})
        life.pinned = stated.get("pinned", life.pinned)
        life.valid_to = stated.get("valid_to", life.valid_to)
        life.expires_at = stated.get("expires_at", life.expires_at)
        life.stated |= stated

    def contradicted(self, life: Life, _entry: Entry, _tau: float) -> None:
        """It proved wrong."""
        life.trust = feedback.contradicted(life.trust, self.settings)

    def superseded(self, life: Life, entry: Entry, _tau: float) -> None:
        """Its validity ended."""
        life.valid_to = entry.data.get("valid_to")
        life.superseded_by = entry.data.get("by")

    def forgotten(self, life: Life, entry: Entry, _tau: float) -> None:
        """Somebody forgot it on purpose."""
        life.forgotten_at = entry.at
        life.figures = replace(life.figures, state=State.FORGOTTEN)

    def restored(self, life: Life, entry: Entry, tau: float) -> None:
        """Somebody brought it back."""
        life.forgotten_at = None
        _revoke(life, entry.at)
        life.figures = replace(life.figures, state=State.ACTIVE, anchor_tau=tau)

    def evicted(self, life: Life, entry: Entry, _tau: float) -> None:
        """The budget or an expiry took it out."""
        life.evicted_at = entry.at
        life.figures = replace(life.figures, state=State.FORGOTTEN)

    def moved(self, life: Life, entry: Entry, _tau: float) -> None:
        """Decay moved it to another state."""
        life.figures = replace(life.figures, state=_STATES[entry.data["to"]])

    def merged(self, life: Life, entry: Entry, _tau: float) -> None:
        """A near-duplicate was merged into it, or it into another."""
        if "into" in entry.data:
            life.merged_into = entry.data["into"]
            life.figures = replace(life.figures, state=State.FORGOTTEN)
            return
        copy = Share.read(entry.data)
        life.figures = fold.merged(life.figures, copy.figures)
        life.trust = max(life.trust, copy.trust)
        life.confirmations += copy.confirmations
        self.links.append(NamedLink(entry.memory or "", entry.data["copy"], COPY, COPY_WEIGHT))

    def unmerged(self, life: Life, entry: Entry, _tau: float) -> None:
        """That was undone."""
        if "from" in entry.data:
            life.merged_into = None
            life.figures = replace(life.figures, state=_STATES[entry.data["state"]])
            return
        before = Share.read(entry.data)
        life.figures = before.over(life.figures)
        life.trust, life.confirmations = before.trust, before.confirmations
        self.links.append(NamedLink(entry.memory or "", entry.data["copy"], COPY, 0.0))

    def pinned(self, life: Life, entry: Entry, _tau: float) -> None:
        """It was pinned, or is no longer."""
        life.pinned = entry.event is Event.PINNED

    def erased(self, entry: Entry, _tau: float) -> None:
        """It is gone for good."""
        self.lives.pop(entry.memory or "", None)


def _revoke(life: Life, at: int) -> None:
    life.evicted_at = None
    if life.expires_at is not None and life.expires_at <= at:
        life.expires_at = None


def _of_life(
    change: Callable[[Replay, Life, Entry, float], None],
) -> Callable[[Replay, Entry, float], None]:
    """A handler of entries about one memory that is still there and whose entries are not blank."""

    def handle(run: Replay, entry: Entry, tau: float) -> None:
        life = run.lives.get(entry.memory or "")
        if life is not None:
            change(run, life, entry, tau)

    return handle


_HANDLERS: dict[Event, Callable[[Replay, Entry, float], None]] = {
    Event.SAVED: Replay.saved,
    Event.GISTED: Replay.gisted,
    Event.LINKED: Replay.linked,
    Event.CONSOLIDATED: Replay.consolidated,
    Event.SHOWN: Replay.shown,
    Event.LEARNED: Replay.taught,
    Event.UNLEARNED: Replay.unlearned,
    Event.USED: _of_life(Replay.used),
    Event.REUSED: _of_life(Replay.reused),
    Event.CONFIRMED: _of_life(Replay.confirmed),
    Event.CONTRADICTED: _of_life(Replay.contradicted),
    Event.SUPERSEDED: _of_life(Replay.superseded),
    Event.FORGOTTEN: _of_life(Replay.forgotten),
    Event.RESTORED: _of_life(Replay.restored),
    Event.EVICTED: _of_life(Replay.evicted),
    Event.EXPIRED: _of_life(Replay.evicted),
    Event.STATE: _of_life(Replay.moved),
    Event.MERGED: _of_life(Replay.merged),
    Event.UNMERGED: _of_life(Replay.unmerged),
    Event.PINNED: _of_life(Replay.pinned),
    Event.UNPINNED: _of_life(Replay.pinned),
    Event.ERASED: Replay.erased,
}

_TOUCHING = frozenset(
    {
        Event.SAVED,
        Event.SHOWN,
        Event.USED,
        Event.CONFIRMED,
        Event.CONTRADICTED,
        Event.SUPERSEDED,
        Event.FORGOTTEN,
        Event.RESTORED,
        Event.PINNED,
        Event.UNPINNED,
        Event.ACTIVITY,
    }
)
"""What counts as activity of a scope; what the daily run does by itself doesn't."""
