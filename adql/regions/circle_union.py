"""The union of many circles, which are tested in one step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adql.regions.region import BORDER, INSIDE, OUTSIDE, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, Vectors, dot_products
from clickhouse_schema.healpix import Cells, max_cell_radius

#: Minimum number of circles that are tested in one step; fewer circles are faster one by one
MIN_UNION_CIRCLES = 12

#: Maximum error, in radians (6 mas), of angles from scalar products, near 0 and 180 degrees
_ANGLE_ERROR = 3e-8

#: Difference of angles, in radians, whose cosines differ by more than rounding, also near 0
_SLACK = 1e-7

#: Maximum number of products of points and circles in memory
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CircleUnion(Region):
    """All directions within one of the circles. Only for covers, because borders are exact only to 6 mas.

    Parameters
    ----------
    centres : Vectors
        Unit vectors, shape (n, 3).
    radii : Reals
        Radians, shape (n,).
    """

    centres: Vectors
    radii: Reals

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(self.signed_distance(points) <= 0)

    def signed_distance(self, points: Vectors) -> Reals:
        step = max(1, _BLOCK // len(self.radii))
        nearest = []
        for i in range(0, len(points), step):
            cosines = dot_products(points[i : i + step], self.centres)
            angles = np.arccos(np.clip(cosines, -1.0, 1.0))
            nearest.append((angles - self.radii).min(axis=1))
        distance = np.concatenate(nearest) if nearest else np.zeros(0)
        return np.asarray(np.sign(distance) * np.maximum(np.abs(distance) - _ANGLE_ERROR, 0.0))

    def classify_cells(self, cells: Cells) -> Classes:
        """Compare only cosines, because there may be millions of pairs."""
        reach = max_cell_radius(cells.order)
        touching = np.cos(np.minimum(self.radii + reach + _SLACK, np.pi))
        inner = np.cos(np.maximum(self.radii - reach - _SLACK, 0.0))
        within = np.where(self.radii > reach + _SLACK, inner, 2.0)
        centres = cells.find_centres()
        step = max(1, _BLOCK // len(self.radii))
        classes = np.full(len(centres), OUTSIDE, dtype=np.int8)
        for i in range(0, len(centres), step):
            cosines = dot_products(centres[i : i + step], self.centres)
            classes[i : i + step][(cosines >= touching).any(axis=1)] = BORDER
            classes[i : i + step][(cosines >= within).any(axis=1)] = INSIDE
        return classes

    @property
    def size(self) -> float:
        return float(self.radii.min())
