"""Circles on the sky."""

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
    checked_position,
    direction,
    separations,
)

#: Degrees (4e-8 arcsec)
_POINT = 1e-11


@dataclass(frozen=True, slots=True)
class Cone(Region):
    """All directions within ``radius`` degrees of (lon, lat); with radius 0, a point. ``is_open``: without the border.

    Numbers are not checked, see ``circle``: the cover of a distance below 0 is empty, that of one above 180 the sky.
    """

    lon: float
    lat: float
    radius: float
    is_open: bool = field(default=False, kw_only=True)

    @property
    def is_point(self) -> bool:
        """Whether it is too small to have a border of its own."""
        return self.radius <= _POINT

    @property
    def centre(self) -> Vectors:
        return np.array([direction(self.lon, self.lat)])

    def contains(self, points: Vectors) -> Mask:
        apart = self.distance(points)
        return np.asarray(apart < 0 if self.is_open else apart <= ROUNDING)

    def distance(self, points: Vectors) -> Reals:
        return separations(points, self.centre) - math.radians(self.radius)

    @property
    def size(self) -> float:
        return math.radians(self.radius)

    @property
    def area(self) -> float:
        """Square degrees: 4 pi sin^2(r/2)."""
        return math.degrees(math.degrees(4 * math.pi * math.sin(math.radians(self.radius) / 2) ** 2))

    @property
    def centroid(self) -> tuple[float, float]:
        return self.lon % 360, self.lat


def circle(lon: float, lat: float, radius: float) -> Cone:
    """ADQL's CIRCLE, in degrees. Raises ``ShapeError`` for numbers that make none."""
    checked_position(lon, lat)
    if not 0 <= radius <= 180:
        raise ShapeError(
            f"radius {radius:g} is not between 0 and 180 degrees", "radii are in degrees; 1 arcsec is 1/3600."
        )
    return Cone(lon, lat, radius)
