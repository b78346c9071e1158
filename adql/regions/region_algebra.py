"""Unions, intersections and complements of regions, the whole sky and nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.region import INSIDE, OUTSIDE, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, ShapeError, Vectors
from clickhouse_schema.healpix import Cells


@dataclass(frozen=True, slots=True)
class Union(Region):
    """Everything that is in one of the parts."""

    parts: tuple[Region, ...]

    def __post_init__(self) -> None:
        _some(self.parts, "union")

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(np.logical_or.reduce([p.contains(points) for p in self.parts]))

    def distance(self, points: Vectors) -> Reals:
        return np.asarray(np.minimum.reduce([p.distance(points) for p in self.parts]))

    def classify(self, cells: Cells) -> Classes:
        return np.asarray(np.maximum.reduce([p.classify(cells) for p in self.parts]))

    @property
    def size(self) -> float:
        return min(p.size for p in self.parts)


@dataclass(frozen=True, slots=True)
class Intersection(Region):
    """Everything that is in all parts."""

    parts: tuple[Region, ...]

    def __post_init__(self) -> None:
        _some(self.parts, "intersection")

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(np.logical_and.reduce([p.contains(points) for p in self.parts]))

    def distance(self, points: Vectors) -> Reals:
        return np.asarray(np.maximum.reduce([p.distance(points) for p in self.parts]))

    def classify(self, cells: Cells) -> Classes:
        return np.asarray(np.minimum.reduce([p.classify(cells) for p in self.parts]))

    @property
    def size(self) -> float:
        return min(p.size for p in self.parts)


@dataclass(frozen=True, slots=True)
class Complement(Region):
    """Everything that is not in ``part``; the border belongs to ``part`` alone."""

    part: Region

    def contains(self, points: Vectors) -> Mask:
        return ~self.part.contains(points)

    def distance(self, points: Vectors) -> Reals:
        return -self.part.distance(points)

    def classify(self, cells: Cells) -> Classes:
        return -self.part.classify(cells)

    @property
    def size(self) -> float:
        return self.part.size


@dataclass(frozen=True, slots=True)
class WholeSky(Region):
    """All directions."""

    def contains(self, points: Vectors) -> Mask:
        return np.ones(len(points), dtype=bool)

    def distance(self, points: Vectors) -> Reals:
        return np.full(len(points), -math.pi)

    def classify(self, cells: Cells) -> Classes:
        return np.full(len(cells), INSIDE, dtype=np.int8)

    @property
    def size(self) -> float:
        return math.pi


@dataclass(frozen=True, slots=True)
class Nothing(Region):
    """No direction."""

    def contains(self, points: Vectors) -> Mask:
        return np.zeros(len(points), dtype=bool)

    def distance(self, points: Vectors) -> Reals:
        return np.full(len(points), math.pi)

    def classify(self, cells: Cells) -> Classes:
        return np.full(len(cells), OUTSIDE, dtype=np.int8)

    @property
    def size(self) -> float:
        return math.pi


@dataclass(frozen=True, slots=True)
class Grown(Region):
    """What lies within ``by`` radians of ``part``; for covers alone: it holds more where distances are lower bounds."""

    part: Region
    by: float

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(self.distance(points) <= 0)

    def distance(self, points: Vectors) -> Reals:
        return self.part.distance(points) - self.by

    @property
    def size(self) -> float:
        return self.part.size + self.by


def _some(parts: tuple[Region, ...], what: str) -> None:
    if not parts:
        raise ShapeError(f"{what} of nothing", "give at least one shape")
