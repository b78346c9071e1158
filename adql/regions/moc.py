"""Multi-order coverage maps: sets of NESTED HEALPix cells (IVOA MOC 2.0), and their ASCII form ``4/30-33 5/8,10``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adql.regions.pixel_index import locate
from adql.regions.region import BORDER, INSIDE, OUTSIDE, SLACK, Classes, Region
from adql.regions.unit_vectors import Mask, Reals, ShapeError, Vectors, position
from clickhouse_schema.healpix import ORDER, Cells, centres, max_radius

Ranges = NDArray[np.int64]

#: Cells of order 29 in the whole sky
_SKY = 12 * 4**ORDER

_TOKEN = re.compile(r"(?P<order>\d+)\s*/|(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?|[\s,;]+")

#: points x cells that are in memory at once
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Moc(Region):
    """Cells as ranges of indexes of order 29: shape (n, 2), half-open, sorted, neither overlapping nor touching."""

    ranges: Ranges

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]] | Ranges) -> Moc:
        """From half-open ranges of order 29 in any order."""
        pairs = np.array(list(ranges), dtype=np.int64).reshape(-1, 2)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        if not len(pairs):
            return cls(pairs)
        reached = np.maximum.accumulate(pairs[:, 1])
        first = np.concatenate(([True], pairs[1:, 0] > reached[:-1]))
        last = np.concatenate((first[1:], [True]))
        return cls(np.stack((pairs[first, 0], reached[last]), axis=1))

    @classmethod
    def of_cells(cls, cells: Iterable[tuple[int, Iterable[int]]]) -> Moc:
        """From NESTED cells by order, as in ``Cover.all``."""
        pairs = [
            np.array([list(of_order)], dtype=np.int64).T * 4 ** (ORDER - order) + (0, 4 ** (ORDER - order))
            for order, of_order in cells
        ]
        return cls.of(np.concatenate(pairs) if pairs else ())

    @classmethod
    def parse(cls, text: str) -> Moc:
        """From the ASCII form; an empty one is an empty MOC. Raises ``ShapeError`` that tells the place."""
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
                order = _order(int(token["order"]), token.start())
            elif token["first"] is not None:
                pairs += _cells(token, order)
        return cls.of(pairs)

    def cells(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The fewest NESTED cells by order."""
        by_order: dict[int, list[int]] = {}
        left = self.ranges
        for order in range(ORDER + 1):
            size = 4 ** (ORDER - order)
            first, last = -(-left[:, 0] // size), left[:, 1] // size
            whole = last > first
            if whole.any():
                by_order[order] = [i for a, b in zip(first[whole], last[whole], strict=True) for i in range(a, b)]
                before = np.stack((left[whole, 0], first[whole] * size), axis=1)
                after = np.stack((last[whole] * size, left[whole, 1]), axis=1)
                left = np.concatenate((left[~whole], before, after))
                left = left[left[:, 1] > left[:, 0]]
        return tuple((order, tuple(int(i) for i in sorted(cells))) for order, cells in by_order.items())

    def __str__(self) -> str:
        """ASCII form with the fewest cells, consecutive ones as ranges."""
        return " ".join(f"{order}/{','.join(_runs(cells))}" for order, cells in self.cells())

    def has(self, index: NDArray[np.int64]) -> Mask:
        """Which indexes of order 29 are in."""
        if not len(self.ranges):
            return np.zeros(len(index), dtype=bool)
        at = np.searchsorted(self.ranges[:, 0], index, side="right") - 1
        return np.asarray((at >= 0) & (index < self.ranges[at, 1]))

    def union(self, other: Moc) -> Moc:
        return Moc.of(np.concatenate((self.ranges, other.ranges)))

    def complement(self) -> Moc:
        edges = np.concatenate(([0], self.ranges.ravel(), [_SKY])).reshape(-1, 2)
        return Moc.of(edges[edges[:, 1] > edges[:, 0]])

    def intersection(self, other: Moc) -> Moc:
        return self.complement().union(other.complement()).complement()

    def classify(self, cells: Cells) -> Classes:
        """Exact, by the indexes."""
        size = 4 ** (ORDER - cells.order)
        first = cells.index * size
        if not len(self.ranges):
            return np.full(len(first), OUTSIDE, dtype=np.int8)
        at = np.searchsorted(self.ranges[:, 0], first, side="right") - 1
        ends = np.where(at >= 0, self.ranges[at, 1], 0)
        follows = np.concatenate((self.ranges[:, 0], [_SKY]))[at + 1]
        none = (ends <= first) & (follows >= first + size)
        return np.where(ends >= first + size, INSIDE, np.where(none, OUTSIDE, BORDER)).astype(np.int8)

    def contains(self, points: Vectors) -> Mask:
        """By the index, which defines a MOC."""
        return self.has(locate(points))

    def distance(self, points: Vectors) -> Reals:
        """Outside, the distance to the nearest cell's circumscribed circle; inside, 0."""
        nearest = np.full(len(points), math.pi)
        for order, of_order in self.cells():
            middle = centres(order, np.array(of_order, dtype=np.uint64))
            step = max(1, _BLOCK // max(1, len(points)))
            for i in range(0, len(middle), step):
                chord = 2 - 2 * (points @ middle[i : i + step].T).max(axis=1)
                apart = 2 * np.arcsin(np.sqrt(np.clip(chord, 0, 4)) / 2)
                nearest = np.minimum(nearest, apart - max_radius(order) - 1e-7)  # the chord is good to 1e-8
        return np.asarray(np.maximum(nearest - SLACK, 0.0))

    @property
    def size(self) -> float:
        cells = self.cells()
        return max_radius(cells[-1][0]) if cells else math.pi

    @property
    def area(self) -> float:
        """Square degrees: all cells of an order have the same area."""
        cells = (self.ranges[:, 1] - self.ranges[:, 0]).sum()
        return float(cells / _SKY * 4 * math.pi * math.degrees(1) ** 2)

    @property
    def centroid(self) -> tuple[float, float]:
        """Of the centres of the cells, weighted by area. Raises ``ShapeError`` for an empty MOC."""
        if not len(self.ranges):
            raise ShapeError("an empty MOC has no centroid")
        total = np.zeros(3)
        for order, of_order in self.cells():
            total += centres(order, np.array(of_order, dtype=np.uint64)).sum(axis=0) / 4.0**order
        return position(total)


def _order(order: int, at: int) -> int:
    if order > ORDER:
        raise ShapeError(f"order {order} at character {at + 1} of the MOC", f"orders are 0 to {ORDER}", at)
    return order


def _cells(token: re.Match[str], order: int | None) -> list[tuple[int, int]]:
    at = token.start()
    if order is None:
        raise ShapeError(
            f"cell '{token[0]}' at character {at + 1} of the MOC has no order", "write it as in '4/30-33'", at
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
    return [(first * size, (last + 1) * size)]


def _runs(cells: tuple[int, ...]) -> list[str]:
    """Ascending numbers as 'a' and 'a-b'."""
    starts = [i for i, cell in enumerate(cells) if i == 0 or cells[i - 1] != cell - 1]
    ends = [*starts[1:], len(cells)]
    return [str(cells[i]) if j == i + 1 else f"{cells[i]}-{cells[j - 1]}" for i, j in zip(starts, ends, strict=True)]
