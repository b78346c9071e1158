"""The cells whose rows are the margin of a pixel.

The margin holds all rows outside a pixel within a threshold of it, and some a little farther, as hats-import's does:
those in the cells that touch the pixel, of the finest order at which touching cells reach the threshold. A cell is at
most three times as wide as the threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.adjacent_cells import order_for_radius, step_from_cells
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.hats_problem import HatsProblem
from clickhouse_schema.healpix import Cells

#: Arcseconds
MAX_THRESHOLD = 3600.0


def choose_margin_order(threshold: float) -> int:
    """Return the order of the cells for a threshold in arcseconds. Raises ``HatsProblem``."""
    order = order_for_radius(threshold / 3600) if 0 < threshold <= MAX_THRESHOLD else None
    if order is None:
        raise HatsProblem(f"a margin of {threshold:g} arcseconds is not possible: give up to {MAX_THRESHOLD:g}")
    return order


def find_margin_cells(pixel: HatsPixel, order: int) -> NDArray[np.int64]:
    """Return the cells of ``order`` that hold the margin of ``pixel``, ascending.

    A pixel that is smaller than these cells is in one of them, which is returned with those around it: rows of the
    pixel itself are none of its margin.
    """
    touched = step_from_cells(_find_border(pixel, order)).ravel()
    finer = order - pixel.order
    is_outside = touched >> 2 * finer != pixel.number if finer >= 0 else np.ones(len(touched), bool)
    outside = np.sort(touched[(touched >= 0) & is_outside])  # np.unique takes five times as long
    found: NDArray[np.int64] = outside[np.append(True, outside[1:] != outside[:-1])]
    return found


def _find_border(pixel: HatsPixel, order: int) -> Cells:
    """Return the cells along the border of a pixel, inside it; of a smaller pixel the cell that it is in."""
    finer = order - pixel.order
    if finer <= 0:
        return Cells.from_index(order, np.array([pixel.number >> -2 * finer], np.uint64))
    corner = Cells.from_index(order, np.array([pixel.number << 2 * finer], np.uint64))
    size = 1 << finer
    along, low, high = np.arange(size), np.zeros(size, np.int64), np.full(size, size - 1)
    x = corner.x + np.concatenate((along, along, low, high))
    y = corner.y + np.concatenate((low, high, along, along))
    return Cells(order, np.repeat(corner.face, len(x)), x, y)
