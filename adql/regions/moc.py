"""Multi-order coverage maps: sets of NESTED HEALPix cells (IVOA MOC 2.0), and their ASCII form ``4/30-33 5/8,10``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adql.regions.region import BORDER, INSIDE, OUTSIDE, SLACK, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, ShapeError, Vectors, vector_to_position
from clickhouse_schema.healpix import ORDER, Cells, cell_centres, max_cell_radius, vectors_to_index

Ranges = NDArray[np.int64]

#: Number of cells of order 29 in the sky
_SKY = 12 * 4**ORDER

_TOKEN = re.compile(r"(?P<order>\d+)\s*/|(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?|[\s,;]+")

#: Maximum number of ranges that Python merges in a fifth of the time of numpy, because numpy's calls dominate
_FEW = 64

#: Maximum number of products of points and cells in memory
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Moc(Region):
    """A set of cells.

    Parameters
    ----------
    ranges : Ranges
        Half-open ranges of indexes of order 29, shape (n, 2), sorted, without overlapping or adjacent ranges.
    """

    ranges: Ranges

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]] | Ranges) -> Moc:
        """Make a MOC of ranges of indexes.

        Parameters
        ----------
        ranges : iterable of (int, int), or Ranges
            Half-open ranges of indexes of order 29, in any order; they may overlap.
        """
        given = ranges if isinstance(ranges, np.ndarray) else list(ranges)
        if len(given) <= _FEW:
            few = given.tolist() if isinstance(given, np.ndarray) else given
            return cls(np.array(_merge_ranges(few), dtype=np.int64).reshape(-1, 2))
        pairs = np.array(given, dtype=np.int64)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        reached = np.maximum.accumulate(pairs[:, 1])
        first = np.concatenate(([True], pairs[1:, 0] > reached[:-1]))
        last = np.concatenate((first[1:], [True]))
        return cls(np.stack((pairs[first, 0], reached[last]), axis=1))

    @classmethod
    def from_cells(cls, cells: Iterable[tuple[int, Iterable[int]]]) -> Moc:
        """Make a MOC of cells.

        Parameters
        ----------
        cells : iterable of (int, iterable of int)
            Orders with NESTED cells, as in ``Cover.all``; orders may repeat.
        """
        by_order = [(order, tuple(of_order)) for order, of_order in cells]
        if sum(len(of_order) for _, of_order in by_order) <= _FEW:
            sized = ((4 ** (ORDER - order), of_order) for order, of_order in by_order)
            return cls.from_ranges([(cell * size, (cell + 1) * size) for size, of_order in sized for cell in of_order])
        pairs = []
        for order, of_order in by_order:
            size = 4 ** (ORDER - order)
            first = np.array([of_order], dtype=np.int64).T * size
            pairs.append(np.hstack((first, first + size)))
        return cls.from_ranges(np.concatenate(pairs))

    @classmethod
    def parse_ascii(cls, text: str) -> Moc:
        """Read the ASCII form of a MOC.

        Parameters
        ----------
        text : str
            Orders and cells, such as ``4/30-33 5/8,10``; an empty text is an empty MOC. Cells may repeat and overlap.

        Returns
        -------
        Moc
            The MOC.

        Raises
        ------
        ShapeError
            If the text is not a MOC, or has an order or a cell that does not exist; with the offset of the error.

        References
        ----------
        .. [1] IVOA MOC 2.0 (REC 2022-07-27), ASCII serialisation.
        """
        pairs: list[tuple[int, int]] = []
        order: int | None = None
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                raise ShapeError(
                    f"'{text[at : at + 10]}' at character {at + 1} of the MOC", "a MOC looks like '4/30-33 5/8 10'", at
                )
            at = token.end()
            if token["order"] is not None:
                order = _check_order(int(token["order"]), token.start())
            elif token["first"] is not None:
                pairs.append(_cells_to_range(token, order))
        return cls.from_ranges(pairs)

    def list_cells(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return the minimum number of NESTED cells, as (order, cells)."""
        by_order: dict[int, list[int]] = {}
        left = self.ranges
        for order in range(ORDER + 1):
            size = 4 ** (ORDER - order)
            first, last = -(-left[:, 0] // size), left[:, 1] // size
            whole = last > first
            if whole.any():
                runs = zip(first[whole].tolist(), last[whole].tolist(), strict=True)
                by_order[order] = [cell for start, stop in runs for cell in range(start, stop)]
                before = np.stack((left[whole, 0], first[whole] * size), axis=1)
                after = np.stack((last[whole] * size, left[whole, 1]), axis=1)
                left = np.concatenate((left[~whole], before, after))
                left = left[left[:, 1] > left[:, 0]]
        return tuple((order, tuple(sorted(cells))) for order, cells in by_order.items())

    def __str__(self) -> str:
        """Return the ASCII form with the minimum number of cells, in which consecutive cells are ranges."""
        return " ".join(f"{order}/{','.join(_format_runs(cells))}" for order, cells in self.list_cells())

    def has_index(self, index: NDArray[np.int64]) -> Mask:
        """Test which indexes are in the MOC.

        Parameters
        ----------
        index : NDArray[np.int64]
            NESTED indexes of order 29, shape (n,).

        Returns
        -------
        Mask
            Shape (n,).
        """
        if not len(self.ranges):
            return np.zeros(len(index), dtype=bool)
        at = np.searchsorted(self.ranges[:, 0], index, side="right") - 1
        return np.asarray((at >= 0) & (index < self.ranges[at, 1]))

    def union(self, other: Moc) -> Moc:
        """Return the cells that are in this MOC or in another one.

        Parameters
        ----------
        other : Moc
            The other MOC.

        Returns
        -------
        Moc
            A MOC of any orders.
        """
        return Moc.from_ranges(np.concatenate((self.ranges, other.ranges)))

    def complement(self) -> Moc:
        """Return the cells of the sky that are not in this MOC."""
        edges = np.concatenate(([0], self.ranges.ravel(), [_SKY])).reshape(-1, 2)
        return Moc.from_ranges(edges[edges[:, 1] > edges[:, 0]])

    def intersection(self, other: Moc) -> Moc:
        """Return the cells that are in both MOCs.

        Parameters
        ----------
        other : Moc
            The other MOC.

        Returns
        -------
        Moc
            A MOC of any orders; without ranges if they have no cell in common.
        """
        return self.complement().union(other.complement()).complement()

    def classify_cells(self, cells: Cells) -> Classes:
        """Classify cells exactly by their indexes."""
        size = 4 ** (ORDER - cells.order)
        first = cells.index * size
        if not len(self.ranges):
            return np.full(len(first), OUTSIDE, dtype=np.int8)
        at = np.searchsorted(self.ranges[:, 0], first, side="right") - 1
        ends = np.where(at >= 0, self.ranges[at, 1], 0)
        follows = np.concatenate((self.ranges[:, 0], [_SKY]))[at + 1]
        is_outside = (ends <= first) & (follows >= first + size)
        outside_or_border = np.where(is_outside, OUTSIDE, BORDER)
        return np.where(ends >= first + size, INSIDE, outside_or_border).astype(np.int8)

    def contains(self, points: Vectors) -> Mask:
        """Test indexes, which define a MOC."""
        return self.has_index(vectors_to_index(points))

    def signed_distance(self, points: Vectors) -> Reals:
        """Return the distance to the circumscribed circle of the nearest cell; 0 inside."""
        nearest = np.full(len(points), math.pi)
        for order, of_order in self.list_cells():
            centres = cell_centres(order, np.array(of_order, dtype=np.uint64))
            step = max(1, _BLOCK // max(1, len(points)))
            for i in range(0, len(centres), step):
                squared_chord = 2 - 2 * (points @ centres[i : i + step].T).max(axis=1)
                angle = 2 * np.arcsin(np.sqrt(np.clip(squared_chord, 0, 4)) / 2)
                nearest = np.minimum(nearest, angle - max_cell_radius(order) - 1e-7)  # the angle is exact to 1e-8
        return np.asarray(np.maximum(nearest - SLACK, 0.0))

    @property
    def size(self) -> float:
        cells = self.list_cells()
        return max_cell_radius(cells[-1][0]) if cells else math.pi

    @property
    def area(self) -> float:
        """Square degrees, by the number of cells, which have equal areas."""
        cells = (self.ranges[:, 1] - self.ranges[:, 0]).sum()
        return float(cells / _SKY * 4 * math.pi * math.degrees(1) ** 2)

    @property
    def centroid(self) -> tuple[float, float]:
        """Mean of the centres of the cells, weighted by area; raises ``ShapeError`` for an empty MOC."""
        if not len(self.ranges):
            raise ShapeError("an empty MOC has no centroid")
        total = np.zeros(3)
        for order, of_order in self.list_cells():
            centres = cell_centres(order, np.array(of_order, dtype=np.uint64))
            total += centres.sum(axis=0) / 4.0**order
        return vector_to_position(total)


def _merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sorted ranges of the same indexes without overlapping or adjacent ranges."""
    merged: list[tuple[int, int]] = []
    for first, end in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((first, end))
    return merged


def _check_order(order: int, at: int) -> int:
    if order > ORDER:
        raise ShapeError(f"order {order} at character {at + 1} of the MOC", f"orders are 0 to {ORDER}", at)
    return order


def _cells_to_range(token: re.Match[str], order: int | None) -> tuple[int, int]:
    at = token.start()
    if order is None:
        raise ShapeError(
            f"cell '{token[0]}' at character {at + 1} of the MOC has no order", "for example '4/30-33'", at
        )
    first = int(token["first"])
    last = first if token["last"] is None else int(token["last"])
    if first > last or last >= 12 * 4**order:
        raise ShapeError(
            f"cells '{token[0]}' at character {at + 1} of the MOC",
            f"cells of order {order} are 0 to {12 * 4**order - 1}",
            at,
        )
    size = 4 ** (ORDER - order)
    return first * size, (last + 1) * size


def _format_runs(cells: tuple[int, ...]) -> list[str]:
    """Write ascending numbers as 'a' and 'a-b'."""
    starts = [i for i, cell in enumerate(cells) if i == 0 or cells[i - 1] != cell - 1]
    ends = [*starts[1:], len(cells)]
    runs = ((cells[start], cells[end - 1]) for start, end in zip(starts, ends, strict=True))
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]
