"""Unit vectors: conversion from and to positions in degrees, separations and products."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Unit vectors of shape (n, 3)
Vectors = NDArray[np.float64]

Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Square degrees of the whole sky
SKY_AREA = 4 * math.pi * math.degrees(1) ** 2

#: Rounding, in radians, of the components of vectors, of dot products, and so of angles to a great circle (2e-10
#: arcsec). A direction within this angle of a border is on the border, and borders belong to their shape.
ROUNDING = 1e-15


class ShapeError(ValueError):
    """Numbers or text that do not define a shape.

    Attributes
    ----------
    message : str
        What is wrong.
    hint : str
        How to correct it; may be empty.
    at : int
        Offset of the error in the text of the shape; 0 if there is no text.
    """

    def __init__(self, message: str, hint: str = "", at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.at = at


def position_to_vector(lon: float, lat: float) -> tuple[float, float, float]:
    """Convert a position to a unit vector.

    Parameters
    ----------
    lon, lat : float
        Degrees. The longitude is first reduced modulo 360, which is exact.

    Returns
    -------
    tuple of float
        Components x, y, z.
    """
    ra = math.radians(lon - math.trunc(lon / 360) * 360.0)
    dec = math.radians(lat)
    across = math.cos(dec)
    return across * math.cos(ra), across * math.sin(ra), math.sin(dec)


def positions_to_vectors(lon: ArrayLike, lat: ArrayLike) -> Vectors:
    """Convert positions to unit vectors.

    Parameters
    ----------
    lon, lat : array_like, shape (n,) or scalar
        Degrees.

    Returns
    -------
    Vectors
        Shape (n, 3).
    """
    degrees = np.atleast_1d(np.asarray(lon, dtype=np.float64))
    ra = np.radians(degrees - np.trunc(degrees / 360) * 360.0)
    dec = np.radians(np.atleast_1d(lat))
    across = np.cos(dec)
    return np.stack((across * np.cos(ra), across * np.sin(ra), np.sin(dec)), axis=-1)


def vector_to_position(vector: ArrayLike) -> tuple[float, float]:
    """Convert a vector to a position.

    Parameters
    ----------
    vector : array_like, shape (3,)
        Any length except 0.

    Returns
    -------
    tuple of float
        Longitude in [0, 360) and latitude in degrees.
    """
    x, y, z = (float(c) for c in np.asarray(vector, dtype=np.float64))
    lon = math.degrees(math.atan2(y, x)) % 360.0
    lat = math.degrees(math.atan2(z, math.hypot(x, y)))
    return (0.0 if lon == 360.0 else lon), lat


def vector_lengths(vectors: Vectors) -> Reals:
    """Compute Euclidean lengths.

    Parameters
    ----------
    vectors : Vectors
        Shape (..., 3).

    Returns
    -------
    Reals
        Shape (...).
    """
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)), dtype=np.float64)


def separations(a: Vectors, b: Vectors) -> Reals:
    """Return the angles between unit vectors.

    2 atan2(|a-b|, |a+b|) is exact to 1e-16 for all separations (W. Kahan).

    Parameters
    ----------
    a, b : Vectors
        Shapes that broadcast, the last axis of length 3.

    Returns
    -------
    Reals
        Radians, the broadcast shape without its last axis.
    """
    minus, plus = vector_lengths(a - b), vector_lengths(a + b)
    return np.asarray(2.0 * np.arctan2(minus, plus), dtype=np.float64)


def dot_products(a: Vectors, b: Vectors) -> Reals:
    """Compute the scalar products of all pairs of vectors.

    Parameters
    ----------
    a, b : Vectors
        Shapes (n, 3) and (m, 3).

    Returns
    -------
    Reals
        Shape (n, m).
    """
    return np.asarray(a @ b.T, dtype=np.float64)


def cross_products(a: Vectors, b: Vectors) -> Vectors:
    """Return the vector products of pairs of vectors. (``np.cross`` takes ten times as long for few vectors.)"""
    ax, ay, az = a.T
    bx, by, bz = b.T
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def check_position(lon: float, lat: float) -> None:
    """Raise ``ShapeError`` unless the coordinates are finite degrees and the latitude is from -90 to 90."""
    if not (math.isfinite(lon) and math.isfinite(lat)):
        raise ShapeError(f"({lon:g}, {lat:g}) is not a position", "coordinates are finite numbers in degrees")
    if abs(lat) > 90:
        raise ShapeError(f"declination {lat:g} is not between -90 and 90 degrees", "the order is (ra, dec)")
