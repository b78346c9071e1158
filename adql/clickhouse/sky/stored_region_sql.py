"""Regions of several shapes that a table stores together with their texts, as ClickHouse SQL.

A row's region is an array of shapes, followed by the border arcs of the region if there are several
(``clickhouse_schema.shape_cover.shape_column``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adql.clickhouse.sky import border_arc_sql, row_shape_sql
from adql.clickhouse.sky.row_shape_sql import DIRECTION, Circle, Edges, RowShape
from adql.clickhouse.sky.unit_vector_sql import Vector, direction_sql, separation_sql
from adql.regions.region import SLACK, Region
from adql.regions.region_relations import ANYWHERE
from adql.regions.region_rows import normal_form, shape_rows
from adql.regions.unit_vectors import ROUNDING
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.let_sql import let_sql
from clickhouse_schema.quoting import float_literal

#: A sample for regions without a border
_ANYWHERE: Vector = (repr(ANYWHERE[0]), repr(ANYWHERE[1]), repr(ANYWHERE[2]))


@dataclass(frozen=True, slots=True)
class Stored:
    """SQL of shapes, Array(Array(Float64)). ``is_several``: whether they are certainly not one circle or polygon."""

    array: str
    is_several: bool = False


def region_literal(region: Region) -> Stored:
    """Write a constant region in the form of a stored region.

    Raises
    ------
    ShapeError
        If the region has a MOC, or is a combination of too many shapes.
    """
    rows = shape_rows(region, normal_form(region))
    numbers = ", ".join(f"[{', '.join(map(float_literal, row))}]" for row in rows)
    return Stored(f"CAST([{numbers}], 'Array(Array(Float64))')", is_several=True)


def choose_by_count_sql(stored: Stored, single: Callable[[RowShape], str], several: str) -> str:
    """Return ``single`` for rows of one circle or polygon, ``several`` for other rows.

    ``single`` repeats the centre or the edges, and the engine plans each repetition, so they get names. The names begin
    with ``stored.array``, which is a name, too.
    """
    if stored.is_several:
        return several
    first = f"{stored.array}[1]"
    x, y, z = centre = tuple(f"{stored.array}_{axis}" for axis in "xyz")
    circle = let_sql(dict(zip(centre, _centre_sql(first), strict=True)), single(Circle((x, y, z), f"{first}[5]")))
    edges = f"{stored.array}_edges"
    polygon = let_sql({edges: row_shape_sql.polygon_edges(f"arraySlice({first}, 3)").array}, single(Edges(edges)))
    alone = all_sql(f"length({stored.array}) = 1", f"length({first}) != 6", f"{first}[2] > 0")
    return f"if({alone}, if(length({first}) = 5, {circle}, {polygon}), {several})"


def _centre_sql(shape: str) -> Vector:
    return direction_sql(f"{shape}[3]", f"{shape}[4]")


def contains_vector_sql(stored: Stored, direction: Vector, *, slack: float = ROUNDING) -> str:
    """Return the test whether a direction is in all shapes of a term.

    More than the usual ``slack``, in radians, enlarges shapes and complements.
    """
    x, y, z = direction
    if slack == ROUNDING:
        near, degrees, twice, border = repr(slack), "1e-13", "2e-13", "1"
    else:
        near, border = f"if(s[2] > 0, {slack!r}, -{slack!r})", "s[2] > 0"
        degrees, twice = f"degrees({near})", f"2 * degrees({near})"
    in_circle = f"{separation_sql(direction, _centre_sql('s'))} <= radians(s[5]) + {near}"
    latitude, longitude = f"atan2({z}, sqrt({x} * {x} + {y} * {y}))", f"degrees(atan2({y}, {x}))"
    # borders belong to the range; a pole has all longitudes
    width = f"positiveModulo(s[4] - s[3], 360.) + {twice}"
    east = f"positiveModulo({longitude} - s[3] + {degrees}, 360.) <= {width}"
    in_longitudes = f"({east} OR s[4] - s[3] >= 360 OR {x} * {x} + {y} * {y} < 1e-31)"
    in_range = all_sql(f"{latitude} >= radians(s[5]) - {near}", f"{latitude} <= radians(s[6]) + {near}", in_longitudes)
    polygon = {"edges8": row_shape_sql.polygon_edges("arraySlice(s, 3)").array}
    edges = Edges("edges8")
    in_polygon = let_sql(polygon, row_shape_sql.is_inside_sql(direction, edges, border=border, slack=slack))
    inside = f"multiIf(length(s) = 5, {in_circle}, length(s) = 6, {in_range}, {in_polygon})"
    shapes = f"arrayFilter(s -> s[1] >= 0, {stored.array})"
    out = f"arrayMap(s -> s[1], arrayFilter(s -> ({inside}) != (s[2] > 0), {shapes}))"
    return f"notEmpty(arrayFilter(i -> NOT has({out}, i), arrayMap(s -> s[1], {shapes})))"


def _arcs_sql(stored: Stored, word: str, test: str) -> str:
    """Apply ``word``, arrayExists or arrayAll, to the border arcs s."""
    return f"{word}(s -> {test}, arrayFilter(s -> s[1] < 0, {stored.array}))"


def _points_sql(stored: Stored, word: str, shape: RowShape | Stored) -> str:
    """Apply ``word`` to those shapes of the row that are points, which have no border."""
    points = f"arrayFilter(s -> {all_sql('length(s) = 5', 's[1] >= 0', 's[2] > 0', 's[5] <= 1e-11')}, {stored.array})"
    if not isinstance(shape, Stored):
        return f"{word}(s -> {row_shape_sql.contains_vector_sql(shape, _centre_sql('s'))}, {points})"
    vectors = f"arrayMap(s -> ({', '.join(_centre_sql('s'))}), {points})"
    return f"{word}(p -> {contains_vector_sql(shape, DIRECTION)}, {vectors})"


def has_point_in_sql(stored: Stored, shape: RowShape) -> str:
    """Return the test whether a point of a row's region is in a circle or polygon."""
    return _points_sql(stored, "arrayExists", shape)


