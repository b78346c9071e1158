"""What a region of the sky is: the contract that covers, tests and relations rest on."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from adql.regions.unit_vectors import Mask, Reals, Vectors
from clickhouse_schema.healpix import Cells, max_radius

#: Rounding of directions and distances, in radians; far above 1e-15, far below a cell of order 29.
SLACK = 1e-11

#: What ``classify`` says of a cell. Union is the maximum, intersection the minimum, complement the negative.
OUTSIDE, BORDER, INSIDE = -1, 0, 1

Classes = NDArray[np.int8]


class Region(ABC):
    """A closed set of directions, ICRS."""

    @abstractmethod
    def contains(self, points: Vectors) -> Mask:
        """Which unit vectors, shape (n, 3), are in the region or on its border."""

    @abstractmethod
    def distance(self, points: Vectors) -> Reals:
        """Signed angular distance to the border in radians: negative inside, never greater in size than the true one.

        Zero where nothing better is known.
        """

    @property
    @abstractmethod
    def size(self) -> float:
        """Angular size in radians: cells much smaller than it are not worth while."""

    def classify(self, cells: Cells) -> Classes:
        """For each cell whether it holds nothing of the region, may be crossed by its border, or lies wholly inside.

        A cell whose centre is farther from the border than any cell's radius is on one side of it.
        """
        reach = max_radius(cells.order) + SLACK
        apart = self.distance(cells.centres())
        return (apart <= -reach).astype(np.int8) - (apart > reach).astype(np.int8)
