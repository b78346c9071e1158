"""The distribution of rows over the sky by HEALPix cells, and the expected number of pairs within a radius.

Rows are assumed to be evenly distributed within a cell. Two sums estimate the pairs within a radius. Both increase with
the radius, and both are too low where they do not apply, so the larger sum is used:

* Counts in cells: the pairs in the same cell of an order are taken as the pairs within a circle of the same area.
  Between two orders, and below the finest order, pairs are proportional to the area of the circle; the circle of 180
  degrees contains all pairs. This sum includes crowding at all scales, but no pairs across borders of cells (Peebles
  1980, The Large-Scale Structure of the Universe, section 36).
* Cell by cell: the fraction of each cell's rows that a circle around the centre of each other cell covers. This sum
  includes pairs across borders, which matters for small regions, but is limited to a few hundred cells.

Areas are fractions of the sphere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adql.regions import Moc
from clickhouse_schema.healpix import ORDER, cell_centres

Reals = NDArray[np.float64]

#: maximum number of rows of joins of joins: larger numbers make no difference, and overflow
MAX_ROWS = 1e24

#: maximum number of cells on each side of the sum cell by cell, which then takes some milliseconds
_MAX_CELLS = 200


@dataclass(frozen=True, slots=True)
class RowDensity:
    """The number of rows in each cell.

    Attributes
    ----------
    order : int
        The HEALPix order of the cells.
    rows : NDArray
        The rows in each NESTED cell, shape (12 * 4**order,).
    filled : NDArray
        The fraction of each cell's area in which its rows lie, of the same shape.
    unlocated : float
        The rows with unknown positions, which are assumed to be all over the sky.
    positionless : float
        The rows without a position.
    tables : frozenset of str
        The stored tables of the rows, to recognize joins of a table with itself.
    """

    order: int
    rows: Reals
    filled: Reals
    unlocated: float = 0.0
    positionless: float = 0.0
    tables: frozenset[str] = frozenset()

    @classmethod
    def make_unlocated(cls, rows: float, tables: frozenset[str] = frozenset()) -> RowDensity:
        """Return the density of rows with unknown positions."""
        return cls(0, np.zeros(12), np.ones(12), rows, tables=tables)

    @property
    def total(self) -> float:
        """The number of all rows."""
        return float(self.rows.sum()) + self.unlocated + self.positionless

    def confine_to(self, cells: Moc, inside: Moc | None = None) -> RowDensity:
        """Return the density of the rows in a region.

        Parameters
        ----------
        cells : Moc
            The cover of the region.
        inside : Moc, optional
            The cells that lie entirely inside the region; half of the rows in the other cells of the cover count.
            Without it, all rows in the cover count.
        """
        covered = find_covered_parts(self.order, cells)
        if inside is not None:
            covered = (covered + find_covered_parts(self.order, inside)) / 2
        filled = np.minimum(self.filled, covered)
        unlocated = self.unlocated * float(covered.mean())
        return replace(self, rows=self.rows * covered, filled=filled, unlocated=unlocated, positionless=0.0)

    def scale_to(self, rows: float) -> RowDensity:
        """Return the same distribution with a total of ``rows``, at most MAX_ROWS."""
        rows = min(rows, MAX_ROWS)
        if not (total := self.total):
            return RowDensity.make_unlocated(rows, self.tables) if rows else self
        factor = rows / total
        unlocated, positionless = self.unlocated * factor, self.positionless * factor
        return replace(self, rows=self.rows * factor, unlocated=unlocated, positionless=positionless)

    def add_rows(self, other: RowDensity) -> RowDensity:
        """Return the rows of two densities together, as in a UNION ALL.

        Parameters
        ----------
        other : RowDensity
            The other density, which may have another order.

        Returns
        -------
        RowDensity
            The sums in the cells of the lower order.
        """
        order = min(self.order, other.order)
        first, second = self.coarsen_to(order), other.coarsen_to(order)
        return replace(
            first,
            rows=first.rows + second.rows,
            filled=np.maximum(first.filled, second.filled),
            unlocated=first.unlocated + second.unlocated,
            positionless=first.positionless + second.positionless,
            tables=first.tables | second.tables,
        )

    def spread_to(self, order: int) -> Reals:
        """Return the rows in the cells of any order.

        Parameters
        ----------
        order : int
            A HEALPix order.

        Returns
        -------
        NDArray
            The located rows in each NESTED cell, shape (12 * 4**order,). The rows of a coarser cell are spread evenly.
        """
        rows = self.coarsen_to(order)
        ratio = 4 ** (order - rows.order)
        return np.asarray(np.repeat(rows.rows, ratio) / ratio)

    def coarsen_to(self, order: int) -> RowDensity:
        """Return the rows by cells of a lower order; unchanged if ``order`` is not lower."""
        if order >= self.order:
            return self
        ratio = 4 ** (self.order - order)
        rows, filled = self.rows.reshape(-1, ratio).sum(axis=1), self.filled.reshape(-1, ratio).mean(axis=1)
        return replace(self, order=order, rows=rows, filled=filled)


def find_covered_parts(order: int, cells: Moc) -> Reals:
    """Return the fraction of each NESTED cell of ``order`` that ``cells`` cover, shape (12 * 4**order,)."""
    if not len(cells.ranges):
        return np.zeros(12 * 4**order)
    edges = cells.ranges.ravel().astype(np.float64)
    lengths = (cells.ranges[:, 1] - cells.ranges[:, 0]).astype(np.float64)
    covered = np.repeat(np.cumsum(lengths), 2)
    covered[::2] -= lengths
    cell_size = 4.0 ** (ORDER - order)
    borders = np.arange(12 * 4**order + 1) * cell_size
    return np.asarray(np.diff(np.interp(borders, edges, covered)) / cell_size)


def compute_cap_area(radius: float) -> float:
    """Return the area of a circle, as a fraction of the sphere; ``radius`` is in degrees."""
    return math.sin(math.radians(min(max(radius, 0.0), 180.0)) / 2) ** 2


def area_to_radius(area: float) -> float:
    """Return the radius in degrees of the circle with this area, a fraction of the sphere."""
    return math.degrees(2 * math.asin(math.sqrt(min(area, 1.0))))


# --- pairs ------------------------------------------------------------------------------------------------------------


def estimate_pairs(a: RowDensity, b: RowDensity, radius: float) -> float:
    """Estimate the number of pairs of rows within a radius, by chance and because rows cluster.

    Each row of a table that is matched with itself is paired with itself. Pairs of the same objects in two tables are
    not counted in addition.

    Parameters
    ----------
    a, b : RowDensity
        The densities of both sides.
    radius : float
        The maximum separation, in degrees.

    Returns
    -------
    float
        The number of pairs.
    """
    if radius < 0:
        return 0.0
    cap = compute_cap_area(radius)
    order = min(a.order, b.order)
    coarse_a, coarse_b = a.coarsen_to(order), b.coarsen_to(order)
    located = max(_count_in_cells(coarse_a, coarse_b, cap), _sum_cell_by_cell(coarse_a, coarse_b, radius))
    total_a, total_b = a.total - a.positionless, b.total - b.positionless
    unlocated = a.unlocated * total_b + (total_a - a.unlocated) * b.unlocated
    themselves = min(total_a, total_b) if a.tables & b.tables else 0.0
    return min(located + unlocated * cap + themselves, total_a * total_b)


def _count_in_cells(a: RowDensity, b: RowDensity, cap: float) -> float:
    """Count pairs in a circle of area ``cap`` by the pairs in the same cell; both densities have the same order."""
    rows_a, rows_b = a.rows, b.rows
    cell = 1 / len(rows_a)
    if cap < cell:
        filled = np.maximum(np.maximum(a.filled, b.filled), 1e-9)
        return float((rows_a * rows_b * np.minimum(cap / (cell * filled), 1.0)).sum())
    areas, pairs = [], []
    while True:
        areas.append(1 / len(rows_a))
        pairs.append(float((rows_a * rows_b).sum()))
        if len(rows_a) == 12:
            break
        rows_a, rows_b = (rows.reshape(-1, 4).sum(axis=1) for rows in (rows_a, rows_b))
    all_pairs = float(rows_a.sum() * rows_b.sum())
    return float(np.interp(cap, [*areas, 1.0], [*pairs, all_pairs]))


def _sum_cell_by_cell(a: RowDensity, b: RowDensity, radius: float) -> float:
    """Sum the pairs of all cells with all other cells, in an order that is low enough for at most _MAX_CELLS cells."""
    while a.order and max(np.count_nonzero(a.rows), np.count_nonzero(b.rows)) > _MAX_CELLS:
        a, b = a.coarsen_to(a.order - 1), b.coarsen_to(b.order - 1)
    cells_a, cells_b = np.flatnonzero(a.rows), np.flatnonzero(b.rows)
    if not len(cells_a) or not len(cells_b):
        return 0.0
    centres_a, centres_b = (cell_centres(a.order, cells.astype(np.uint64)) for cells in (cells_a, cells_b))
    separation = np.arccos(np.clip(centres_a @ centres_b.T, -1.0, 1.0))
    filled = np.maximum(a.filled[cells_a][:, None], b.filled[cells_b][None, :])
    size = 2 * np.arcsin(
        np.sqrt(np.clip(filled / len(a.rows), 1e-18, 1.0))
    )  # the circle with the area of the filled part
    is_whole_sky = radius >= 180
    covered = np.ones_like(separation) if is_whole_sky else _find_overlaps(separation, size, math.radians(radius))
    return float(a.rows[cells_a] @ covered @ b.rows[cells_b])


def _find_overlaps(separation: Reals, size: Reals, radius: float) -> Reals:
    """Return the fraction of circles with radii ``size`` that a circle with ``radius`` at a separation covers.

    All arguments are in radians. Computed in a plane, in which two circles overlap in a lens.
    """
    small, large = np.minimum(size, radius), np.maximum(size, radius)
    covered = np.where(separation + small <= large, (small / size) ** 2, 0.0)
    cut = (separation + small > large) & (separation < size + radius) & (radius > 0)
    d, r = separation[cut], size[cut]
    x = (d**2 + r**2 - radius**2) / (2 * d)
    y = d - x
    half = np.sqrt(np.maximum(r**2 - x**2, 0.0))
    lens = r**2 * np.arccos(np.clip(x / r, -1, 1)) + radius**2 * np.arccos(np.clip(y / radius, -1, 1)) - d * half
    covered[cut] = lens / (math.pi * r**2)
    return np.clip(covered, 0.0, 1.0)


def distribute_pairs(a: RowDensity, b: RowDensity, radius: float, pairs: float) -> RowDensity:
    """Distribute pairs over the cells in which both sides have rows within a radius.

    Parameters
    ----------
    a, b : RowDensity
        The densities of both sides.
    radius : float
        The maximum separation, in degrees.
    pairs : float
        The number of pairs.

    Returns
    -------
    RowDensity
        The density of the pairs at the positions of ``a``.
    """
    order = min(a.order, b.order)
    coarse_a, coarse_b = a.coarsen_to(order), b.coarsen_to(order)
    coarsest = order
    while coarsest and 1 / (12 * 4**coarsest) < compute_cap_area(radius):
        coarsest -= 1
    near = np.repeat(coarse_b.coarsen_to(coarsest).rows, 4 ** (order - coarsest))
    rows = coarse_a.rows * near
    if not rows.sum():
        rows = coarse_a.rows
    found = RowDensity(order, rows, coarse_a.filled, tables=a.tables | b.tables)
    return found.scale_to(pairs) if rows.sum() else RowDensity.make_unlocated(pairs, found.tables)
