"""Embeddings: one row a memory at its own precision, and a coarse index of sign bits that covers all alike.

The rows are the truth; the coarse index (a sqlite-vec `vec0` table, 48 bytes a vector of 384) can be dropped and built
again from them at any time. Vectors of different models are never compared: every read names its model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .codec import Codes, encode, sign_bits_of
from .database import Database
from .meta import Meta

_PLACES = 1000
_CHUNK_BITS = 12
_SHARD = 4096
_MAX_K = 4096


@dataclass(frozen=True, slots=True, eq=False)
class StoredVectors:
    """The stored vectors of some memories at one bit width: row i of `codes` belongs to memory `seqs[i]`.

    A memory of several chunks has several rows.
    """

    seqs: NDArray[np.int64]
    codes: Codes


class Vectors:
    """Write, read and search embeddings of one model."""

    def __init__(self, database: Database, meta: Meta, model_name: str, dimension: int) -> None:
        """Use `database` for vectors of the model called `model_name`."""
        self._database = database
        self._meta = meta
        self._name = model_name
        self.dimension = dimension
        self._model: int | None = None

    @property
    def model(self) -> int:
        """The row id of the model, which is recorded on first use together with its coarse index."""
        if self._model is None:
            with self._database.atomic():
                self._database.execute(
                    "INSERT INTO model (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    (self._name, self.dimension),
                )
                number = int(self._database.value("SELECT id FROM model WHERE name = ?", (self._name,)))
                self._create_index(number)
            self._model = number
        return self._model

    @property
    def _index(self) -> str:
        return f"coarse_{self.model}"

    def put(self, seq: int, scope: int, vectors: NDArray[np.float32], bit_width: int, tier: int = 0) -> None:
        """Store a memory's chunk vectors (c, d) at `bit_width`, replacing what it had, in the caller's transaction."""
        codes = encode(vectors, bit_width)
        with self._database.atomic():
            self.remove([seq])
            self._database.execute(
                "INSERT INTO vector (seq, rev, model, bit_width, chunks, codes, scales) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    seq,
                    self._meta.next_revision(),
                    self.model,
                    bit_width,
                    len(codes),
                    codes.packed.tobytes(),
                    codes.scale.tobytes(),
                ),
            )
            self._index_rows(seq, scope, tier, codes)

    def remove(self, seqs: Sequence[int]) -> None:
        """Delete memories' vectors and their places in the coarse index, in the caller's transaction."""
        with self._database.atomic():
            for seq in seqs:
                found = self._database.row("DELETE FROM vector WHERE seq = ? RETURNING model, chunks", (seq,))
                if found is not None:
                    keys = [(_key(seq, chunk),) for chunk in range(found[1])]
                    self._database.executemany(f"DELETE FROM coarse_{found[0]} WHERE key = ?", keys)

    def get(self, seqs: Sequence[int]) -> list[StoredVectors]:
        """The stored vectors of some memories, grouped by bit width; those without any are left out."""
        groups: dict[int, list[tuple[int, int, bytes, bytes]]] = {}
        with self._database.snapshot():
            for start in range(0, len(seqs), _PLACES):
                some = seqs[start : start + _PLACES]
                rows = self._database.execute(
                    "SELECT bit_width, seq, chunks, codes, scales FROM vector"
                    f" WHERE seq IN ({','.join('?' * len(some))}) AND model = ?",
                    (*some, self.model),
                )
                for bit_width, seq, chunks, codes, scales in rows:
                    groups.setdefault(bit_width, []).append((seq, chunks, codes, scales))
        return [self._group(bit_width, rows) for bit_width, rows in sorted(groups.items())]

    def changed_since(self, revision: int) -> list[tuple[int, int, int, bytes, bytes]]:
        """(seq, bit width, chunks, codes, scales) of the vectors written after a revision, by seq."""
        return self._database.rows(
            "SELECT seq, bit_width, chunks, codes, scales FROM vector WHERE rev > ? AND model = ? ORDER BY seq",
            (revision, self.model),
        )

    def coarse(self, bits: bytes, scopes: Sequence[int], k: int) -> list[tuple[int, int]]:
        """(seq, Hamming distance) of the nearest sign bits in some scopes, nearest first; at most about `k` rows."""
        found: dict[int, int] = {}
        with self._database.snapshot():
            for scope in scopes:
                rows = self._database.execute(
                    f"SELECT key, distance FROM {self._index} WHERE bits MATCH vec_bit(?) AND k = ? AND scope = ?",
                    (bits, min(k, _MAX_K), scope),
                )
                for key, distance in rows:
                    seq = key >> _CHUNK_BITS
                    found[seq] = min(int(distance), found.get(seq, int(distance)))
        return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))

    def missing(self, limit: int) -> list[int]:
        """Seqs of memories that have no vector of this model, oldest first."""
        rows = self._database.rows(
            "SELECT m.seq FROM memory m LEFT JOIN vector v ON v.seq = m.seq AND v.model = ?"
            " WHERE v.seq IS NULL ORDER BY m.seq LIMIT ?",
            (self.model, limit),
        )
        return [int(seq) for (seq,) in rows]

    def count(self) -> int:
        """How many memories have a vector of this model."""
        return int(self._database.value("SELECT count(*) FROM vector WHERE model = ?", (self.model,)))

    def rebuild(self) -> int:
        """Drop the coarse index and build it from the stored codes; returns how many rows it holds."""
        count = 0
        with self._database.atomic():
            self._database.execute(f"DROP TABLE IF EXISTS {self._index}")
            self._create_index(self.model)
            for seq, scope, tier, codes in self._stored():
                self._index_rows(seq, scope, tier, codes)
                count += len(codes)
        return count

    def index_rows(self) -> int:
        """How many rows the coarse index holds."""
        return int(self._database.value(f"SELECT count(*) FROM {self._index}"))

    def expected_index_rows(self) -> int:
        """How many rows the coarse index should hold."""
        return int(self._database.value("SELECT coalesce(sum(chunks), 0) FROM vector WHERE model = ?", (self.model,)))

    def _create_index(self, model: int) -> None:
        # One chunk of sqlite-vec a shard; a metadata column narrows a query to a scope or tier before the distances.
        self._database.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS coarse_{model} USING vec0("
            "key INTEGER PRIMARY KEY, shard INTEGER PARTITION KEY, scope INTEGER, tier INTEGER,"
            f" bits BIT[{self.dimension}], chunk_size={_SHARD})"
        )

    def _index_rows(self, seq: int, scope: int, tier: int, codes: Codes) -> None:
        rows = [
            (_key(seq, chunk), seq // _SHARD, scope, tier, bits.tobytes())
            for chunk, bits in enumerate(sign_bits_of(codes))
        ]
        self._database.executemany(
            f"INSERT INTO {self._index} (key, shard, scope, tier, bits) VALUES (?, ?, ?, ?, vec_bit(?))", rows
        )

    def _stored(self) -> Iterator[tuple[int, int, int, Codes]]:
        last = 0
        while rows := self._database.rows(
            "SELECT v.seq, m.scope, s.state, v.bit_width, v.chunks, v.codes, v.scales FROM vector v"
            " JOIN memory m USING (seq) JOIN strength s USING (seq)"
            " WHERE v.model = ? AND v.seq > ? ORDER BY v.seq LIMIT ?",
            (self.model, last, _PLACES),
        ):
            for seq, scope, state, bit_width, chunks, packed, scales in rows:
                yield seq, scope, state, self._codes(bit_width, chunks, packed, scales)
            last = rows[-1][0]

    def _codes(self, bit_width: int, rows: int, packed: bytes, scales: bytes) -> Codes:
        return Codes(
            bit_width,
            np.frombuffer(packed, dtype=np.uint8).reshape(rows, self.dimension * bit_width // 8),
            np.frombuffer(scales, dtype=np.float32),
        )

    def _group(self, bit_width: int, rows: list[tuple[int, int, bytes, bytes]]) -> StoredVectors:
        seqs, chunks, packed, scales = zip(*rows, strict=True)
        codes = self._codes(bit_width, sum(chunks), b"".join(packed), b"".join(scales))
        return StoredVectors(np.repeat(np.array(seqs, dtype=np.int64), chunks), codes)


def _key(seq: int, chunk: int) -> int:
    return seq << _CHUNK_BITS | chunk