def meets_shape_sql(stored: Stored, shape: RowShape) -> str:
    """Return the test whether a row's region and a circle or polygon have a direction in common."""
    if isinstance(shape, Circle):
        reaches = contains_vector_sql(stored, shape.centre)
    else:
        reaches = f"arrayExists(d -> {contains_vector_sql(stored, row_shape_sql.START)}, {shape.array})"
    touches = _arcs_sql(stored, "arrayExists", border_arc_sql.touches_sql(shape))
    if isinstance(shape, Circle):
        touches = all_sql(f"{shape.radius} > 0", touches)
    return f"({reaches} OR {touches} OR {_points_sql(stored, 'arrayExists', shape)})"


def contains_shape_sql(stored: Stored, shape: RowShape) -> str:
    """Return the test whether a row's region contains a circle or polygon.

    The region contains the border of the shape, and no border arc of the region enters the shape.
    """
    if isinstance(shape, Circle):
        borders = [contains_vector_sql(stored, shape.centre)]
    else:
        # the border of an excluded shape is not in the region, but may be touched, so the sides of edges decide
        near, inside = (
            contains_vector_sql(stored, DIRECTION, slack=SLACK),
            row_shape_sql.is_inside_sql(DIRECTION, shape),
        )
        beyond = all_sql(inside, f"NOT {contains_vector_sql(stored, DIRECTION)}")
        borders = [
            f"arrayAll(p -> {near}, {row_shape_sql.edge_samples_sql(shape)})",
            f"NOT arrayExists(p -> {beyond}, {row_shape_sql.edge_sides_sql(shape)})",
        ]
    return all_sql(*borders, f"NOT {_arcs_sql(stored, 'arrayExists', border_arc_sql.enters_sql(shape))}")


def is_in_shape_sql(stored: Stored, shape: RowShape) -> str:
    """Return the test whether a row's region is in a circle or polygon.

    The border of the region is in the shape, and a direction outside the shape is not in the region.
    """
    border = _arcs_sql(stored, "arrayAll", border_arc_sql.stays_in_sql(shape))
    points = _points_sql(stored, "arrayAll", shape)
    if isinstance(shape, Circle):
        x, y, z = (f"(-{c})" for c in shape.centre)
        enclosed = f"{shape.radius} >= 180 OR NOT {contains_vector_sql(stored, (x, y, z))}"
        return all_sql(border, points, enclosed)
    antipode: Vector = ("(-d.1)", "(-d.2)", "(-d.3)")
    beyond = all_sql(f"NOT {row_shape_sql.is_inside_sql(antipode, shape)}", contains_vector_sql(stored, antipode))
    return all_sql(border, points, f"NOT arrayExists(d -> {beyond}, {shape.array})")


