"""The HEALPix cells (NESTED) around one position, by plain numbers: 15 microseconds, where arrays take 300.

The formulas are the same as in ``clickhouse_schema.healpix``; tests compare both.
"""

from __future__ import annotations

import math

from clickhouse_schema.adjacent_cells import FACES, STEPS, TURNS, order_for_radius
from clickhouse_schema.healpix import FACE_PHI, FACE_RING, max_cell_radius

#: Base cell (0 to 11), and position (x, y) in it
Cell = tuple[int, int, int]

#: Radians for the rounding of directions and distances
_SLACK = 1e-11

_RINGS: list[int] = FACE_RING.tolist()
_PHIS: list[float] = FACE_PHI.tolist()


def find_cells_around(lon: float, lat: float, radius: float) -> tuple[int, tuple[int, ...]] | None:
    """Return at most nine cells that contain everything within a radius of a position.

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
