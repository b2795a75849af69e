"""Pairs of statements: read from TOML, saved one after the other, and what the second did to the first."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ebbing.encoding.embedder import Embedder
from ebbing.encoding.writer import Draft, prepare
from ebbing.lifecycle.ledger import Ledger
from ebbing.lifecycle.recorder import Recorder, Written
from ebbing.schemas.memory import Kind
from ebbing.store.store import Store

NAMES = {"added": "add", "confirmed": "confirm", "updated": "update", "superseded": "supersede"}
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, the operations that are right for the second, and why."""

    group: str
    old: str
    new: str
    expect: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what was done; `wrong` says that a true statement was ended."""

    pair: Pair
    operation: str

    @property
    def is_right(self) -> bool:
        """Whether the operation is one of those expected."""
        return self.operation in self.pair.expect

    @property
    def is_wrong_supersede(self) -> bool:
        """Whether the first statement was ended although it stands."""
        return self.operation == "supersede" and "supersede" not in self.pair.expect


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file, in its order."""
    rows = tomllib.loads(path.read_text("utf-8"))["pair"]
    return [Pair(row["class"], row["old"], row["new"], tuple(row["expect"]), row["why"]) for row in rows]


def judge(pairs: Sequence[Pair], store: Store, embedder: Embedder) -> list[Judged]:
    """Save each pair in a scope of its own."""
    writer = _Writer(store, embedder)
    judged: list[Judged] = []
    for number, pair in enumerate(pairs):
        scope = f"/pairs/{number}"
        writer.write(pair.old, scope)
        judged.append(Judged(pair, NAMES[writer.write(pair.new, scope).operation]))
    return judged


def wrong_in_company(pairs: Sequence[Pair], store: Store, embedder: Embedder) -> list[tuple[str, str]]:
    """Save all first statements in one scope, then all second ones: (ended, by) where another pair's was ended."""
    writer = _Writer(store, embedder)
    olds = {writer.write(pair.old, "/company").id: pair for pair in pairs}
    wrong: list[tuple[str, str]] = []
    for pair in pairs:
        ended = [olds[name] for name in writer.write(pair.new, "/company").superseded if name in olds]
        wrong += [(one.old, pair.new) for one in ended if one is not pair and one.old != pair.old]
    return wrong


class _Writer:
    """Saves sentences as facts, a second apart."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._recorder = Recorder(store, Ledger(store))
        self._embedder = embedder
        self._now = 10**15

    def write(self, text: str, scope: str) -> Written:
        self._now += _SECOND
        draft = Draft(content=text, scope=scope, kind=Kind.FACT, recorded_at=self._now, trust=1.0)
        [prepared] = prepare([draft], self._embedder)
        return self._recorder.write(prepared, self._now)
