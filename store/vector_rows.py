"""Stored vectors as values: groups of one bit width, rows with their version, and what follows from their codes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import InvalidInputError
from .codec import Codes, recode, sign_bits_of
from .codec.arrays import Bytes

RawVectors = tuple[int, int, int, bytes, bytes]
"""A row as it is read: bit width, seq, chunks, codes, scales."""

_DAMAGE: Final = (ValueError, TypeError, InvalidInputError)
_LEFT_OUT: Final = "stored embeddings that are damaged were left out: %d; the daily run computes them anew"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class StoredVectors:
    """The stored vectors of some memories at one bit width: row i of `codes` belongs to memory `seqs[i]`.

    A memory of several chunks has several rows.
    """

    seqs: NDArray[np.int64]
    codes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class VectorRow:
    """A memory's chunk vectors as of one version of their row, and the memory's state at that moment."""

    seq: int
    version: int
    state: int
    codes: Codes


def grouped(rows: Sequence[RawVectors], dimension: int) -> list[StoredVectors]:
    """Rows as they are read from the table, grouped by bit width; those that are damaged are left out."""
    try:
        return _grouped(rows, dimension)
    except _DAMAGE:
        sound = [row for row in rows if _is_sound(row, dimension)]
        _log.warning(_LEFT_OUT, len(rows) - len(sound))
        return _grouped(sound, dimension)


def sound_rows(rows: Iterable[Sequence[Any]], dimension: int) -> Iterator[VectorRow]:
    """Rows of seq, version, state, bit width, chunks, codes and scales; those that are damaged are left out."""
    for seq, version, state, bit_width, chunks, packed, scales in rows:
        try:
            codes = _codes(bit_width, chunks, packed, scales, dimension)
        except _DAMAGE:
            _log.warning(_LEFT_OUT, 1)
            continue
        yield VectorRow(seq, version, state, codes)


def coarser(rows: Sequence[VectorRow], bit_width: int) -> list[VectorRow]:
    """The same vectors at fewer bits, made from their codes alone, with the versions and states that were read.

    Estimates stay unbiased: the scale of the new code refers to the decoded old one, whose own scale was unbiased.
    Raises InvalidInputError for an unknown bit width. Rows that have no more bits than that already are left out.
    """
    found: list[VectorRow] = []
    for width, group in _by_width(rows):
        if width > bit_width:
            codes = recode(_together(group), bit_width)
            found += [replace(row, codes=part) for row, part in zip(group, _apart(codes, group), strict=True)]
    return sorted(found, key=lambda row: row.seq)


def signs(rows: Sequence[VectorRow]) -> list[Bytes]:
    """The sign bits (c, d/8) of each row's chunks, in the order of `rows`."""
    found: dict[int, Bytes] = {}
    for _, group in _by_width(rows):
        bits = sign_bits_of(_together(group))
        ends = list(accumulate(len(row.codes) for row in group))
        found.update({row.seq: bits[end - len(row.codes) : end] for row, end in zip(group, ends, strict=True)})
    return [found[row.seq] for row in rows]


def _by_width(rows: Sequence[VectorRow]) -> Iterator[tuple[int, list[VectorRow]]]:
    for width in sorted({row.codes.bit_width for row in rows}):
        yield width, [row for row in rows if row.codes.bit_width == width]


def _together(rows: Sequence[VectorRow]) -> Codes:
    return Codes(
        rows[0].codes.bit_width,
        np.concatenate([row.codes.packed for row in rows]),
        np.concatenate([row.codes.scale for row in rows]),
    )


def _apart(codes: Codes, rows: Sequence[VectorRow]) -> Iterator[Codes]:
    start = 0
    for row in rows:
        yield codes.take(np.arange(start, start + len(row.codes)))
        start += len(row.codes)


def _grouped(rows: Sequence[RawVectors], dimension: int) -> list[StoredVectors]:
    found: list[StoredVectors] = []
    for width in sorted({row[0] for row in rows}):
        _, seqs, chunks, packed, scales = zip(*(row for row in rows if row[0] == width), strict=True)
        codes = _codes(width, sum(chunks), b"".join(packed), b"".join(scales), dimension)
        found.append(StoredVectors(np.repeat(np.array(seqs, dtype=np.int64), chunks), codes))
    return found


def _codes(bit_width: int, chunks: int, packed: bytes, scales: bytes, dimension: int) -> Codes:
    """Raises one of `_DAMAGE` where the bytes are not those of so many vectors."""
    return Codes(
        bit_width,
        np.frombuffer(packed, dtype=np.uint8).reshape(chunks, dimension * bit_width // 8),
        np.frombuffer(scales, dtype=np.float32),
    )


def _is_sound(row: RawVectors, dimension: int) -> bool:
    try:
        _grouped([row], dimension)
    except _DAMAGE:
        return False
    return True
