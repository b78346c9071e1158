"""The base class of regions, and their covers.

A cover is found by recursion over HEALPix cells. A cell is outside the region, entirely inside it, or crossed by its
border (``Region.classify_cells``). Crossed cells are divided, or kept as border cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from adql.regions.unit_vectors import Mask, Reals, Vectors
from clickhouse_schema.healpix import ORDER, Cells, max_cell_radius
from clickhouse_schema.shape_cover import EVERYWHERE, cap_radius, cell_number

#: Margin in radians for the rounding of directions and distances, far above 1e-15 and far below a cell of order 29
SLACK = 1e-11

#: Classes of cells. The class in a union is the maximum, in an intersection the minimum, in a complement the negative.
OUTSIDE, BORDER, INSIDE = -1, 0, 1

Classes = NDArray[np.int8]

#: Approximate maximum number of cells of a cover; longer IN lists cost more than they save
MAX_COVER_CELLS = 200

#: Number of cells of one order above which the search for shape covers stops dividing
_MAX_SHAPE_COVER_CELLS = 100

#: Finest order of the search. Shapes below 0.2 arcmin are not distinguished, because a small region touches few cells
#: of this order.
_FINEST_SHAPE_COVER_ORDER = 13


class Region(ABC):
    """A closed set of directions in ICRS."""

    @abstractmethod
    def contains(self, points: Vectors) -> Mask:
        """Test membership; borders belong to the region.

        Parameters
        ----------
        points : Vectors
            Unit vectors, shape (n, 3).

        Returns
        -------
        Mask
            Shape (n,).
        """

    @abstractmethod
    def signed_distance(self, points: Vectors) -> Reals:
        """Return a lower bound of the angular distance to the border, negative inside.

        Parameters
        ----------
        points : Vectors
            Unit vectors, shape (n, 3).

        Returns
        -------
        Reals
            Radians, shape (n,). The absolute value is at most the true distance, and 0 if nothing better is known.
        """

    @property
    @abstractmethod
    def size(self) -> float:
        """Angular size in radians. Much smaller cells are not worth their cost."""

    def find_cap(self) -> tuple[Vectors, float]:
        """Return a cap that contains the region: its centre, a unit vector, and its radius in radians."""
        return np.array([0.0, 0.0, 1.0]), math.pi

    def classify_cells(self, cells: Cells) -> Classes:
        """Return ``OUTSIDE``, ``BORDER`` or ``INSIDE`` for each cell, shape (n,).

        A cell is on one side of the border if its centre is farther from the border than the radius of any cell.
        """
        reach = max_cell_radius(cells.order) + SLACK
        distance = self.signed_distance(cells.find_centres())
        return (distance <= -reach).astype(np.int8) - (distance > reach).astype(np.int8)


@dataclass(frozen=True, slots=True)
class Cover:
    """NESTED cells as (order, cells): cells entirely inside the region, and cells that its border may cross."""

    inside: tuple[tuple[int, tuple[int, ...]], ...]
    border: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def all(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        cells: dict[int, tuple[int, ...]] = {}
        for order, of_order in (*self.inside, *self.border):
            cells[order] = tuple(sorted(cells.get(order, ()) + of_order))
        return tuple(sorted(cells.items()))


@lru_cache(maxsize=64)  # a query and its estimate need the same cover
def find_cover(region: Region, max_cells: int = MAX_COVER_CELLS) -> Cover:
    """Find the HEALPix cells that together contain a region.

    Parameters
    ----------
    region : Region
        The region.
    max_cells : int
        Approximate maximum number of cells.

    Returns
    -------
    Cover
        The cells inside the region, and the cells on its border.
    """
    inside: list[tuple[int, tuple[int, ...]]] = []
    found = 0
    size = region.size
    cells = Cells.base_cells()
    while True:
        classes = region.classify_cells(cells)
        within = classes == INSIDE
        if within.any():
            whole = cells.filter_cells(within).index
            inside.append((cells.order, tuple(whole.tolist())))
            found += len(whole)
        cells = cells.filter_cells((classes != OUTSIDE) & ~within)
        step = _choose_step(cells, size, found, max_cells) if len(cells) else 0
        if not step:
            break
        cells = cells.divide_cells(step)
    border = ((cells.order, tuple(cells.index.tolist())),) if len(cells) else ()
    return Cover(tuple(inside), border)


def _choose_step(cells: Cells, size: float, inside: int, max_cells: int) -> int:
    """Return how many orders to descend at once, 0 to stop.

    Several orders at once cost little while there are few cells. Dividing n border cells leaves about 2n border cells
    and adds n inside cells.
    """
    radius = max_cell_radius(cells.order)
    if cells.order == ORDER:
        return 0
    if radius > size and len(cells) <= 16 and not inside:  # no cell can be entirely inside yet
        return min(3 if radius > 8 * size else 2, ORDER - cells.order)
    # an intersection may be much smaller than its parts, so its size decides only once a cell is inside
    if (inside and radius * 16 < size) or 3 * len(cells) > max_cells - inside:
        return 0
    return 1


@dataclass(frozen=True, slots=True)
class ShapeCovers:
    """Stored shape covers: single ``numbers``, and all numbers inside the NESTED ``cells`` of ``order``."""

    numbers: tuple[int, ...]
    order: int
    cells: tuple[int, ...]


def find_shape_covers(region: Region) -> ShapeCovers:
    """Find the shape covers (``clickhouse_schema.shape_cover``) of all shapes that may meet a region.

    The cell of a shape is within the ``cap_radius`` of its order from each region that the shape meets.

    Parameters
    ----------
    region : Region
        The region. Only its distances and size are used, so it may be ``Grown``.

    Returns
    -------
    ShapeCovers
        A superset of the shape covers of these shapes.
    """
    numbers = [EVERYWHERE]
    cells = Cells.base_cells()
    while True:
        width = cap_radius(cells.order)
        reach = max_cell_radius(cells.order) + width + SLACK
        cells = cells.filter_cells(region.signed_distance(cells.find_centres()) <= reach)
        index = cells.index.tolist()
        is_fine = cells.order == _FINEST_SHAPE_COVER_ORDER or 8 * width < region.size
        if is_fine or len(cells) > _MAX_SHAPE_COVER_CELLS:
            return ShapeCovers(tuple(numbers), cells.order, tuple(index))
        numbers += [cell_number(cells.order, cell) for cell in index]
        cells = cells.divide_cells(1)