def meets_region_sql(first: Stored, second: Stored) -> str:
    """Return the test whether two regions have a direction in common; see ``adql.regions.region_relations``."""

    def common_sql(direction: Vector) -> str:
        return all_sql(contains_vector_sql(first, direction), contains_vector_sql(second, direction))

    points = f"{_points_sql(first, 'arrayExists', second)} OR {_points_sql(second, 'arrayExists', first)}"
    return f"({_some_spot_sql(first, second, common_sql)} OR {points} OR {common_sql(_ANYWHERE)})"


def is_in_region_sql(inner: Stored, outer: Stored) -> str:
    """Return the test whether a region is in another one.

    No direction next to a border is in the first but not in the second, and no part of a line is far from the second.
    """

    def beyond_sql(direction: Vector) -> str:
        return all_sql(contains_vector_sql(inner, direction), f"NOT {contains_vector_sql(outer, direction)}")

    spots = _some_spot_sql(inner, outer, beyond_sql, on_border=False)
    middles = border_arc_sql.middles_sql(f"arrayFilter(s -> s[1] < 0, {outer.array})")
    leaves = f"arrayExists(p -> NOT {contains_vector_sql(outer, DIRECTION, slack=SLACK)}, {middles})"
    lines = _arcs_sql(inner, "arrayExists", all_sql("s[2] = 2", leaves))
    points = _points_sql(inner, "arrayAll", outer)
    return all_sql(f"NOT {spots}", f"NOT {lines}", f"NOT {beyond_sql(_ANYWHERE)}", points)


def _some_spot_sql(first: Stored, second: Stored, test: Callable[[Vector], str], *, on_border: bool = True) -> str:
    """Return whether the test is true next to an arc of either border, cut where it meets the other border."""
    found = []
    for one, other in ((first, second), (second, first)):
        spots = border_arc_sql.spots_sql(f"arrayFilter(s -> s[1] < 0, {other.array})", on_border=on_border)
        found.append(_arcs_sql(one, "arrayExists", f"arrayExists(p -> {test(DIRECTION)}, {spots})"))
    return f"({' OR '.join(found)})"


# --- caps -------------------------------------------------------------------------------------------------------------


def cap_sql(stored: Stored, value: str) -> str:
    """Return ``row_shape_sql.cap_sql`` for a region; a region with a term of only complements may be anywhere."""
    shapes = f"arrayFilter(s -> s[1] >= 0, {stored.array})"
    whole = f"arrayFilter(s -> s[2] > 0, {shapes})"
    counts = (f"length(arrayDistinct(arrayMap(s -> s[1], {some})))" for some in (shapes, whole))
    all_terms, bounded_terms = counts
    circle = f"[(({', '.join(_centre_sql('s'))}), radians(s[5]))]"
    vertices = row_shape_sql.vertex_discs_sql("arraySlice(s, 3)")
    of_shape = f"multiIf(length(s) = 5, {circle}, length(s) = 6, {_range_disc_sql()}, {vertices})"
    discs = f"arrayFlatten(arrayMap(s -> {of_shape}, {whole}))"
    return row_shape_sql.cap_sql(discs, value, f"{all_terms} = {bounded_terms}")


def _range_disc_sql() -> str:
    """Return a disc around the middle of range s that reaches its corners; the whole sky above 180 degrees of width."""
    width = "if(s[4] - s[3] >= 360, 360., positiveModulo(s[4] - s[3], 360.))"
    middle = direction_sql("(s[3] + w / 2)", "(s[5] + s[6]) / 2")
    corners = [separation_sql(middle, direction_sql("s[3]", lat)) for lat in ("s[5]", "s[6]")]
    reach = f"if(w <= 180, greatest({', '.join(corners)}), pi())"
    return let_sql({"w": width}, f"[(({', '.join(middle)}), {reach})]")
