"""Memories as rows: insert, read, change, remove. Every change stamps a revision that other processes notice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from ..schemas.errors import UnknownMemoryError
from ..schemas.memory import Kind, Memory, NewMemory, Strength
from .attic import unpack
from .database import Database
from .errors import intact
from .meta import Meta
from .placeholders import marks, slices
from .rows import (
    MEMORY_COLUMNS,
    MEMORY_SOURCE,
    STRENGTH_COLUMNS,
    insert_values,
    strength_values,
    to_memory,
    to_strength,
)
from .scopes import Scopes

_CHANGEABLE = frozenset(
    {
        "kind",
        "importance",
        "confirmations",
        "trust",
        "pinned",
        "tags",
        "valid_from",
        "valid_to",
        "superseded_by",
        "merged_into",
        "dormant",
        "expires_at",
        "forgotten_at",
        "source",
        "actor",
    }
)


_WORDED = (
    "content",
    "content_hash",
    "gist",
    "cue",
    "entities",
    "slots",
    "words",
    "characters",
    "speaker",
    "flags",
    "time_words",
)
"""The columns that follow from a memory's text."""


def content_hash(content: str) -> bytes:
    """The 16 bytes by which equal texts are found: BLAKE2b of the text with its white space folded."""
    folded = " ".join(content.split())
    return hashlib.blake2b(folded.encode("utf-8"), digest_size=16).digest()


