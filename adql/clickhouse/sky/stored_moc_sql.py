"""MOCs of rows as ClickHouse SQL: arrays of the borders of their ranges.

``clickhouse_schema.shape_cover.shape_column`` defines them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adql.regions.moc import Moc
from adql.regions.region import Region, find_cover
from adql.regions.unit_vectors import SKY_AREA, ShapeError
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.healpix import ORDER

#: Maximum number of cells of a shape that is compared with a stored MOC
_MAX_COVER_CELLS = 2000

#: Maximum number of ranges of a constant MOC that is compared with a stored MOC
_MAX_RANGES = 4 * _MAX_COVER_CELLS

#: Square degrees of a cell of order 29
_CELL_AREA = SKY_AREA / (12 * 4**ORDER)


@dataclass(frozen=True, slots=True)
class Ranges:
    """SQL of a MOC, Array(UInt64)."""

    array: str


def has_index_sql(moc: Ranges, hpx29: str) -> str:
    """Return the test whether an index is in the MOC: it is at or above an odd number of borders."""
    return f"(bitAnd(arrayCount(b -> b <= {hpx29}, {moc.array}), 1) = 1)"


def _select_borders_sql(moc: Ranges, parity: int) -> str:
    """Return the starts of the ranges for parity 1, and their ends for parity 0."""
    return f"arrayFilter((b, i) -> bitAnd(i, 1) = {parity}, {moc.array}, arrayEnumerate({moc.array}))"


def mocs_meet_sql(first: Ranges, second: Ranges) -> str:
    """Return the test whether a range of one MOC starts in a range of the other."""
    return f"({_some_start_in_sql(first, second)} OR {_some_start_in_sql(second, first)})"


def _some_start_in_sql(first: Ranges, second: Ranges) -> str:
    return f"arrayExists(a -> {has_index_sql(second, 'a')}, {_select_borders_sql(first, 1)})"


def is_moc_inside_sql(inner: Ranges, outer: Ranges) -> str:
    """Return the test whether each range of ``inner`` starts in ``outer``, without a border of ``outer`` in it."""
    whole = all_sql(has_index_sql(outer, "a"), f"NOT arrayExists(b -> {all_sql('b > a', 'b < z')}, {outer.array})")
    return f"arrayAll((a, z) -> {whole}, {_select_borders_sql(inner, 1)}, {_select_borders_sql(inner, 0)})"


def moc_literal(region: Region) -> Ranges:
    """Write a constant region as a MOC, which consists of the cells that the region touches unless it is a MOC.

    Raises
    ------
    ShapeError
        If a MOC has too many ranges.
    """
    moc = region if isinstance(region, Moc) else Moc.from_cells(find_cover(region, _MAX_COVER_CELLS).all)
    if not len(moc.ranges):
        return Ranges("CAST([], 'Array(UInt64)')")
    if len(moc.ranges) > _MAX_RANGES:
        raise ShapeError(
            f"a MOC of {len(moc.ranges)} ranges compared with a column of MOCs", "use a MOC of a lower order"
        )
    return Ranges(f"CAST([{', '.join(map(str, np.ravel(moc.ranges).tolist()))}], 'Array(UInt64)')")


def moc_area_sql(moc: Ranges) -> str:
    """Return the area in square degrees, for which the cells of order 29 are counted."""
    lengths = f"(b, i) -> if(bitAnd(i, 1) = 1, -toInt64(b), toInt64(b)), {moc.array}, arrayEnumerate({moc.array})"
    return f"(arraySum({lengths}) * {_CELL_AREA!r})"


def combine_mocs(parts: tuple[Ranges, ...], depth: int) -> Ranges:
    """Return the MOC of the indexes that are in at least ``depth`` of the MOCs.

    The borders in ascending order are steps up or down in the number of MOCs. At one index, the steps up come first, so
    adjacent ranges are merged, and the empty range between them is removed.
    """
    steps = [
        f"arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), {p.array}, arrayEnumerate({p.array}))" for p in parts
    ]
    ordered = f"arraySort(s -> (s.1, -s.2), arrayConcat({', '.join(steps)}))"
    depths = "arrayCumSum(s -> s.2, m)"
    crossed = f"{all_sql('s.2 = 1', f'n = {depth}')} OR {all_sql('s.2 = -1', f'n = {depth - 1}')}"
    borders = f"arrayMap(s -> s.1, arrayFilter((s, n) -> {crossed}, m, {depths}))"
    kept = "arrayFilter((b, i) -> b != p[bitXor(i - 1, 1) + 1], p, arrayEnumerate(p))"
    return Ranges(f"arrayMap(m -> arrayMap(p -> {kept}, [{borders}])[1], [{ordered}])[1]")


def ascii_moc_sql(moc: Ranges) -> str:
    """Return the ASCII form with the minimum number of cells, in which consecutive cells are ranges.

    The cells of an order are at the ends of a range, before and after the complete cells of the next coarser order.
    """
    orders = ", ".join(_ascii_order_sql(order) for order in range(ORDER + 1))
    text = f"arrayStringConcat(arrayFilter(o -> o != '', [{orders}]), ' ')"
    return f"arrayMap((f, l) -> {text}, [{_select_borders_sql(moc, 1)}], [{_select_borders_sql(moc, 0)}])[1]"


def _ascii_order_sql(order: int) -> str:
    """Return the cells of one order in the ranges that start at f and end at l; '' if there are none."""
    size = 4 ** (ORDER - order)
    first, last = f"intDiv(a + {size - 1}, {size})", f"intDiv(z, {size})"
    if order == 0:
        runs = f"[({first}, {last})]"
    else:
        up, down = f"4 * intDiv(a + {4 * size - 1}, {4 * size})", f"4 * intDiv(z, {4 * size})"
        # a range within one cell of the next coarser order contains no complete cell of that order
        runs = f"if({up} < {down}, [({first}, {up}), ({down}, {last})], [({first}, {last})])"
    cells = f"arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, {runs}), f, l))"
    shown = "arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o)"
    return f"arrayMap(o -> if(empty(o), '', concat('{order}/', arrayStringConcat({shown}, ','))), [{cells}])[1]"
