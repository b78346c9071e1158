"""Shapes whose numbers come from a row's columns: construction, relations, area and centroid as ClickHouse SQL.

A polygon is an array of edges: tuples (ax, ay, az, bx, by, bz, nx, ny, nz) of two unit vectors and a x b. The formulas
are the same as in ``adql.regions.polygon``. The sum of signed triangles decides what is inside, so any simple polygon
of either orientation, concave or around a pole, stands for its smaller side. The caller excludes NULL, NaN and polygons
of fewer than three vertices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from adql.clickhouse.sky.unit_vector_sql import (
    Vector,
    cross_sql,
    difference_sql,
    direction_sql,
    dot_sql,
    latitude_sql,
    longitude_sql,
    separation_sql,
)
from adql.regions.borders import MIN_SIDE_STEP, SIDE_STEP
from adql.regions.cone import MAX_POINT_RADIUS, Cone
from adql.regions.polygon import MAX_FLAT_SIZE, Polygon
from adql.regions.unit_vectors import ROUNDING, SKY_AREA, position_to_vector
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.let_sql import let_sql
from clickhouse_schema.quoting import float_literal

#: Degrees (4 microarcsec) by which a cap is wider than necessary
_CAP_SLACK = 1e-9

#: Unit vector of vertex i of DALI's coordinates c
_VERTEX: Vector = direction_sql("c[2 * i - 1]", "c[2 * i]")


@dataclass(frozen=True, slots=True)
class Circle:
    """SQL of a unit vector, and of the radius in degrees; a point has the radius '0.'."""

    centre: Vector
    radius: str = "0."


@dataclass(frozen=True, slots=True)
class Edges:
    """SQL of a polygon as Array(Tuple) of edges."""

    array: str


RowShape = Circle | Edges


# --- construction -----------------------------------------------------------------------------------------------------


def polygon_edges(coordinates: str) -> Edges:
    """Make a polygon from SQL of DALI's coordinates, Array(Float64): lon1, lat1, lon2, lat2 ... in degrees."""
    vertices = f"arrayMap(i -> ({', '.join(_VERTEX)}), range(1, intDiv(length(c), 2) + 1))"
    return Edges(let_sql({"c": coordinates}, let_sql({"v": vertices}, _edges_sql("v"))))


def box_sql(lon: str, lat: str, width: str, height: str) -> str:
    """Return DALI's coordinates, Array(Float64), of the corners of BOX; see ``adql.regions.make_box``."""
    corners = []
    for sx, sy in ("+-", "++", "-+", "--"):
        # centre + x east + y north, rotated so that the centre is at longitude 0
        outward = f"(cos(dec) {'-' if sy == '+' else '+'} y * sin(dec))"
        upward = f"(sin(dec) {sy} y * cos(dec))"
        corners.append(
            f"positiveModulo(lon + degrees(atan2({sx}x, {outward})), 360.), "
            f"degrees(atan2({upward}, sqrt({outward} * {outward} + x * x)))"
        )
    x, y = (f"tan(radians(greatest(toFloat64({size}), 1e-11)) / 2)" for size in (width, height))
    values = {"x": x, "y": y, "lon": f"toFloat64({lon})", "dec": f"radians(toFloat64({lat}))"}
    return let_sql(values, f"[{', '.join(corners)}]")


def _edges_sql(vertices: str) -> str:
    """Return edges with n computed as (a-b) x (a+b) / 2, which keeps its digits for short edges."""
    normal = [
        f"((a.{j} - b.{j}) * (a.{k} + b.{k}) - (a.{k} - b.{k}) * (a.{j} + b.{j})) / 2"
        for j, k in ((2, 3), (3, 1), (1, 2))
    ]
    edge = f"(a.1, a.2, a.3, b.1, b.2, b.3, {', '.join(normal)})"
    return f"arrayMap((a, b) -> {edge}, {vertices}, arrayRotateLeft({vertices}, 1))"


def constant_shape(region: Cone | Polygon) -> RowShape:
    """Write a constant circle or polygon in the form of a row's shape."""
    if isinstance(region, Polygon):
        return Edges(_edges_literal(region))
    x, y, z = position_to_vector(region.lon, region.lat)
    return Circle((float_literal(x), float_literal(y), float_literal(z)), float_literal(region.radius))


def _edges_literal(region: Polygon) -> str:
    edges = region.edges
    squared_minus = ((edges.a - edges.b) ** 2).sum(axis=1)
    squared_plus = ((edges.a + edges.b) ** 2).sum(axis=1)
    scaled = edges.normals * (squared_minus * squared_plus)[:, None] ** 0.5
    rows = zip(edges.a, edges.b, scaled / 2, strict=True)
    return "[" + ", ".join(f"({', '.join(float_literal(c) for v in row for c in v)})" for row in rows) + "]"


