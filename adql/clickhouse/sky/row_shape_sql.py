"""Shapes whose numbers come from a row's columns: construction, relations, area and centroid as ClickHouse SQL.

A polygon is an array of edges, tuples (ax, ay, az, bx, by, bz, nx, ny, nz) of two unit vectors and a x b. The formulas
are those of ``polygon``: inside by the sum of signed triangles, so any simple polygon in either sense, concave or
around a pole, stands for its smaller side. Nothing here looks for NULL, NaN or less than three vertices: that is the
caller's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from adql.clickhouse.sky.membership_sql import number
from adql.regions.cone import Cone
from adql.regions.polygon import SMALL, Polygon
from adql.regions.unit_vectors import ROUNDING, direction, direction_sql

Vector = tuple[str, str, str]

#: Degrees (4 microarcsec) that a cap is wider than needed
_SPARE = 1e-9

#: Direction of vertex i of DALI's coordinates c
_VERTEX: Vector = direction_sql("c[2 * i - 1]", "c[2 * i]")


@dataclass(frozen=True, slots=True)
class Circle:
    """``radius`` is SQL of degrees; a point is a circle of radius '0.'."""

    centre: Vector
    radius: str = "0."


@dataclass(frozen=True, slots=True)
class Edges:
    """``array`` is SQL of Array(Tuple) of edges."""

    array: str


#: One that a row's numbers make
RowShape = Circle | Edges


# --- construction -----------------------------------------------------------------------------------------------------


def polygon(coordinates: str) -> Edges:
    """From SQL of Array(Float64): lon1, lat1, lon2, lat2 ... in degrees, DALI's polygon."""
    vertex = f"({', '.join(_VERTEX)})"
    vertices = f"arrayMap(i -> {vertex}, range(1, intDiv(length(c), 2) + 1))"
    return Edges(let({"c": coordinates}, let({"v": vertices}, _edges("v"))))


def box(lon: str, lat: str, width: str, height: str) -> str:
    """DALI coordinates, SQL of Array(Float64), of the corners of BOX; see ``polygon.box``."""
    corners = []
    for sx, sy in ("+-", "++", "-+", "--"):
        # centre + x east + y north, turned so that the centre is at longitude 0
        outward = f"(cos(dec) {'-' if sy == '+' else '+'} y * sin(dec))"
        upward = f"(sin(dec) {sy} y * cos(dec))"
        corners.append(
            f"positiveModulo(lon + degrees(atan2({sx}x, {outward})), 360.), "
            f"degrees(atan2({upward}, sqrt({outward} * {outward} + x * x)))"
        )
    x, y = (f"tan(radians(greatest(toFloat64({size}), 1e-11)) / 2)" for size in (width, height))
    values = {"x": x, "y": y, "lon": f"toFloat64({lon})", "dec": f"radians(toFloat64({lat}))"}
    return let(values, f"[{', '.join(corners)}]")


def let(values: dict[str, str], body: str) -> str:
    """``body`` with names for values, each written and computed once."""
    return f"arrayMap(({', '.join(values)}) -> {body}, {', '.join(f'[{v}]' for v in values.values())})[1]"


def _edges(vertices: str) -> str:
    """n by (a-b) x (a+b) / 2, which keeps its digits for short edges."""
    n = [
        f"((a.{j} - b.{j}) * (a.{k} + b.{k}) - (a.{k} - b.{k}) * (a.{j} + b.{j})) / 2"
        for j, k in ((2, 3), (3, 1), (1, 2))
    ]
    edge = f"(a.1, a.2, a.3, b.1, b.2, b.3, {', '.join(n)})"
    return f"arrayMap((a, b) -> {edge}, {vertices}, arrayRotateLeft({vertices}, 1))"


def _literal(region: Polygon) -> str:
    edges = region.edges
    scaled = (
        edges.normals
        * (((edges.a - edges.b) ** 2).sum(axis=1) * ((edges.a + edges.b) ** 2).sum(axis=1))[:, None] ** 0.5
    )
    rows = zip(edges.a, edges.b, scaled / 2, strict=True)
    return "[" + ", ".join(f"({', '.join(number(c) for v in row for c in v)})" for row in rows) + "]"


