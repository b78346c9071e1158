"""Unit vectors: positions in degrees to and from directions, separations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Unit vectors of shape (n, 3)
Vectors = NDArray[np.float64]

Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Rounding of a direction's components, of dot products, and so of angles to a great circle, in radians (2e-10
#: arcsec): a point within it of a border is on the border, and borders belong to their shape.
ROUNDING = 1e-15


class ShapeError(ValueError):
    """A shape that is none: what is wrong, the way out in ``hint``, and the offset in its text in ``at``."""

    def __init__(self, message: str, hint: str = "", at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.at = at


def direction(lon: float, lat: float) -> tuple[float, float, float]:
    """Unit vector of a position in degrees; the longitude is taken modulo 360 first, which rounds nothing."""
    ra, dec = math.radians(lon - math.trunc(lon / 360) * 360.0), math.radians(lat)
    return math.cos(dec) * math.cos(ra), math.cos(dec) * math.sin(ra), math.sin(dec)


def direction_sql(lon: str, lat: str) -> tuple[str, str, str]:
    """``direction`` as ClickHouse SQL, of SQL of degrees in Float64, with the same rounding but for sine and cosine."""
    ra, dec = f"radians({lon} % 360.)", f"radians({lat})"
    return f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})"


def directions(lon: ArrayLike, lat: ArrayLike) -> Vectors:
    """``direction`` of many positions."""
    whole = np.atleast_1d(np.asarray(lon, dtype=np.float64))
    ra, dec = np.radians(whole - np.trunc(whole / 360) * 360.0), np.radians(np.atleast_1d(lat))
    return np.stack((np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)), axis=-1)


def position(vector: ArrayLike) -> tuple[float, float]:
    """Longitude in [0, 360) and latitude, in degrees, of a vector of any length but 0."""
    x, y, z = (float(c) for c in np.asarray(vector, dtype=np.float64))
    lon = math.degrees(math.atan2(y, x)) % 360.0
    return (0.0 if lon == 360.0 else lon), math.degrees(math.atan2(z, math.hypot(x, y)))


def lengths(vectors: Vectors) -> Reals:
    """Euclidean lengths along the last axis."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)), dtype=np.float64)


def separations(a: Vectors, b: Vectors) -> Reals:
    """Angles in radians, 2 atan2(|a-b|, |a+b|): good to 1e-16 for every separation (W. Kahan)."""
    return np.asarray(2.0 * np.arctan2(lengths(a - b), lengths(a + b)), dtype=np.float64)


def dots(a: Vectors, b: Vectors) -> Reals:
    """Scalar products of all pairs, shape (len(a), len(b))."""
    return np.asarray(a @ b.T, dtype=np.float64)


def checked_position(lon: float, lat: float) -> None:
    """Raises ``ShapeError`` unless both are finite and the latitude is one."""
    if not (math.isfinite(lon) and math.isfinite(lat)):
        raise ShapeError(f"({lon:g}, {lat:g}) is not a position", "coordinates are finite numbers, in degrees")
    if abs(lat) > 90:
        raise ShapeError(f"declination {lat:g} is not between -90 and 90 degrees", "the order is (ra, dec)")
