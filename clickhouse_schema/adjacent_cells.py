"""Which HEALPix cells (NESTED) touch each other, and how far touching cells reach.

Every point within ``REACH`` / 2^order radians of a position is in the position's own cell of that order or in a cell
that touches it: points of cells that do not touch are farther apart (by 0.69 / 2^order where cells are narrowest, at
the corners of the polar caps; tests go along the borders of each kind of cell). All points within n times this distance
are in cells that n steps from a cell to a touching cell can reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.healpix import ORDER, Cells

#: Radians at order 0
REACH = 0.6

#: The most that a coordinate in the plane of the projection changes along a path of one radian, in sides of base cells:
#: on the meridians between the base cells of a cap, at the pole; 1.02 at most between the caps
_STEEPEST = math.sqrt(6) / math.pi * math.hypot(1, math.pi / 2)

#: Covers the rounding of indexes, in cells of order 29
_ROUNDING_CELLS = 2

#: The finest order of a search around positions: finer cells save nothing more
_FINEST_ORDER = 20

#: Steps (x, y) from a cell to itself and to the cells that touch it
STEPS = tuple((x, y) for y in (-1, 0, 1) for x in (-1, 0, 1))

#: The base cell beyond each border of the base cells 0 to 11 (255: none), by ``STEPS``: beyond S, SE, E, SW, the cell
#: itself, beyond NE, W, NW, N
FACES = (
    (8, 9, 10, 11, 255, 255, 255, 255, 10, 11, 8, 9),
    (5, 6, 7, 4, 8, 9, 10, 11, 9, 10, 11, 8),
    (255, 255, 255, 255, 5, 6, 7, 4, 255, 255, 255, 255),
    (4, 5, 6, 7, 11, 8, 9, 10, 11, 8, 9, 10),
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    (1, 2, 3, 0, 0, 1, 2, 3, 5, 6, 7, 4),
    (255, 255, 255, 255, 7, 4, 5, 6, 255, 255, 255, 255),
    (3, 0, 1, 2, 3, 0, 1, 2, 4, 5, 6, 7),
    (2, 3, 0, 1, 255, 255, 255, 255, 0, 1, 2, 3),
)

#: How (x, y) turns there, for northern, equatorial and southern base cells: 1 mirrors x, 2 mirrors y, 4 swaps them
TURNS = ((0, 0, 3), (0, 0, 6), (0, 0, 0), (0, 0, 5), (0, 0, 0), (5, 0, 0), (0, 0, 0), (6, 0, 0), (3, 0, 0))


def order_for_radius(radius: float) -> int | None:
    """Return the finest order at which a cell and its touching cells contain everything within a radius.

    Parameters
    ----------
    radius : float
        Degrees.

    Returns
    -------
    int or None
        None if there is no such order, or if the radius is negative.
    """
    if not 0 <= math.radians(radius) < REACH:
        return None
    if radius <= reach_of_order(_FINEST_ORDER):  # also 0 and tiny radii, by which REACH cannot be divided
        return _FINEST_ORDER
    return math.floor(math.log2(REACH / math.radians(radius)))


def reach_of_order(order: int) -> float:
    """Return the radius, in degrees, within which everything is in the touching cells of ``order``."""
    return math.degrees(REACH / (1 << order))


def find_border_width(radius: float) -> int:
    """Return how far a position must be from the border of its cell for a circle around it to stay in the cell.

    Parameters
    ----------
    radius : float
        Radius of the circle in degrees.

    Returns
    -------
    int
        Number of cells of order 29; it holds for cells of every order.
    """
    return math.ceil(math.radians(min(radius, 180)) * _STEEPEST * (1 << ORDER)) + _ROUNDING_CELLS


def find_touching_cells(order: int) -> NDArray[np.int64]:
    """Return the cells around each cell of an order.

    Parameters
    ----------
    order : int
        Order of all cells.

    Returns
    -------
    NDArray[np.int64]
        The cell that each of ``STEPS`` leads to, -1 for none; shape (12 * 4^order, 9).
    """
    cells = Cells.base_cells().divide_cells(order)
    touching = np.empty((len(cells), len(STEPS)), dtype=np.int64)
    touching[cells.index] = step_from_cells(cells)
    return touching


def step_from_cells(cells: Cells, steps: Sequence[tuple[int, int]] = STEPS) -> NDArray[np.int64]:
    """Return the cells that steps lead to.

    Parameters
    ----------
    cells : Cells
        Cells to start from.
    steps : sequence of tuple of int, optional
        Steps (x, y) from each of them to a touching cell.

    Returns
    -------
    NDArray[np.int64]
        The cell that each step leads to, -1 for none; shape (n, number of steps).
    """
    size = 1 << cells.order
    touching = np.full((len(cells), len(steps)), -1, dtype=np.int64)
    for step, (across, up) in enumerate(steps):
        x, y = cells.x + across, cells.y + up
        column, row = 1 + (x >= size) - (x < 0), 1 + (y >= size) - (y < 0)
        beyond = column + 3 * row
        face = np.array(FACES)[beyond, cells.face]
        turn = np.array(TURNS)[beyond, cells.face // 4]
        x = (x % size) ^ ((size - 1) * (turn & 1))
        y = (y % size) ^ ((size - 1) * (turn >> 1 & 1))
        x, y = np.where(turn & 4, y, x), np.where(turn & 4, x, y)
        there = face < 12
        touching[there, step] = Cells(cells.order, face[there], x[there], y[there]).index
    return touching
