"""Inner products of float32 queries with codes, estimated from the packed bytes.

Each byte is looked up as the levels it stands for, in blocks that stay in the cache, and multiplied with the queries
there: no float copy of the codes ever exists. Measured against tables of partial sums per byte position (one thread,
384 coordinates, milliseconds, the rotation of the queries not counted: 0.07 for one, 0.12 for ten):

    rows × queries, bits    block look-up   partial sums   decode everything
    1,000 × 1, 2 bits            0.11            0.19            0.17
    1,000 × 1, 4 bits            0.16            0.44            0.27
    4,000 × 10, 2 bits           1.4             2.9             1.6
    20,000 × 1, 4 bits           3.5            10              15
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...schemas.errors import InvalidInputError
from .arrays import ABSMAX_WIDTH, FULL_PRECISION, Bytes, Floats, Positions, as_vectors
from .packing import level_table
from .quantize import Codes, levels
from .rotation import Rotation, turned

_ROWS_AT_ONCE: Final = 256
# OpenBLAS multiplies small matrices several times as fast as those just above its limit: six queries with 128 rows
# take 0.007 ms, with 256 rows 0.048.
_FEW_ROWS: Final = 128
_FEW_QUERIES: Final = 4


def score(queries: NDArray[np.floating], codes: Codes, *, rotation: Rotation | None = None) -> Floats:
    """Estimated ⟨query, vector⟩, float32 (q, n), for queries (q, d) and n codes; exact at 32 bits. q and n may be 0.

    Unbiased at every bit width, so scores of different widths may be ranked together. Raises InvalidInputError when
    the queries are not finite or have another dimension than the codes.
    """
    rows = as_vectors(queries)
    if codes.bit_width == FULL_PRECISION:
        return _score_turned(rows, codes)
    _check_dimension(rows, codes)
    return _score_turned(turned(rows) if rotation is None else rotation.apply(rows), codes)


def score_mixed(queries: NDArray[np.floating], groups: Sequence[tuple[Positions, Codes]], count: int) -> Floats:
    """Scores of `count` items that are stored at different bit widths, float32 (q, count), in the items' order.

    Each group is (positions, codes): row i of the codes belongs to item positions[i]. The queries are rotated once.
    Raises InvalidInputError when the positions do not name each item exactly once, and like `score`.
    """
    rows = as_vectors(queries)
    _check_positions([positions for positions, _ in groups], count)
    result = np.empty((len(rows), count), dtype=np.float32)
    for positions, codes in groups:
        result[:, positions] = _score_turned(rows if codes.bit_width == FULL_PRECISION else turned(rows), codes)
    return result


def _score_turned(queries: Floats, codes: Codes) -> Floats:
    """`score` for queries that are already in the space of the codes: rotated below 32 bits."""
    _check_dimension(queries, codes)
    if codes.bit_width == FULL_PRECISION:
        return queries @ levels(codes.packed, FULL_PRECISION).T
    result = np.empty((len(queries), len(codes)), dtype=np.float32)
    at_once = _ROWS_AT_ONCE if len(queries) <= _FEW_QUERIES else _FEW_ROWS
    buffer = np.empty((min(at_once, len(codes)), codes.dimension), dtype=np.float32)
    for start in range(0, len(codes), at_once):
        packed = codes.packed[start : start + at_once]
        block = buffer[: len(packed)]
        _fill_levels(block, packed, codes.bit_width)
        result[:, start : start + len(packed)] = queries @ block.T
    result *= codes.scale
    return result


def _fill_levels(block: Floats, packed: Bytes, bit_width: int) -> None:
    if bit_width == ABSMAX_WIDTH:
        np.add(packed.view(np.int8), np.float32(0.5), out=block)
        return
    table = level_table(bit_width)
    # Every byte is a row of the table, so "clip" changes nothing but lets numpy write without a second buffer.
    table.take(packed, axis=0, mode="clip", out=block.reshape(*packed.shape, table.shape[1]))


def _check_dimension(queries: Floats, codes: Codes) -> None:
    if queries.shape[1] != codes.dimension:
        raise InvalidInputError(f"queries have {queries.shape[1]} coordinates, the codes {codes.dimension}")


def _check_positions(positions: Sequence[Positions], count: int) -> None:
    named = np.concatenate([np.empty(0, dtype=np.intp), *positions])
    if len(named) != count or not np.array_equal(np.sort(named), np.arange(count)):
        raise InvalidInputError(f"the groups must name each of the {count} items exactly once")
