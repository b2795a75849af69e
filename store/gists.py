"""Gists and their sources, as the store knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..schemas.memory import Kind, State
from .database import Database
from .graph import GIST
from .meta import Meta
from .placeholders import marks, slices

_KINDS: Final = ", ".join(f"'{kind}'" for kind in (Kind.EPISODE, Kind.FACT))
_SHARE_FADED: Final = 2


class Gists:
    """Reads which memories are gists, of what, and which could become the sources of one."""

    def __init__(self, database: Database, meta: Meta) -> None:
        """Read and write through `database`."""
        self._database = database
        self._meta = meta

    def fading(self, seqs: Sequence[int]) -> list[int]:
        """Those of some memories that may be summed up: faded episodes and facts in force that no gist quotes yet."""
        found: list[int] = []
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    "SELECT m.seq FROM memory m JOIN strength s USING (seq)"
                    f" WHERE m.seq IN ({marks(some)}) AND m.kind IN ({_KINDS}) AND s.state >= {int(State.COLD)}"
                    " AND m.pinned = 0 AND m.gist_of IS NULL AND m.merged_into IS NULL AND m.forgotten_at IS NULL"
                    " AND m.evicted_at IS NULL AND m.superseded_by IS NULL AND m.valid_to IS NULL"
                    " AND m.expires_at IS NULL"
                    f" AND NOT EXISTS (SELECT 1 FROM link l WHERE l.seq = m.seq AND l.relation = '{GIST}')",
                    some,
                )
                found += [int(seq) for (seq,) in rows]
        return sorted(found)

    def quoting(self, seqs: Sequence[int]) -> list[int]:
        """The gists (seqs) of which some memories are sources."""
        return self._joined(seqs, "g.gist_of IS NOT NULL")

    def sources(self, gists: Sequence[int]) -> list[int]:
        """The memories (seqs) that some gists sum up."""
        return self._joined(gists, "g.gist_of IS NULL")

    def stale(self, now: int) -> list[int]:
        """Gists of which a source was forgotten, replaced, merged, or is no longer valid at `now` (µs)."""
        rows = self._database.rows(
            "SELECT DISTINCT g.seq FROM memory g JOIN link l ON l.seq = g.seq JOIN memory m ON m.seq = l.other"
            f" WHERE g.gist_of IS NOT NULL AND l.relation = '{GIST}' AND (m.forgotten_at IS NOT NULL"
            " OR m.superseded_by IS NOT NULL OR m.merged_into IS NOT NULL OR m.valid_to <= ?) ORDER BY g.seq",
            (now,),
        )
        return [int(seq) for (seq,) in rows]

    def settle(self) -> int:
        """Let those gists be shown of whose sources half are archived, forgotten or gone; how many changed.

        The others lead to their sources, which still say it themselves.
        """
        with self._database.atomic(durable=False):
            rows = list(
                self._database.execute(
                    "SELECT g.seq, g.dormant, (SELECT count(*) FROM link l JOIN strength s ON s.seq = l.other"
                    f" WHERE l.seq = g.seq AND l.relation = '{GIST}' AND s.state < {int(State.ARCHIVE)})"
                    f" * {_SHARE_FADED} > g.gist_of FROM memory g WHERE g.gist_of IS NOT NULL"
                )
            )
            changed = [(int(dormant), int(seq)) for seq, before, dormant in rows if before != dormant]
            if changed:
                revision = self._meta.next_revision()
                self._database.executemany(
                    "UPDATE memory SET dormant = ?, version = version + 1 WHERE seq = ?", changed
                )
                self._database.executemany(
                    "UPDATE strength SET rev = ? WHERE seq = ?", [(revision, seq) for _, seq in changed]
                )
        return len(changed)

    def count(self) -> int:
        """How many gists there are."""
        return int(self._database.value("SELECT count(*) FROM memory WHERE gist_of IS NOT NULL"))

    def _joined(self, seqs: Sequence[int], condition: str) -> list[int]:
        found: set[int] = set()
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    "SELECT DISTINCT l.other FROM link l JOIN memory g ON g.seq = l.other"
                    f" WHERE l.seq IN ({marks(some)}) AND l.relation = '{GIST}' AND {condition}",
                    some,
                )
                found.update(int(seq) for (seq,) in rows)
        return sorted(found)
