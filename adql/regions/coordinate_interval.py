"""Ranges of longitude and latitude: ``ra BETWEEN ... AND dec BETWEEN ...``, DALI's range, STC-S's PositionInterval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.cone import Cone
from adql.regions.region import Region
from adql.regions.region_algebra import Intersection, Union, WholeSky
from adql.regions.unit_vectors import (
    ROUNDING,
    Mask,
    Reals,
    ShapeError,
    Vectors,
    check_position,
    vector_to_position,
)


@dataclass(frozen=True, slots=True)
class Range(Region):
    """Longitudes from ``west`` eastwards to ``east``, and latitudes from ``south`` to ``north``, with the borders.

    With ``west`` > ``east`` the range crosses longitude 0; a difference of 360 or more means all longitudes. A pole
    within the latitudes belongs to the range at every longitude.

    Parameters
    ----------
    west, east, south, north : float
        Degrees.

    Raises
    ------
    ShapeError
        If the coordinates are not positions, or if ``south`` > ``north``.
    """

    west: float
    east: float
    south: float
    north: float

    def __post_init__(self) -> None:
        check_position(self.west, self.south)
        check_position(self.east, self.north)
        if self.south > self.north:
            message = f"southern latitude {self.south:g} is above northern latitude {self.north:g}"
            raise ShapeError(message, "give the southern latitude first")

    @property
    def width(self) -> float:
        """Degrees of longitude, up to 360."""
        if self.east - self.west >= 360:
            return 360.0
        return (self.east - self.west) % 360.0

    @property
    def has_all_longitudes(self) -> bool:
        return self.width == 360.0

    @property
    def latitude_limits(self) -> tuple[float, float]:
        """South and north in radians; infinite at a pole, where there is no border."""
        south = -math.inf if self.south == -90 else math.radians(self.south)
        return south, math.inf if self.north == 90 else math.radians(self.north)

    @property
    def side_normals(self) -> Vectors:
        """Normals of three meridian planes, shape (3, 3).

        They are at the west (pointing east), at the east (pointing west), and perpendicular to the middle. Without the
        last one, a narrow range would include its antimeridian.

        Up to 180 degrees of width a direction is in the range if it is inside of all three, above if inside of one.
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

    def as_circles(self) -> Region:
        """Return the same region as a combination of circles, which can be transformed to another frame."""
        parts: list[Region] = []
        if self.south > -90:
            parts.append(Cone(0.0, 90.0, 90 - self.south))
        if self.north < 90:
            parts.append(Cone(0.0, -90.0, 90 + self.north))
        if not self.has_all_longitudes:
            halves = tuple(Cone(*vector_to_position(normal), 90.0) for normal in self.side_normals)
            parts += halves if self.width <= 180 else [Union(halves)]
        return Intersection(tuple(parts)) if parts else WholeSky()

    def contains(self, points: Vectors) -> Mask:
        south, north = self.latitude_limits
        lat = _latitudes(points)
        within = (lat >= south - ROUNDING) & (lat <= north + ROUNDING)
        if self.has_all_longitudes:
            return np.asarray(within)
        inside = points @ self.side_normals.T >= -ROUNDING
        in_sector = inside.all(axis=1) if self.width <= 180 else inside.any(axis=1)
        return np.asarray(within & in_sector)

    def signed_distance(self, points: Vectors) -> Reals:
        south, north = self.latitude_limits
        lat = _latitudes(points)
        to_band = np.maximum(np.maximum(lat - north, south - lat), -math.pi)
        if self.has_all_longitudes:
            return np.asarray(to_band)
        to_sides = -np.arcsin(np.clip(points @ self.side_normals.T, -1, 1))
        to_sector = to_sides.max(axis=1) if self.width <= 180 else to_sides.min(axis=1)
        return np.asarray(np.maximum(to_band, to_sector))

    @property
    def size(self) -> float:
        return math.sqrt(math.radians(math.radians(self.area)) / math.pi)

    @property
    def area(self) -> float:
        """Square degrees: the difference of the longitudes times the difference of the sines of the latitudes."""
        south, north = math.radians(self.south), math.radians(self.north)
        height = 2 * math.cos((north + south) / 2) * math.sin((north - south) / 2)
        return self.width * math.degrees(height)


def _latitudes(points: Vectors) -> Reals:
    """Return latitudes in radians by atan2, exact to 1e-16 at the poles, where arcsin loses half of its digits."""
    x, y, z = points.T
    return np.asarray(np.arctan2(z, np.hypot(x, y)), dtype=np.float64)
