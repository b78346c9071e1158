"""The cells whose rows are the margin of a pixel.

The margin holds all rows outside a pixel within a threshold of it, and some a little farther, as hats-import's does:
the rows of cells that touch the pixel, of the finest order at which touching cells reach the threshold. A cell is at
most three times as wide as the threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.adjacent_cells import STEPS, order_for_radius, step_from_cells
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import Cells

#: in arcseconds
MAX_THRESHOLD = 3600.0


def choose_margin_order(threshold: float) -> int:
    """Return the order of the cells for a threshold in arcseconds. Raise ``HatsError`` if it is too large."""
    order = order_for_radius(threshold / 3600) if 0 < threshold <= MAX_THRESHOLD else None
    if order is None:
        raise HatsError(f"a margin of {threshold:g} arcseconds is not possible: give up to {MAX_THRESHOLD:g}")
    return order


def find_margin_cells(pixel: HatsPixel, order: int) -> NDArray[np.int64]:
    """Return the cells of ``order`` that hold the margin of ``pixel``, ascending.

    A pixel that is smaller than these cells is inside one of them, which is returned with its neighbours; the rows of
    the pixel itself do not belong to its margin.
    """
    finer = order - pixel.order
    if finer < 0:
        cell = Cells.from_index(order, np.array([pixel.number >> -2 * finer], np.uint64))
        return _without_none(step_from_cells(cell))
    corner = Cells.from_index(order, np.array([pixel.number << 2 * finer], np.uint64))
    size = 1 << finer
    along, low, high = np.arange(size), np.zeros(size, np.int64), np.full(size, size - 1)
    sides = (
        (low, along, [step for step in STEPS if step[0] < 0]),
        (high, along, [step for step in STEPS if step[0] > 0]),
        (along, low, [step for step in STEPS if step[1] < 0]),
        (along, high, [step for step in STEPS if step[1] > 0]),
    )
    face = np.repeat(corner.face, size)
    reached = [
        step_from_cells(Cells(order, face, corner.x + across, corner.y + up), steps) for across, up, steps in sides
    ]
    return _without_none(*reached)


def _without_none(*reached: NDArray[np.int64]) -> NDArray[np.int64]:
    return unite_cells(*(cells[cells >= 0] for cells in reached))


def unite_cells(*groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all cells, each once, ascending."""
    cells = np.sort(np.concatenate([*groups, np.array([], np.int64)]))  # np.unique takes five times as long
    found: NDArray[np.int64] = cells[np.append(True, cells[1:] != cells[:-1])] if len(cells) else cells
    return found
