"""What is wrong with a store after a stress run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from _work import Record

from ebbing.lifecycle.rebuild import rebuild
from ebbing.server.engine import Engine
from ebbing.server.settings import Settings
from ebbing.store import checkup
from ebbing.store.store import Store

_MARKER: Final = re.compile(r"\bm\w+q\b")


@dataclass(slots=True)
class Found:
    """Markers that are not there, that are there twice or that ought to be gone, and what is broken."""

    lost: set[str] = field(default_factory=set[str])
    twice: set[str] = field(default_factory=set[str])
    unerased: set[str] = field(default_factory=set[str])
    broken: list[str] = field(default_factory=list[str])


def examine(home: Path, record: Record) -> Found:
    """Take in what waits in the spool, then compare the store with what was acknowledged."""
    with Engine(Settings(home=home, scope="/stress/project", background=False)) as engine:
        services = engine.services()
        services.observer.ingest(services.clock())
        counts: dict[str, Counter[str]] = {"observation": Counter(), "other": Counter()}
        store = services.store
        for batch in store.memories.all():
            for memory in batch:
                group = "observation" if memory.kind == "observation" else "other"
                counts[group].update(set(_MARKER.findall(memory.content)))
        found = _compared(record, counts)
        found.broken += store.integrity()
        found.broken += [str(row) for row in store.database.rows("PRAGMA foreign_key_check")]
        found.broken += _derived(store, services.clock())
    found.broken += _indexes(home)
    return found


def _compared(record: Record, counts: dict[str, Counter[str]]) -> Found:
    observed, other = counts["observation"], counts["other"]
    everywhere = observed + other
    return Found(
        lost={one for one in record.saved if not other[one]} | {one for one in record.observed if not everywhere[one]},
        # A marker of an observation may be quoted by what consolidation made of it, so only its own kind counts.
        twice={one for one in record.saved if other[one] > 1} | {one for one in record.observed if observed[one] > 1},
        unerased={one for one in record.erased if everywhere[one]},
    )


def _derived(store: Store, now: int) -> list[str]:
    """Whether the journal alone gives the figures that were lived."""
    query = "SELECT seq, uses, spaced_uses, last_use_at, anchor_tau, heat_day, heat_mask FROM strength ORDER BY seq"
    lived = store.database.rows(query)
    rebuild(store, now)
    again = store.database.rows(query)
    wrong = [f"memory {a[0]}: lived {a}, rebuilt {b}" for a, b in zip(lived, again, strict=True) if a != b]
    return wrong[:20]


def _indexes(home: Path) -> list[str]:
    found = checkup.examine(home / "memory.db")
    broken = [f"integrity: {line}" for line in found.integrity]
    broken += [f"{fault.part}: {fault.text}" for fault in found.faults]
    broken += [f"{found.unindexed} memories without words"] if found.unindexed else []
    broken += [f"{found.orphaned} index entries without a memory"] if found.orphaned else []
    return broken + [
        f"coarse index of {one.model}: {one.rows} of {one.expected}" for one in found.coarse if one.rows != one.expected
    ]
