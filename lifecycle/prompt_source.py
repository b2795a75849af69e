"""What a scope's soft prompt may be made of, read from the store.

Retention is taken as of the scope's last activity, and without the two terms of stability that other memories move
(association, activation): what time alone changes would change the prompt from day to day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..encoding.words import match_expression
from ..schemas.memory import GLOBAL_SCOPE, Event, Kind, Memory
from ..store.catalog import KINDS, Columns
from ..store.store import Store
from . import clock as activity
from . import strength as formulas
from .constants import DecaySettings
from .fold import Facts
from .prompt_sections import CUE_WORDS
from .soft_prompt import Scored, worth

KNOWLEDGE: Final = (Kind.PREFERENCE, Kind.DECISION, Kind.PROCEDURE)
TOLD: Final = (Kind.FACT, Kind.EPISODE)
_KNOWLEDGE_READ: Final = 1_500
_TOLD_READ: Final = 300


def scored(store: Store, scope: str, settings: DecaySettings) -> list[Scored]:
    """The memories of a scope and of `global` that a soft prompt may hold, and others that it is asked about.

    Raises:
        StoreError: if the store can't be read.
    """
    scopes = [row for key in dict.fromkeys((scope, GLOBAL_SCOPE)) if (row := store.scopes.find(key)) is not None]
    with store.snapshot():
        columns = store.catalog.columns()
        seqs = _chosen(store, columns, scopes)
        memories = store.memories.by_seqs(seqs)
        wrong = disputed(store)
        at_rest = {key: _tau_at_rest(store, key, settings) for key in {memory.scope for memory in memories}}
    retained = ((memory, retention(memory, at_rest[memory.scope], settings)) for memory in memories)
    return [Scored(memory, kept, worth(memory, kept), memory.id in wrong) for memory, kept in retained]


def disputed(store: Store) -> set[str]:
    """Ids of the memories that were said to be wrong and not confirmed since, and of what speaks for them by now.

    Raises:
        StoreError: if the store can't be read.
    """
    said = store.journal.disputed()
    found = set(said)
    for memory in store.memories.with_ids(list(said)):
        [speaking] = store.memories.speaking_for([memory])
        history = store.journal.of_memory(speaking.id)
        if not any(one.event is Event.CONFIRMED and one.number > said[memory.id] for one in history):
            found.add(speaking.id)
    return found


def retention(memory: Memory, tau: float, settings: DecaySettings) -> float:
    """R at `tau` (days) of the memory's scope, from what happened to the memory itself; 1 for pinned ones."""
    if memory.pinned:
        return 1.0
    facts = Facts.of(memory, settings)
    days = formulas.stability(
        facts.base_days,
        spaced_uses=memory.strength.spaced_uses,
        importance=facts.importance,
        confirmations=float(facts.confirmations),
        arousal=facts.arousal,
        settings=settings,
    )
    rate = formulas.decay_rate(days, facts.trust, settings)
    return formulas.retention(rate, tau - memory.strength.anchor_tau)


def _tau_at_rest(store: Store, scope: str, settings: DecaySettings) -> float:
    number = store.scopes.find(scope)
    clock = None if number is None else store.scopes.clock(number)
    return 0.0 if clock is None else activity.tau(clock, clock.latest, settings)


def _chosen(store: Store, columns: Columns, scopes: Sequence[int]) -> list[int]:
    """Seqs: knowledge and pinned ones, and of facts and episodes those that insist or hold a telling word."""
    here = columns.in_scopes(scopes) & ~columns.forgotten
    knowledge = here & (_of_kinds(columns, KNOWLEDGE) | columns.pinned)
    told = here & _of_kinds(columns, TOLD) & ~columns.superseded & ~columns.pinned
    found = store.lexical.search(match_expression(CUE_WORDS), list(scopes), 2 * _TOLD_READ)
    worded = [seq for seq, _ in found if seq < len(told) and told[seq]]
    chosen = [*_best(columns, knowledge, _KNOWLEDGE_READ), *_best(columns, told, _TOLD_READ), *worded[:_TOLD_READ]]
    return sorted(set(chosen))


def _of_kinds(columns: Columns, kinds: Sequence[Kind]) -> NDArray[np.bool_]:
    return np.isin(columns.kind, [KINDS.index(kind) for kind in kinds])


def _best(columns: Columns, mask: NDArray[np.bool_], limit: int) -> list[int]:
    """The first seqs by trust and importance, then the latest used or saved: by nothing that drifts."""
    seqs = np.flatnonzero(mask)
    weight = columns.trust[seqs] * (1.0 + columns.importance[seqs])
    order = np.lexsort((seqs, -columns.anchor_tau[seqs], -weight, ~columns.pinned[seqs]))
    return [int(seq) for seq in seqs[order[:limit]]]
