"""The coarse index on disk: one row of sign bits a vector (48 bytes for 384 coordinates) in a sqlite-vec `vec0` table.

Each model has a table of its own, so vectors of two models can't meet. Rows lie in shards of one vec0 chunk each,
because a chunk picks its k nearest by plain insertion: many shards asked for few are quicker than one table asked for
many. vec0 frees a chunk only when all of it is empty, so rows of shards with many holes are moved to new ones.
A trigger keeps the tier (the memory's state) right whoever changes it. All of it can be made again from the codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .codec.arrays import Bytes
from .database import Database

SHARD: Final = 4096
_CHUNK_BITS: Final = 12
_MAX_K: Final = 4096
_LEAST_K: Final = 40
_MOST_K: Final = 200  # of a shard: its price grows with the square
_FULL_ENOUGH: Final = 0.5

_SCHEMA = """
CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING vec0(
    key INTEGER PRIMARY KEY, shard INTEGER PARTITION KEY, scope INTEGER, tier INTEGER, bits BIT[{dimension}],
    chunk_size={shard}
);
-- vec0 can only be updated a key at a time, so the trigger on `strength` hands each key to the one on this view.
CREATE VIEW IF NOT EXISTS {table}_tier AS SELECT key, tier FROM {table};
CREATE TRIGGER IF NOT EXISTS {table}_moved INSTEAD OF INSERT ON {table}_tier BEGIN
    UPDATE {table} SET tier = new.tier WHERE key = new.key;
END;
CREATE TRIGGER IF NOT EXISTS {table}_follows AFTER UPDATE OF state ON strength WHEN old.state <> new.state BEGIN
    INSERT INTO {table}_tier SELECT (new.seq << {chunk_bits}) | chunk, new.state FROM (
        WITH RECURSIVE numbered (chunk) AS (
            SELECT 0 UNION ALL SELECT chunk + 1 FROM numbered
            WHERE chunk + 1 < (SELECT chunks FROM vector WHERE seq = new.seq AND model = {model})
        ) SELECT chunk FROM numbered
    );
END;
"""

_DROP = """
DROP TRIGGER IF EXISTS {table}_follows;
DROP TRIGGER IF EXISTS {table}_moved;
DROP VIEW IF EXISTS {table}_tier;
DROP TABLE IF EXISTS {table};
DELETE FROM meta WHERE key = '{table}.slots';
"""


def definition(model: int, dimension: int) -> str:
    """The statements that make the index of a model, by its row id, unless it is there."""
    names = {"table": f"coarse_{model}", "model": model, "dimension": dimension}
    return _SCHEMA.format(**names, shard=SHARD, chunk_bits=_CHUNK_BITS)


class Coarse:
    """The coarse index of one model, by its row id."""

    def __init__(self, database: Database, model: int, dimension: int) -> None:
        """Read and write through `database`; nothing is made yet."""
        self._database = database
        self._table = f"coarse_{model}"
        self._definition = definition(model, dimension)

    def create(self) -> None:
        """Make the index with its triggers unless it is there, in the caller's transaction."""
        self._database.execute(self._definition)

    def drop(self) -> None:
        """Remove it whole, in the caller's transaction."""
        self._database.execute(_DROP.format(table=self._table))

    def add(self, seq: int, scope: int, tier: int, bits: Bytes) -> None:
        """Add the sign bits (c, d/8) of a memory's chunks, in the caller's transaction."""
        first = self._take_slots(len(bits))
        rows = [
            (_key(seq, chunk), (first + chunk) // SHARD, scope, tier, row.tobytes()) for chunk, row in enumerate(bits)
        ]
        self._database.executemany(f"INSERT INTO {self._table} VALUES (?, ?, ?, ?, vec_bit(?))", rows)

    def remove(self, seq: int, chunks: int) -> None:
        """Remove a memory's chunks, in the caller's transaction; chunks that aren't there are passed over."""
        keys = [(_key(seq, chunk),) for chunk in range(chunks)]
        self._database.executemany(f"DELETE FROM {self._table} WHERE key = ?", keys)

    def nearest(self, bits: bytes, scopes: Sequence[int], k: int, tiers: range | None = None) -> list[tuple[int, int]]:
        """(seq, Hamming distance) of about the `k` nearest rows of each scope, nearest first, a memory once.

        Exact up to 40. Above, each of several shards is asked for its part of twice `k` (40 to 200), which misses a
        neighbour only where one shard holds most of them. `tiers` is an unbroken range of states.
        """
        tier = "" if tiers is None else f" AND tier BETWEEN {tiers[0]} AND {tiers[-1]}"
        found: dict[int, int] = {}
        with self._database.snapshot():
            for shard, part in self._parts(k):
                for scope in scopes:
                    rows = self._database.execute(
                        f"SELECT key, distance FROM {self._table}"
                        f" WHERE bits MATCH vec_bit(?) AND k = ? AND scope = ?{shard}{tier}",
                        (bits, part, scope),
                    )
                    for key, distance in rows:
                        seq = key >> _CHUNK_BITS
                        found[seq] = min(int(distance), found.get(seq, int(distance)))
        return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))

    def rows(self) -> int:
        """How many rows it holds."""
        return int(self._database.value(f"SELECT count(*) FROM {self._table}"))

    def sparse_shards(self) -> list[int]:
        """Shards of which more than half is holes, the newest (which is still being filled) left out."""
        newest = max(0, self._slots() - 1) // SHARD
        counts = self._database.rows(f"SELECT shard, count(*) FROM {self._table} GROUP BY shard")
        return [int(shard) for shard, count in counts if shard != newest and count < SHARD * _FULL_ENOUGH]

    def move_out(self, shard: int, limit: int) -> int:
        """Move up to `limit` rows of a shard to the newest, in one transaction; returns how many."""
        with self._database.atomic(durable=False):
            rows = list(
                self._database.execute(
                    f"SELECT key, scope, tier, bits FROM {self._table} WHERE shard = ? LIMIT ?", (shard, limit)
                )
            )
            self._database.executemany(f"DELETE FROM {self._table} WHERE key = ?", [(row[0],) for row in rows])
            first = self._take_slots(len(rows))
            moved = [(key, (first + place) // SHARD, *rest) for place, (key, *rest) in enumerate(rows)]
            self._database.executemany(f"INSERT INTO {self._table} VALUES (?, ?, ?, ?, vec_bit(?))", moved)
        return len(rows)

    def _parts(self, k: int) -> Iterator[tuple[str, int]]:
        """What narrows a query to a shard, and the k to ask of it."""
        shards = -(-self._slots() // SHARD)
        if k <= _LEAST_K or shards <= 1:
            yield "", min(k, _MAX_K)
            return
        part = min(k, max(_LEAST_K, min(_MOST_K, -(-2 * k // shards))))
        for shard in range(shards):
            yield f" AND shard = {shard}", part

    def _slots(self) -> int:
        return int(self._database.value("SELECT value FROM meta WHERE key = ?", (f"{self._table}.slots",)) or 0)

    def _take_slots(self, count: int) -> int:
        """Reserve places at the end; returns the first."""
        after = self._database.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + ?"
            " RETURNING CAST(value AS INTEGER)",
            (f"{self._table}.slots", str(count), count),
        ).fetchone()
        return int(after[0]) - count  # type: ignore[index]


def _key(seq: int, chunk: int) -> int:
    return seq << _CHUNK_BITS | chunk
