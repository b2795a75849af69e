"""Derived columns written anew, for memories whose values were worked out from the journal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..schemas.activity import ActivityClock
from ..schemas.memory import Strength
from .database import Database
from .meta import Meta
from .scopes import Scopes

_PLACES = 500
RESTATED: Final = frozenset({"kind", "tags", "importance", "valid_from", "source", "actor"})
"""Columns that are as they were saved, unless a later statement changed them."""


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived columns of one memory: those of `strength`, and those of `memory` that events change.

    `figures.bit_width`, `association`, `stability` and `rate` are not used: the vectors know the first, and the others
    follow from the rest. `stated` are the other columns that changed after the memory was saved.
    """

    seq: int
    trust: float
    confirmations: int
    pinned: bool
    valid_to: int | None
    superseded_by: str | None
    expires_at: int | None
    forgotten_at: int | None
    evicted_at: int | None
    merged_into: str | None
    stated: Mapping[str, Any]
    figures: Strength


class Rebuilding:
    """Writes derived columns."""

    def __init__(self, database: Database, meta: Meta, scopes: Scopes) -> None:
        """Write through `database`."""
        self._database = database
        self._meta = meta
        self._scopes = scopes

    def seqs(self) -> dict[str, int]:
        """Every memory's seq by id."""
        return {str(name): int(seq) for name, seq in self._database.rows("SELECT id, seq FROM memory")}

    def seqs_of(self, ids: Collection[str]) -> dict[str, int]:
        """The seqs of some memories by id; those that are gone are left out."""
        found: dict[str, int] = {}
        names = sorted(ids)
        with self._database.snapshot():
            for start in range(0, len(names), _PLACES):
                some = names[start : start + _PLACES]
                rows = self._database.execute(
                    f"SELECT id, seq FROM memory WHERE id IN ({','.join('?' * len(some))})", some
                )
                found.update({str(name): int(seq) for name, seq in rows})
        return found

    def write(self, memories: Iterable[Derived], clocks: Mapping[int, ActivityClock]) -> None:
        """Replace the derived columns of some memories and the clocks of some scopes, at once."""
        with self._database.atomic():
            revision = self._meta.next_revision()
            for memory in memories:
                self._write(memory, revision)
            for scope, clock in clocks.items():
                self._scopes.set_clock(scope, clock)

    def _write(self, memory: Derived, revision: int) -> None:
        self._database.execute(
            "UPDATE memory SET trust = ?, confirmations = ?, pinned = ?, valid_to = ?, superseded_by = ?,"
            " expires_at = ?, forgotten_at = ?, evicted_at = ?, merged_into = ?, version = version + 1 WHERE seq = ?",
            (
                memory.trust,
                memory.confirmations,
                int(memory.pinned),
                memory.valid_to,
                memory.superseded_by,
                memory.expires_at,
                memory.forgotten_at,
                memory.evicted_at,
                memory.merged_into,
                memory.seq,
            ),
        )
        for name in RESTATED & memory.stated.keys():
            self._database.execute(f"UPDATE memory SET {name} = ? WHERE seq = ?", (memory.stated[name], memory.seq))
        figures = memory.figures
        self._database.execute(
            "UPDATE strength SET state = ?, uses = ?, spaced_uses = ?, last_use_at = ?, anchor_tau = ?, activation = ?,"
            " activation_tau = ?, heat_day = ?, heat_mask = ?, rev = ?,"
            " bit_width = coalesce((SELECT bit_width FROM vector WHERE vector.seq = strength.seq), bit_width)"
            " WHERE seq = ?",
            (
                int(figures.state),
                figures.uses,
                figures.spaced_uses,
                figures.last_use_at,
                figures.anchor_tau,
                figures.activation,
                figures.activation_tau,
                figures.heat_day,
                figures.heat_mask,
                revision,
                memory.seq,
            ),
        )
