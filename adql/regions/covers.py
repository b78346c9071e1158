"""Regions of the sky and their HEALPix covers.

One recursive cover serves every shape: a region gives a lower bound d of the signed angular distance from a direction
to its border (negative inside). A cell whose centre has d > R, with R the greatest radius of a cell of its order,
holds nothing of the region; one with d <= -R lies wholly inside; the others are divided, or kept as border cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.healpix import ORDER, Cells, max_radius

Vectors = NDArray[np.float64]

#: About how many cells a cover may have: more make the IN lists slower than the rows they save.
MOST_CELLS = 200

#: Rounding of directions and distances, in radians; far above 1e-15, far below a cell of order 29.
_SLACK = 1e-11


class Region(Protocol):
    def distance(self, directions: Vectors) -> NDArray[np.float64]:
        """Lower bound of the signed angular distance to the border, radians, of unit vectors of shape (n, 3)."""

    @property
    def size(self) -> float:
        """Angular size in radians: cells much smaller than it are not worth while."""


def direction(lon: float, lat: float) -> tuple[float, float, float]:
    """Unit vector of a position in degrees."""
    ra, dec = math.radians(lon), math.radians(lat)
    return math.cos(dec) * math.cos(ra), math.cos(dec) * math.sin(ra), math.sin(dec)


@dataclass(frozen=True, slots=True)
class Cone:
    """All directions within ``radius`` degrees of (lon, lat)."""

    lon: float
    lat: float
    radius: float

    def distance(self, directions: Vectors) -> NDArray[np.float64]:
        centre = np.array(direction(self.lon, self.lat))
        minus = directions - centre
        plus = directions + centre
        # 2 atan2(|a-b|, |a+b|) is good to 1e-16 for every separation (W. Kahan)
        apart = 2.0 * np.arctan2(
            np.sqrt(np.einsum("ij,ij->i", minus, minus)), np.sqrt(np.einsum("ij,ij->i", plus, plus))
        )
        return np.asarray(apart - math.radians(self.radius), dtype=np.float64)

    @property
    def size(self) -> float:
        return math.radians(self.radius)


@dataclass(frozen=True, slots=True)
class Cover:
    """NESTED cells by order: those wholly inside the region and those that its border may cross."""

    inside: tuple[tuple[int, tuple[int, ...]], ...]
    border: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def all(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        cells: dict[int, tuple[int, ...]] = {}
        for order, of_order in (*self.inside, *self.border):
            cells[order] = tuple(sorted(cells.get(order, ()) + of_order))
        return tuple(sorted(cells.items()))


def cover(region: Region, most_cells: int = MOST_CELLS) -> Cover:
    """The cells that hold every point of the region, about ``most_cells`` of them."""
    inside: list[tuple[int, tuple[int, ...]]] = []
    known = 0
    cells = Cells.base()
    while True:
        reach = max_radius(cells.order) + _SLACK
        apart = region.distance(cells.centres())
        within = apart <= -reach
        if within.any():
            full = cells.only(within).index
            inside.append((cells.order, tuple(full.tolist())))
            known += len(full)
        cells = cells.only((apart <= reach) & ~within)
        # a step of several orders costs little while there are few cells, and saves the calls in between
        step = _step(len(cells), cells.order, region.size, most_cells - known) if len(cells) else 0
        if not step:
            break
        cells = cells.divided(step)
    border = ((cells.order, tuple(cells.index.tolist())),) if len(cells) else ()
    return Cover(tuple(inside), border)


def _step(count: int, order: int, size: float, room: int) -> int:
    """How many orders to go down at once; 0 when the cells are small enough, or enough."""
    reach = max_radius(order)
    if order == ORDER:
        return 0
    if reach > size and count <= 16:  # nothing can be wholly inside yet
        return min(3 if reach > 8 * size else 2, ORDER - order)
    # dividing a border of n cells leaves about 2n on the next order and n inside
    if reach * 16 < size or 3 * count > room:
        return 0
    return 1
