"""The union of many circles, tested all at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adql.regions.region import BORDER, INSIDE, OUTSIDE, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, Vectors, dots
from clickhouse_schema.healpix import Cells, max_radius

#: Angles from scalar products are good to this, in radians (6 mas), at worst: near 0 and 180 degrees.
_COSINE = 3e-8

#: What makes cosines of angles differ by more than their rounding, near 0 too, in radians
_SLACK = 1e-7

#: points x circles that are in memory at once
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Discs(Region):
    """Everything within one of the circles; ``centres``: unit vectors, shape (n, 3), ``radii``: radians, shape (n,).

    For covers alone: its borders are good to 6 mas.
    """

    centres: Vectors
    radii: Reals

    def contains(self, points: Vectors) -> Mask:
        return np.asarray(self.distance(points) <= 0)

    def distance(self, points: Vectors) -> Reals:
        """To the circle's border that is nearest or lies deepest inside, less what rounding may take."""
        step = max(1, _BLOCK // len(self.radii))
        nearest = []
        for i in range(0, len(points), step):
            apart = np.arccos(np.clip(dots(points[i : i + step], self.centres), -1.0, 1.0)) - self.radii
            nearest.append(apart.min(axis=1))
        found = np.concatenate(nearest) if nearest else np.zeros(0)
        return np.asarray(np.sign(found) * np.maximum(np.abs(found) - _COSINE, 0.0))

    def classify(self, cells: Cells) -> Classes:
        """By cosines alone, for there may be millions of pairs."""
        reach = max_radius(cells.order)
        touching = np.cos(np.minimum(self.radii + reach + _SLACK, np.pi))
        within = np.where(self.radii > reach + _SLACK, np.cos(np.maximum(self.radii - reach - _SLACK, 0.0)), 2.0)
        centres = cells.centres()
        step = max(1, _BLOCK // len(self.radii))
        found = np.full(len(centres), OUTSIDE, dtype=np.int8)
        for i in range(0, len(centres), step):
            cosines = dots(centres[i : i + step], self.centres)
            found[i : i + step][(cosines >= touching).any(axis=1)] = BORDER
            found[i : i + step][(cosines >= within).any(axis=1)] = INSIDE
        return found

    @property
    def size(self) -> float:
        return float(self.radii.min())
