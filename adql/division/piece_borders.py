"""Where the pieces of a divided query meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.healpix import NO_POSITION, ORDER

#: The cells of the smallest piece that is cut, of order 18: less than a second of arc wide
_LEAST_SPAN = 4 ** (ORDER - 18)


def choose_borders(rows: NDArray[np.float64], order: int, count: int) -> tuple[int, ...]:
    """Return the indexes at which pieces of about equal numbers of rows meet.

    Parameters
    ----------
    rows
        Shape (12 * 4**order,): the rows of each NESTED cell, taken to be evenly distributed within it.
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
    """Return the index that halves the rows between two indexes of order 29; None if they are too close to be cut.

    ``rows`` and ``order`` are as of ``choose_borders``; ``end`` is None for the last piece.
    """
    end = NO_POSITION if end is None else end
    if end - first < _LEAST_SPAN:
        return None
    edges = np.arange(len(rows) + 1) * 4.0 ** (ORDER - order)
    cumulated = np.concatenate(([0.0], np.cumsum(rows)))
    before, after = np.interp([first, end], edges, cumulated)
    middle = int(np.interp((before + after) / 2, cumulated, edges)) if after > before else 0
    return middle if first < middle < end else (first + end) // 2
