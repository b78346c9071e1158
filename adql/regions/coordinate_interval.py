"""Ranges of longitude and latitude: ``ra BETWEEN ... AND dec BETWEEN ...``, DALI's range, STC-S's PositionInterval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.cone import Cone
from adql.regions.region import Region
from adql.regions.region_algebra import Intersection, Union, WholeSky
from adql.regions.unit_vectors import ROUNDING, Mask, Reals, ShapeError, Vectors, checked_position, position


@dataclass(frozen=True, slots=True)
class Range(Region):
    """Longitudes from ``west`` eastwards to ``east``, latitudes from ``south`` to ``north``, in degrees, borders in.

    With ``west`` > ``east`` it crosses longitude 0. From 360 degrees of difference on all longitudes are meant. A pole
    that is in the latitudes is in, whatever the longitudes.
    """

    west: float
    east: float
    south: float
    north: float

    def __post_init__(self) -> None:
        checked_position(self.west, self.south)
        checked_position(self.east, self.north)
        if self.south > self.north:
            raise ShapeError(f"latitudes from {self.south:g} to {self.north:g}", "give the southern latitude first")

    @property
    def width(self) -> float:
        """Degrees of longitude, up to 360."""
        if self.east - self.west >= 360:
            return 360.0
        return (self.east - self.west) % 360.0

    @property
    def full(self) -> bool:
        return self.width == 360.0

    @property
    def limits(self) -> tuple[float, float]:
        """Latitudes in radians; at a pole there is no border."""
        south = -math.inf if self.south == -90 else math.radians(self.south)
        return south, math.inf if self.north == 90 else math.radians(self.north)

    @property
    def sides(self) -> Vectors:
        """Normals of three meridian planes: at the west (pointing east), at the east (pointing west), and at right
        angles to the middle, without which a narrow range would be near its antimeridian too.

        Up to 180 degrees of longitude the range is what lies inside of all three, above it inside of one.
        """
        west, east = math.radians(self.west), math.radians(self.east)
        middle = west + math.radians(self.width) / 2
        return np.array(
            [
                [-math.sin(west), math.cos(west), 0.0],
                [math.sin(east), -math.cos(east), 0.0],
                [math.cos(middle), math.sin(middle), 0.0],
            ]
        )

    def circles(self) -> Region:
        """The same region made of circles, which can be turned into another frame."""
        parts: list[Region] = []
        if self.south > -90:
            parts.append(Cone(0.0, 90.0, 90 - self.south))
        if self.north < 90:
            parts.append(Cone(0.0, -90.0, 90 + self.north))
        if not self.full:
            halves = tuple(Cone(*position(side), 90.0) for side in self.sides)
            parts += halves if self.width <= 180 else [Union(halves)]
        return Intersection(tuple(parts)) if parts else WholeSky()

    def contains(self, points: Vectors) -> Mask:
        south, north = self.limits
        lat = _latitudes(points)
        within = (lat >= south - ROUNDING) & (lat <= north + ROUNDING)
        if self.full:
            return np.asarray(within)
        beside = points @ self.sides.T >= -ROUNDING
        return np.asarray(within & (beside.all(axis=1) if self.width <= 180 else beside.any(axis=1)))

    def distance(self, points: Vectors) -> Reals:
        south, north = self.limits
        lat = _latitudes(points)
        band = np.maximum(np.maximum(lat - north, south - lat), -math.pi)
        if self.full:
            return np.asarray(band)
        beside = -np.arcsin(np.clip(points @ self.sides.T, -1, 1))
        return np.asarray(np.maximum(band, beside.max(axis=1) if self.width <= 180 else beside.min(axis=1)))

    @property
    def size(self) -> float:
        return math.sqrt(math.radians(math.radians(self.area)) / math.pi)

    @property
    def area(self) -> float:
        """Square degrees: difference of longitudes times that of the latitudes' sines."""
        south, north = math.radians(self.south), math.radians(self.north)
        height = 2 * math.cos((north + south) / 2) * math.sin((north - south) / 2)
        return self.width * math.degrees(height)


def _latitudes(points: Vectors) -> Reals:
    """Radians; by atan2, good to 1e-16 at the poles too, where arcsin loses half of its digits."""
    return np.asarray(np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1])), dtype=np.float64)
