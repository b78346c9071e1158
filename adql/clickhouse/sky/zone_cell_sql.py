"""Zone cells as ClickHouse SQL: the cells of the sky by which matches are counted.

The sky is divided into zones of declination of equal height (Gray, Nieto-Santisteban and Szalay 2006, The Zones
Algorithm for Finding Points-Near-a-Point or Cross-Matching Spatial Datasets). Each zone is divided into the minimum
number of cells of equal width in right ascension that are at most as wide as the zone is high. The number of a cell is
the number of its zone, shifted by 32 bits, plus its index in the zone.
"""

from __future__ import annotations

import math

from adql.clickhouse.sky.unit_vector_sql import Vector, direction_sql, latitude_sql, longitude_sql

_INDEX_BITS = 32

#: Degrees that cover the rounding of coordinates
_SLACK = 1e-9


def find_cell_radius(height: float) -> float:
    """Return the radius of a circle around the centre of a zone cell that contains the cell.

    At half the height h and half a width w from the centre, on parallels of cosine c at most h / w, sin^2(t/2) <=
    sin^2(h/4) + c^2 sin^2(w/4) <= h^2/8.

    Parameters
    ----------
    height
        The height of the zones in degrees.

    Returns
    -------
    float
        The radius in degrees, valid for every cell.
    """
    return math.degrees(2 * math.asin(min(1.0, math.radians(height) / math.sqrt(8)))) + _SLACK


def zone_cell_sql(vector: Vector, height: float) -> str:
    """Return the number of the zone cell that contains a unit vector.

    Parameters
    ----------
    vector
        SQL of the unit vector.
    height
        The height of the zones in degrees.

    Returns
    -------
    str
        SQL of the number, UInt64; of an arbitrary cell for a vector of NaN.
    """
    x, y, z = vector
    zone = f"toUInt64(floor((ifNotFinite({latitude_sql(x, y, z)}, 0.) + 90) / {height!r}))"
    cells = _count_cells_sql(zone, height)
    index = f"least(floor(ifNotFinite({longitude_sql(x, y)}, 0.) / 360 * {cells}), {cells} - 1)"
    return _pack_sql(zone, f"toUInt64({index})")


def zone_cell_centre_sql(cell: str, height: float) -> Vector:
    """Return the unit vector of the centre of a zone cell."""
    return direction_sql(*_centre_sql(cell, height))


def zone_cells_near_sql(cell: str, height: float, reach: float) -> str:
    """Return a row for each zone cell whose centre may be within ``reach`` degrees of the centre of ``cell``.

    A circle of radius r around declination d is within asin(sin r / cos d) of the right ascension of its centre, or
    contains a pole.
    """
    lon, lat = _centre_sql(cell, height)
    aside = f"degrees(asin(least(1., {math.sin(math.radians(reach))!r} / cos(radians({lat})))))"
    aside = f"(if(abs({lat}) + {reach + height!r} >= 90, 180., {aside}) + {_SLACK!r})"  # a centre may be past the pole
    cells = _count_cells_sql("zone", height)
    first = f"toInt64(floor(({lon} - {aside}) / 360 * {cells}))"
    last = f"least(toInt64(floor(({lon} + {aside}) / 360 * {cells})), {first} + toInt64({cells}) - 1)"
    number = _pack_sql("zone", f"toUInt64(positiveModulo(place, toInt64({cells})))")
    steps = math.floor(reach / height) + 1
    zone, highest = f"toInt64({_zone_sql(cell)})", math.floor(180 / height)
    zones = f"range(toUInt64(greatest({zone} - {steps}, 0)), toUInt64(least({zone} + {steps}, {highest})) + 1)"
    return (
        f"arrayJoin(arrayFlatten(arrayMap(zone -> arrayMap(place -> {number}, range({first}, {last} + 1)), {zones})))"
    )


def _pack_sql(zone: str, index: str) -> str:
    return f"bitOr(bitShiftLeft({zone}, {_INDEX_BITS}), {index})"


def _zone_sql(cell: str) -> str:
    return f"bitShiftRight({cell}, {_INDEX_BITS})"


def _centre_sql(cell: str, height: float) -> tuple[str, str]:
    """Return longitude and latitude of the centre of a cell; in the zone at the pole it may be beyond the pole."""
    zone, index = _zone_sql(cell), f"bitAnd({cell}, {(1 << _INDEX_BITS) - 1})"
    lon = f"(({index} + 0.5) / {_count_cells_sql(zone, height)} * 360)"
    return lon, f"(({zone} + 0.5) * {height!r} - 90)"


def _count_cells_sql(zone: str, height: float) -> str:
    """Return the number of cells of a zone, by its longest parallel."""
    lat = f"greatest(abs(({zone} + 0.5) * {height!r} - 90) - {height / 2!r}, 0)"
    return f"greatest(ceil(360 / {height!r} * cos(radians({lat}))), 1)"
