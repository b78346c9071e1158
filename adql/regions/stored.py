"""Shapes of mixed kinds that a table keeps beside their texts, as ClickHouse SQL: see ``cover.shape_column``.

A row of regions is an array of shapes, with the pieces of its border where it is made of several (``pieces``); a MOC is
an array of borders of ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adql.regions import columns, pieces
from adql.regions.algebra import Union
from adql.regions.columns import Circle, Edges, Shape, Vector
from adql.regions.covers import cover
from adql.regions.moc import Moc
from adql.regions.region import Region
from adql.regions.sphere import ROUNDING, ShapeError
from clickhouse_schema.healpix import ORDER

#: Cells of a shape that is compared with a stored MOC
_MOC_CELLS = 2000

#: Radii of points, as ``columns`` writes them
_NO_RADIUS = ("0.", "0.0")

#: Square degrees of a cell of order 29
_CELL = 4 * math.pi * math.degrees(1) ** 2 / (12 * 4**ORDER)


@dataclass(frozen=True, slots=True)
class Stored:
    """Shapes: SQL of Array(Array(Float64))."""

    array: str


@dataclass(frozen=True, slots=True)
class Ranges:
    """A MOC: SQL of Array(UInt64)."""

    array: str


def intersects(stored: Stored, other: Shape) -> str:
    """Whether a row's region and ``other`` have a direction in common."""
    return _by_kind(stored, other, _meets, lambda shape: columns.intersects(other, shape), "OR")


def contains(stored: Stored, inner: Shape) -> str:
    """Whether all of ``inner`` is in the row's region."""
    return _by_kind(stored, inner, _surrounds, lambda shape: columns.contains(inner, shape), "AND")


def within(stored: Stored, other: Shape) -> str:
    """Whether all of the row's region is in ``other``."""
    return _by_kind(stored, other, _stays_in, lambda shape: columns.contains(shape, other), "")


def _by_kind(
    stored: Stored,
    other: Shape,
    combined: Callable[[Stored, Circle | Edges], str],
    single: Callable[[Shape], str],
    word: str,
) -> str:
    """A row of one shape is compared as that, one of several by the pieces of its border.

    ``other`` may be a union where its parts' answers joined by ``word`` are its own.
    """
    if isinstance(other, Union) and word:
        parts = [_by_kind(stored, part, combined, lambda shape: single(shape), word) for part in other.parts]
        return f"({f' {word} '.join(parts)})"
    known = columns.as_columns(other)
    if not isinstance(known, (Circle, Edges)):
        raise ShapeError(f"a {type(known).__name__.lower()} compared with a column of regions", "compare its parts")
    ra, dec = f"radians({stored.array}[1][3])", f"radians({stored.array}[1][4])"
    centre: Vector = (f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})")
    of_circle = single(Circle(centre, f"{stored.array}[1][5]"))
    of_polygon = single(columns.polygon(f"arraySlice({stored.array}[1], 3)"))
    if isinstance(known, Circle) and known.radius in _NO_RADIUS:
        return columns.let(dict(zip("xyz", known.centre, strict=True)), _has(stored, ("x", "y", "z")))
    named, values = columns.named(known, "9")
    assert isinstance(named, (Circle, Edges))  # noqa: S101  names are of the same kind
    of_several = columns.let({**values, "row": stored.array}, combined(Stored("row"), named))
    one = f"if(length({stored.array}[1]) = 5, {of_circle}, {of_polygon})"
    alone = f"length({stored.array}) = 1 AND length({stored.array}[1]) != 6 AND {stored.array}[1][2] > 0"
    return f"if({alone}, {one}, {of_several})"


