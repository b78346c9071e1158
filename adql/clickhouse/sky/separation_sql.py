"""Spherical geometry as ClickHouse SQL: unit vectors, exact separations, and the cube grid of cross-matches.

ClickHouse's own greatCircleDistance and geoDistance are approximations (36 % wrong at 1 arcsec) and are not used. For
unit vectors a and b at separation t: |a-b| = 2 sin(t/2) and |a+b| = 2 cos(t/2), good to 1e-16 on the side where the
chord is short.
"""

from __future__ import annotations

from adql.clickhouse.sky.chord_sql import near_chord
from adql.regions.unit_vectors import ROUNDING, direction, direction_sql

Vector = tuple[str, ...]

#: Cube numbers are shifted by this to be positive; 20 bits an axis, and 4 bits above them for the level.
_BIAS = 1 << 19

#: The smallest side that 20 bits allow.
SMALLEST_CUBE = 2.0**-18

#: Levels of cubes: level n has the side 4^(n - 8), from 3 arcsec up to beyond the sphere.
LEVELS = 11
_LOWEST = -8

#: Grows the radius of candidates over the rounding of coordinates.
_SLACK = 1e-12


def unit_vector(lon: str, lat: str, lon_value: float | None, lat_value: float | None) -> tuple[str, str, str]:
    """Components of a position in degrees; numbers where both coordinates are constants."""
    if lon_value is not None and lat_value is not None:
        x, y, z = direction(lon_value, lat_value)
        return f"({x!r})", f"({y!r})", f"({z!r})"
    return direction_sql(f"toFloat64({lon})", f"toFloat64({lat})")


def known_vector(lon: str, lat: str, lon_value: float | None, lat_value: float | None) -> Vector:
    """``unit_vector`` with NaN for NULL, which compares with nothing either and is faster."""
    if lon_value is not None and lat_value is not None:
        return unit_vector(lon, lat, lon_value, lat_value)
    return unit_vector(f"ifNull(toFloat64({lon}), nan)", f"ifNull(toFloat64({lat}), nan)", lon_value, lat_value)


def _squared(a: Vector, b: Vector, sign: str) -> str:
    """|a - b|^2 or |a + b|^2"""
    return " + ".join(f"({p} {sign} {q}) * ({p} {sign} {q})" for p, q in zip(a, b, strict=True))


def separation(a: Vector, b: Vector) -> str:
    """Angle between unit vectors in radians, 2 atan2(|a-b|, |a+b|): within 2.3e-10 arcsec everywhere."""
    return f"(2 * atan2(sqrt({_squared(a, b, '-')}), sqrt({_squared(a, b, '+')})))"


def nearness(a: Vector, b: Vector, radius: str, value: float | None, *, strict: bool) -> str:
    """Whether the separation of unit vectors is at most (``strict``: less than) ``radius`` degrees.

    Two directions within ``ROUNDING`` of the radius are at it. A radius below 0 reaches nothing, one of 180 and more
    everything, unless ``strict``; the condition is NULL where a vector is. One comparison of squared chords
    (``adql.clickhouse.sky.chord_sql``) where the radius is a constant, ``value``.
    """
    if value is not None:
        return near_chord(_squared(a, b, "-"), _squared(a, b, "+"), value, strict=strict)
    if strict:
        return f"({separation(a, b)} < radians({radius}))"
    return f"({separation(a, b)} <= if({radius} < 0, -1, radians({radius}) + {ROUNDING!r}))"


def is_position(lon: str, lat: str) -> str:
    """Neither NULL nor NaN nor infinite."""
    return f"(isFinite({lon}) AND isFinite({lat}))"


def reach(radius: str) -> str:
    """The chord of a radius in degrees, a little longer; half the sphere's diameter and more for 180 and more."""
    return f"(2 * sin(radians(least({radius}, 180)) / 2) * {1 + 1e-9!r} + {_SLACK!r})"


def level_of(radius: str) -> str:
    """The lowest level whose cubes have twice the chord of a radius in degrees; NULL if it is NULL, NaN or negative."""
    number = f"ceil(log2(2 * {reach(radius)}) / 2) - {_LOWEST}"
    return f"if({radius} >= 0, toUInt8(greatest(ifNotFinite({number}, 0), 0)), NULL)"


def side_of(level: str) -> str:
    return f"exp2(2 * (toInt32({level}) + {_LOWEST}))"


def cube(vector: Vector, side: str, level: str = "0") -> str:
    """Number of the cube that a unit vector is in."""
    return _packed([_number(component, side) for component in vector], level)


def cube_number(place: tuple[int, ...]) -> int:
    """What ``cube`` gives for the cube that begins at ``place``, in sides."""
    x, y, z = (p + _BIAS for p in place)
    return x << 40 | y << 20 | z


def cubes(vector: Vector, side: str, reach: str, level: str = "0") -> str:
    """One row for each cube that the box of half side ``reach`` around the vector touches."""
    ranges = []
    for component in vector:
        low, high = (
            _number(f"({component} - {reach} - {_SLACK!r})", side),
            _number(f"({component} + {reach} + {_SLACK!r})", side),
        )
        ranges.append(f"arrayJoin(range({low}, {high} + 1))")
    return _packed(ranges, level)


def _number(coordinate: str, side: str) -> str:
    return f"toUInt64(floor(ifNotFinite({coordinate} / {side}, 0.)) + {_BIAS})"  # the engine refuses to convert NaN


def _packed(numbers: list[str], level: str) -> str:
    x, y, z = numbers
    place = f"bitOr(bitOr(bitShiftLeft({x}, 40), bitShiftLeft({y}, 20)), {z})"
    return place if level == "0" else f"bitOr(bitShiftLeft(toUInt64({level}), 60), {place})"
