"""Propagation of positions to another epoch.

Lindegren's rigorous treatment (The Hipparcos and Tycho Catalogues, ESA SP-1200, vol. 1, section 1.5.5) for linear
motion without relativistic terms: in the directions outward, east and north at the first position, the star is at
(1 + zeta t, pmra t, pmdec t) after t years, where zeta is its radial motion in units of its distance.
"""

from __future__ import annotations

import math

from adql.errors import AdqlSemanticError, Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr, Literal
from clickhouse_schema.datatypes import DOUBLE, POINT

#: One au per Julian year in km/s
_AU_A_YEAR = 149597870.7 / (365.25 * 86400)
_MAS = math.radians(1 / 3.6e6)

#: Index of an argument that must not be NULL -> its name
_NEEDED = {0: "ra", 1: "dec", 6: "ref_epoch", 7: "out_epoch"}
_NULL_MESSAGE = (
    "ivo_epoch_prop_pos takes no NULL as ra, dec, ref_epoch or out_epoch; leave such rows out, with IS NOT NULL"
)


def _expand_position(args: tuple[Expr, ...], span: Span) -> Expr:
    for index, name in _NEEDED.items():
        arg = args[index]
        if isinstance(arg, Literal) and arg.value is None:
            raise AdqlSemanticError(f"ivo_epoch_prop_pos takes no NULL as {name}", arg.span)
    coordinates = (Call(DOUBLE, "EPOCH LON", args), Call(DOUBLE, "EPOCH LAT", args))
    return Call(POINT, "POINT", coordinates, span=span)


def _motion_sql(args: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the components of the new direction outward, east and north."""
    _, _, parallax, pmra, pmdec, velocity, first, last = (f"toFloat64({a})" for a in args)
    years = f"({last} - {first})"
    pmra, pmdec, parallax, velocity = (f"ifNull({a}, 0)" for a in (pmra, pmdec, parallax, velocity))
    outwards = f"(1 + {velocity} * {parallax} * {_MAS / _AU_A_YEAR!r} * {years})"
    return outwards, f"({pmra} * {_MAS!r} * {years})", f"({pmdec} * {_MAS!r} * {years})"


def _null_guard_sql(value: str, args: tuple[str, ...]) -> str:
    missing = " OR ".join(f"isNull({args[index]})" for index in _NEEDED)
    return f"({value} + throwIf({missing}, '{_NULL_MESSAGE}'))"


def _longitude_sql(*args: str) -> str:
    outwards, east, north = _motion_sql(args)
    dec = f"radians({args[1]})"
    turned = f"degrees(atan2({east}, {outwards} * cos({dec}) - {north} * sin({dec})))"
    return _null_guard_sql(f"positiveModulo(toFloat64({args[0]}) + {turned}, 360.)", args)


def _latitude_sql(*args: str) -> str:
    outwards, east, north = _motion_sql(args)
    dec = f"radians({args[1]})"
    level = f"({outwards} * cos({dec}) - {north} * sin({dec}))"
    height = f"({outwards} * sin({dec}) + {north} * cos({dec}))"
    return _null_guard_sql(f"degrees(atan2({height}, sqrt({level} * {level} + {east} * {east})))", args)


_NUMBERS = tuple(
    Parameter(name, "number", "REAL")
    for name in ("ra", "dec", "parallax", "pmra", "pmdec", "radial_velocity", "ref_epoch", "out_epoch")
)

ASTROMETRY_FUNCTIONS = (
    Function("ivo_epoch_prop_pos", _NUMBERS, POINT, "",
             "Position at out_epoch of an object that is at (ra, dec) degrees at ref_epoch (Julian years), with "
             "parallax in mas, proper motions in mas/yr (pmra includes cos(dec)) and radial velocity in km/s. Motion "
             "is linear; a NULL parallax, proper motion or velocity counts as 0, any other NULL is an error.",
             returns="POINT", expand=_expand_position),
)  # fmt: skip

#: The internal functions of the coordinates
EPOCH_SQL = {"EPOCH LON": _longitude_sql, "EPOCH LAT": _latitude_sql}
