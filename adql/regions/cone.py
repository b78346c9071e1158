"""Circles on the sky, and the maximum separation at which two circles meet or contain each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from adql.regions.region import Region
from adql.regions.unit_vectors import (
    ROUNDING,
    Mask,
    Reals,
    ShapeError,
    Vectors,
    check_position,
    position_to_vector,
    separations,
)

#: Degrees (4e-8 arcsec): a circle of this radius or less is a point
MAX_POINT_RADIUS = 1e-11

#: Radii that differ by less, in degrees, are equal, so that the circles may have the same border
EQUAL_RADII = math.degrees(ROUNDING)

#: A reach below all separations
UNREACHABLE = -1.0


@dataclass(frozen=True, slots=True)
class Cone(Region):
    """All directions within ``radius`` degrees of (lon, lat), without the border if ``is_open``.

    A radius of 0 makes a point. Any radius is accepted (unlike in ``make_circle``): a negative radius gives an empty
    region, a radius above 180 the whole sky.
    """

    lon: float
    lat: float
    radius: float
    is_open: bool = field(default=False, kw_only=True)

    @property
    def is_point(self) -> bool:
        """Whether the circle is too small to have a border."""
        return self.radius <= MAX_POINT_RADIUS

    @property
    def centre(self) -> Vectors:
        """Unit vector, shape (1, 3)."""
        return np.array([position_to_vector(self.lon, self.lat)])

    def contains(self, points: Vectors) -> Mask:
        distance = self.signed_distance(points)
        return np.asarray(distance < 0 if self.is_open else distance <= ROUNDING)

    def signed_distance(self, points: Vectors) -> Reals:
        return separations(points, self.centre) - math.radians(self.radius)

    @property
    def size(self) -> float:
        return math.radians(self.radius)

    @property
    def area(self) -> float:
        """Square degrees: 4 pi sin^2(r/2)."""
        steradians = 4 * math.pi * math.sin(math.radians(self.radius) / 2) ** 2
        return math.degrees(math.degrees(steradians))

    @property
    def centroid(self) -> tuple[float, float]:
        return self.lon % 360, self.lat


def make_circle(lon: float, lat: float, radius: float) -> Cone:
    """Make ADQL's CIRCLE.

    Parameters
    ----------
    lon, lat, radius : float
        Degrees.

    Raises
    ------
    ShapeError
        If the coordinates are not a position, or the radius is not between 0 and 180 degrees.
    """
    check_position(lon, lat)
    if not 0 <= radius <= 180:
        raise ShapeError(
            f"radius {radius:g} is not between 0 and 180 degrees", "radii are in degrees; 1 arcsec is 1/3600."
        )
    return Cone(lon, lat, radius)


# A circle with a negative radius is empty, and a circle with a radius of at least 180 is the whole sky, so a reach is
# not always the difference or the sum of the radii.


def reach_inside(outer: float, inner: float) -> float:
    """Return the maximum separation of two centres at which the circle ``outer`` contains the circle ``inner``.

    Parameters
    ----------
    outer, inner : float
        Radii in degrees.

    Returns
    -------
    float
        Degrees; ``UNREACHABLE`` if ``outer`` contains ``inner`` at no separation.
    """
    if outer < 0 or inner < 0:
        return UNREACHABLE
    if outer >= 180:
        return 180.0
    return max(outer - inner, 0.0) if inner <= outer + EQUAL_RADII else UNREACHABLE


def reach_touching(first: float, second: float) -> float:
    """Return the maximum separation of two centres at which the circles have a direction in common.

    Parameters
    ----------
    first, second : float
        Radii in degrees.

    Returns
    -------
    float
        Degrees; ``UNREACHABLE`` if a circle is empty.
    """
    return UNREACHABLE if first < 0 or second < 0 else first + second
