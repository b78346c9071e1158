"""Circles on the sky."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.region import Region
from adql.regions.sphere import ROUNDING, Mask, Reals, ShapeError, Vectors, checked_position, direction, separations


@dataclass(frozen=True, slots=True)
class Cone(Region):
    """All directions within ``radius`` degrees of (lon, lat); with radius 0, a point."""

    lon: float
    lat: float
    radius: float

    def __post_init__(self) -> None:
        checked_position(self.lon, self.lat)
        if not 0 <= self.radius <= 180:
            raise ShapeError(
                f"radius {self.radius:g} is not between 0 and 180 degrees", "radii are in degrees; 1 arcsec is 1/3600."
            )

    @property
    def centre(self) -> Vectors:
        return np.array([direction(self.lon, self.lat)])

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(self.distance(points) <= ROUNDING)

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
