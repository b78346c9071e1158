"""Into which pixels a catalogue is partitioned: the rule of hats-import, with its defaults, applied to row counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.partition_limits import MAX_PARTITION_ROWS


def choose_partitions(
    order: int,
    cells: NDArray[np.int64],
    rows: NDArray[np.int64],
    max_rows: int = MAX_PARTITION_ROWS,
    lowest_order: int = 0,
) -> dict[HatsPixel, int]:
    """Return the pixels of the partitions with their row counts, in their order on the sky.

    The smallest partitions are pixels of the lowest order at which no pixel has more than ``max_rows`` rows. Each
    partition is the largest pixel around them that has at most this many rows, in at least two of its quarters: if all
    rows of a pixel are in one quarter, the quarter is the partition instead (``drop_empty_siblings``). Pixels without
    rows are left out. A pixel of ``order`` is a partition even if it has more rows: the caller counts at a higher order
    to avoid this.

    Parameters
    ----------
    order : int
        The order at which rows were counted.
    cells, rows : NDArray[np.int64]
        Cells of ``order`` that have rows, ascending, and the number of rows in each; shape (n,).
    max_rows : int, optional
        Maximum number of rows of a partition.
    lowest_order : int, optional
        No partition is larger than a pixel of this order.

    Returns
    -------
    dict of HatsPixel to int
        Number of rows by pixel; {} without rows.
    """
    if not len(cells):
        return {}
    counts = [(cells, rows, np.ones(len(cells), np.int64))]
    for _ in range(order - lowest_order):
        finer, finer_rows, _ = counts[0]
        parents, first, quarters = np.unique(finer >> 2, return_index=True, return_counts=True)
        counts.insert(0, (parents, np.add.reduceat(finer_rows, first), quarters))
    fitting = (level for level, (_, sums, _) in enumerate(counts, lowest_order) if sums.max() <= max_rows)
    highest_order = min(max(next(fitting, order), lowest_order + 1), order)
    found = {}
    divided = counts[0][0] >> 2
    for level, (numbers, sums, quarters) in enumerate(counts[: highest_order - lowest_order + 1], lowest_order):
        is_left = np.isin(numbers >> 2, divided)
        is_chosen = is_left & ((sums <= max_rows) & (quarters > 1) | (level == highest_order))
        found.update({HatsPixel(level, int(numbers[index])): int(sums[index]) for index in np.flatnonzero(is_chosen)})
        divided = numbers[is_left & ~is_chosen]
    return dict(sorted(found.items(), key=lambda item: item[0].first_cell))
