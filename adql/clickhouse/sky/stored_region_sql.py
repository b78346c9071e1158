"""Regions of mixed shapes that a table keeps beside their texts, as ClickHouse SQL: see ``cover.shape_column``.

A row of regions is an array of shapes, with the pieces of its border where it is made of several (``pieces``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adql.clickhouse.sky import border_arc_sql, row_shape_sql
from adql.clickhouse.sky.membership_sql import number
from adql.clickhouse.sky.region_rows import normal_form, shape_rows
from adql.clickhouse.sky.row_shape_sql import Circle, Edges, RowShape, Vector
from adql.regions.region import Region
from adql.regions.unit_vectors import ROUNDING, direction_sql

#: A direction that no border meets but by chance: for regions without a border
_ANYWHERE: Vector = ("0.36", "0.48", "0.8")


@dataclass(frozen=True, slots=True)
class Stored:
    """Shapes: SQL of Array(Array(Float64)). ``several``: it is known not to be one circle or polygon."""

    array: str
    several: bool = False


def literal(region: Region) -> Stored:
    """A constant combination in the form of stored ones. Raises ``ShapeError`` for MOCs and endless combinations."""
    rows = shape_rows(region, normal_form(region))
    numbers = ", ".join(f"[{', '.join(map(number, row))}]" for row in rows)
    return Stored(f"CAST([{numbers}], 'Array(Array(Float64))')", several=True)


def by_kind(stored: Stored, single: Callable[[RowShape], str], several: str) -> str:
    """``single`` of rows that are one circle or polygon, ``several`` of others."""
    if stored.several:
        return several
    first = f"{stored.array}[1]"
    circle = single(Circle(_centre(first), f"{first}[5]"))
    polygon = single(row_shape_sql.polygon(f"arraySlice({first}, 3)"))
    alone = f"length({stored.array}) = 1 AND length({first}) != 6 AND {first}[2] > 0"
    return f"if({alone}, if(length({first}) = 5, {circle}, {polygon}), {several})"


def _centre(shape: str) -> Vector:
    return direction_sql(f"{shape}[3]", f"{shape}[4]")


def has(stored: Stored, place: Vector) -> str:
    """Whether a direction is in all shapes of some term."""
    x, y, z = place
    in_circle = f"{row_shape_sql.separation(place, _centre('s'))} <= radians(s[5]) + {ROUNDING!r}"
    latitude, longitude = f"atan2({z}, sqrt({x} * {x} + {y} * {y}))", f"degrees(atan2({y}, {x}))"
    # borders belong to the range; at a pole there are no longitudes
    east = f"positiveModulo({longitude} - s[3] + 1e-13, 360.) <= positiveModulo(s[4] - s[3], 360.) + 2e-13"
    in_longitudes = f"({east} OR s[4] - s[3] >= 360 OR {x} * {x} + {y} * {y} < 1e-31)"
    in_latitudes = f"{latitude} >= radians(s[5]) - {ROUNDING!r} AND {latitude} <= radians(s[6]) + {ROUNDING!r}"
    polygon = {"edges8": row_shape_sql.polygon("arraySlice(s, 3)").array}
    in_polygon = row_shape_sql.let(polygon, row_shape_sql.inside(place, Edges("edges8")))
    inside = f"multiIf(length(s) = 5, {in_circle}, length(s) = 6, {in_latitudes} AND {in_longitudes}, {in_polygon})"
    shapes = f"arrayFilter(s -> s[1] >= 0, {stored.array})"
    out = f"arrayMap(s -> s[1], arrayFilter(s -> ({inside}) != (s[2] > 0), {shapes}))"
    return f"notEmpty(arrayFilter(i -> NOT has({out}, i), arrayMap(s -> s[1], {shapes})))"


def _pieces(stored: Stored, word: str, test: str) -> str:
    return f"{word}(s -> {test}, arrayFilter(s -> s[1] < 0, {stored.array}))"


def _points(stored: Stored, word: str, shape: RowShape | Stored) -> str:
    """Of the row's shapes that are points, which have no border."""
    points = f"arrayFilter(s -> length(s) = 5 AND s[1] >= 0 AND s[2] > 0 AND s[5] <= 1e-11, {stored.array})"
    if not isinstance(shape, Stored):
        return f"{word}(s -> {row_shape_sql.has(shape, _centre('s'))}, {points})"
    vectors = f"arrayMap(s -> ({', '.join(_centre('s'))}), {points})"
    return f"{word}(p -> {has(shape, _PLACE)}, {vectors})"


#: Components of p
_PLACE: Vector = ("p.1", "p.2", "p.3")