class Memories:
    """The rows of `memory` and `strength`."""

    def __init__(self, database: Database, meta: Meta, scopes: Scopes) -> None:
        """Read and write through `database`."""
        self._database = database
        self._meta = meta
        self._scopes = scopes

    def insert(self, new: NewMemory, strength: Strength) -> int:
        """Store a memory and its strength, inside the caller's transaction; returns its seq."""
        with self._database.part():
            values = insert_values(new, self._scopes.ensure(new.scope), content_hash(new.content))
            names = ", ".join(values)
            places = ", ".join(f":{name}" for name in values)
            inserted = self._database.execute(
                f"INSERT INTO memory ({names}) VALUES ({places}) RETURNING seq", values
            ).fetchone()
            seq = int(inserted[0])  # type: ignore[index]
            self._database.execute(
                f"INSERT INTO strength (seq, rev, {STRENGTH_COLUMNS}) VALUES (?, ?{', ?' * 13})",
                (seq, self._meta.next_revision(), *strength_values(strength)),
            )
            if new.kind is Kind.OBSERVATION:
                self._database.execute("INSERT INTO pending VALUES (?)", (seq,))
        return seq

    def by_seqs(self, seqs: Sequence[int]) -> list[Memory]:
        """Memories in the order of `seqs`; those that are gone are left out."""
        found = {memory.seq: memory for memory in self._read("m.seq", seqs)}
        return [found[seq] for seq in seqs if seq in found]

    def by_ids(self, ids: Sequence[str]) -> list[Memory]:
        """Memories in the order of `ids`.

        Raises:
            UnknownMemoryError: naming the first id that is not in the store.
        """
        found = {memory.id: memory for memory in self._read("m.id", ids)}
        for identifier in ids:
            if identifier not in found:
                msg = f"no memory has the id {identifier}: it may have been erased; recall gives current ids"
                raise UnknownMemoryError(msg)
        return [found[identifier] for identifier in ids]

    def with_ids(self, ids: Sequence[str]) -> list[Memory]:
        """Those of some memories (by id) that are still there, by seq."""
        return sorted(self._read("m.id", ids), key=lambda memory: memory.seq)

    def gists(self, seqs: Sequence[int]) -> dict[int, str]:
        """The gists of some memories by seq."""
        found: dict[int, str] = {}
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    f"SELECT seq, gist FROM memory WHERE seq IN ({','.join('?' * len(some))})", some
                )
                found.update({int(seq): str(gist) for seq, gist in rows})
        return found

    def texts(self, seqs: Sequence[int]) -> dict[int, str]:
        """The verbatim texts of some memories by seq; those that are gone are left out."""
        found: dict[int, str] = {}
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    "SELECT m.seq, m.content, a.codec, a.body FROM memory m LEFT JOIN attic a USING (seq)"
                    f" WHERE m.seq IN ({marks(some)})",
                    some,
                )
                for seq, content, codec, body in rows:
                    found[int(seq)] = unpack(codec, body) if content is None else str(content)
        return found

    def ids(self, seqs: Sequence[int]) -> dict[int, str]:
        """The ids of some memories by seq; those that are gone are left out."""
        found: dict[int, str] = {}
        with self._database.snapshot():
            for some in slices(seqs):
                rows = self._database.execute(
                    f"SELECT seq, id FROM memory WHERE seq IN ({','.join('?' * len(some))})", some
                )
                found.update({int(seq): str(name) for seq, name in rows})
        return found

    def speaking_for(self, memories: Sequence[Memory]) -> list[Memory]:
        """Some memories, those that were merged replaced by what speaks for them; each once, in their order."""
        found = list(memories)
        # A copy's keeper may have been merged itself; a keeper that is gone leaves the copy to itself.
        while merged := {memory.merged_into for memory in found if memory.merged_into is not None}:
            keepers = {memory.id: memory for memory in self._read("m.id", sorted(merged))}
            spoken = [keepers.get(memory.merged_into or "", memory) for memory in found]
            if [memory.id for memory in spoken] == [memory.id for memory in found]:
                break
            found = spoken
        return list({memory.id: memory for memory in found}.values())

    def same_text(self, scope: str, content: str) -> list[Memory]:
        """Memories of a scope whose text equals `content` but for white space, oldest first."""
        return self._where(
            "m.scope = (SELECT id FROM scope WHERE key = ?) AND m.content_hash = ? ORDER BY m.seq",
            (scope, content_hash(content)),
        )

    def seqs_saying(self, scopes: Sequence[int], content: str) -> list[int]:
        """The seqs of memories of some scopes (row ids) whose text equals `content` but for white space."""
        rows = self._database.execute(
            f"SELECT seq FROM memory WHERE scope IN ({','.join('?' * len(scopes))}) AND content_hash = ?",
            (*scopes, content_hash(content)),
        )
        return [int(seq) for (seq,) in rows]

    def by_event(self, event_id: str) -> Memory | None:
        """The memory that a delivery with this event id became, or None."""
        found = self._where("m.event_id = ?", (event_id,))
        return found[0] if found else None

    def known_events(self, event_ids: Sequence[str]) -> set[str]:
        """Which of some event ids have become memories already."""
        known: set[str] = set()
        with self._database.snapshot():
            for some in slices(event_ids):
                rows = self._database.execute(
                    f"SELECT event_id FROM memory WHERE event_id IN ({','.join('?' * len(some))})", some
                )
                known.update(str(event_id) for (event_id,) in rows)
        return known

    def in_scope(self, scope: str, *, limit: int = 1_000_000, after_seq: int = 0) -> list[Memory]:
        """A scope's memories by seq, `limit` at a time."""
        return self._where(
            "m.scope = (SELECT id FROM scope WHERE key = ?) AND m.seq > ? ORDER BY m.seq LIMIT ?",
            (scope, after_seq, limit),
        )

    def all(self, batch: int = 500) -> Iterator[list[Memory]]:
        """Every memory by seq, in batches, each read in a snapshot of its own."""
        last = 0
        while found := self._where("m.seq > ? ORDER BY m.seq LIMIT ?", (last, batch)):
            yield found
            last = found[-1].seq

    def change(self, seq: int, **columns: Any) -> None:
        """Set columns of a memory and raise its version; only those that may change after it was saved."""
        unknown = columns.keys() - _CHANGEABLE
        if unknown:
            msg = f"columns that can't be changed: {', '.join(sorted(unknown))}"
            raise ValueError(msg)
        assignments = ", ".join(["version = version + 1", *(f"{name} = :{name}" for name in columns)])
        with self._database.part():
            self._database.execute(f"UPDATE memory SET {assignments} WHERE seq = :seq", {**columns, "seq": seq})
            self._stamp(seq)

    def reword(self, seq: int, new: NewMemory) -> None:
        """Give a memory the words of `new`, and what follows from them; everything else about it stays as it is."""
        values = insert_values(new, 0, content_hash(new.content))
        assignments = ", ".join(f"{name} = :{name}" for name in _WORDED)
        with self._database.atomic():
            self._database.execute(
                f"UPDATE memory SET version = version + 1, {assignments} WHERE seq = :seq",
                {**{name: values[name] for name in _WORDED}, "seq": seq},
            )
            self._database.execute("DELETE FROM attic WHERE seq = ?", (seq,))
            self._stamp(seq)

    def exists(self, seq: int) -> bool:
        """Whether a memory is still there."""
        return self._database.row("SELECT 1 FROM memory WHERE seq = ?", (seq,)) is not None

    def unchanged(self, memories: Sequence[Memory]) -> bool:
        """Whether some memories are still there as they were read: who writes what they said must ask."""
        now: dict[int, int] = {}
        with self._database.snapshot():
            for some in slices([memory.seq for memory in memories]):
                now.update(
                    self._database.execute(
                        f"SELECT seq, version FROM memory WHERE seq IN ({','.join('?' * len(some))})", some
                    )
                )
        return all(now.get(memory.seq) == memory.version for memory in memories)

    def strength(self, seq: int) -> Strength:
        """A memory's derived figures.

        Raises:
            UnknownMemoryError: if it is gone.
        """
        found = self._database.row(f"SELECT {STRENGTH_COLUMNS} FROM strength WHERE seq = ?", (seq,))
        if found is None:
            msg = "the memory is gone: it was erased while this call ran; recall again"
            raise UnknownMemoryError(msg)
        return to_strength(found)

    def set_strength(self, seq: int, strength: Strength) -> None:
        """Replace a memory's derived figures."""
        names = [name.strip() for name in STRENGTH_COLUMNS.split(",")]
        assignments = ", ".join(f"{name} = ?" for name in names)
        with self._database.atomic():
            self._database.execute(
                f"UPDATE strength SET {assignments}, rev = ? WHERE seq = ?",
                (*strength_values(strength), self._meta.next_revision(), seq),
            )

    def move_states(self, moves: Sequence[tuple[int, int, int]]) -> list[tuple[str, int, int, int]]:
        """Move memories from one state to another under one revision: (seq, from, to) triples.

        Returns (id, seq, from, to) of those that were still in the state they were to leave.
        """
        moved: list[tuple[str, int, int, int]] = []
        with self._database.part():
            revision = self._meta.next_revision()
            for seq, old, new in moves:
                self._database.execute(
                    "UPDATE strength SET state = ?, rev = ? WHERE seq = ? AND state = ?", (new, revision, seq, old)
                )
                if self._database.changes():
                    identifier = self._database.value("SELECT id FROM memory WHERE seq = ?", (seq,))
                    moved.append((str(identifier), seq, old, new))
        return moved

    def remove(self, seqs: Sequence[int]) -> None:
        """Delete rows for good, with what hangs on them; the other indexes are the caller's to clear."""
        with self._database.atomic():
            revision = self._meta.next_revision()
            self._database.executemany("DELETE FROM memory WHERE seq = ?", [(seq,) for seq in seqs])
            self._database.executemany(
                "INSERT INTO tombstone VALUES (?, ?) ON CONFLICT DO NOTHING", [(seq, revision) for seq in seqs]
            )

    def count(self, scope: str | None = None) -> int:
        """How many memories there are, in one scope or in all."""
        if scope is None:
            return int(self._database.value("SELECT count(*) FROM memory"))
        return int(
            self._database.value(
                "SELECT count(*) FROM memory WHERE scope = (SELECT id FROM scope WHERE key = ?)", (scope,)
            )
        )

    def counts(self, scope: str | None = None) -> list[tuple[str, int, int]]:
        """(kind, state number, how many), in one scope or in all; forgotten ones count as they are stored."""
        where = "" if scope is None else "WHERE m.scope = (SELECT id FROM scope WHERE key = ?)"
        rows = self._database.rows(
            f"SELECT m.kind, s.state, count(*) FROM memory m JOIN strength s USING (seq) {where} GROUP BY 1, 2",
            () if scope is None else (scope,),
        )
        return [(str(kind), int(state), int(count)) for kind, state, count in rows]

    def _stamp(self, seq: int) -> None:
        self._database.execute("UPDATE strength SET rev = ? WHERE seq = ?", (self._meta.next_revision(), seq))

    def _read(self, column: str, keys: Sequence[Any]) -> list[Memory]:
        found: list[Memory] = []
        with self._database.snapshot():
            for some in slices(keys):
                found.extend(self._where(f"{column} IN ({','.join('?' * len(some))})", some))
        return found

    def _where(self, condition: str, bindings: Sequence[Any]) -> list[Memory]:
        rows = self._database.rows(f"SELECT {MEMORY_COLUMNS} {MEMORY_SOURCE} WHERE {condition}", bindings)
        with intact():
            return [to_memory(row) for row in rows]
