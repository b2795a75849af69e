"""Stored vectors as values: groups of one bit width, rows with their version, and what follows from their codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .codec import Codes, recode, sign_bits_of
from .codec.arrays import Bytes


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
