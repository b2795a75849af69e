"""Embeddings: one row a memory at its own precision, and a coarse index of sign bits that covers all alike.

The rows are the truth. Each carries a version: whoever wants to rewrite it says which version it has read, and a lost
race changes nothing. Vectors of different models are never compared: every read names its model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import StoreError
from .coarse import Coarse
from .codec import Codes, encode, sign_bits_of
from .database import Database
from .meta import Meta
from .placeholders import slices
from .vector_rows import StoredVectors, VectorRow, grouped, signs, sound_rows

_PLACES: Final = 1000
_REBUILD_ROWS: Final = 100

_INSERT = (
    "INSERT INTO vector (seq, rev, model, version, bit_width, chunks, codes, scales) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = "SELECT bit_width, seq, chunks, codes, scales FROM vector"
_PLACED = """
SELECT v.seq, m.scope, s.state FROM vector v JOIN memory m USING (seq) JOIN strength s USING (seq)
WHERE v.model = ? AND v.seq > ? ORDER BY v.seq LIMIT ?
"""


class Vectors:
    """Write, read and search embeddings of one model."""

    def __init__(self, database: Database, meta: Meta, model_name: str, dimension: int) -> None:
        """Use `database` for vectors of the model called `model_name`."""
        self._database = database
        self._meta = meta
        self.model_name = model_name
        self.dimension = dimension
        self._model: int | None = None

    def prepare(self) -> None:
        """Record the model if it is new, so that no later read has to write."""
        self._model = self.model

    @property
    def model(self) -> int:
        """The row id of the model, which is recorded on first use together with its coarse index."""
        if self._model is None:
            found = self._database.row("SELECT id, dimension FROM model WHERE name = ?", (self.model_name,))
            if found is not None and found[1] != self.dimension:
                raise StoreError(
                    f"embeddings of {self.model_name} are stored with {found[1]} dimensions, not {self.dimension}: "
                    "a model with other dimensions needs another id"
                )
            self._model = self._record_model() if found is None else int(found[0])
        return self._model

    @property
    def index(self) -> Coarse:
        """The coarse index of the model."""
        return Coarse(self._database, self.model, self.dimension)

    def put(self, seq: int, scope: int, vectors: NDArray[np.float32], bit_width: int, tier: int = 0) -> None:
        """Store a memory's chunk vectors (c, d) at `bit_width`, replacing what it had, in the caller's transaction.

        `tier` is the memory's state.
        """
        codes = encode(vectors, bit_width)
        with self._database.part():
            self._unindex(seq)
            revision = self._meta.next_revision()
            self._database.execute(
                "INSERT INTO vector (seq, rev, model, bit_width, chunks, codes, scales) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET rev = excluded.rev, model = excluded.model, version = version + 1,"
                " bit_width = excluded.bit_width, chunks = excluded.chunks, codes = excluded.codes,"
                " scales = excluded.scales",
                (seq, revision, self.model, bit_width, len(codes), *_blobs(codes)),
            )
            self.index.add(seq, scope, tier, sign_bits_of(codes))
            self._note_widths([(seq, bit_width)], revision)

    def remove(self, seqs: Sequence[int]) -> None:
        """Delete memories' vectors and their places in the coarse index, in the caller's transaction."""
        with self._database.part():
            for seq in seqs:
                self._unindex(seq)
                self._database.execute("DELETE FROM vector WHERE seq = ?", (seq,))

    def recode(self, rows: Sequence[VectorRow]) -> set[int]:
        """Replace codes by coarser ones of the same vectors, each only if its row and state are as read; who won.

        The coarse index stays as it is: fewer bits leave the signs as they were.
        """
        won: dict[int, int] = {}
        with self._database.atomic(durable=False):
            for row in rows:
                # Deleted and inserted: an UPDATE would leave the pages as full of nothing as the float32 left them.
                found = self._database.execute(
                    "DELETE FROM vector WHERE seq = ? AND version = ? AND model = ?"
                    " AND (SELECT state FROM strength WHERE strength.seq = vector.seq) = ? RETURNING version",
                    (row.seq, row.version, self.model, row.state),
                ).fetchone()
                if found is not None:
                    won[row.seq] = row.codes.bit_width
            revision = self._meta.next_revision()
            self._database.executemany(_INSERT, [self._values(row, revision) for row in rows if row.seq in won])
            self._note_widths(list(won.items()), revision)
        return set(won)

    def replace(self, row: VectorRow, scope: int, vectors: NDArray[np.float32], bit_width: int) -> bool:
        """`put` new chunk vectors if the memory's row and state are still as they were read; whether they were."""
        with self._database.atomic(durable=False):
            now = self.rows([row.seq])
            if not now or (now[0].version, now[0].state) != (row.version, row.state):
                return False
            self.put(row.seq, scope, vectors, bit_width, row.state)
        return True

    def rows(self, seqs: Sequence[int]) -> list[VectorRow]:
        """The rows of some memories with their versions, by seq; those without any are left out."""
        found: list[VectorRow] = []
        with self._database.snapshot():
            for some in slices(seqs, _PLACES):
                rows = self._database.execute(
                    "SELECT seq, version, state, v.bit_width, chunks, codes, scales"
                    " FROM vector v JOIN strength USING (seq)"
                    f" WHERE seq IN ({','.join('?' * len(some))}) AND model = ? ORDER BY seq",
                    (*some, self.model),
                )
                found += sound_rows(rows, self.dimension)
        return found

    def get(self, seqs: Sequence[int]) -> list[StoredVectors]:
        """The stored vectors of some memories, grouped by bit width; those without any are left out."""
        found: list[tuple[int, int, int, bytes, bytes]] = []
        with self._database.snapshot():
            for some in slices(seqs, _PLACES):
                places = ",".join("?" * len(some))
                found.extend(
                    self._database.execute(f"{_SELECT} WHERE seq IN ({places}) AND model = ?", (*some, self.model))
                )
        return grouped(found, self.dimension)

    def changed_since(self, revision: int, limit: int = 1000) -> Iterator[list[StoredVectors]]:
        """Vectors of this model written after a revision, by seq, `limit` memories at a time; needs a snapshot."""
        if revision:
            written = "SELECT seq FROM vector INDEXED BY vector_by_rev WHERE rev > ? ORDER BY seq"
            seqs = [int(seq) for (seq,) in self._database.execute(written, (revision,))]
            yield from (self.get(seqs[start : start + limit]) for start in range(0, len(seqs), limit))
            return
        last = 0
        while rows := list(
            self._database.execute(
                f"{_SELECT} WHERE seq > ? AND model = ? ORDER BY seq LIMIT ?", (last, self.model, limit)
            )
        ):
            last = rows[-1][1]
            yield grouped(rows, self.dimension)

    def gone_since(self, revision: int) -> list[int]:
        """Seqs that lost their vector of this model after a revision: erased, or embedded by another model."""
        rows = self._database.rows(
            "SELECT seq FROM tombstone WHERE rev > ? UNION ALL SELECT seq FROM vector WHERE rev > ? AND model <> ?",
            (revision, revision, self.model),
        )
        return [int(seq) for (seq,) in rows]

    def coarse(self, bits: bytes, scopes: Sequence[int], k: int) -> list[tuple[int, int]]:
        """(seq, Hamming distance) of about the `k` nearest rows of each scope; see `Coarse.nearest`."""
        return self.index.nearest(bits, scopes, k)

    def missing(self, limit: int, after_seq: int = 0) -> list[int]:
        """Seqs above `after_seq` of memories that have no whole vector of this model, oldest first."""
        rows = self._database.rows(
            "SELECT s.seq FROM strength s LEFT JOIN vector v ON v.seq = s.seq AND v.model = ?"
            " WHERE s.seq > ? AND (v.seq IS NULL OR length(codes) <> chunks * v.bit_width * ? / 8"
            " OR length(scales) <> chunks * 4) ORDER BY s.seq LIMIT ?",
            (self.model, after_seq, self.dimension, limit),
        )
        return [int(seq) for (seq,) in rows]

    def never_embedded(self, seqs: Sequence[int]) -> set[int]:
        """Which of some memories have no vector of any model."""
        found: set[int] = set()
        with self._database.snapshot():
            for some in slices(seqs, _PLACES):
                rows = self._database.execute(
                    f"SELECT seq FROM vector WHERE seq IN ({','.join('?' * len(some))})", some
                )
                found.update(int(seq) for (seq,) in rows)
        return set(seqs) - found

    def count(self) -> int:
        """How many memories have a vector of this model."""
        return int(self._database.value("SELECT count(*) FROM vector WHERE model = ?", (self.model,)))

    def retire_models(self) -> int:
        """Drop the coarse indexes of other models that no vector needs any more; how many."""
        with self._database.atomic():
            unused = list(
                self._database.execute(
                    "SELECT id, dimension FROM model WHERE id <> ?"
                    " AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.model = model.id)"
                    " AND NOT EXISTS (SELECT 1 FROM token WHERE token.model = model.id)",
                    (self.model,),
                )
            )
            for number, dimension in unused:
                Coarse(self._database, number, dimension).drop()
                self._database.execute("DELETE FROM piece WHERE model = ?", (number,))
                self._database.execute("DELETE FROM model WHERE id = ?", (number,))
        return len(unused)

    def rebuild(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Drop the coarse index and build it from the stored codes; returns how many rows it got.

        A hundred memories a transaction, so that nobody waits long; one that was stopped half-way holds fewer rows
        than it should and is begun again.
        """
        with self._database.atomic(durable=False):
            self.index.drop()
            self.index.create()
        count, last, more = 0, 0, True
        while more and not stopped():
            with self._database.atomic(durable=False):
                rows = list(self._database.execute(_PLACED, (self.model, last, _REBUILD_ROWS)))
                read = self.rows([seq for seq, _, _ in rows])
                for (seq, scope, tier), bits in zip(rows, signs(read), strict=True):
                    self.index.remove(seq, len(bits))
                    self.index.add(seq, scope, tier, bits)
                    count, last = count + len(bits), seq
            more = len(rows) == _REBUILD_ROWS
        return count

    def compact(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Move the rows of shards that are mostly holes, so that vec0 frees their chunks; returns how many moved."""
        moved = 0
        for shard in self.index.sparse_shards():
            while not stopped() and (some := self.index.move_out(shard, _REBUILD_ROWS)):
                moved += some
        return moved

    def index_rows(self) -> int:
        """How many rows the coarse index holds."""
        return self.index.rows()

    def expected_index_rows(self) -> int:
        """How many rows the coarse index should hold."""
        return int(self._database.value("SELECT coalesce(sum(chunks), 0) FROM vector WHERE model = ?", (self.model,)))

    def _record_model(self) -> int:
        with self._database.atomic():
            self._database.execute(
                "INSERT INTO model (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self.model_name, self.dimension),
            )
            number = int(self._database.value("SELECT id FROM model WHERE name = ?", (self.model_name,)))
            Coarse(self._database, number, self.dimension).create()
        return number

    def _unindex(self, seq: int) -> None:
        found = self._database.row("SELECT model, chunks FROM vector WHERE seq = ?", (seq,))
        if found is not None:
            Coarse(self._database, int(found[0]), self.dimension).remove(seq, int(found[1]))

    def _values(self, row: VectorRow, revision: int) -> tuple[int | bytes, ...]:
        codes = row.codes
        return row.seq, revision, self.model, row.version + 1, codes.bit_width, len(codes), *_blobs(codes)

    def _note_widths(self, widths: Sequence[tuple[int, int]], revision: int) -> None:
        """Tell `strength`, and through it the catalog, the precision that is stored."""
        self._database.executemany(
            "UPDATE strength SET bit_width = ?, rev = ? WHERE seq = ? AND bit_width <> ?",
            [(width, revision, seq, width) for seq, width in widths],
        )


def _blobs(codes: Codes) -> tuple[bytes, bytes]:
    return codes.packed.tobytes(), codes.scale.tobytes()
