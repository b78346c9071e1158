"""How far apart the centres of two circles may be, in degrees, for one to be inside the other, or for both to meet.

A circle with a radius below 0 has nothing in it, one with a radius of 180 and more is the whole sky: so the reach of
two radii is not always their difference or sum. No separation is within a reach below 0. An unknown radius (NULL, NaN)
makes an unknown reach.
"""

from __future__ import annotations

import math

from adql.regions.unit_vectors import ROUNDING

#: Radii that differ by less, in degrees, are equal: circles may have their border in common
_EQUAL = math.degrees(ROUNDING)

#: What no separation is within
_NEVER = -1.0


def inside(outer: float, inner: float) -> float:
    """For a circle of radius ``inner`` to be in one of radius ``outer``."""
    if outer < 0 or inner < 0:
        return _NEVER
    if outer >= 180:
        return 180.0
    return max(outer - inner, 0.0) if inner <= outer + _EQUAL else _NEVER


def touching(first: float, second: float) -> float:
    """For two circles to have a direction in common."""
    return _NEVER if first < 0 or second < 0 else first + second


def inside_sql(outer: str, inner: str) -> str:
    """``inside`` of SQL numbers."""
    apart = f"if({inner} > {outer}, if({inner} > {outer} + {_EQUAL!r}, {_NEVER!r}, 0.), {outer} - {inner})"
    sky = f"180. + 0 * if({inner} > 180, 180., {inner})"
    return f"if({outer} < 0 OR {inner} < 0, {_NEVER!r}, if({outer} >= 180, {sky}, {apart}))"


def touching_sql(first: str, second: str) -> str:
    """``touching`` of SQL numbers."""
    return f"if({first} < 0 OR {second} < 0, {_NEVER!r}, {first} + {second})"