# --- relations --------------------------------------------------------------------------------------------------------


def contains_sql(inner: RowShape, outer: RowShape) -> str:
    """Return the test whether ``outer`` contains ``inner``."""
    if isinstance(outer, Circle):
        if isinstance(inner, Circle):
            reach = f"({outer.radius} - {inner.radius})"
            return f"({outer.radius} >= 180 OR {_is_near_sql(inner.centre, outer.centre, reach)})"
        x, y, z = outer.centre
        opposite = (f"(-{x})", f"(-{y})", f"(-{z})")
        radius = f"greatest({outer.radius}, {MAX_POINT_RADIUS!r})"  # a point may be a polygon
        free = f"{_border_distance_sql(opposite, inner)} >= radians(180 - {radius}) - {ROUNDING!r}"
        return all_sql(free, f"NOT {is_inside_sql(opposite, inner)} OR {outer.radius} >= 180")
    if isinstance(inner, Circle):
        free = f"{_border_distance_sql(inner.centre, outer)} >= radians({inner.radius}) - {ROUNDING!r}"
        return all_sql(is_inside_sql(inner.centre, outer), f"{inner.radius} = 0 OR {free}")
    within = (f"arrayAll(d -> {is_inside_sql(p, outer)}, {inner.array})" for p in (START, _MIDDLE))
    return all_sql(*within, f"NOT {_edges_cross_sql(inner, outer)}")


def intersects_sql(first: RowShape, second: RowShape) -> str:
    """Return the test whether two shapes have a direction in common."""
    if isinstance(second, Circle):
        if isinstance(first, Circle):
            return _is_near_sql(first.centre, second.centre, f"({first.radius} + {second.radius})")
        return _circle_meets_sql(second, first)
    if isinstance(first, Circle):
        return _circle_meets_sql(first, second)
    first_in = f"arrayExists(d -> {is_inside_sql(START, second)}, {first.array})"
    second_in = f"arrayExists(d -> {is_inside_sql(START, first)}, {second.array})"
    return f"({first_in} OR {second_in} OR {_edges_cross_sql(first, second)})"


def _circle_meets_sql(circle: Circle, edges: Edges) -> str:
    near = f"{_border_distance_sql(circle.centre, edges)} <= radians({circle.radius}) + {ROUNDING!r}"
    return f"({is_inside_sql(circle.centre, edges)} OR {all_sql(f'{circle.radius} > 0', near)})"


def _is_near_sql(a: Vector, b: Vector, degrees: str) -> str:
    return f"({separation_sql(a, b)} <= radians({degrees}) + {ROUNDING!r})"


#: Start and middle of edge d
START: Vector = ("d.1", "d.2", "d.3")
_LENGTH = "sqrt(2 + 2 * (d.1 * d.4 + d.2 * d.5 + d.3 * d.6))"
_MIDDLE: Vector = (f"((d.1 + d.4) / {_LENGTH})", f"((d.2 + d.5) / {_LENGTH})", f"((d.3 + d.6) / {_LENGTH})")

#: Components of p
DIRECTION: Vector = ("p.1", "p.2", "p.3")


def edge_samples_sql(edges: Edges) -> str:
    """Return the starts and the middles of edges, as tuples."""
    starts, middles = (f"arrayMap(d -> ({', '.join(vector)}), {edges.array})" for vector in (START, _MIDDLE))
    return f"arrayConcat({starts}, {middles})"


def edge_sides_sql(edges: Edges) -> str:
    """Return a direction on each side of the middle of each edge, as tuples; none for edges without length."""
    normal: Vector = ("d.7", "d.8", "d.9")
    squared = dot_sql(normal, normal)
    step = f"greatest({SIDE_STEP!r}, {MIN_SIDE_STEP!r} / sqrt({squared}))"
    sides = (", ".join(f"{m} {sign} h * {n}" for m, n in zip(_MIDDLE, normal, strict=True)) for sign in "+-")
    directions = let_sql({"h": step}, f"[{', '.join(f'({side})' for side in sides)}]")
    return (
        f"arrayFlatten(arrayMap(d -> {directions}, arrayFilter(d -> {squared} > {4 * ROUNDING**2!r}, {edges.array})))"
    )


#: Start, end and normal of edge e
_A: Vector = ("e.1", "e.2", "e.3")
_B: Vector = ("e.4", "e.5", "e.6")
_N: Vector = ("e.7", "e.8", "e.9")
_N_SQUARED = dot_sql(_N, _N)
_N_LENGTH = f"sqrt({_N_SQUARED})"