def meets(stored: Stored, shape: RowShape) -> str:
    """Whether a row's region and a circle or polygon have a direction in common."""
    if isinstance(shape, Circle):
        reaches = has(stored, shape.centre)
    else:
        reaches = f"arrayExists(d -> {has(stored, row_shape_sql.START)}, {shape.array})"
    touches = _pieces(stored, "arrayExists", border_arc_sql.touches(shape))
    return f"({reaches} OR {touches} OR {_points(stored, 'arrayExists', shape)})"


def surrounds(stored: Stored, shape: RowShape) -> str:
    """Whether all of a circle or polygon is in a row's region: its border is, and no piece of that one's is inside."""
    if isinstance(shape, Circle):
        border = has(stored, shape.centre)
    else:
        border = " AND ".join(
            f"arrayAll(d -> {has(stored, p)}, {shape.array})" for p in (row_shape_sql.START, row_shape_sql.MIDDLE)
        )
    return f"({border} AND NOT {_pieces(stored, 'arrayExists', border_arc_sql.enters(shape))})"


def stays_in(stored: Stored, shape: RowShape) -> str:
    """Whether all of a row's region is in a circle or polygon.

    The border is, and so is what it encloses: a direction outside of the shape is not in the row's.
    """
    border = f"{_pieces(stored, 'arrayAll', border_arc_sql.stays_in(shape))} AND {_points(stored, 'arrayAll', shape)}"
    if isinstance(shape, Circle):
        x, y, z = (f"(-{c})" for c in shape.centre)
        return f"({border} AND ({shape.radius} >= 180 OR NOT {has(stored, (x, y, z))}))"
    antipode: Vector = ("(-d.1)", "(-d.2)", "(-d.3)")
    beyond = f"NOT {row_shape_sql.inside(antipode, shape)} AND {has(stored, antipode)}"
    return f"({border} AND NOT arrayExists(d -> {beyond}, {shape.array}))"


def overlap(first: Stored, second: Stored) -> str:
    """Whether two rows' regions have a direction in common: see ``relations``."""

    def common(place: Vector) -> str:
        return f"({has(first, place)} AND {has(second, place)})"

    points = f"{_points(first, 'arrayExists', second)} OR {_points(second, 'arrayExists', first)}"
    return f"({_some_spot(first, second, common)} OR {points} OR {common(_ANYWHERE)})"


def within(inner: Stored, outer: Stored) -> str:
    """Whether all of a row's region is in another one: no direction beside a border is in it and not in the other."""

    def beyond(place: Vector) -> str:
        return f"({has(inner, place)} AND NOT {has(outer, place)})"

    spots = _some_spot(inner, outer, beyond, on_border=False)
    return f"(NOT {spots} AND NOT {beyond(_ANYWHERE)} AND {_points(inner, 'arrayAll', outer)})"


def _some_spot(first: Stored, second: Stored, test: Callable[[Vector], str], *, on_border: bool = True) -> str:
    """Whether the test holds beside some piece of either border, cut where it meets the other one."""
    found = []
    for one, other in ((first, second), (second, first)):
        spots = border_arc_sql.spots(f"arrayFilter(s -> s[1] < 0, {other.array})", on_border=on_border)
        found.append(_pieces(one, "arrayExists", f"arrayExists(p -> {test(_PLACE)}, {spots})"))
    return f"({' OR '.join(found)})"


# --- caps -------------------------------------------------------------------------------------------------------------


def cap(stored: Stored, value: str) -> str:
    """See ``columns.cap``; a region with a term of complements alone may be anywhere."""
    shapes = f"arrayFilter(s -> s[1] >= 0, {stored.array})"
    whole = f"arrayFilter(s -> s[2] > 0, {shapes})"
    terms = [f"length(arrayDistinct(arrayMap(s -> s[1], {some})))" for some in (shapes, whole)]
    circle = f"[(({', '.join(_centre('s'))}), radians(s[5]))]"
    caps = row_shape_sql.discs("arraySlice(s, 3)")
    discs = f"multiIf(length(s) = 5, {circle}, length(s) = 6, {_disc_of_range()}, {caps})"
    return row_shape_sql.cap(f"arrayFlatten(arrayMap(s -> {discs}, {whole}))", value, f"{terms[0]} = {terms[1]}")


def _disc_of_range() -> str:
    """Around the middle of range s, as far as its corners; all of the sky if it is more than half of the longitudes."""
    width = "if(s[4] - s[3] >= 360, 360., positiveModulo(s[4] - s[3], 360.))"
    middle = direction_sql("(s[3] + w / 2)", "(s[5] + s[6]) / 2")
    corners = [row_shape_sql.separation(middle, direction_sql("s[3]", lat)) for lat in ("s[5]", "s[6]")]
    reach = f"if(w <= 180, greatest({', '.join(corners)}), pi())"
    return row_shape_sql.let({"w": width}, f"[(({', '.join(middle)}), {reach})]")
