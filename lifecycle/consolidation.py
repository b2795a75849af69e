"""Consolidation: observations become episodes, decisions, fixes, preferences and procedures, and noise is left to fade.

By rules and in the words that were said. A turn is a transaction: what it became, the links to the observations it was
made of, and the mark that they are done with. A process killed at any point has done whole turns, and the next one goes
on; a turn that another process was quicker with is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..encoding.associate import DERIVED
from ..encoding.embedder import Embedder
from ..encoding.told import Claim, told_by_agent, told_by_user
from ..encoding.writer import Draft, Prepared, prepare, presentable
from ..schemas.errors import InvalidInputError
from ..schemas.memory import Kind, Memory, Provenance
from ..store.graph import Link
from ..store.store import Store
from .constants import DEFAULTS, DecaySettings
from .episodes import episodes
from .feedback import starting_trust
from .ledger import Ledger
from .lessons import lessons
from .observed import Act, Observed, read
from .recorder import Recorder
from .turns import Turn, is_over, turns
from .weak_uses import WeakUses

_READ = 400
_TOOL = "consolidate"
_LINK_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Consolidated:
    """How many observations were looked at, of how many something came, and how many memories are new or confirmed.

    `reused` counts the memories that a reply made use of after a recall had shown them.
    """

    observations: int = 0
    telling: int = 0
    added: int = 0
    confirmed: int = 0
    reused: int = 0

    def __add__(self, other: Consolidated) -> Consolidated:
        """The counts of both."""
        return Consolidated(
            self.observations + other.observations,
            self.telling + other.telling,
            self.added + other.added,
            self.confirmed + other.confirmed,
            self.reused + other.reused,
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What a turn teaches: a memory to be, and the observations it was made of."""

    draft: Draft
    sources: tuple[Memory, ...]


class Consolidator:
    """Turns what waits in one store into knowledge."""

    def __init__(self, store: Store, ledger: Ledger, settings: DecaySettings = DEFAULTS) -> None:
        """Write to `store` through `ledger`."""
        self._store = store
        self._ledger = ledger
        self._settings = settings
        self._recorder = Recorder(store, ledger, settings)
        self._weak_uses = WeakUses(store, ledger, settings)

    def run(
        self,
        now: int,
        embedder: Embedder | None,
        *,
        whole: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Consolidated:
        """Consolidate the turns that are over at `now` (µs), oldest first; with `whole` also those still going on.

        Raises:
            StoreError: if the store can't be written; the turns before are done.
            ModelError: if the embedder fails; the turns before are done.
        """
        done = Consolidated()
        while ready := self._ready(now, whole=whole):
            for turn in ready:
                if stopped():
                    return done
                done += self._consolidate(turn, now, embedder)
        return done

    def pending(self) -> int:
        """How many observations wait, those of turns still going on included."""
        return self._store.pending.count()

    def _ready(self, now: int, *, whole: bool) -> list[Turn]:
        """The turns that are over of those read this time, in the order in which they began."""
        found = [turn for turns_read in self._read() for turn in turns_read if whole or is_over(turn, now)]
        return sorted(found, key=lambda turn: (turn[0].memory.recorded_at, turn[0].memory.seq))

    def _read(self) -> Iterator[list[Turn]]:
        room = _READ
        for scope, session in self._store.pending.groups():
            seqs = self._store.pending.of_group(scope, session, room)
            found = turns([read(memory) for memory in self._store.memories.by_seqs(seqs)])
            # The last turn may go on beyond what was read.
            yield found[:-1] if len(seqs) == room and len(found) > 1 else found
            room -= len(seqs)
            if room <= 0:
                return

    def _consolidate(self, turn: Turn, now: int, embedder: Embedder | None) -> Consolidated:
        findings = list(_findings(turn, self._settings))
        prepared = _prepared(findings, embedder)
        near = [self._recorder.near(ready) for ready, _ in prepared]
        uses = self._weak_uses.found(turn)
        observations = [event.memory for event in turn]
        became: list[str] = []
        telling: set[int] = set()
        with self._store.atomic(durable=False):
            waiting = self._store.pending.has_all([observation.seq for observation in observations])
            # Another process may have cut an erased text out of them: what was made of it must not be written.
            if not waiting or not self._store.memories.unchanged(observations):
                return Consolidated()
            before = self._store.memories.count()
            for (ready, sources), neighbours in zip(prepared, near, strict=True):
                became.append(self._write(ready, sources, neighbours, now))
                telling.update(source.seq for source in sources)
            reused = self._weak_uses.record(uses)
            self._ledger.consolidated(observations[0].scope, observations, became, now)
            added = self._store.memories.count() - before
        return Consolidated(len(turn), len(telling), added, len(prepared) - added, reused)

    def _write(self, prepared: Prepared, sources: Sequence[Memory], near: Mapping[int, float], now: int) -> str:
        written = self._recorder.write(prepared, now, near=near, unattended=True)
        [memory] = self._store.memories.by_ids([written.id])
        links = [Link(memory.seq, source.seq, DERIVED, _LINK_WEIGHT) for source in sources]
        self._store.graph.connect(links)
        self._ledger.linked(memory, links, now)
        return written.id


def _findings(turn: Turn, settings: DecaySettings) -> Iterator[Finding]:
    for event in turn:
        for claim in _claims(event):
            yield _finding(claim.kind, claim.text, event.memory.provenance.actor, (event,), claim.tags, settings)
    for lesson in lessons(turn):
        yield _finding(lesson.kind, lesson.text, "tool", lesson.sources, lesson.tags, settings)
    for episode in episodes(turn):
        yield _finding(Kind.EPISODE, episode.text, episode.actor, episode.sources, (), settings)


def _claims(event: Observed) -> tuple[Claim, ...]:
    """What somebody told; what tools print and pages say is never taken for anybody's word."""
    if event.act is Act.ASKED:
        return told_by_user(event.text)
    is_agents = event.memory.provenance.actor == "agent"
    return told_by_agent(event.text) if is_agents and event.act in (Act.SAID, Act.NOTED) else ()


def _finding(
    kind: Kind, text: str, actor: str, events: Sequence[Observed], tags: tuple[str, ...], settings: DecaySettings
) -> Finding:
    sources = tuple({event.memory.seq: event.memory for event in events}.values())
    last = sources[-1]
    origin = last.provenance
    draft = Draft(
        content=text,
        scope=last.scope,
        kind=kind,
        recorded_at=last.recorded_at,
        trust=starting_trust(actor, settings),
        tags=tags,
        provenance=Provenance(actor, origin.client, origin.session, _TOOL, origin.source),
    )
    return Finding(draft, sources)


def _prepared(findings: Sequence[Finding], embedder: Embedder | None) -> list[tuple[Prepared, tuple[Memory, ...]]]:
    """Findings ready for the store; one of which nothing may be kept is left out, and the others stay."""
    fit: list[Finding] = []
    for finding in findings:
        try:
            presentable(finding.draft.content)
        except InvalidInputError:
            continue
        fit.append(finding)
    ready = prepare([finding.draft for finding in fit], embedder)
    return [(one, finding.sources) for one, finding in zip(ready, fit, strict=True)]