def is_inside_sql(p: Vector, edges: Edges, *, border: str = "1", slack: float = ROUNDING) -> str:
    """Return the test of ``Polygon.contains``; its value is ``border`` for directions within ``slack`` of an edge.

    A repeated vertex, such as a pole at two longitudes, makes no triangle and no edge, which would reach its antipode.
    """
    below = " + ".join(f"({a} - {c}) * ({b} - {c})" for a, b, c in zip(_A, _B, p, strict=True))
    winds = f"abs(arraySum(e -> atan2(-{dot_sql(p, _N)}, {below}), {edges.array})) > {math.pi!r}"
    after, before = _along_edge_sql(p)
    near = f"{slack!r} * {_N_LENGTH}"
    on_circle = (f"{_N_SQUARED} > {4 * ROUNDING**2!r}", f"abs({dot_sql(p, _N)}) <= {near}")
    on = all_sql(*on_circle, f"{after} >= -{near}", f"{before} >= -{near}")
    on_border = f"arrayExists(e -> {on}, {edges.array})"
    return f"({winds} OR {on_border})" if border == "1" else f"if({on_border}, {border}, {winds})"


def _along_edge_sql(p: Vector) -> tuple[str, str]:
    """Return two products that are both positive if the foot of p on the great circle of edge e is on the edge."""
    return dot_sql(p, cross_sql(_N, _A)), dot_sql(p, cross_sql(_B, _N))


def contains_vector_sql(shape: RowShape, direction: Vector) -> str:
    """Return the test whether a direction is in the shape or on its border."""
    return (
        _is_near_sql(direction, shape.centre, shape.radius)
        if isinstance(shape, Circle)
        else is_inside_sql(direction, shape)
    )


def _border_distance_sql(p: Vector, edges: Edges) -> str:
    """Return the distance of p to the border in radians.

    The distance to an edge is to its great circle if the foot of p is on the edge, else to its nearer end.
    """
    after, before = _along_edge_sql(p)
    along = f"sqrt({_N_SQUARED} * {dot_sql(p, _A)} * {dot_sql(p, _A)} + {after} * {after})"
    foot = f"atan2(abs({dot_sql(p, _N)}), {along})"
    ends = f"least({separation_sql(p, _A)}, {separation_sql(p, _B)})"
    return f"arrayMin(e -> if({all_sql(f'{after} > 0', f'{before} > 0')}, {foot}, {ends}), {edges.array})"


def _edges_cross_sql(first: Edges, second: Edges) -> str:
    """Return the test whether an edge d of the first and an edge e of the second cross; touching does not count.

    See ``polygon.find_crossings``.
    """
    end: Vector = ("d.4", "d.5", "d.6")
    normal: Vector = ("d.7", "d.8", "d.9")
    ab_c, ab_d = f"({dot_sql(_N, START)})", f"({dot_sql(_N, end)})"
    cd_a, cd_b = dot_sql(normal, _A), dot_sql(normal, _B)
    small_e, small_d = f"{ROUNDING!r} * {_N_LENGTH}", f"{ROUNDING!r} * sqrt({dot_sql(normal, normal)})"
    left = all_sql(f"{ab_c} < -{small_e}", f"{ab_d} > {small_e}", f"{cd_a} > {small_d}", f"{cd_b} < -{small_d}")
    right = all_sql(f"{ab_c} > {small_e}", f"{ab_d} < -{small_e}", f"{cd_a} < -{small_d}", f"{cd_b} > {small_d}")
    return f"arrayExists(d -> arrayExists(e -> {left} OR {right}, {second.array}), {first.array})"


# --- measures ---------------------------------------------------------------------------------------------------------


def area_sql(shape: RowShape) -> str:
    """Return square degrees; see ``Cone.area`` and ``polygon.signed_area``."""
    if isinstance(shape, Circle):
        radius = f"least(greatest({shape.radius}, 0), 180)"
        return f"({SKY_AREA!r} * pow(sin(radians({radius}) / 2), 2))"
    return let_sql({"edges1": shape.array}, f"abs({_signed_area_sql('edges1')}) * {math.degrees(1) ** 2!r}")


def _signed_area_sql(edges: str) -> str:
    below = f"1 + {dot_sql(_A, _B)} + {dot_sql(_A, _O)} + {dot_sql(_B, _O)}"
    terms = f"arraySum((e, o) -> 2 * atan2({_TRIPLE}, {below}), {edges}, {_first_vertices_sql(edges)})"
    return let_sql({"s": terms}, f"s - {4 * math.pi!r} * round(s / {4 * math.pi!r})")


