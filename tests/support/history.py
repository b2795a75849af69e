"""Random lives of memories: everything that can happen to them, in an order that a seed or hypothesis decides."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ebbing.lifecycle.constants import DecaySettings
from ebbing.lifecycle.decay import decay
from ebbing.lifecycle.eviction import evict
from ebbing.lifecycle.gists import make_gists
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.merges import merged, unmerged
from ebbing.schemas.ids import new_id
from ebbing.schemas.instants import MICROSECONDS_PER_DAY, parse
from ebbing.schemas.memory import Kind, Memory, NewMemory
from ebbing.store.graph import Link
from ebbing.store.store import Store

SCOPES = ("/projects/one", "/projects/two", "global")
_WORDS = [
    "café",
    "日本語",
    "fish\ttab",
    "",
    "double\nline",
    "🐟",
    "deploy",
    "the",
    "cache",
    "because",
    "it",
    "failed",
    "never",
    "0x1f",
]
_TOLD = ["harbour", "lantern", "bridge", "engine", "garden", "window", "ledger", "candle", "bucket", "ladder"]

DERIVED = (
    "SELECT m.id, m.trust, m.confirmations, m.pinned, m.valid_to, m.superseded_by, m.expires_at, m.forgotten_at,"
    " m.evicted_at, m.merged_into, m.importance, m.valid_from, m.kind, m.tags, m.source, m.actor,"
    " s.state, s.uses, s.spaced_uses, s.last_use_at, s.anchor_tau, s.association, s.activation,"
    " s.activation_tau, s.stability, s.rate, s.heat_day, s.heat_mask FROM memory m JOIN strength s USING (seq)"
    " ORDER BY seq"
)


class History:
    """A store and what happens in it; `now` moves with the history, mostly forwards."""

    def __init__(self, home: Path, rng: random.Random, settings: DecaySettings) -> None:
        self.rng = rng
        self.settings = settings
        self.now = parse("2026-03-02T09:00:00Z")
        self.store = Store(home, self.now, model_name="none", dimension=128)
        self.ledger = Ledger(self.store, settings)
        self.texts: dict[str, str] = {}
        """The verbatim text of every memory that nobody erased and no undo time ran out for."""
        self.steps: dict[str, tuple[float, Callable[[], object]]] = {
            "save": (6, self.save),
            "show": (8, self.show),
            "use": (6, lambda: self.ledger.used(self.some(), self.now)),
            "reuse": (4, lambda: self.ledger.reused(self.some(), self.now, new_id(self.now))),
            "confirm": (3, self.confirm),
            "contradict": (2, lambda: self.ledger.contradicted(self.some(), self.now)),
            "supersede": (1, self.supersede),
            "forget": (2, lambda: self.ledger.forgotten(self.some(), self.now)),
            "restore": (2, lambda: self.ledger.restored(self.some(), self.now)),
            "pin": (1, lambda: self.ledger.pinned(self.some(), self.now, pinned=rng.random() < 0.5)),
            "erase": (1, self.erase),
            "work": (8, lambda: self.ledger.activity(rng.choice(SCOPES), self.now)),
            "time": (6, self.time),
            "merge": (3, self.merge),
            "part": (2, self.part),
            "gist": (0.5, lambda: make_gists(self.store, self.ledger, None, self.now)),
            "story": (0.2, self.story),
            "decay": (2, self.decay),
            "evict": (1, self.evict),
        }

    def __enter__(self) -> Self:
        self.save()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def live(self, events: int) -> None:
        """Let so many things happen."""
        names = list(self.steps)
        for name in self.rng.choices(names, [self.steps[name][0] for name in names], k=events):
            # One transaction that waits for no disk: a test has no power cuts.
            with self.store.atomic(durable=False):
                self.steps[name][1]()

    def some(self) -> Memory:
        """Any memory; there always is one."""
        if not self.texts:
            self.save()
        [memory] = self.store.memories.by_ids([self.rng.choice(list(self.texts))])
        return memory

    def story(self) -> None:
        """Some related things happen and fade."""
        scope = self.rng.choice(SCOPES)
        told: list[tuple[int, NewMemory]] = []
        for chapter in range(4):
            words = self.rng.sample(_TOLD, 4)
            text = f"In chapter {chapter} of {len(self.texts)} the {' '.join(words)} did not break."
            new = NewMemory(new_id(self.now), scope, Kind.EPISODE, text, self.now, text, text[:10], text)
            seq = self.ledger.saved(new, self.now)
            links = [Link(seq, before, "similar", 0.9) for before, _ in told]
            self.store.graph.connect(links)
            self.ledger.linked(new, links, self.now)
            told.append((seq, new))
            self.texts[new.id] = text
        for _ in range(15):
            self.now += MICROSECONDS_PER_DAY
            self.ledger.activity(scope, self.now)
        self.decay()
        make_gists(self.store, self.ledger, None, self.now)

    def save(self) -> None:
        rng = self.rng
        text = f"{len(self.texts)} " + " ".join(rng.choices(_WORDS, k=rng.randint(1, 60)))
        new = NewMemory(
            id=new_id(self.now),
            scope=rng.choice(SCOPES),
            kind=rng.choice(list(Kind)),
            content=text,
            recorded_at=self.now,
            gist=text[:40],
            cue=text[:10],
            index_text=text,
            importance=rng.random(),
            arousal=rng.random(),
            trust=rng.choice([0.4, 0.6, 0.8, 1.0]),
            pinned=rng.random() < 0.05,
            valid_to=self.now + MICROSECONDS_PER_DAY if rng.random() < 0.1 else None,
            expires_at=self.now + rng.randint(1, 40) * MICROSECONDS_PER_DAY if rng.random() < 0.1 else None,
        )
        before = [self.some() for _ in range(rng.randint(0, 4))] if self.texts else []
        with self.store.atomic(durable=False):
            seq = self.ledger.saved(new, self.now)
            links = [Link(seq, memory.seq, "similar", rng.uniform(0.2, 1.0)) for memory in before]
            self.store.graph.connect(links)
            self.ledger.linked(new, links, self.now)
        self.texts[new.id] = text

    def show(self) -> None:
        memories = {memory.id: memory for memory in (self.some() for _ in range(self.rng.randint(1, 5)))}
        self.ledger.shown(self.rng.choice(SCOPES), list(memories.values()), new_id(self.now), {}, self.now)

    def confirm(self) -> None:
        """Somebody says it again, and something about it, or finds it right."""
        rng, memory = self.rng, self.some()
        said = {
            "tags": [*memory.tags, f"tag {len(memory.tags)}"],
            "kind": str(rng.choice([Kind.DECISION, Kind.PREFERENCE])),
            "importance": rng.random(),
            "pinned": True,
            "valid_from": self.now,
            "valid_to": self.now + 40 * MICROSECONDS_PER_DAY,
            "expires_at": self.now + 90 * MICROSECONDS_PER_DAY,
            "source": "README.md",
            "actor": "user",
        }
        stated = {name: value for name, value in said.items() if rng.random() < 0.1}
        trust = rng.choice([0.0, 0.0, 0.8, 1.0])
        self.ledger.confirmed(memory, self.now, at_least=trust, stated=stated)

    def supersede(self) -> None:
        by = self.some().id if self.rng.random() < 0.7 else None
        self.ledger.superseded(self.some(), by, self.now, self.now)

    def erase(self) -> None:
        memory = self.some()
        self.ledger.erased([memory], self.now)
        del self.texts[memory.id]

    def merge(self) -> None:
        """Merge any two that may be, as if they said the same."""
        one, other = self.some(), self.some()
        standing = self.store.copies.standing([one.id, other.id])
        if one.id in standing and other.id in standing and one.id != other.id and one.scope == other.scope:
            merged(self.store, one, other, self.now, None, self.settings)

    def part(self) -> None:
        """Undo a merge, if there is one to undo."""
        copies = [memory for memory in self.store.memories.by_ids(list(self.texts)) if memory.merged_into is not None]
        if copies:
            unmerged(self.store, self.rng.choice(copies), self.now, None, self.settings)

    def time(self) -> None:
        """Hours or weeks pass; now and then the machine's clock jumps back."""
        days = self.rng.choice([0.1, 0.5, 1, 1, 2, 7, 30, -1.5])
        self.now += round(days * MICROSECONDS_PER_DAY)

    def decay(self) -> None:
        decay(self.store, self.now, self.settings)

    def evict(self) -> None:
        evict(self.store, self.now, self.settings, free_bytes=lambda: 1 << 40)
        left = self.store.rebuilding.seqs()
        self.texts = {identifier: text for identifier, text in self.texts.items() if identifier in left}

    def derived(self) -> list[tuple[Any, ...]]:
        """Every derived column of every memory, then every clock, then every link."""
        database = self.store.database
        return [
            *database.rows(DERIVED),
            *database.rows("SELECT * FROM scope ORDER BY id"),
            *database.rows("SELECT * FROM link ORDER BY seq, other, relation"),
        ]
