"""Unit vectors as ClickHouse SQL: positions, frames, separations, and exact comparisons with a radius.

For unit vectors a and b at separation t, |a - b| = 2 sin(t/2) and |a + b| = 2 cos(t/2), where the shorter one is exact
to 1e-16. ClickHouse's greatCircleDistance and geoDistance are approximations (36 % wrong at 1 arcsec) and are not used.
"""

from __future__ import annotations

import math
import sys

from adql.regions.celestial_frames import parse_frame, rotation_matrix
from adql.regions.cone import EQUAL_RADII, UNREACHABLE
from adql.regions.unit_vectors import ROUNDING, position_to_vector
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.quoting import float_literal

#: SQL of the three components
Vector = tuple[str, str, str]


# --- positions --------------------------------------------------------------------------------------------------------


def direction_sql(lon: str, lat: str) -> Vector:
    """Return the SQL of ``position_to_vector`` for Float64 degrees; only sine and cosine may round differently."""
    ra, dec = f"radians({lon} % 360.)", f"radians({lat})"
    return f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})"


def position_vector_sql(lon: str, lat: str, lon_value: float | None, lat_value: float | None) -> Vector:
    """Return the unit vector of a position in degrees, as literals if both coordinates are constants."""
    if lon_value is not None and lat_value is not None:
        x, y, z = position_to_vector(lon_value, lat_value)
        return f"({x!r})", f"({y!r})", f"({z!r})"
    return direction_sql(f"toFloat64({lon})", f"toFloat64({lat})")


def position_vector_or_nan_sql(lon: str, lat: str, lon_value: float | None, lat_value: float | None) -> Vector:
    """Return ``position_vector_sql`` with NaN instead of NULL, which also fails each comparison, and is faster."""
    if lon_value is not None and lat_value is not None:
        return position_vector_sql(lon, lat, lon_value, lat_value)
    return direction_sql(f"toFloat64(ifNull(toFloat64({lon}), nan))", f"toFloat64(ifNull(toFloat64({lat}), nan))")


def is_position_sql(lon: str, lat: str) -> str:
    """Return the test whether both coordinates are finite: not NULL, NaN or infinite."""
    return all_sql(f"isFinite({lon})", f"isFinite({lat})")


def longitude_sql(x: str, y: str) -> str:
    """Return degrees in [0, 360). The second modulo removes the 360 to which -1e-17 rounds."""
    return f"positiveModulo(positiveModulo(degrees(atan2({y}, {x})), 360.), 360.)"


def latitude_sql(x: str, y: str, z: str) -> str:
    return f"degrees(atan2({z}, sqrt({x} * {x} + {y} * {y})))"


def rotate_vector_sql(vector: Vector, source: str, target: str) -> Vector:
    """Rotate a vector from the frame ``source`` to the frame ``target``."""
    if parse_frame(source) == parse_frame(target):
        return vector
    x, y, z = (
        f"({' + '.join(f'{c} * ({float(m)!r})' for c, m in zip(vector, row, strict=True))})"
        for row in rotation_matrix(source, target)
    )
    return x, y, z


# --- products ---------------------------------------------------------------------------------------------------------


def dot_sql(a: Vector, b: Vector) -> str:
    return "(" + " + ".join(f"{p} * {q}" for p, q in zip(a, b, strict=True)) + ")"


def cross_sql(a: Vector, b: Vector) -> Vector:
    x, y, z = (f"({a[i]} * {b[j]} - {a[j]} * {b[i]})" for i, j in ((1, 2), (2, 0), (0, 1)))
    return x, y, z


def difference_sql(a: Vector, b: Vector) -> Vector:
    x, y, z = (f"({p} - {q})" for p, q in zip(a, b, strict=True))
    return x, y, z


def squared_sql(a: Vector, b: Vector, sign: str) -> str:
    """Return |a - b|^2 or |a + b|^2, by ``sign``."""
    return " + ".join(f"({p} {sign} {q}) * ({p} {sign} {q})" for p, q in zip(a, b, strict=True))


# --- separations ------------------------------------------------------------------------------------------------------


def separation_sql(a: Vector, b: Vector) -> str:
    """Return the angle in radians, 2 atan2(|a-b|, |a+b|), exact to 2.3e-10 arcsec for all angles."""
    return f"(2 * atan2(sqrt({squared_sql(a, b, '-')}), sqrt({squared_sql(a, b, '+')})))"


def is_near_sql(a: Vector, b: Vector, radius: str, value: float | None, *, strict: bool) -> str:
    """Return the test whether a separation is at most, or with ``strict`` less than, a radius.

    Without ``strict``, a separation that exceeds the radius by up to ``ROUNDING`` counts as equal. Nothing is within a
    negative radius; everything is within 180 degrees. The test is NULL if a vector is NULL.

    Parameters
    ----------
    a, b
        SQL of unit vectors.
    radius
        SQL of the radius in degrees.
    value
        The radius, if it is a constant; else None.
    strict
        Whether the separation must be less than the radius.
    """
    if value is not None:
        return is_near_constant_sql(a, b, value, strict=strict)
    if strict:
        return f"({separation_sql(a, b)} < radians({radius}))"
    return f"({separation_sql(a, b)} <= if({radius} < 0, -1, radians({radius}) + {ROUNDING!r}))"


