"""Spherical geometry as ClickHouse SQL: unit vectors, exact separations, and the cube grid of cross-matches.

ClickHouse's own greatCircleDistance and geoDistance are approximations (36 % wrong at 1 arcsec) and are not used. For
unit vectors a and b at separation t: |a-b| = 2 sin(t/2) and |a+b| = 2 cos(t/2), good to 1e-16 on the side where the
chord is short.
"""

from __future__ import annotations

import math

from adql.regions import direction

Vector = tuple[str, ...]

#: Cube numbers are shifted by this to be positive; 21 bits an axis.
_BIAS = 1 << 20

#: Grows the radius of candidates over the rounding of coordinates.
_SLACK = 1e-12


def unit_vector(lon: str, lat: str, lon_value: float | None, lat_value: float | None) -> tuple[str, str, str]:
    """Components of a position in degrees; numbers where both coordinates are constants."""
    if lon_value is not None and lat_value is not None:
        x, y, z = direction(lon_value, lat_value)
        return f"({x!r})", f"({y!r})", f"({z!r})"
    ra, dec = f"radians(toFloat64({lon}))", f"radians(toFloat64({lat}))"
    return f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})"


def _squared(a: Vector, b: Vector, sign: str) -> str:
    """|a - b|^2 or |a + b|^2"""
    return " + ".join(f"({p} {sign} {q}) * ({p} {sign} {q})" for p, q in zip(a, b, strict=True))


def separation(a: Vector, b: Vector) -> str:
    """Angle between unit vectors in radians, 2 atan2(|a-b|, |a+b|): within 2.3e-10 arcsec everywhere."""
    return f"(2 * atan2(sqrt({_squared(a, b, '-')}), sqrt({_squared(a, b, '+')})))"


def nearness(a: Vector, b: Vector, radius: str, value: float | None, *, strict: bool) -> str:
    """Whether the separation of unit vectors is at most (``strict``: less than) ``radius`` degrees.

    One comparison of squared chords where the radius is a constant, ``value``.
    """
    if value is None:
        return f"({separation(a, b)} {'<' if strict else '<='} radians({radius}))"
    half = math.radians(value) / 2
    if value <= 90:
        return f"({_squared(a, b, '-')} {'<' if strict else '<='} {4 * math.sin(half) ** 2!r})"
    return f"({_squared(a, b, '+')} {'>' if strict else '>='} {4 * math.cos(half) ** 2!r})"


def is_position(lon: str, lat: str) -> str:
    """Neither NULL nor NaN nor infinite."""
    return f"(isFinite({lon}) AND isFinite({lat}))"


def cube(vector: Vector, side: str) -> str:
    """Number of the cube that a unit vector is in."""
    return _packed([_number(component, side) for component in vector])


def cubes(vector: Vector, side: str, reach: str) -> str:
    """One row for each cube that the box of half side ``reach`` around the vector touches."""
    ranges = []
    for component in vector:
        low, high = (
            _number(f"({component} - {reach} - {_SLACK!r})", side),
            _number(f"({component} + {reach} + {_SLACK!r})", side),
        )
        ranges.append(f"arrayJoin(range({low}, {high} + 1))")
    return _packed(ranges)


def _number(coordinate: str, side: str) -> str:
    return f"toUInt64(floor(ifNotFinite({coordinate} / {side}, 0.)) + {_BIAS})"  # the engine refuses to convert NaN


def _packed(numbers: list[str]) -> str:
    x, y, z = numbers
    return f"bitOr(bitOr(bitShiftLeft({x}, 42), bitShiftLeft({y}, 21)), {z})"
