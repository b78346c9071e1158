"""The cube grid of cross-matches as ClickHouse SQL. Unit vectors fall into cubes, whose numbers are joined by hash.

Cubes of level n have sides of 4^(n - 8): 3 arcsec at level 0, larger than the sphere at level 10.
"""

from __future__ import annotations

from adql.clickhouse.sky.unit_vector_sql import Vector

#: Makes the indexes of cubes positive. A cube number has 20 bits for each axis, and 4 bits above them for the level.
_BIAS = 1 << 19

#: The smallest side that 20 bits for each axis allow
MIN_CUBE_SIDE = 2.0**-18

#: Levels of cubes
CUBE_LEVELS = 11
_LOWEST_EXPONENT = -8

#: Covers the rounding of coordinates in the selection of candidates
_SLACK = 1e-12


def cube_reach_sql(radius: str) -> str:
    """Return slightly more than the chord of a radius in degrees; for 180 and above, more than the sphere's radius."""
    return f"(2 * sin(radians(least({radius}, 180)) / 2) * {1 + 1e-9!r} + {_SLACK!r})"


def cube_level_sql(radius: str) -> str:
    """Return the lowest level whose cubes are twice as wide as the chord; NULL for a NULL, NaN or negative radius."""
    level = f"ceil(log2(2 * {cube_reach_sql(radius)}) / 2) - {_LOWEST_EXPONENT}"
    return f"if({radius} >= 0, toUInt8(greatest(ifNotFinite({level}, 0), 0)), NULL)"


def cube_side_sql(level: str) -> str:
    return f"exp2(2 * (toInt32({level}) + {_LOWEST_EXPONENT}))"


def cube_number_sql(vector: Vector, side: str, level: str = "0") -> str:
    """Return the number of the cube that contains a unit vector."""
    return _pack_sql([_index_on_axis_sql(component, side) for component in vector], level)


def cube_number(indexes: tuple[int, ...]) -> int:
    """Return the result of ``cube_number_sql`` for the cube with these indexes on the axes."""
    x, y, z = (index + _BIAS for index in indexes)
    return x << 40 | y << 20 | z


def touched_cubes_sql(vector: Vector, side: str, reach: str, level: str = "0") -> str:
    """Return a row for each cube that the box of half side ``reach`` around the vector touches."""
    indexes = []
    for component in vector:
        low = _index_on_axis_sql(f"({component} - {reach} - {_SLACK!r})", side)
        high = _index_on_axis_sql(f"({component} + {reach} + {_SLACK!r})", side)
        indexes.append(f"arrayJoin(range({low}, {high} + 1))")
    return _pack_sql(indexes, level)


def _index_on_axis_sql(coordinate: str, side: str) -> str:
    """Return the index of a cube on one axis; NaN becomes 0, because ClickHouse cannot convert it to an integer."""
    return f"toUInt64(floor(ifNotFinite({coordinate} / {side}, 0.)) + {_BIAS})"


def _pack_sql(indexes: list[str], level: str) -> str:
    x, y, z = indexes
    number = f"bitOr(bitOr(bitShiftLeft({x}, 40), bitShiftLeft({y}, 20)), {z})"
    return number if level == "0" else f"bitOr(bitShiftLeft(toUInt64({level}), 60), {number})"
