"""Unions, intersections and complements of regions, the whole sky, and the empty region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from adql.regions.moc import Moc
from adql.regions.region import INSIDE, OUTSIDE, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, ShapeError, Vectors, dot_products
from clickhouse_schema.healpix import Cells, max_cell_radius

#: Minimum number of parts of a union that classifies only cells that touch the caps of its parts
_MIN_CAPPED_PARTS = 8

#: Difference of angles, in radians, whose cosines differ by more than rounding, also near 0 and 180 degrees
_CAP_SLACK = 1e-7


@dataclass(frozen=True, slots=True)
class Combination(Region):
    """A union or an intersection. Raises ``ShapeError`` without parts."""

    parts: tuple[Region, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ShapeError(f"{type(self).__name__.lower()} without shapes", "give at least one shape")

    @property
    def size(self) -> float:
        return min(part.size for part in self.parts)


@dataclass(frozen=True, slots=True)
class Union(Combination):
    """All directions that are in at least one of the parts."""

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(np.logical_or.reduce([part.contains(points) for part in self.parts]))

    def signed_distance(self, points: Vectors) -> Reals:
        return np.asarray(np.minimum.reduce([part.signed_distance(points) for part in self.parts]))

    def classify_cells(self, cells: Cells) -> Classes:
        """Let each part classify the cells that touch its cap and are in no earlier part."""
        if len(self.parts) < _MIN_CAPPED_PARTS:
            return np.asarray(np.maximum.reduce([part.classify_cells(cells) for part in self.parts]))
        centres, radii = _find_caps(self)
        reach = max_cell_radius(cells.order) + _CAP_SLACK
        touches = dot_products(centres, cells.find_centres()) >= np.cos(np.minimum(radii + reach, math.pi))[:, None]
        classes = np.full(len(cells), OUTSIDE, dtype=np.int8)
        for part, touched in zip(self.parts, touches, strict=True):
            asked = touched & (classes != INSIDE)
            if asked.any():
                classes[asked] = np.maximum(classes[asked], part.classify_cells(cells.filter_cells(asked)))
        return classes


@lru_cache(maxsize=16)  # for every order of a cover
def _find_caps(union: Union) -> tuple[Vectors, Reals]:
    centres, radii = zip(*(part.find_cap() for part in union.parts), strict=True)
    return np.array(centres), np.array(radii)


@dataclass(frozen=True, slots=True)
class Intersection(Combination):
    """All directions that are in all parts."""

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(np.logical_and.reduce([part.contains(points) for part in self.parts]))

    def signed_distance(self, points: Vectors) -> Reals:
        return np.asarray(np.maximum.reduce([part.signed_distance(points) for part in self.parts]))

    def classify_cells(self, cells: Cells) -> Classes:
        return np.asarray(np.minimum.reduce([part.classify_cells(cells) for part in self.parts]))


@dataclass(frozen=True, slots=True)
class Complement(Region):
    """All directions that are not in ``part``, without its border."""

    part: Region

    def contains(self, points: Vectors) -> Mask:
        return ~self.part.contains(points)

    def signed_distance(self, points: Vectors) -> Reals:
        return -self.part.signed_distance(points)

    def classify_cells(self, cells: Cells) -> Classes:
        return -self.part.classify_cells(cells)

    @property
    def size(self) -> float:
        return self.part.size


@dataclass(frozen=True, slots=True)
class WholeSky(Region):
    """All directions."""

    def contains(self, points: Vectors) -> Mask:
        return np.ones(len(points), dtype=bool)

    def signed_distance(self, points: Vectors) -> Reals:
        return np.full(len(points), -math.pi)

    def classify_cells(self, cells: Cells) -> Classes:
        return np.full(len(cells), INSIDE, dtype=np.int8)

    @property
    def size(self) -> float:
        return math.pi


@dataclass(frozen=True, slots=True)
class Nothing(Region):
    """No direction."""

    def contains(self, points: Vectors) -> Mask:
        return np.zeros(len(points), dtype=bool)

    def signed_distance(self, points: Vectors) -> Reals:
        return np.full(len(points), math.pi)

    def classify_cells(self, cells: Cells) -> Classes:
        return np.full(len(cells), OUTSIDE, dtype=np.int8)

    @property
    def size(self) -> float:
        return math.pi


@dataclass(frozen=True, slots=True)
class Grown(Region):
    """All directions within ``by`` radians of ``part``. Only for covers, since it may be larger (lower bounds)."""

    part: Region
    by: float

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(self.signed_distance(points) <= 0)

    def signed_distance(self, points: Vectors) -> Reals:
        return self.part.signed_distance(points) - self.by

    @property
    def size(self) -> float:
        return self.part.size + self.by


def has_moc(region: Region) -> bool:
    """Return whether a region is a MOC or has one as a part, at any depth.

    Parameters
    ----------
    region : Region
        The region; ``Grown`` regions, which are only for covers, are not examined.

    Returns
    -------
    bool
        Whether its border may be the border of cells.
    """
    if isinstance(region, Combination):
        return any(has_moc(part) for part in region.parts)
    return has_moc(region.part) if isinstance(region, Complement) else isinstance(region, Moc)