def is_near_constant_sql(a: Vector, b: Vector, radius: float, *, strict: bool = False) -> str:
    """Return ``is_near_sql`` for a constant radius, as one comparison of squared chords.

    |a - b| up to 90 degrees, and |a + b| beyond, keep the digits of small angles and of nearly straight angles.
    """
    if radius < 0:
        return f"({squared_sql(a, b, '-')} < 0.)"
    if radius <= 90:
        return f"({squared_sql(a, b, '-')} {'<' if strict else '<='} {max_squared_chord(radius, strict)!r})"
    plus = squared_sql(a, b, "+")
    if radius > 180 or (radius == 180 and not strict):
        return f"({plus} >= 0.)"
    least = 2 * math.cos(math.radians(radius) / 2) - (0 if strict else ROUNDING)
    return f"({plus} {'>' if strict else '>='} {max(0.0, least) ** 2!r})"


def is_near_centre_sql(position: tuple[str, str], centre: tuple[float, float], radius: float, *, strict: bool) -> str:
    """Return ``is_near_constant_sql`` for SQL of Float64 degrees and a constant position; it is false for NaN.

    It takes three trigonometric functions per row instead of four, and half the SQL.
    """
    lon, lat = math.fmod(centre[0], 360), centre[1]
    if radius > 90:
        lon, lat = lon + 180, -lat
    around = float_literal(lon), float_literal(lat), repr(math.cos(math.radians(lat)))
    return _is_near_by_haversine_sql(position, around, radius, strict=strict)


def is_near_pair_sql(first: tuple[str, str], second: tuple[str, str], radius: float, *, strict: bool) -> str:
    """Return ``is_near_constant_sql`` for SQL of two positions in Float64 degrees; it is false for NaN.

    It takes four trigonometric functions per pair; unit vectors take four for each row of the pair.
    """
    lon, lat = second
    if radius > 90:
        lon, lat = f"({lon} + 180)", f"(-{lat})"
    return _is_near_by_haversine_sql(first, (f"{lon} % 360.", lat, f"cos(radians({lat}))"), radius, strict=strict)


def _is_near_by_haversine_sql(
    position: tuple[str, str], around: tuple[str, str, str], radius: float, *, strict: bool
) -> str:
    """Compare sin^2(t/2), a quarter of the squared chord. ``around``: longitude, latitude and cosine of the latitude.

    For a radius above 90 degrees, ``around`` is the antipode, and the position must be outside the remaining circle.
    """
    haversine = _haversine_sql(position, around)
    if radius < 0:
        return f"({haversine} < -1.)"
    if radius <= 90:
        return f"({haversine} {'<' if strict else '<='} {max_squared_chord(radius, strict) / 4!r})"
    if radius > 180 or (radius == 180 and not strict):
        return f"({haversine} >= -1.)"
    least = math.cos(math.radians(radius) / 2) - (0 if strict else ROUNDING / 2)
    return f"({haversine} {'>' if strict else '>='} {max(0.0, least) ** 2!r})"


def haversine_sql(first: tuple[str, str], second: tuple[str, str]) -> str:
    """Return sin^2(t/2) of the separation t of two positions, given as SQL of Float64 degrees."""
    lon, lat = second
    return f"({_haversine_sql(first, (f'{lon} % 360.', lat, f'cos(radians({lat}))'))})"


def _haversine_sql(position: tuple[str, str], around: tuple[str, str, str]) -> str:
    (lon, lat), (lon0, lat0, cosine) = position, around
    across = f"sin(({lon} % 360. - {lon0}) * {math.pi / 360!r})"
    up = f"sin(({lat} - {lat0}) * {math.pi / 360!r})"
    return f"pow({up}, 2) + {cosine} * cos(radians({lat})) * pow({across}, 2)"


def max_squared_chord(radius: float, strict: bool) -> float:
    """Return the squared chord of a radius of 0 to 90 degrees, longer by ``ROUNDING`` unless ``strict``.

    The result is positive for each positive radius, even if the square underflows, so that equal positions are within
    the radius.
    """
    square = (2 * math.sin(math.radians(radius) / 2) + (0 if strict else ROUNDING)) ** 2
    return max(square, sys.float_info.min) if radius > 0 else square


# --- reaches of two circles, see ``adql.regions.cone`` ----------------------------------------------------------------


def reach_inside_sql(outer: str, inner: str) -> str:
    """Return the SQL of ``reach_inside`` for SQL of radii."""
    apart = f"if({inner} > {outer}, if({inner} > {outer} + {EQUAL_RADII!r}, {UNREACHABLE!r}, 0.), {outer} - {inner})"
    sky = f"180. + 0 * if({inner} > 180, 180., {inner})"
    return f"if({outer} < 0 OR {inner} < 0, {UNREACHABLE!r}, if({outer} >= 180, {sky}, {apart}))"


def reach_touching_sql(first: str, second: str) -> str:
    """Return the SQL of ``reach_touching`` for SQL of radii."""
    return f"if({first} < 0 OR {second} < 0, {UNREACHABLE!r}, {first} + {second})"