def _has(stored: Stored, place: Vector) -> str:
    """Whether a direction is in all shapes of some term."""
    x, y, z = place
    ra, dec = "radians(s[3])", "radians(s[4])"
    centre: Vector = (f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})")
    in_circle = f"{columns.separation(place, centre)} <= radians(s[5]) + {ROUNDING!r}"
    latitude, longitude = f"atan2({z}, sqrt({x} * {x} + {y} * {y}))", f"degrees(atan2({y}, {x}))"
    # borders belong to the range; at a pole there are no longitudes
    east = f"positiveModulo({longitude} - s[3] + 1e-13, 360.) <= positiveModulo(s[4] - s[3], 360.) + 2e-13"
    in_longitudes = f"({east} OR s[4] - s[3] >= 360 OR {x} * {x} + {y} * {y} < 1e-31)"
    in_latitudes = f"{latitude} >= radians(s[5]) - {ROUNDING!r} AND {latitude} <= radians(s[6]) + {ROUNDING!r}"
    polygon = {"edges8": columns.polygon("arraySlice(s, 3)").array}
    in_polygon = columns.let(polygon, columns.inside(place, Edges("edges8")))
    inside = f"multiIf(length(s) = 5, {in_circle}, length(s) = 6, {in_latitudes} AND {in_longitudes}, {in_polygon})"
    shapes = f"arrayFilter(s -> s[1] >= 0, {stored.array})"
    out = f"arrayMap(s -> s[1], arrayFilter(s -> ({inside}) != (s[2] > 0), {shapes}))"
    return f"notEmpty(arrayFilter(i -> NOT has({out}, i), arrayMap(s -> s[1], {shapes})))"


def _pieces(stored: Stored, word: str, test: str) -> str:
    return f"{word}(s -> {test}, arrayFilter(s -> s[1] < 0, {stored.array}))"


def _points(stored: Stored, word: str, shape: Circle | Edges) -> str:
    """Of the row's shapes that are points, which have no border."""
    ra, dec = "radians(s[3])", "radians(s[4])"
    centre: Vector = (f"(cos({dec}) * cos({ra}))", f"(cos({dec}) * sin({ra}))", f"sin({dec})")
    points = f"arrayFilter(s -> length(s) = 5 AND s[1] >= 0 AND s[2] > 0 AND s[5] <= 1e-11, {stored.array})"
    return f"{word}(s -> {columns.has(shape, centre)}, {points})"


def _some_of(shape: Circle | Edges, stored: Stored) -> str:
    """Whether the centre or a vertex of a shape is in a row's region."""
    if isinstance(shape, Circle):
        return _has(stored, shape.centre)
    return f"arrayExists(d -> {_has(stored, ('d.1', 'd.2', 'd.3'))}, {shape.array})"


def _meets(stored: Stored, shape: Circle | Edges) -> str:
    touches = _pieces(stored, "arrayExists", pieces.touches(shape))
    return f"({_some_of(shape, stored)} OR {touches} OR {_points(stored, 'arrayExists', shape)})"


def _surrounds(stored: Stored, shape: Circle | Edges) -> str:
    return f"({_some_of(shape, stored)} AND NOT {_pieces(stored, 'arrayExists', pieces.enters(shape))})"


def _stays_in(stored: Stored, shape: Circle | Edges) -> str:
    """The border is in the shape, and so is what it encloses: a direction outside of the shape is not in the row's."""
    border = f"{_pieces(stored, 'arrayAll', pieces.stays_in(shape))} AND {_points(stored, 'arrayAll', shape)}"
    if isinstance(shape, Circle):
        x, y, z = (f"(-{c})" for c in shape.centre)
        return f"({border} AND ({shape.radius} >= 180 OR NOT {_has(stored, (x, y, z))}))"
    antipode: Vector = ("(-d.1)", "(-d.2)", "(-d.3)")
    beyond = f"NOT {columns.inside(antipode, shape)} AND {_has(stored, antipode)}"
    return f"({border} AND NOT arrayExists(d -> {beyond}, {shape.array}))"


# --- MOCs -------------------------------------------------------------------------------------------------------------


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
