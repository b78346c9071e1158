"""How rows are spread over the sky, by HEALPix cells, and how many pairs of them are foreseen within a radius.

Inside a cell rows are taken to lie evenly. Two sums tell the pairs within a radius; both grow with it, and both fall
short where they do not fit, so the larger one is taken:

* counts in cells: the pairs that share a cell of some order are those within a circle as large as that cell; between
  two orders in proportion to the circle's area, below the finest one too, and the circle of 180 degrees has all
  pairs. It sees crowding at every scale, but no pair across a border of cells (Peebles 1980, The Large-Scale Structure
  of the Universe, section 36);
* cell by cell: of each cell's rows, the part that a circle around each other cell's centre covers. It sees
  across borders, as matters for small regions, but only a few hundred cells.

The parts of a sphere that are called areas here are fractions of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adql.regions import Moc
from clickhouse_schema.healpix import ORDER, cell_centres

Reals = NDArray[np.float64]

#: of joins of joins: more are as hopeless, and no number that can be calculated with
MAX_ROWS = 1e24

#: cells that each one is compared with: the sum cell by cell takes some milliseconds then
_MOST_CELLS = 200


@dataclass(frozen=True, slots=True)
class RowDensity:
    """``rows`` by NESTED cell of ``order``, each in the ``part`` of its cell.

    ``anywhere``: rows whose place is not known, ``placeless``: those that have none. ``tables``: names of the stored
    tables that they are of, which tells whether rows meet themselves.
    """

    order: int
    rows: Reals
    part: Reals
    anywhere: float = 0.0
    placeless: float = 0.0
    tables: frozenset[str] = frozenset()

    @classmethod
    def unplaced(cls, rows: float, tables: frozenset[str] = frozenset()) -> RowDensity:
        """Of rows whose place is not known: they are taken to be all over the sky."""
        return cls(0, np.zeros(12), np.ones(12), rows, tables=tables)

    @property
    def total(self) -> float:
        return float(self.rows.sum()) + self.anywhere + self.placeless

    def confine_to(self, cells: Moc, inside: Moc | None = None) -> RowDensity:
        """To a region in ``cells``, of which those ``inside`` are wholly in it: of the others it has half."""
        covered = find_covered_parts(self.order, cells)
        if inside is not None:
            covered = (covered + find_covered_parts(self.order, inside)) / 2
        anywhere = self.anywhere * float(covered.mean())
        part = np.minimum(self.part, covered)
        return replace(self, rows=self.rows * covered, part=part, anywhere=anywhere, placeless=0.0)

    def scale_to(self, rows: float) -> RowDensity:
        """With so many rows in all, spread as before; MOST_ROWS at most."""
        rows = min(rows, MAX_ROWS)
        if not (total := self.total):
            return RowDensity.unplaced(rows, self.tables) if rows else self
        part = rows / total
        return replace(self, rows=self.rows * part, anywhere=self.anywhere * part, placeless=self.placeless * part)

    def coarsen_to(self, order: int) -> RowDensity:
        """By the cells of a lower order."""
        if order >= self.order:
            return self
        each = 4 ** (self.order - order)
        rows, part = self.rows.reshape(-1, each).sum(axis=1), self.part.reshape(-1, each).mean(axis=1)
        return replace(self, order=order, rows=rows, part=part)


def find_covered_parts(order: int, cells: Moc) -> Reals:
    """How much of each NESTED cell of ``order`` is in ``cells``, from 0 to 1."""
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
    """Of a circle on the sphere, of a radius in degrees."""
    return math.sin(math.radians(min(max(radius, 0.0), 180.0)) / 2) ** 2


def area_to_radius(area: float) -> float:
    """Degrees of the circle with this area, at most the whole sphere."""
    return math.degrees(2 * math.asin(math.sqrt(min(area, 1.0))))


def estimate_pairs(a: RowDensity, b: RowDensity, radius: float) -> float:
    """About how many pairs of their rows are within ``radius`` degrees of each other, by chance or because clustered.

    The rows of one table meet themselves. Rows of two tables that are the same objects are not foreseen.
    """
    if radius < 0:
        return 0.0
    cap = compute_cap_area(radius)
    order = min(a.order, b.order)
    one, other = a.coarsen_to(order), b.coarsen_to(order)
    placed = max(_in_cells(one, other, cap), _cell_by_cell(one, other, radius))
    here, there = a.total - a.placeless, b.total - b.placeless
    pairs = placed + (a.anywhere * there + (here - a.anywhere) * b.anywhere) * cap
    same = min(here, there) if a.tables & b.tables else 0.0
    return min(pairs + same, here * there)


def _in_cells(a: RowDensity, b: RowDensity, cap: float) -> float:
    """Both of one order."""
    rows_a, rows_b = a.rows, b.rows
    cell = 1 / len(rows_a)
    areas, counted = [], []
    filled = np.maximum(np.maximum(a.part, b.part), 1e-9)
    if cap < cell:
        return float((rows_a * rows_b * np.minimum(cap / (cell * filled), 1.0)).sum())
    while True:
        areas.append(1 / len(rows_a))
        counted.append(float((rows_a * rows_b).sum()))
        if len(rows_a) == 12:
            break
        rows_a, rows_b = (rows.reshape(-1, 4).sum(axis=1) for rows in (rows_a, rows_b))
    return float(np.interp(cap, [*areas, 1.0], [*counted, float(rows_a.sum() * rows_b.sum())]))


def _cell_by_cell(a: RowDensity, b: RowDensity, radius: float) -> float:
    """Both of one order, which is lowered until the cells with rows are few."""
    while a.order and max(np.count_nonzero(a.rows), np.count_nonzero(b.rows)) > _MOST_CELLS:
        a, b = a.coarsen_to(a.order - 1), b.coarsen_to(b.order - 1)
    here, there = np.flatnonzero(a.rows), np.flatnonzero(b.rows)
    if not len(here) or not len(there):
        return 0.0
    places = [cell_centres(a.order, cells.astype(np.uint64)) for cells in (here, there)]
    apart = np.arccos(np.clip(places[0] @ places[1].T, -1.0, 1.0))
    parts = np.maximum(a.part[here][:, None], b.part[there][None, :])
    size = 2 * np.arcsin(np.sqrt(np.clip(parts / len(a.rows), 1e-18, 1.0)))  # of the circle as large as what is filled
    covered = _covered(apart, size, math.radians(min(radius, 180.0))) if radius < 180 else np.ones_like(apart)
    return float(a.rows[here] @ covered @ b.rows[there])


def _covered(apart: Reals, size: Reals, radius: float) -> Reals:
    """The part of circles of radius ``size`` that a circle of ``radius`` around a point so far ``apart`` covers.

    As in a plane, where two circles share a lens.
    """
    small, large = np.minimum(size, radius), np.maximum(size, radius)
    covered = np.where(apart + small <= large, (small / size) ** 2, 0.0)
    cut = (apart + small > large) & (apart < size + radius) & (radius > 0)
    d, r = apart[cut], size[cut]
    x = (d**2 + r**2 - radius**2) / (2 * d)
    y = d - x
    half = np.sqrt(np.maximum(r**2 - x**2, 0.0))
    lens = r**2 * np.arccos(np.clip(x / r, -1, 1)) + radius**2 * np.arccos(np.clip(y / radius, -1, 1)) - d * half
    covered[cut] = lens / (math.pi * r**2)
    return np.clip(covered, 0.0, 1.0)


def place_pairs(a: RowDensity, b: RowDensity, radius: float, rows: float) -> RowDensity:
    """Where ``rows`` pairs within ``radius`` are: where both have rows, in cells no smaller than the circle."""
    order = min(a.order, b.order)
    one, other = a.coarsen_to(order), b.coarsen_to(order)
    coarse = order
    while coarse and 1 / (12 * 4**coarse) < compute_cap_area(radius):
        coarse -= 1
    near = np.repeat(other.coarsen_to(coarse).rows, 4 ** (order - coarse))
    placed = one.rows * near
    if not placed.sum():
        placed = one.rows
    found = RowDensity(order, placed, one.part, tables=a.tables | b.tables)
    return found.scale_to(rows) if placed.sum() else RowDensity.unplaced(rows, found.tables)
