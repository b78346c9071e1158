"""Which HEALPix cells (NESTED) touch each other, how far touching cells reach, and the cells around a position.

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

from clickhouse_schema.healpix import FACE_PHI, FACE_RING, ORDER, Cells, max_cell_radius

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


#: Base cell (0 to 11), and position (x, y) in it
Cell = tuple[int, int, int]

#: Radians for the rounding of directions and distances
_SLACK = 1e-11

_RINGS: list[int] = FACE_RING.tolist()
_PHIS: list[float] = FACE_PHI.tolist()


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
    """Return the radius within which everything is in the touching cells of an order.

    Parameters
    ----------
    order : int
        A HEALPix order.

    Returns
    -------
    float
        The radius in degrees: around any position, all points within it are in the cell of the position or in a cell
        that touches this cell.
    """
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


def find_cells_around(lon: float, lat: float, radius: float) -> tuple[int, tuple[int, ...]] | None:
    """Return at most nine cells that contain everything within a radius of a position.

    Computes with plain numbers: 15 microseconds, where arrays take 300. The formulas are the formulas of
    ``clickhouse_schema.healpix``; tests compare both.

    Parameters
    ----------
    lon, lat, radius : float
        Degrees.

    Returns
    -------
    tuple of int and tuple of int, or None
        The order and the sorted cells; None if no nine cells contain the circle, or if it is not a circle.
    """
    order = order_for_radius(radius)
    if order is None or not (math.isfinite(lon) and abs(lat) <= 90):
        return None
    reach = math.radians(radius) + max_cell_radius(order) + _SLACK
    max_chord = 2 * math.sin(min(reach, math.pi) / 2)
    across = math.cos(math.radians(lat))
    phi = math.radians(math.fmod(lon, 360))
    centre = across * math.cos(phi), across * math.sin(phi), math.sin(math.radians(lat))
    near = [
        _number_cell(cell, order)
        for cell in _find_touching_cells(_find_cell(lon, lat, order), order)
        if math.dist(_find_centre(cell, order), centre) <= max_chord
    ]
    return order, tuple(sorted(near))


def _find_cell(lon: float, lat: float, order: int) -> Cell:
    nside = 1 << order
    quarters = lon % 360 / 90
    quarter = min(int(quarters), 3)
    s = math.sin(math.radians(90 - abs(lat)) / 2)
    narrowing = min(math.sqrt(6) * s, 1.0)
    x = (quarters - quarter - 0.5) * narrowing + quarter + 1
    y = math.copysign(min(0.75 - 1.5 * s * s, 0.5) + 0.5 - 0.5 * narrowing, lat)
    low, high = quarter * nside, (quarter + 2) * nside - 1
    rising = min(max(int((x - y) * nside), low), high)
    falling = min(max(int((x + y) * nside), low), high)
    row, column = rising >> order, falling >> order
    face = (min(row, column) & 3) + 4 * (1 + row - column)
    return face, falling & (nside - 1), (rising & (nside - 1)) ^ (nside - 1)


def _find_touching_cells(cell: Cell, order: int) -> set[Cell]:
    face, x, y = cell
    size = 1 << order
    if 0 < x < size - 1 and 0 < y < size - 1:
        return {(face, x + across, y + up) for across, up in STEPS}
    found = set()
    for across, up in STEPS:
        there_x, there_y = x + across, y + up
        beyond = 1 + (there_x >= size) - (there_x < 0) + 3 * (1 + (there_y >= size) - (there_y < 0))
        turn = TURNS[beyond][face // 4]
        there_x = (there_x % size) ^ ((size - 1) * (turn & 1))
        there_y = (there_y % size) ^ ((size - 1) * (turn >> 1 & 1))
        if FACES[beyond][face] < 12:
            found.add((FACES[beyond][face], *((there_y, there_x) if turn & 4 else (there_x, there_y))))
    return found


def _find_centre(cell: Cell, order: int) -> tuple[float, float, float]:
    face, x, y = cell
    nside = 1 << order
    ring = _RINGS[face] * nside - x - y - 1
    if nside <= ring <= 3 * nside:
        cap = nside
        z = (2 * nside - ring) * (2.0 / 3.0) / nside
        rho = math.sqrt((1.0 - z) * (1.0 + z))
    else:
        cap = ring if ring < nside else 4 * nside - ring
        from_pole = (cap / nside) ** 2 / 3.0
        z = math.copysign(1.0 - from_pole, 2 * nside - ring)
        rho = math.sqrt(from_pole * (2.0 - from_pole))
    phi = (math.pi / 4) * (_PHIS[face] + (x - y) / cap)
    return rho * math.cos(phi), rho * math.sin(phi), z


def _number_cell(cell: Cell, order: int) -> int:
    face, x, y = cell
    # the digits of a binary number, read to base 4, are its bits at even positions
    return (face << (2 * order)) + int(f"{x:b}", 4) + 2 * int(f"{y:b}", 4)
