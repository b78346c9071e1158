"""Whether a row's position is in one of many circles, as ClickHouse SQL: it is tested against the few that are near.

Unit vectors fall into a grid of cubes, as in cross-matches. The circles that touch a cube are listed with it; a row
looks up the list of the cube that it is in, and these circles alone are tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from adql.clickhouse.sky.chord_sql import most_chord
from adql.clickhouse.sky.separation_sql import SMALLEST_CUBE, cube, cube_number
from adql.regions.cone import Cone
from adql.regions.unit_vectors import Reals, Vectors, direction

#: Cubes that are looked at for each circle, about: the more there are, the shorter are their lists
_CUBES_OF_A_CIRCLE = 16

#: Makes chords longer than what rounding may take
_SLACK = 1e-9


def in_some(cones: Sequence[Cone], row: tuple[str, str, str]) -> str:
    """SQL condition, UInt8, on a unit vector of SQL: 0 where it is unknown. Radii are of 0 to 90 degrees."""
    centres = np.array([direction(c.lon, c.lat) for c in cones])
    limits = np.array([_limit(c) for c in cones])
    reaches = np.sqrt(np.maximum(limits, 0)) + _SLACK
    side = _side(reaches)
    near = _near(centres, reaches, side)
    circles = ", ".join(repr(tuple(line)) for line in np.column_stack((centres, limits)).tolist())
    lists = ", ".join(repr(members) for members in near.values())
    place = f"transform({cube(('x', 'y', 'z'), repr(side))}, {[*near]!r}, range(2, {len(near) + 2}), 1)"
    listed = f"arrayMap(i -> [{circles}][i], [[], {lists}][{place}])"
    apart = " + ".join(f"({axis} - c.{n}) * ({axis} - c.{n})" for n, axis in enumerate("xyz", 1))
    known = ", ".join(f"[ifNull({component}, nan)]" for component in row)
    return f"arrayMap((x, y, z) -> arrayExists(c -> {apart} <= c.4, {listed}), {known})[1]"


def _limit(cone: Cone) -> float:
    """The greatest squared chord that is inside."""
    most = most_chord(cone.radius, cone.is_open)
    return math.nextafter(most, -1) if cone.is_open else most


def _side(reaches: Reals) -> float:
    """Of cubes, a power of 2: the smallest with which there are not too many."""
    side = 2.0
    while side / 2 >= SMALLEST_CUBE and np.sum((2 + 4 * reaches / side) ** 3) <= _CUBES_OF_A_CIRCLE * 4 * len(reaches):
        side /= 2
    return side


def _near(centres: Vectors, reaches: Reals, side: float) -> dict[int, list[int]]:
    """The circles, counted from 1, that touch each cube, by its number."""
    found: dict[int, list[int]] = {}
    for i, (centre, reach) in enumerate(zip(centres.tolist(), reaches.tolist(), strict=True)):
        axes = [_places(coordinate, reach, side) for coordinate in centre]
        for place in product(*axes):
            if sum(axis[p] for axis, p in zip(axes, place, strict=True)) <= reach**2:
                found.setdefault(cube_number(place), []).append(i + 1)
    return found


def _places(coordinate: float, reach: float, side: float) -> dict[int, float]:
    """Along one axis, the places of cubes within ``reach``, and the squares of their distances."""
    first, last = (math.floor((coordinate + sign * reach) / side) for sign in (-1, 1))
    return {p: max(p * side - coordinate, coordinate - (p + 1) * side, 0.0) ** 2 for p in range(first, last + 1)}
