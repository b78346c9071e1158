"""The cells of the sky in which a kept match is recomputed, and the cells around them on which it depends. Pure.

The stored positions of each pair are within the ``reach`` of the match: its radius plus the greatest motion. The number
of mates of a pair depends on left rows within two reaches of its left row, and these on right rows within one more
reach. A changed row affects pairs within three reaches: a new right row may replace another row as the nearest, whose
other pairs then have one mate less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.adjacent_cells import order_for_radius, step_from_cells
from clickhouse_schema.healpix import NO_POSITION, ORDER, Cells
from clickhouse_schema.table_ddl import HPX29

#: Finest order of cells: finer cells save nothing
MAX_ORDER = 14

#: A condition lists ranges instead of cells if there are few ranges, or if there are many cells
_FEW_RANGES = 2
_MAX_RANGES = 48
_MANY_CELLS = 4096


@dataclass(frozen=True, slots=True)
class MatchRegion:
    """Half-open ranges of indexes of order 29, ascending and not touching; None is the whole sky."""

    ranges: NDArray[np.int64] | None

    @classmethod
    def from_cells(cls, order: int, cells: Sequence[int] | NDArray[np.int64]) -> MatchRegion:
        """Return the region of cells of one order.

        Parameters
        ----------
        order : int
            Order of the cells.
        cells : sequence of int or NDArray[np.int64]
            NESTED indexes in any order, with or without duplicates; shape (n,).

        Returns
        -------
        MatchRegion
            The whole sky if all cells are given.
        """
        numbers = np.unique(np.asarray(cells, np.int64))
        is_first = np.diff(numbers, prepend=-2) > 1
        firsts = numbers[is_first]
        lasts = numbers[np.append(is_first[1:], True)] if len(numbers) else numbers
        if len(numbers) == 12 * 4**order:
            return cls(None)
        return cls(np.stack((firsts, lasts + 1), axis=1) << (2 * (ORDER - order)))

    def list_cells(self, order: int) -> NDArray[np.int64]:
        """Return the cells of an order that contain the region.

        Parameters
        ----------
        order : int
            Order of the cells.

        Returns
        -------
        NDArray[np.int64]
            NESTED indexes, ascending, shape (n,). They cover more than the region if it has finer cells.
        """
        if self.ranges is None:
            return np.arange(12 * 4**order)
        shift = 2 * (ORDER - order)
        firsts, lasts = self.ranges[:, 0] >> shift, (self.ranges[:, 1] - 1) >> shift
        spans = [np.arange(first, last + 1) for first, last in zip(firsts, lasts, strict=True)]
        return np.unique(np.concatenate(spans)) if spans else np.empty(0, np.int64)

    def grow_region(self, reach: float, order: int) -> MatchRegion:
        """Return a region that contains everything within a radius of this one.

        Parameters
        ----------
        reach : float
            Radius in degrees.
        order : int
            Finest order of the cells of the result; a large radius needs coarser cells.

        Returns
        -------
        MatchRegion
            The cells of the region with their neighbours; the whole sky if no order is coarse enough.
        """
        finest = order_for_radius(reach)
        if finest is None or self.ranges is None:
            return MatchRegion(None)
        order = min(order, finest)
        cells = Cells.from_index(order, self.list_cells(order).astype(np.uint64))
        touching = np.unique(step_from_cells(cells))
        return MatchRegion.from_cells(order, touching[touching >= 0])

    def condition_sql(self, index: str = HPX29) -> str:
        """Return the condition that an index is in the region.

        Parameters
        ----------
        index : str, optional
            SQL of an index of order 29.

        Returns
        -------
        str
            Condition that is false for rows without a position.
        """
        if self.ranges is None:
            return f"{index} < {NO_POSITION}"
        order = self._find_order()
        cell_size = 4 ** (ORDER - order)
        cells = int(np.diff(self.ranges).sum()) // cell_size
        if len(self.ranges) <= (_FEW_RANGES if cells <= _MANY_CELLS else _MAX_RANGES):
            parts = [f"({index} >= {first} AND {index} < {end})" for first, end in self.ranges.tolist()]
            return f"({' OR '.join(parts)})" if parts else "0"
        # One set look-up per row and one binary search per granule. The index occurs once: ClickHouse analyses a
        # subquery again for each use of its columns, and 48 ranges of matched rows took 0.5 s.
        listed = ", ".join(map(str, self.list_cells(order).tolist()))
        return f"intDiv({index}, {cell_size}) IN ({listed})"

    def _find_order(self) -> int:
        """Return the coarsest order whose cells form the region exactly."""
        assert self.ranges is not None  # noqa: S101  only called for regions with ranges
        lowest = int(np.bitwise_or.reduce(self.ranges.ravel()))
        zeros = (lowest & -lowest).bit_length() - 1 if lowest else 2 * ORDER
        return max(0, ORDER - zeros // 2)

    def divide_region(self, order: int, cells: int) -> Iterator[MatchRegion]:
        """Divide the region into parts of limited size.

        Parameters
        ----------
        order : int
            Order of the cells, from 0.
        cells : int
            Maximum number of cells of a part, at least 1.

        Yields
        ------
        MatchRegion
            Parts along the sky; together they contain the region.
        """
        found = self.list_cells(order)
        for first in range(0, len(found), cells):
            yield MatchRegion.from_cells(order, found[first : first + cells])


def find_changed_region(order: int, cells: Sequence[int], reach: float) -> tuple[MatchRegion, int]:
    """Return the region whose pairs may be affected by changes in given cells.

    Parameters
    ----------
    order : int
        Order of the cells.
    cells : sequence of int
        Cells in which rows were added, changed or deleted.
    reach : float
        Greatest separation, in degrees, of the stored positions of a pair.

    Returns
    -------
    MatchRegion, int
        The region, and the order of its cells.
    """
    finest = order_for_radius(2 * reach)
    touched = MatchRegion.from_cells(order, cells)
    if finest is None:
        return MatchRegion(None), 0
    order = min(order, finest)
    return touched.grow_region(2 * reach, order).grow_region(2 * reach, order), order
