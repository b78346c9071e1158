"""Which pixels a catalogue is partitioned into: the rule of hats-import for counts of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_pixel import HatsPixel

#: Rows that a partition has at most, as hats-import has it
MAX_PARTITION_ROWS = 1_000_000


def choose_partitions(
    counts: NDArray[np.int64], max_rows: int = MAX_PARTITION_ROWS, lowest_order: int = 0
) -> dict[HatsPixel, int]:
    """Return the pixels of the partitions with their rows, in their order on the sky.

    Each partition is the largest pixel of at most ``max_rows`` rows; pixels without rows are left out. A pixel of the
    order of ``counts`` with more rows is a partition all the same: the caller counts at a higher order to avoid it.

    Parameters
    ----------
    counts : numpy.ndarray, shape (12 * 4**order,)
        Rows of each pixel of one order.
    max_rows : int
    lowest_order : int
        No partition is larger than a pixel of this order.
    """
    orders = [counts]
    while orders[0].size > 12 << 2 * lowest_order:
        orders.insert(0, orders[0].reshape(-1, 4).sum(axis=1))
    found = {}
    covered = np.zeros(orders[0].size, bool)
    for order, rows in enumerate(orders, lowest_order):
        is_last = rows is counts
        chosen = np.flatnonzero(~covered & (rows > 0) & (is_last | (rows <= max_rows)))
        found.update({HatsPixel(order, int(number)): int(rows[number]) for number in chosen})
        covered[chosen] = True
        covered = np.repeat(covered, 4)
    return dict(sorted(found.items(), key=lambda item: item[0].first_cell))
