"""Membership of a row's position in one of many circles, as ClickHouse SQL that tests only the few near circles.

Unit vectors fall into a grid of cubes, as in cross-matches. Each cube has a list of the circles that touch it. A row is
tested against the list of its cube.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from adql.clickhouse.sky.cube_sql import MIN_CUBE_SIDE, cube_number, cube_number_sql
from adql.clickhouse.sky.unit_vector_sql import Vector, max_squared_chord
from adql.regions.cone import Cone
from adql.regions.unit_vectors import Reals, Vectors, position_to_vector

#: Approximate number of cubes visited for each circle; more cubes have shorter lists
_CUBES_PER_CIRCLE = 16

#: Covers the rounding of chords
_SLACK = 1e-9


def in_some_circle_sql(cones: Sequence[Cone], row: Vector) -> str:
    """Return a condition (UInt8) on a unit vector, which is 0 if the vector is NULL. Radii are 0 to 90 degrees."""
    centres = np.array([position_to_vector(c.lon, c.lat) for c in cones])
    limits = np.array([_find_limit(c) for c in cones])
    reaches = np.sqrt(np.maximum(limits, 0)) + _SLACK
    side = _choose_side(reaches)
    near = _list_circles(centres, reaches, side)
    numbers = np.column_stack((centres, limits)).tolist()
    circles = ", ".join(repr(tuple(line)) for line in numbers)
    lists = ", ".join(repr(members) for members in near.values())
    list_number = (
        f"transform({cube_number_sql(('x', 'y', 'z'), repr(side))}, {[*near]!r}, range(2, {len(near) + 2}), 1)"
    )
    listed = f"arrayMap(i -> [{circles}][i], [[], {lists}][{list_number}])"
    squared_chord = " + ".join(f"({axis} - c.{n}) * ({axis} - c.{n})" for n, axis in enumerate("xyz", 1))
    known = ", ".join(f"[ifNull({component}, nan)]" for component in row)
    return f"arrayMap((x, y, z) -> arrayExists(c -> {squared_chord} <= c.4, {listed}), {known})[1]"


def _find_limit(cone: Cone) -> float:
    """Return the maximum squared chord inside the circle."""
    most = max_squared_chord(cone.radius, cone.is_open)
    return math.nextafter(most, -1) if cone.is_open else most


def _choose_side(reaches: Reals) -> float:
    """Return the side of the cubes: the smallest power of 2 with which there are not too many cubes."""
    side = 2.0
    max_cubes = _CUBES_PER_CIRCLE * 4 * len(reaches)
    while side / 2 >= MIN_CUBE_SIDE and np.sum((2 + 4 * reaches / side) ** 3) <= max_cubes:
        side /= 2
    return side


def _list_circles(centres: Vectors, reaches: Reals, side: float) -> dict[int, list[int]]:
    """Return, by the number of a cube, the circles that touch it, counted from 1."""
    touching: dict[int, list[int]] = {}
    for i, (centre, reach) in enumerate(zip(centres.tolist(), reaches.tolist(), strict=True)):
        axes = [_find_indexes(coordinate, reach, side) for coordinate in centre]
        for indexes in product(*axes):
            squared_distance = sum(axis[index] for axis, index in zip(axes, indexes, strict=True))
            if squared_distance <= reach**2:
                touching.setdefault(cube_number(indexes), []).append(i + 1)
    return touching


def _find_indexes(coordinate: float, reach: float, side: float) -> dict[int, float]:
    """Return the indexes of cubes within ``reach`` of a coordinate on an axis, with their squared distances."""
    first = math.floor((coordinate - reach) / side)
    last = math.floor((coordinate + reach) / side)
    distances = {}
    for index in range(first, last + 1):
        below, above = index * side - coordinate, coordinate - (index + 1) * side
        distances[index] = max(below, above, 0.0) ** 2
    return distances