def of_constant(region: Cone | Polygon) -> RowShape:
    """A constant circle or polygon in the form of a row's."""
    if isinstance(region, Polygon):
        return Edges(_literal(region))
    x, y, z = direction(region.lon, region.lat)
    return Circle((number(x), number(y), number(z)), number(region.radius))


# --- relations --------------------------------------------------------------------------------------------------------


def contains(inner: RowShape, outer: RowShape) -> str:
    """SQL of whether all of ``inner`` is in ``outer``."""
    if isinstance(outer, Circle):
        if isinstance(inner, Circle):
            reach = f"({outer.radius} - {inner.radius})"
            return f"({outer.radius} >= 180 OR {_within(inner.centre, outer.centre, reach)})"
        opposite: Vector = tuple(f"(-{c})" for c in outer.centre)  # type: ignore[assignment]
        free = f"{_to_border(opposite, inner)} >= radians(180 - {outer.radius}) - {ROUNDING!r}"
        return f"({free} AND (NOT {inside(opposite, inner)} OR {outer.radius} >= 180))"
    if isinstance(inner, Circle):
        return (
            f"({inside(inner.centre, outer)} AND "
            f"({inner.radius} = 0 OR {_to_border(inner.centre, outer)} >= radians({inner.radius}) - {ROUNDING!r}))"
        )
    within = " AND ".join(f"arrayAll(d -> {inside(p, outer)}, {inner.array})" for p in (START, MIDDLE))
    return f"({within} AND NOT {_cross(inner, outer)})"


def intersects(first: RowShape, second: RowShape) -> str:
    """SQL of whether the shapes have a direction in common."""
    if isinstance(second, Circle):
        if isinstance(first, Circle):
            return _within(first.centre, second.centre, f"({first.radius} + {second.radius})")
        return _circle_meets(second, first)
    if isinstance(first, Circle):
        return _circle_meets(first, second)
    first_in = f"arrayExists(d -> {inside(START, second)}, {first.array})"
    second_in = f"arrayExists(d -> {inside(START, first)}, {second.array})"
    return f"({first_in} OR {second_in} OR {_cross(first, second)})"


def _circle_meets(circle: Circle, edges: Edges) -> str:
    near = f"({circle.radius} > 0 AND {_to_border(circle.centre, edges)} <= radians({circle.radius}) + {ROUNDING!r})"
    return f"({inside(circle.centre, edges)} OR {near})"


def _within(a: Vector, b: Vector, degrees: str) -> str:
    return f"({separation(a, b)} <= radians({degrees}) + {ROUNDING!r})"


#: start and middle of edge d
START: Vector = ("d.1", "d.2", "d.3")
_LENGTH = "sqrt(2 + 2 * (d.1 * d.4 + d.2 * d.5 + d.3 * d.6))"
MIDDLE: Vector = (f"((d.1 + d.4) / {_LENGTH})", f"((d.2 + d.5) / {_LENGTH})", f"((d.3 + d.6) / {_LENGTH})")

#: start, end and normal of edge e
_A: Vector = ("e.1", "e.2", "e.3")
_B: Vector = ("e.4", "e.5", "e.6")
_N: Vector = ("e.7", "e.8", "e.9")


def dot(a: Vector, b: Vector) -> str:
    return "(" + " + ".join(f"{p} * {q}" for p, q in zip(a, b, strict=True)) + ")"


def cross_product(a: Vector, b: Vector) -> Vector:
    x, y, z = ((1, 2), (2, 0), (0, 1))
    return tuple(f"({a[i]} * {b[j]} - {a[j]} * {b[i]})" for i, j in (x, y, z))  # type: ignore[return-value]


def separation(a: Vector, b: Vector) -> str:
    minus, plus = (
        " + ".join(f"({p} {sign} {q}) * ({p} {sign} {q})" for p, q in zip(a, b, strict=True)) for sign in "-+"
    )
    return f"(2 * atan2(sqrt({minus}), sqrt({plus})))"


