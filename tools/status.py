"""status: what the store holds and when it was last tidied."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..lifecycle.constants import DecaySettings
from ..lifecycle.eviction import usage
from ..schemas.instants import MICROSECONDS_PER_DAY, iso
from ..schemas.memory import Event, State
from .checks import scope_key
from .services import Services

_SHOWN = 5
_LEAVING = (Event.EVICTED, Event.EXPIRED)


def status(services: Services, scope: str | None = None) -> dict[str, Any]:
    """Counts by state and kind for one scope, and the store's size, budget, evictions, model and daily run.

    Raises:
        StoreError: if the store can't be read.
    """
    key = scope_key(services, scope)
    store = services.store
    counts = store.memories.counts(key)
    by_state: Counter[str] = Counter()
    by_kind: Counter[str] = Counter()
    for kind, state, count in counts:
        by_state[State(state).label] += count
        by_kind[kind] += count
    held = usage(store)
    next_due = services.daily.next_due()
    report = services.daily.last_report()
    return {
        "scope": key,
        "memories": sum(by_state.values()),
        "by_state": {state.label: by_state[state.label] for state in State},
        "by_kind": dict(sorted(by_kind.items())),
        "all_scopes": {"scopes": len(store.scopes.keys()), "memories": store.memories.count()},
        "database": {"path": str(store.database.path), "bytes": store.database.size(), "schema": store.schema},
        "budget": {
            "memories": held.memories,
            "of_memories": services.decay.budget_memories,
            "bytes": held.bytes,
            "of_bytes": services.decay.budget_bytes,
            "evicted": held.evicted,
            "restorable_until": None if held.oldest is None else iso(_gone_at(held.oldest, services.decay)),
        },
        "evictions": [
            {"at": iso(at), "event": str(event), "memories": count}
            for at, event, count in store.journal.batches(_LEAVING, _SHOWN)
        ],
        "evicted": [
            {"id": identifier, "cue": cue, "at": iso(at)} for identifier, cue, at in store.evictions.newest(key, _SHOWN)
        ],
        "spool_bytes": store.spool.pending_bytes(),
        "embedded": store.vectors.count(),
        "merged": store.copies.count(),
        "gists": store.gists.count(),
        "next_run": None if next_due is None else iso(next_due),
        "last_run": None if report is None else iso(report.at),
        "last_changes": {} if report is None else {step.name: step.changed for step in report.steps},
        "last_finished": None if report is None else report.finished,
        "last_failures": {} if report is None else {step.name: step.detail for step in report.steps if step.failed},
    }


def learned_facts(services: Services, *, reset: bool = False) -> dict[str, Any]:
    """By class of question, the weight of the signals so far and what each channel's contribution is multiplied with.

    `every` stands for all classes, and for those without signals of their own; `believed`, 0 to 1, says how much the
    multipliers let what was learned count, by how well it has foreseen the signals.

    With `reset` it is forgotten first; whether there was anything is told.

    Raises:
        StoreError: if the store can't be read, or written for a reset.
    """
    done = services.lessons.reset(services.clock()) if reset else False
    known = services.lessons.known()
    signals = {name: one.signals for name, one in known.classes.items()}
    learned = {
        name: {
            "signals": round(signals.get(name, known.signals), 3),
            "multipliers": {channel: round(value, 4) for channel, value in multipliers.items()},
        }
        for name, multipliers in known.multipliers().items()
    }
    return {"reset": done, "believed": round(known.belief, 4) if learned else 0.0, "learned": learned}


def _gone_at(evicted_at: int, settings: DecaySettings) -> int:
    """When a memory evicted at some instant (µs) is removed for good."""
    return evicted_at + round(settings.undo_days * MICROSECONDS_PER_DAY)
