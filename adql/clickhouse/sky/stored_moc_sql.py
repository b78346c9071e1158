"""MOCs of rows, as ClickHouse SQL: arrays of the borders of their ranges.

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

#: Cells of a shape that is compared with a stored MOC
_MAX_COVER_CELLS = 2000

#: Ranges of a constant MOC beside a stored one
_MAX_RANGES = 4 * _MAX_COVER_CELLS

#: Square degrees of a cell of order 29
_CELL_AREA = SKY_AREA / (12 * 4**ORDER)


@dataclass(frozen=True, slots=True)
class Ranges:
    """SQL of a MOC, Array(UInt64)."""

    array: str


def has_index_sql(moc: Ranges, hpx29: str) -> str:
    """Whether an index is in the MOC: it is not below an odd number of borders."""
    return f"(bitAnd(arrayCount(b -> b <= {hpx29}, {moc.array}), 1) = 1)"


def _select_borders_sql(moc: Ranges, parity: int) -> str:
    """Return the starts of the ranges for parity 1, their ends for 0."""
    return f"arrayFilter((b, i) -> bitAnd(i, 1) = {parity}, {moc.array}, arrayEnumerate({moc.array}))"


def mocs_meet_sql(first: Ranges, second: Ranges) -> str:
    """Whether some range of one MOC starts in a range of the other."""
    return f"({_some_start_in_sql(first, second)} OR {_some_start_in_sql(second, first)})"


def _some_start_in_sql(first: Ranges, second: Ranges) -> str:
    return f"arrayExists(a -> {has_index_sql(second, 'a')}, {_select_borders_sql(first, 1)})"


def is_moc_inside_sql(inner: Ranges, outer: Ranges) -> str:
    """Whether each range of ``inner`` starts in ``outer``, with no border of ``outer`` before its end."""
    whole = all_sql(has_index_sql(outer, "a"), f"NOT arrayExists(b -> {all_sql('b > a', 'b < z')}, {outer.array})")
    return f"arrayAll((a, z) -> {whole}, {_select_borders_sql(inner, 1)}, {_select_borders_sql(inner, 0)})"


def moc_literal(region: Region) -> Ranges:
    """Write a constant region as a MOC: of the cells that it touches, unless it is a MOC."""
    moc = region if isinstance(region, Moc) else Moc.from_cells(find_cover(region, _MAX_COVER_CELLS).all)
    if not len(moc.ranges):
        return Ranges("CAST([], 'Array(UInt64)')")
    if len(moc.ranges) > _MAX_RANGES:
        raise ShapeError(f"a MOC of {len(moc.ranges)} ranges beside a column of MOCs", "give one of a lower order")
    return Ranges(f"CAST([{', '.join(map(str, np.ravel(moc.ranges).tolist()))}], 'Array(UInt64)')")


def moc_area_sql(moc: Ranges) -> str:
    """Return square degrees: all cells of order 29 have the same area."""
    lengths = f"(b, i) -> if(bitAnd(i, 1) = 1, -toInt64(b), toInt64(b)), {moc.array}, arrayEnumerate({moc.array})"
    return f"(arraySum({lengths}) * {_CELL_AREA!r})"


def combine_mocs(parts: tuple[Ranges, ...], depth: int) -> Ranges:
    """Return where at least ``depth`` of the MOCs are.

    Their borders in order are steps up or down of how many MOCs there are. At one index the steps up come first, so
    ranges that touch become one; an empty range between them is left out.
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
    """Return the ASCII form with the fewest cells, consecutive ones as ranges.

    The cells of one order lie at the ends of a range, before and after the whole cells of the order above.
    """
    orders = ", ".join(_ascii_order_sql(order) for order in range(ORDER + 1))
    text = f"arrayStringConcat(arrayFilter(o -> o != '', [{orders}]), ' ')"
    return f"arrayMap((f, l) -> {text}, [{_select_borders_sql(moc, 1)}], [{_select_borders_sql(moc, 0)}])[1]"


def _ascii_order_sql(order: int) -> str:
    """Return the cells of one order in the ranges that start at f and end at l; '' for none."""
    size = 4 ** (ORDER - order)
    first, last = f"intDiv(a + {size - 1}, {size})", f"intDiv(z, {size})"
    if order == 0:
        runs = f"[({first}, {last})]"
    else:
        up, down = f"4 * intDiv(a + {4 * size - 1}, {4 * size})", f"4 * intDiv(z, {4 * size})"
        # a range within one cell of the order above has no whole one there
        runs = f"if({up} < {down}, [({first}, {up}), ({down}, {last})], [({first}, {last})])"
    cells = f"arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, {runs}), f, l))"
    shown = "arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o)"
    return f"arrayMap(o -> if(empty(o), '', concat('{order}/', arrayStringConcat({shown}, ','))), [{cells}])[1]"