def inside(p: Vector, edges: Edges, *, border: str = "1") -> str:
    """The sum of triangles of ``Polygon.contains``; of directions on an edge, ``border``.

    A repeated vertex makes no triangle.
    """
    below = " + ".join(f"({a} - {c}) * ({b} - {c})" for a, b, c in zip(_A, _B, p, strict=True))
    winds = f"abs(arraySum(e -> atan2(-{dot(p, _N)}, {below}), {edges.array})) > {math.pi!r}"
    after, before = dot(p, cross_product(_N, _A)), dot(p, cross_product(_B, _N))
    near = f"{ROUNDING!r} * sqrt({dot(_N, _N)})"
    on = f"{dot(_N, _N)} > 0 AND abs({dot(p, _N)}) <= {near} AND {after} >= -{near} AND {before} >= -{near}"
    on_border = f"arrayExists(e -> {on}, {edges.array})"
    return f"({winds} OR {on_border})" if border == "1" else f"if({on_border}, {border}, {winds})"


def has(shape: RowShape, place: Vector) -> str:
    """SQL of whether a direction is in the shape or on its border."""
    return _within(place, shape.centre, shape.radius) if isinstance(shape, Circle) else inside(place, shape)


def _to_border(p: Vector, edges: Edges) -> str:
    """Least distance in radians: to an edge's great circle where the perpendicular meets it, else to its vertices."""
    after, before = dot(p, cross_product(_N, _A)), dot(p, cross_product(_B, _N))
    along = f"sqrt({dot(_N, _N)} * {dot(p, _A)} * {dot(p, _A)} + {after} * {after})"
    foot = f"atan2(abs({dot(p, _N)}), {along})"
    ends = f"least({separation(p, _A)}, {separation(p, _B)})"
    return f"arrayMin(e -> if({after} > 0 AND {before} > 0, {foot}, {ends}), {edges.array})"


def _cross(first: Edges, second: Edges) -> str:
    """Whether some edges d of the first and e of the second cross, see ``polygon.crossings``; to touch is not to."""
    ab_c, ab_d = f"({dot(_N, ('d.1', 'd.2', 'd.3'))})", f"({dot(_N, ('d.4', 'd.5', 'd.6'))})"
    n: Vector = ("d.7", "d.8", "d.9")
    cd_a, cd_b = dot(n, _A), dot(n, _B)
    small_e, small_d = f"{ROUNDING!r} * sqrt({dot(_N, _N)})", f"{ROUNDING!r} * sqrt({dot(n, n)})"
    left = f"{ab_c} < -{small_e} AND {ab_d} > {small_e} AND {cd_a} > {small_d} AND {cd_b} < -{small_d}"
    right = f"{ab_c} > {small_e} AND {ab_d} < -{small_e} AND {cd_a} < -{small_d} AND {cd_b} > {small_d}"
    return f"arrayExists(d -> arrayExists(e -> ({left}) OR ({right}), {second.array}), {first.array})"


# --- measures ---------------------------------------------------------------------------------------------------------


def area(shape: RowShape) -> str:
    """SQL of square degrees; see ``Cone.area`` and ``polygon.signed_area``."""
    if isinstance(shape, Circle):
        radius = f"least(greatest({shape.radius}, 0), 180)"
        return f"({4 * math.pi * math.degrees(1) ** 2!r} * pow(sin(radians({radius}) / 2), 2))"
    return let({"edges1": shape.array}, f"abs({_signed_area('edges1')}) * {math.degrees(1) ** 2!r}")


def _signed_area(edges: str) -> str:
    below = f"1 + {dot(_A, _B)} + {dot(_A, _O)} + {dot(_B, _O)}"
    terms = f"arraySum((e, o) -> 2 * atan2({_TRIPLE}, {below}), {edges}, {_first(edges)})"
    return let({"s": terms}, f"s - {4 * math.pi!r} * round(s / {4 * math.pi!r})")


