"""Putting right what follows from other rows, in place; what follows from nothing is looked for in the backups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import apsw

from .blueprint import blueprint, is_base_table, is_derived
from .connections import run
from .database import Database, Row
from .faults import KINDS, ONE_WAY, READ, STRANGE, TEXT, VECTOR, bits_of, is_read, text_of, unread_entries
from .memories import content_hash
from .soundness import opened

_OF_MEMORY: Final = ("pending", "strength", "resemblance", "attic", "vector", "token", "memory_entity", "link")
_OF_MODEL: Final = ("vector", "token", "piece")
_REVISIONS: Final = ("strength", "vector", "tombstone")
_SAID: Final = (
    "(SELECT json_extract(data, '$.{0}') FROM journal j"
    " WHERE j.memory = memory.id AND event IN ('saved', 'gisted') ORDER BY j.id LIMIT 1)"
)
_TEXTS: Final = (
    f"SELECT m.seq, {TEXT}, CAST(m.gist AS BLOB), m.tags FROM memory m LEFT JOIN attic a USING (seq)"
    " WHERE m.seq > ? ORDER BY m.seq LIMIT 500"
)
_HASHED: Final = (
    f"SELECT m.seq, m.id, CAST(m.gist AS BLOB), {TEXT}, m.content_hash FROM memory m LEFT JOIN attic a USING (seq)"
)
_COPY: Final = f"SELECT {TEXT} FROM memory m LEFT JOIN attic a USING (seq) WHERE m.id = ?"


class Repairs:
    """Mends rows and makes what is missing; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Write through `database`."""
        self._database = database

    def complete(self) -> None:
        """Make the indexes, views and triggers that are missing, and the count of changes."""
        with self._database.atomic():
            models = [(int(number), int(size)) for number, size in self._rows("SELECT id, dimension FROM model")]
            for name, sql in blueprint(models).items():
                is_there = self._database.row("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
                if not is_there and not is_base_table(name, sql) and not is_derived(name):
                    self._database.execute(sql)
            latest = max(
                int(self._database.value(f"SELECT coalesce(max(rev), 0) FROM {table}")) for table in _REVISIONS
            )
            self._database.execute(
                "INSERT INTO meta VALUES ('rev', ?1) ON CONFLICT DO UPDATE SET value = ?1"
                " WHERE CAST(value AS INTEGER) < CAST(?1 AS INTEGER)",
                (str(latest),),
            )

    def drop_orphans(self) -> None:
        """Remove rows of memories, entities and models that are gone, and give links the end that they lack."""
        with self._database.atomic():
            for table in _OF_MEMORY:
                self._database.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM memory)")
            self._database.execute("DELETE FROM link WHERE other NOT IN (SELECT seq FROM memory)")
            self._database.execute(f"INSERT INTO link SELECT other, seq, relation, weight FROM link WHERE {ONE_WAY}")
            self._database.execute("DELETE FROM memory_entity WHERE entity NOT IN (SELECT id FROM entity)")
            for table in _OF_MODEL:
                self._database.execute(f"DELETE FROM {table} WHERE model NOT IN (SELECT id FROM model)")

    def drop_damaged_embeddings(self, dimension: int, model: int) -> None:
        """Remove embeddings whose bytes are not those of so many numbers: the daily run computes them anew."""
        with self._database.atomic():
            rows = self._database.execute(f"SELECT {VECTOR} FROM vector WHERE model = ?", (model,))
            gone = [(row[0],) for row in rows if bits_of(*row[1:], dimension=dimension) is None]
            self._database.executemany("DELETE FROM vector WHERE seq = ?", gone)
            self._database.execute(
                "DELETE FROM token WHERE model = ?1 AND (bit_width NOT IN (2, 4, 8, 32)"
                " OR length(codes) <> count * ?2 * bit_width / 8 OR length(scales) <> 4 * count"
                " OR length(pieces) <> 4 * count)",
                (model, dimension),
            )

    def drop_unread_entries(self) -> None:
        """Remove the entries of the journal that can't be read: what they told of is lost, the rest is read again."""
        with self._database.atomic(), self._database.connection() as connection:
            gone = [(number,) for number in unread_entries(connection)]
            self._database.executemany("DELETE FROM journal WHERE id = ?", gone)

    def give_figures(self) -> None:
        """Give every memory figures that can be; the journal then says what they are."""
        with self._database.atomic():
            self._database.execute(f"DELETE FROM strength WHERE {STRANGE}")
            self._database.execute(
                "INSERT INTO strength (seq, rev, anchor_tau, stability, rate)"
                " SELECT seq, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'rev'), 0, 1, 1 FROM memory"
                " WHERE seq NOT IN (SELECT seq FROM strength)"
            )

    def mend_columns(self) -> list[int]:
        """Give columns that can't be read a value that can; returns the memories (seqs) whose words must be read anew.

        The kind, trust and importance are those that the journal tells of.
        """
        with self._database.atomic():
            rows = self._rows(f"SELECT seq, {READ} FROM memory")
            bad = [int(seq) for seq, *texts in rows if not is_read(*texts)]
            self._database.executemany(
                "UPDATE memory SET entities = '[]', slots = '[]', gist = '', cue = '', version = version + 1,"
                " tags = CASE WHEN json_valid(tags) THEN iif(json_type(tags) = 'array', tags, '[]') ELSE '[]' END"
                " WHERE seq = ?",
                [(seq,) for seq in bad],
            )
            self._database.execute(
                f"UPDATE memory SET kind = coalesce({_SAID.format('kind')}, 'fact') WHERE kind NOT IN ({KINDS})"
            )
            for name in ("trust", "importance"):
                self._database.execute(
                    f"UPDATE memory SET {name} = coalesce({_SAID.format(name)}, 0.5) WHERE NOT {name} BETWEEN 0 AND 1"
                )
        return bad

    def recover_texts(self, backups: Sequence[Path]) -> tuple[int, int]:
        """Put back texts that are lost or changed, where the very text is found; returns how many were and weren't.

        It is known by its hash, and looked for in the memory's gist and in the backups, the newest first. Where it is
        found nowhere the gist stands in for a lost one, so that it can be read.
        """
        found = 0
        with self._database.atomic():
            damaged = [row for row in self._rows(_HASHED) if text_of(*row[3:6], digest=row[6]) is None]
            for seq, identifier, brief, content, _, _, digest in damaged:
                gist = brief.decode("utf-8", "replace")
                copies = (gist, *_copies(backups, identifier))
                text = next((one for one in copies if content_hash(one) == digest), None)
                found += text is not None
                if text is not None or content is None:
                    self._put(seq, gist if text is None else text)
        return found, len(damaged) - found

    def texts(self) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        """(seq, text, tags) of every memory, read even where others can't be."""
        last = 0
        while rows := self._database.rows(_TEXTS, (last,)):
            for seq, content, codec, body, gist, tags in rows:
                yield (
                    int(seq),
                    text_of(content, codec, body) or gist.decode("utf-8", "replace"),
                    tuple(json.loads(tags)),
                )
            last = rows[-1][0]

    def _put(self, seq: int, text: str) -> None:
        self._database.execute("UPDATE memory SET content = ?, version = version + 1 WHERE seq = ?", (text, seq))
        self._database.execute("DELETE FROM attic WHERE seq = ?", (seq,))

    def _rows(self, statement: str) -> list[Row]:
        return list(self._database.execute(statement))


def _copies(backups: Sequence[Path], identifier: str) -> Iterator[str]:
    """The texts that a memory has in backups, as far as they can be read."""
    for backup in reversed(backups):
        try:
            with opened(backup) as connection:
                rows = list(run(connection, _COPY, (identifier,)))
        except apsw.Error:
            continue
        yield from (text for row in rows if (text := text_of(*row)) is not None)
