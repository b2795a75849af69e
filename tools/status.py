"""status: what the store holds and when it was last tidied."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..schemas.instants import iso
from ..schemas.memory import State
from .checks import scope_key
from .services import Services


def status(services: Services, scope: str | None = None) -> dict[str, Any]:
    """Counts by state and kind for one scope, and the store's size, model and daily run.

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
    next_due = services.daily.next_due()
    report = services.daily.last_report()
    return {
        "scope": key,
        "memories": sum(by_state.values()),
        "by_state": {state.label: by_state[state.label] for state in State},
        "by_kind": dict(sorted(by_kind.items())),
        "all_scopes": {"scopes": len(store.scopes.keys()), "memories": store.memories.count()},
        "database": {"path": str(store.database.path), "bytes": store.database.size(), "schema": store.schema},
        "spool_bytes": store.spool.pending_bytes(),
        "embedded": store.vectors.count(),
        "next_run": None if next_due is None else iso(next_due),
        "last_run": None if report is None else iso(report.at),
        "last_changes": {} if report is None else {step.name: step.changed for step in report.steps},
    }