def centroid(shape: RowShape) -> str:
    """SQL of Array(Float64), longitude and latitude in degrees; see ``Polygon.centroid``."""
    if isinstance(shape, Circle):
        return _position(*shape.centre)
    arc = f"{separation(_A, _B)} / greatest(sqrt({dot(_N, _N)}), 1e-300)"
    whole = [f"arraySum(e -> {n} * {arc}, edges1) * sign(area1)" for n in _N]
    flat = [
        f"edges1[1].{i} + arraySum((e, o) -> ({a} + {b} - 2 * o.{i}) * {_TRIPLE}, edges1, {_first('edges1')}) / weight1"
        for i, a, b in zip((1, 2, 3), _A, _B, strict=True)
    ]
    weight = f"3 * arraySum((e, o) -> {_TRIPLE}, edges1, {_first('edges1')})"
    reach = f"arrayMax((e, o) -> {separation(_A, _O)}, edges1, {_first('edges1')})"
    vector = [f"if(reach1 < {SMALL!r}, {f}, {w})" for f, w in zip(flat, whole, strict=True)]
    names = {"weight1": weight, "reach1": reach, "area1": _signed_area("edges1")}
    inner = let(names, let(dict(zip("xyz", vector, strict=True)), _position("x", "y", "z")))
    return let({"edges1": shape.array}, inner)


#: The first vertex o, in step with the edges, and o.((a-o) x (b-o))
_O: Vector = ("o.1", "o.2", "o.3")
_TRIPLE = dot(
    _O,
    cross_product(
        tuple(f"({p} - {q})" for p, q in zip(_A, _O, strict=True)),  # type: ignore[arg-type]
        tuple(f"({p} - {q})" for p, q in zip(_B, _O, strict=True)),  # type: ignore[arg-type]
    ),
)


def _first(edges: str) -> str:
    return f"arrayMap(d -> {edges}[1], {edges})"


def _position(x: str, y: str, z: str) -> str:
    return f"[{longitude(x, y)}, {latitude(x, y, z)}]"


# --- caps -------------------------------------------------------------------------------------------------------------


def discs(coordinates: str) -> str:
    """SQL of Array(Tuple(vector, radius)) that a polygon of DALI coordinates lies in if its cap is no hemisphere."""
    vertex = f"(({', '.join(_VERTEX)}), 0.)"
    return let({"c": coordinates}, f"arrayMap(i -> {vertex}, range(1, intDiv(length(c), 2) + 1))")


def cap(around: str, value: str, bounded: str = "1") -> str:
    """SQL of 'LON', 'LAT' or 'RADIUS', in degrees, of a circle that holds ``discs``; all of the sky unless ``bounded``.

    The radius is a little longer than needed.
    """
    sums = {axis: f"arraySum(d -> d.1.{i}, around)" for i, axis in enumerate("xyz", 1)}
    if value == "RADIUS":
        centre: Vector = ("(x / n)", "(y / n)", "(z / n)")
        reach = f"arrayMax(d -> d.2 + {separation(('d.1.1', 'd.1.2', 'd.1.3'), centre)}, around)"
        width = let({"w": f"degrees({reach}) + {_SPARE!r}"}, "if(w < 90, w, 180.)")
        found = let({"n": "sqrt(x * x + y * y + z * z)"}, f"if(n > 1e-3 AND {bounded}, {width}, 180.)")
    else:
        found = longitude("x", "y") if value == "LON" else latitude("x", "y", "z")
    return let({"around": around}, let(sums, found))


# --- frames -----------------------------------------------------------------------------------------------------------


def longitude(x: str, y: str) -> str:
    """Degrees in [0, 360) of a direction; twice modulo, for a rounded -1e-17 would be 360."""
    return f"positiveModulo(positiveModulo(degrees(atan2({y}, {x})), 360.), 360.)"


def latitude(x: str, y: str, z: str) -> str:
    return f"degrees(atan2({z}, sqrt({x} * {x} + {y} * {y})))"


def transformed(coordinates: str, count: int | None, turn: Callable[[Vector], Vector]) -> str:
    """DALI numbers, SQL of Array(Float64), with the first ``count`` positions (None: all) turned, the rest kept."""
    x, y, z = turn(_VERTEX)
    count_sql = "intDiv(length(c), 2)" if count is None else f"least({count}, length(c))"
    vectors = f"arrayMap(i -> ({x}, {y}, {z}), range(1, n + 1))"
    positions = f"arrayFlatten(arrayMap(v -> {_position('v.1', 'v.2', 'v.3')}, {vectors}))"
    inner = f"arrayConcat({positions}, arraySlice(c, 2 * n + 1))"
    return let({"c": coordinates}, let({"n": count_sql}, inner))