def centroid_sql(shape: RowShape) -> str:
    """Return Array(Float64), longitude and latitude in degrees; see ``Polygon.centroid``."""
    if isinstance(shape, Circle):
        return _position_sql(*shape.centre)
    arc = f"{separation_sql(_A, _B)} / greatest({_N_LENGTH}, 1e-300)"
    first = _first_vertices_sql("edges1")
    components = []
    for i, (a, b, n) in enumerate(zip(_A, _B, _N, strict=True), 1):
        in_space = f"arraySum(e -> {n} * {arc}, edges1) * sign(area1)"
        weighted = f"arraySum((e, o) -> ({a} + {b} - 2 * o.{i}) * {_TRIPLE}, edges1, {first})"
        in_plane = f"edges1[1].{i} + {weighted} / weight1"
        components.append(f"if(reach1 < {MAX_FLAT_SIZE!r}, {in_plane}, {in_space})")
    names = {
        "weight1": f"3 * arraySum((e, o) -> {_TRIPLE}, edges1, {first})",
        "reach1": f"arrayMax((e, o) -> {separation_sql(_A, _O)}, edges1, {first})",
        "area1": _signed_area_sql("edges1"),
    }
    vector = dict(zip("xyz", components, strict=True))
    inner = let_sql(names, let_sql(vector, _position_sql("x", "y", "z")))
    return let_sql({"edges1": shape.array}, inner)


#: The first vertex o, in step with the edges, and o.((a-o) x (b-o))
_O: Vector = ("o.1", "o.2", "o.3")
_TRIPLE = dot_sql(_O, cross_sql(difference_sql(_A, _O), difference_sql(_B, _O)))


def _first_vertices_sql(edges: str) -> str:
    """Return the first vertex, repeated for each edge."""
    return f"arrayMap(d -> {edges}[1], {edges})"


def _position_sql(x: str, y: str, z: str) -> str:
    return f"[{longitude_sql(x, y)}, {latitude_sql(x, y, z)}]"


# --- caps -------------------------------------------------------------------------------------------------------------


def vertex_discs_sql(coordinates: str) -> str:
    """Return the vertices of DALI's coordinates as discs of radius 0, Array(Tuple(vector, radius)).

    A cap of these discs that is smaller than a hemisphere contains the polygon.
    """
    vertex = f"(({', '.join(_VERTEX)}), 0.)"
    return let_sql({"c": coordinates}, f"arrayMap(i -> {vertex}, range(1, intDiv(length(c), 2) + 1))")


def cap_sql(around: str, value: str, bounded: str = "1") -> str:
    """Return a number in degrees of a circle that contains discs, or the whole sky unless ``bounded``.

    ``value``: 'LON', 'LAT' or 'RADIUS'. The radius is slightly longer than necessary.
    """
    sums = {axis: f"arraySum(d -> d.1.{i}, around)" for i, axis in enumerate("xyz", 1)}
    if value == "RADIUS":
        centre: Vector = ("(x / n)", "(y / n)", "(z / n)")
        reach = f"arrayMax(d -> d.2 + {separation_sql(('d.1.1', 'd.1.2', 'd.1.3'), centre)}, around)"
        width = let_sql({"w": f"degrees({reach}) + {_CAP_SLACK!r}"}, "if(w < 90, w, 180.)")
        found = let_sql({"n": "sqrt(x * x + y * y + z * z)"}, f"if({all_sql('n > 1e-3', bounded)}, {width}, 180.)")
    else:
        found = longitude_sql("x", "y") if value == "LON" else latitude_sql("x", "y", "z")
    return let_sql({"around": around}, let_sql(sums, found))


# --- frames -----------------------------------------------------------------------------------------------------------


def transform_coordinates_sql(coordinates: str, count: int | None, turn: Callable[[Vector], Vector]) -> str:
    """Return DALI's numbers, Array(Float64), with the first ``count`` positions (None: all) rotated by ``turn``."""
    x, y, z = turn(_VERTEX)
    count_sql = "intDiv(length(c), 2)" if count is None else f"least({count}, length(c))"
    vectors = f"arrayMap(i -> ({x}, {y}, {z}), range(1, n + 1))"
    positions = f"arrayFlatten(arrayMap(v -> {_position_sql('v.1', 'v.2', 'v.3')}, {vectors}))"
    inner = f"arrayConcat({positions}, arraySlice(c, 2 * n + 1))"
    return let_sql({"c": coordinates}, let_sql({"n": count_sql}, inner))
