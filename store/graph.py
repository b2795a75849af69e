"""The association graph and the entities that memories share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..schemas.memory import Entity
from .database import Database

_PLACES = 500

GIST: Final = "gist"
"""From a gist to a memory that it sums up, and back. It keeps neither of them from fading."""
COPY: Final = "copy"
"""From a memory to a near-duplicate that was merged into it, and back."""


@dataclass(frozen=True, slots=True)
class Link:
    """A weighted relation from one memory (by seq) to another."""

    seq: int
    other: int
    relation: str
    weight: float


class Graph:
    """Read and write links and entities."""

    def __init__(self, database: Database) -> None:
        """Read and write through `database`."""
        self._database = database

    def connect(self, links: Sequence[Link]) -> None:
        """Store links, from both ends; a stronger weight replaces a weaker one of the same relation.

        Links from or to memories that were erased since they were read are left out.
        """
        reverse = [Link(link.other, link.seq, link.relation, link.weight) for link in links]
        rows = [(link.seq, link.other, link.relation, link.weight) for link in [*links, *reverse]]
        with self._database.part():
            self._database.executemany(
                # Whether they are there is asked of the table with the smallest rows: every memory has figures.
                "INSERT INTO link SELECT seq, ?2, ?3, ?4 FROM strength"
                " WHERE seq = ?1 AND EXISTS (SELECT 1 FROM strength WHERE seq = ?2) ON CONFLICT (seq, other, relation)"
                " DO UPDATE SET weight = max(weight, excluded.weight)",
                rows,
            )

    def disconnect(self, links: Sequence[Link]) -> None:
        """Take links away, in both directions, whatever their weight."""
        rows = [(link.seq, link.other, link.relation) for link in links]
        with self._database.atomic():
            self._database.executemany(
                "DELETE FROM link WHERE relation = ?3 AND ((seq = ?1 AND other = ?2) OR (seq = ?2 AND other = ?1))",
                rows,
            )

    def neighbours(self, seqs: Sequence[int], per_node: int = 30) -> list[Link]:
        """The strongest `per_node` links of each of some memories."""
        found: list[Link] = []
        with self._database.snapshot():
            for start in range(0, len(seqs), _PLACES):
                some = seqs[start : start + _PLACES]
                rows = self._database.execute(
                    "SELECT seq, other, relation, weight FROM (SELECT *, row_number() OVER"
                    " (PARTITION BY seq ORDER BY weight DESC, other) AS place FROM link"
                    f" WHERE seq IN ({','.join('?' * len(some))})) WHERE place <= ? ORDER BY seq, place",
                    (*some, per_node),
                )
                found.extend(Link(*row) for row in rows)
        return found

    def degrees(self, seqs: Sequence[int]) -> dict[int, int]:
        """How many links each of some memories has; memories without any are left out."""
        counts: dict[int, int] = {}
        with self._database.snapshot():
            for start in range(0, len(seqs), _PLACES):
                some = seqs[start : start + _PLACES]
                rows = self._database.execute(
                    f"SELECT seq, count(*) FROM link WHERE seq IN ({','.join('?' * len(some))}) GROUP BY seq", some
                )
                counts.update({int(seq): int(count) for seq, count in rows})
        return counts

    def mention(self, seq: int, entities: Sequence[Entity]) -> None:
        """Record that a memory names some entities."""
        with self._database.part():
            for entity in dict.fromkeys(entities):
                self._database.execute(
                    "INSERT INTO entity (kind, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (entity.kind, entity.value)
                )
                self._database.execute(
                    "INSERT INTO memory_entity SELECT id, ? FROM entity WHERE kind = ? AND value = ?"
                    " ON CONFLICT DO NOTHING",
                    (seq, entity.kind, entity.value),
                )

    def forget_mentions(self, seq: int) -> None:
        """Take back what a memory names; entities that nobody names any more stay until they are pruned."""
        with self._database.atomic():
            self._database.execute("DELETE FROM memory_entity WHERE seq = ?", (seq,))

    def mentions(self, values: Sequence[str], limit: int = 2_000) -> dict[str, list[int]]:
        """For each entity value (any kind), the newest memories (seqs) that name it."""
        found: dict[str, list[int]] = {}
        with self._database.snapshot():
            for value in dict.fromkeys(values):
                rows = self._database.execute(
                    "SELECT DISTINCT seq FROM memory_entity WHERE entity IN (SELECT id FROM entity WHERE value = ?)"
                    " ORDER BY seq DESC LIMIT ?",
                    (value, limit),
                )
                found[value] = [int(seq) for (seq,) in rows]
        return found

    def sharing(self, values: Sequence[str], scope: int, before: int, limit: int) -> dict[str, list[int]]:
        """For each entity value (any kind), the newest memories of a scope with a seq below `before` that name it."""
        with self._database.snapshot():
            return {value: self._newest_with(value, scope, before, limit) for value in dict.fromkeys(values)}

    def _newest_with(self, value: str, scope: int, before: int, limit: int) -> list[int]:
        found: set[int] = set()
        for (entity,) in list(self._database.execute("SELECT id FROM entity WHERE value = ?", (value,))):
            # The cross join keeps the order of the loops: newest first along the primary key, stopping at the limit.
            rows = self._database.execute(
                "SELECT e.seq FROM memory_entity e CROSS JOIN memory m ON m.seq = e.seq"
                " WHERE e.entity = ? AND e.seq < ? AND m.scope = ? ORDER BY e.seq DESC LIMIT ?",
                (entity, before, scope, limit),
            )
            found.update(int(seq) for (seq,) in rows)
        return sorted(found, reverse=True)[:limit]

    def before_in_session(self, seq: int, scope: int, session: str) -> int | None:
        """The memory of a session that was stored last before `seq`, or None."""
        found = self._database.value(
            "SELECT max(seq) FROM memory WHERE scope = ? AND session = ? AND seq < ?", (scope, session, seq)
        )
        return None if found is None else int(found)

    def named_by(self, seqs: Sequence[int]) -> list[int]:
        """The row ids of the entities that some memories name."""
        found: set[int] = set()
        with self._database.snapshot():
            for start in range(0, len(seqs), _PLACES):
                some = seqs[start : start + _PLACES]
                rows = self._database.execute(
                    f"SELECT entity FROM memory_entity WHERE seq IN ({','.join('?' * len(some))})", some
                )
                found.update(int(entity) for (entity,) in rows)
        return sorted(found)

    def prune_entities(self, entities: Sequence[int] | None = None) -> None:
        """Remove entities that no memory names any more: of some (by row id), or of all."""
        unnamed = "DELETE FROM entity WHERE NOT EXISTS (SELECT 1 FROM memory_entity WHERE entity = entity.id)"
        with self._database.atomic():
            if entities is None:
                self._database.execute(unnamed)
            else:
                self._database.executemany(f"{unnamed} AND id = ?", [(entity,) for entity in entities])
