"""The borders between the pieces of a divided query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.healpix import NO_POSITION, ORDER

#: Minimum number of indexes of a piece that is cut: a cell of order 18, which is less than an arcsecond wide
_LEAST_SPAN = 4 ** (ORDER - 18)


def choose_borders(rows: NDArray[np.float64], order: int, count: int) -> tuple[int, ...]:
    """Choose the borders of pieces with about equal numbers of rows.

    Parameters
    ----------
    rows
        Shape (12 * 4**order,): the number of rows of each NESTED cell, in which rows are assumed to be evenly
        distributed.
    order
        The HEALPix order of the cells.
    count
        The number of pieces.

    Returns
    -------
    tuple of int
        Up to ``count - 1`` ascending NESTED indexes of order 29; fewer if there are few rows.
    """
    size = 4 ** (ORDER - order)
    cumulated = np.concatenate(([0.0], np.cumsum(rows)))
    if count < 2 or cumulated[-1] <= 0:
        return ()
    wanted = cumulated[-1] * np.arange(1, count) / count
    cells = np.searchsorted(cumulated, wanted, side="right") - 1
    fractions = (wanted - cumulated[cells]) / rows[cells]
    found = {int(cell) * size + int(part * size) for cell, part in zip(cells, fractions, strict=True)}
    return tuple(sorted(found - {0}))


def find_middle(rows: NDArray[np.float64], order: int, first: int, end: int | None) -> int | None:
    """Find the index that halves the rows of a piece.

    Parameters
    ----------
    rows, order
        As in ``choose_borders``.
    first, end
        The first index of order 29 of the piece, and the index after its last one; None for the last piece.

    Returns
    -------
    int or None
        The index of order 29; None if the piece is too small.
    """
    end = NO_POSITION if end is None else end
    if end - first < _LEAST_SPAN:
        return None
    edges = np.arange(len(rows) + 1) * 4.0 ** (ORDER - order)
    cumulated = np.concatenate(([0.0], np.cumsum(rows)))
    before, after = np.interp([first, end], edges, cumulated)
    middle = int(np.interp((before + after) / 2, cumulated, edges)) if after > before else 0
    return middle if first < middle < end else (first + end) // 2
