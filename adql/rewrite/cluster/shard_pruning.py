"""The shards that a SELECT reads, which have rows in the cells to which its conditions confine a sharded table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from adql.ir import Call, Column, Expr, InCells, Literal, Scan
from adql.regions import Moc
from adql.rewrite.covers.spatial_covers import HPX29
from clickhouse_schema.healpix import NO_POSITION, cell_centres, max_cell_radius
from clickhouse_schema.shard_map import ShardMap

#: Number of cells that are compared with all cells of the map in one step, to limit memory
_CELLS_AT_ONCE = 1024


def find_shards(scan: Scan, conditions: Iterable[Expr], shard_map: ShardMap) -> frozenset[int] | None:
    """Return the shards with rows in the cells that ANDed ``conditions`` leave; None for all shards."""
    strays = scan.entry.stray_radius
    if math.isinf(strays):
        return None
    wanted = frozenset(shard_map.cells)
    first, end = 0, None
    for condition in conditions:
        if not (isinstance(condition, (InCells, Call)) and _is_on_index(condition, scan)):
            continue
        if isinstance(condition, InCells):
            wanted &= _find_shards_of_cells(condition.cells, strays, shard_map)
        elif isinstance(limit := condition.args[-1], Literal) and isinstance(limit.value, int):
            first = max(first, limit.value) if condition.name == ">=" else first
            end = limit.value if condition.name == "<" else end
    if end is not None:
        wanted &= _find_shards_of_cells(Moc.from_ranges([(first, end)]).list_cells(), strays, shard_map)
    elif not strays:  # children without a position are on the shards of their parents, which may be any
        wanted &= shard_map.find_shards([(first, NO_POSITION + 1)])
    return None if len(wanted) == shard_map.shard_count else wanted


def _is_on_index(condition: Expr, scan: Scan) -> bool:
    operand = next(iter(condition.children), None)
    return isinstance(operand, Column) and operand.relation == scan.relation and operand.name == HPX29


def _find_shards_of_cells(
    cells: Sequence[tuple[int, tuple[int, ...]]], strays: float, shard_map: ShardMap
) -> frozenset[int]:
    if not strays:
        ranges = Moc.from_cells([*cells]).ranges
        return shard_map.find_shards((int(first), int(end)) for first, end in ranges)
    near = (cell for order, numbers in cells for cell in _find_cells_near(order, numbers, strays, shard_map.order))
    return frozenset(shard_map.cells[cell] for cell in near)


def _find_cells_near(order: int, cells: tuple[int, ...], radius: float, coarse: int) -> list[int]:
    """Return a superset of the cells of order ``coarse`` with points within ``radius`` degrees of ``cells``."""
    count = 12 * 4**coarse
    middles = cell_centres(coarse, np.arange(count, dtype=np.uint64))
    wanted = cell_centres(order, np.array(cells, np.uint64))
    reach = math.radians(radius) + max_cell_radius(order) + max_cell_radius(coarse)
    min_cosine = math.cos(min(math.pi, reach)) - 1e-12
    found = np.zeros(count, bool)
    for start in range(0, len(wanted), _CELLS_AT_ONCE):
        cosines = middles @ wanted[start : start + _CELLS_AT_ONCE].T
        found |= (cosines >= min_cosine).any(axis=1)
    return [int(cell) for cell in np.flatnonzero(found)]
