"""MOCs of rows, as ClickHouse SQL: arrays of the borders of their ranges; see ``cover.shape_column``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.healpix_cover import cover
from adql.regions.moc import Moc
from adql.regions.region import Region
from adql.regions.unit_vectors import ShapeError
from clickhouse_schema.healpix import ORDER

#: Cells of a shape that is compared with a stored MOC
_MOC_CELLS = 2000

#: Square degrees of a cell of order 29
_CELL = 4 * math.pi * math.degrees(1) ** 2 / (12 * 4**ORDER)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A MOC: SQL of Array(UInt64)."""

    array: str


def has(moc: Ranges, hpx29: str) -> str:
    """Whether an index is in: an odd number of borders is not above it."""
    return f"(bitAnd(arrayCount(b -> b <= {hpx29}, {moc.array}), 1) = 1)"


def meets(first: Ranges, second: Ranges) -> str:
    """Whether some range of one starts in a range of the other."""
    return f"({_some_start_in(first, second)} OR {_some_start_in(second, first)})"


def _some_start_in(first: Ranges, second: Ranges) -> str:
    starts = f"arrayFilter((b, i) -> bitAnd(i, 1) = 1, {first.array}, arrayEnumerate({first.array}))"
    return f"arrayExists(a -> {has(second, 'a')}, {starts})"


def is_inside(inner: Ranges, outer: Ranges) -> str:
    """Whether each range of ``inner`` starts in ``outer`` and has none of its borders before its end."""
    starts = f"arrayFilter((b, i) -> bitAnd(i, 1) = 1, {inner.array}, arrayEnumerate({inner.array}))"
    ends = f"arrayFilter((b, i) -> bitAnd(i, 1) = 0, {inner.array}, arrayEnumerate({inner.array}))"
    whole = f"{has(outer, 'a')} AND NOT arrayExists(b -> b > a AND b < z, {outer.array})"
    return f"arrayAll((a, z) -> {whole}, {starts}, {ends})"


def ranges_of(region: Region) -> Ranges:
    """A constant region as a MOC: of the cells that it touches, unless it is one."""
    moc = region if isinstance(region, Moc) else Moc.of_cells(cover(region, _MOC_CELLS).all)
    if not len(moc.ranges):
        return Ranges("CAST([], 'Array(UInt64)')")
    if len(moc.ranges) > 4 * _MOC_CELLS:
        raise ShapeError(f"a MOC of {len(moc.ranges)} ranges beside a column of MOCs", "give one of a lower order")
    return Ranges(f"CAST([{', '.join(map(str, np.ravel(moc.ranges).tolist()))}], 'Array(UInt64)')")


def area(moc: Ranges) -> str:
    """SQL of square degrees: all cells of order 29 have the same area."""
    cells = (
        f"arraySum((b, i) -> if(bitAnd(i, 1) = 1, -toInt64(b), toInt64(b)), {moc.array}, arrayEnumerate({moc.array}))"
    )
    return f"({cells} * {_CELL!r})"


def combined(parts: tuple[Ranges, ...], depth: int) -> Ranges:
    """Where at least ``depth`` of the MOCs are. Their borders in order, each a step up or down of how many there are.

    At the same index the steps up come first, so ranges that touch are one; an empty range between is left out.
    """
    steps = [
        f"arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), {p.array}, arrayEnumerate({p.array}))" for p in parts
    ]
    ordered = f"arraySort(s -> (s.1, -s.2), arrayConcat({', '.join(steps)}))"
    depths = "arrayCumSum(s -> s.2, m)"
    crossed = f"(s.2 = 1 AND n = {depth}) OR (s.2 = -1 AND n = {depth - 1})"
    borders = f"arrayMap(s -> s.1, arrayFilter((s, n) -> {crossed}, m, {depths}))"
    kept = "arrayFilter((b, i) -> b != p[bitXor(i - 1, 1) + 1], p, arrayEnumerate(p))"
    return Ranges(f"arrayMap(m -> arrayMap(p -> {kept}, [{borders}])[1], [{ordered}])[1]")


def ascii_moc(moc: Ranges) -> str:
    """SQL of the ASCII form, with the fewest cells, consecutive ones as ranges.

    Of a range, the cells of one order lie at its ends, before and after the whole cells of the order above.
    """
    orders = []
    for order in range(ORDER + 1):
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
        orders.append(
            f"arrayMap(o -> if(empty(o), '', concat('{order}/', arrayStringConcat({shown}, ','))), [{cells}])[1]"
        )
    text = f"arrayStringConcat(arrayFilter(o -> o != '', [{', '.join(orders)}]), ' ')"
    starts, ends = (
        f"arrayFilter((b, i) -> bitAnd(i, 1) = {odd}, {moc.array}, arrayEnumerate({moc.array}))" for odd in (1, 0)
    )
    return f"arrayMap((f, l) -> {text}, [{starts}], [{ends}])[1]"
