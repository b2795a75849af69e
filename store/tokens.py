"""Embeddings of content tokens, for late interaction: kept while a memory is active or warm, then dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import InvalidInputError
from .codec import Codes, encode
from .database import Database

BIT_WIDTH = 2
_PLACES = 1000
_ALL = -1
_DAMAGE = (ValueError, TypeError, InvalidInputError)


@dataclass(frozen=True, slots=True, eq=False)
class StoredTokens:
    """Token embeddings of some memories: row i of `codes` is word piece `pieces[i]` of memory `seqs[i]`.

    Rows of one memory are together and in text order; memories come in the order of their seq.
    """

    seqs: NDArray[np.int64]
    pieces: NDArray[np.int32]
    codes: Codes


class Tokens:
    """Write and read token embeddings of one model (by its row id)."""

    def __init__(self, database: Database, dimension: int) -> None:
        """Use `database` for token embeddings of `dimension` coordinates."""
        self._database = database
        self._dimension = dimension

    def put(self, seq: int, model: int, vectors: NDArray[np.float32], pieces: NDArray[np.int32]) -> None:
        """Store a memory's token vectors (t, d) and word-piece ids (t,), replacing what it had."""
        codes = encode(vectors, BIT_WIDTH)
        with self._database.part():
            self.remove([seq])
            self._database.execute(
                "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    seq,
                    model,
                    BIT_WIDTH,
                    len(codes),
                    pieces.astype("<i4").tobytes(),
                    codes.packed.tobytes(),
                    codes.scale.tobytes(),
                ),
            )
            self._count({(model, piece): 1 for piece in [_ALL, *np.unique(pieces).tolist()]})

    def remove(self, seqs: Sequence[int]) -> None:
        """Drop memories' token embeddings, in the caller's transaction."""
        fewer: Counter[tuple[int, int]] = Counter()
        with self._database.part():
            for seq in seqs:
                found = self._database.row("DELETE FROM token WHERE seq = ? RETURNING model, pieces", (seq,))
                if found is not None:
                    pieces = np.unique(np.frombuffer(found[1], dtype="<i4")).tolist()
                    fewer.update((int(found[0]), piece) for piece in [_ALL, *pieces])
            self._count({place: -count for place, count in fewer.items()})

    def outliving(self, state: int, after_seq: int, limit: int) -> list[int]:
        """Seqs above `after_seq` of memories in `state` or a weaker one that still have token embeddings."""
        rows = self._database.rows(
            "SELECT s.seq FROM strength s CROSS JOIN token t USING (seq)"
            " WHERE s.seq > ? AND s.state >= ? ORDER BY s.seq LIMIT ?",
            (after_seq, state, limit),
        )
        return [int(seq) for (seq,) in rows]

    def items_with(self, pieces: NDArray[np.int32], model: int) -> tuple[NDArray[np.float64], int]:
        """In how many memories each of some word pieces (p,) occurs, float64 (p,), and how many memories there are."""
        wanted = [_ALL, *pieces.tolist()]
        rows = self._database.rows(
            f"SELECT piece, items FROM piece WHERE model = ? AND piece IN ({','.join('?' * len(wanted))})",
            (model, *wanted),
        )
        counts: dict[int, int] = {int(piece): int(items) for piece, items in rows}
        return np.array([counts.get(piece, 0) for piece in wanted[1:]], dtype=np.float64), counts.get(_ALL, 0)

    def get(self, seqs: Sequence[int], model: int) -> StoredTokens:
        """The token embeddings of some memories; those without any are left out."""
        rows: list[tuple[int, int, bytes, bytes, bytes]] = []
        with self._database.snapshot():
            wanted = sorted(seqs)
            for start in range(0, len(wanted), _PLACES):
                some = wanted[start : start + _PLACES]
                found = self._database.execute(
                    "SELECT seq, count, pieces, codes, scales FROM token"
                    f" WHERE seq IN ({','.join('?' * len(some))}) AND model = ? ORDER BY seq",
                    (*some, model),
                )
                rows.extend(found)
        try:
            return self._joined(rows)
        except _DAMAGE:
            # What these memories' token embeddings would have told is told by their other ones.
            return self._joined([row for row in rows if self._is_sound(row)])

    def _count(self, steps: Mapping[tuple[int, int], int]) -> None:
        """Add to the numbers of memories that have some pieces, by model and piece."""
        self._database.executemany(
            "INSERT INTO piece VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET items = items + excluded.items",
            [(model, piece, step) for (model, piece), step in sorted(steps.items())],
        )

    def _is_sound(self, row: tuple[int, int, bytes, bytes, bytes]) -> bool:
        try:
            self._joined([row])
        except _DAMAGE:
            return False
        return True

    def _joined(self, rows: list[tuple[int, int, bytes, bytes, bytes]]) -> StoredTokens:
        """Raises one of `_DAMAGE` where a row's bytes are not those of so many tokens."""
        counts = [row[1] for row in rows]
        width = self._dimension * BIT_WIDTH // 8
        packed = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.uint8).reshape(sum(counts), width)
        scales = np.frombuffer(b"".join(row[4] for row in rows), dtype=np.float32)
        pieces = np.frombuffer(b"".join(row[2] for row in rows), dtype="<i4").astype(np.int32)
        if len(pieces) != len(packed):
            raise InvalidInputError("as many word pieces as vectors are needed")
        seqs = np.repeat(np.array([row[0] for row in rows], dtype=np.int64), counts)
        return StoredTokens(seqs, pieces, Codes(BIT_WIDTH, packed, scales))
