"""Whether a row's position lies in a constant region, as ClickHouse SQL.

The same tests as ``Region.contains``, from the components of the row's unit vector: signs of products with constant
vectors, no angle but for ranges of latitude. ClickHouse's own pointInPolygon is planar and is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adql.clickhouse.sky.chord_sql import near_chord
from adql.clickhouse.sky.circle_grid_sql import in_some
from adql.clickhouse.sky.polygon_sector_sql import sectors
from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ROUNDING, Reals, Vectors, direction, directions, dots
from clickhouse_schema.healpix import ORDER

#: Edges of a polygon from which they are divided into sectors, circles of a union from which they are into cubes
_MANY = 12


@dataclass(frozen=True, slots=True)
class Row:
    """SQL of a row's position: components of its unit vector, and its HEALPix index of order 29 (for MOCs alone)."""

    x: str
    y: str
    z: str
    hpx29: str = ""

    def dot(self, vector: Reals) -> str:
        terms = [f"{name} * {number(c)}" for name, c in zip((self.x, self.y, self.z), vector, strict=True) if c]
        return f"({' + '.join(terms)})" if terms else "0."


def number(value: float) -> str:
    """A Float64 literal, which 0 or 1e3 alone would not be."""
    text = repr(float(value))
    return text if value >= 0 else f"({text})"


def membership(region: Region, row: Row) -> str:
    """SQL condition, UInt8: never NULL unless the row's vector is; false for a NaN vector but in complements."""
    return _MEMBERSHIP[type(region)](region, row)


def _cone(cone: Cone, row: Row) -> str:
    centre = direction(cone.lon, cone.lat)
    return near_chord(_squared(row, centre, "-"), _squared(row, centre, "+"), cone.radius, strict=cone.is_open)


def _squared(row: Row, centre: tuple[float, float, float], sign: str) -> str:
    components = zip((row.x, row.y, row.z), centre, strict=True)
    return " + ".join(f"({name} {sign} {number(c)}) * ({name} {sign} {number(c)})" for name, c in components)


def _polygon(polygon: Polygon, row: Row) -> str:
    """Of a convex polygon: on the inner side of every edge. Else by crossings, or on the border.

    Of many edges only those in the row's sector are looked at.
    """
    if len(polygon.edges.a) > _MANY:
        return _by_sectors(polygon, row)
    inward = polygon.edges.normals * (1 if polygon.left else -1)
    if polygon.convex:
        return f"({' AND '.join(f'{row.dot(n)} >= {number(-ROUNDING)}' for n in inward)})"
    return f"({_by_crossings(polygon, row)} OR {_on_border(polygon, row)})"


def _by_crossings(polygon: Polygon, row: Row) -> str:
    """Parity of the edges that the great-circle arc from the row to a reference direction outside crosses.

    Arcs ab and pr cross if the triangles apb, pbr, bra and rap turn alike: with s the sign of r.(a x b),
    s p.(a x b) < 0 <= s p.(r x a) and s p.(r x b) < 0. A vertex on the great circle of p and r counts to one side, the
    same for both of its edges, so parity holds there too.
    """
    edges = polygon.edges
    reference = _reference(polygon)
    sides = [f"({row.dot(np.cross(reference, a))} >= 0)" for a in edges.a]
    crossed = []
    for i, normal in enumerate(edges.normals):
        here, there = sides[i], sides[(i + 1) % len(sides)]
        turn, side = (">", "<") if normal @ reference > 0 else ("<", ">")
        crossed.append(f"(({here} {turn} {there}) AND {row.dot(normal)} {side} 0)")
    inside = bool(polygon.contains(reference[None, :])[0])
    return f"({_odd(crossed)} = {0 if inside else 1})"


def _odd(flags: list[str]) -> str:
    """Whether an odd number of flags is set; as a balanced tree, for the engine bounds the depth."""
    if len(flags) == 1:
        return flags[0]
    half = len(flags) // 2
    return f"bitXor({_odd(flags[:half])}, {_odd(flags[half:])})"


def _reference(polygon: Polygon) -> Reals:
    """Of some directions, the one that is farthest from the great circles of all edges, so that no sign is in doubt.

    Its antipode, which no arc joins uniquely to it, should not be inside: it is not, for all but the largest polygons.
    """
    candidates = _CANDIDATES
    clear = np.abs(dots(candidates, polygon.edges.normals)).min(axis=1)
    clear -= polygon.contains(-candidates)
    return np.asarray(candidates[clear.argmax()])


def _spread(count: int) -> Vectors:
    """Directions all over the sky, on a golden spiral."""
    i = np.arange(count) + 0.5
    return directions(np.degrees(math.pi * (1 + math.sqrt(5)) * i), np.degrees(np.arcsin(1 - 2 * i / count)))


_CANDIDATES = _spread(1000)


def _on_border(polygon: Polygon, row: Row) -> str:
    """On an edge's great circle, and between the edge's ends; see ``Edges.along``.

    The second part is computed for the few rows that are near some great circle: the engine does so for arrays.
    """
    edges = polygon.edges
    near = f"least({', '.join(f'abs({row.dot(n)})' for n in edges.normals)}) <= {ROUNDING!r}"
    numbers = np.column_stack((edges.normals, *edges.along))
    array = ", ".join(f"({', '.join(number(c) for c in line)})" for line in numbers)
    height, after, before = (f"{row.x} * e.{i} + {row.y} * e.{i + 1} + {row.z} * e.{i + 2}" for i in (1, 4, 7))
    between = f"{after} >= {number(-ROUNDING)} AND {before} >= {number(-ROUNDING)}"
    return f"({near} AND arrayExists(e -> abs({height}) <= {ROUNDING!r} AND {between}, [{array}]))"


def _by_sectors(polygon: Polygon, row: Row) -> str:
    """``_by_crossings`` and ``_on_border`` with the edges that touch the row's sector (``regions.sectors``).

    With (p.u, p.v) what is left of the row p at right angles to the reference, p.(r x a) is a.u p.v - a.v p.u.
    """
    found = sectors(polygon, _CANDIDATES)
    edges, start = found.edges, _array(found.bounds)
    inside = bool(polygon.contains(found.pole[None, :])[0])

    def product(vectors: Vectors) -> str:
        return f"({' + '.join(f'{name} * {_array(c)}[e]' for name, c in zip('xyz', vectors.T, strict=True))})"

    def side(ends: Vectors) -> str:
        return f"({_array(ends @ found.u)}[e] * v >= {_array(ends @ found.v)}[e] * u)"

    crossed = f"arrayCount((e, h) -> {side(edges.a)} > {side(edges.b)} AND h < 0, near, heights)"
    after, before = (product(along) for along in edges.along)
    on_circle = f"arrayFilter((e, h) -> abs(h) <= {ROUNDING!r}, near, heights)"
    between = f"{after} >= {number(-ROUNDING)} AND {before} >= {number(-ROUNDING)}"
    test = f"{crossed} % 2 = {0 if inside else 1} OR arrayExists(e -> {between}, {on_circle})"
    heights = f"arrayMap(e -> {product(edges.normals)}, near)"
    lists = ", ".join(f"[{', '.join(str(e + 1) for e in sector)}]" for sector in found.members)
    near = f"[{lists}][indexOfAssumeSorted({start}, roundDown(atan2(v, u), {start}))]"
    within = f"arrayMap(near -> arrayMap(heights -> {test}, [{heights}])[1], [{near}])[1]"
    across = ", ".join(f"[{Row('x', 'y', 'z').dot(axis)}]" for axis in (found.u, found.v))
    turned = f"arrayMap((x, y, z, u, v) -> {within}, [x], [y], [z], {across})[1]"
    known = ", ".join(f"[ifNull({name}, nan)]" for name in (row.x, row.y, row.z))
    return f"arrayMap((x, y, z) -> {turned}, {known})[1]"


def _array(values: Reals) -> str:
    """A literal as a whole, for which numbers are without parentheses."""
    return f"[{', '.join(repr(float(v)) for v in values)}]"


def _range(region: Range, row: Row) -> str:
    south, north = region.limits
    lat = f"atan2({row.z}, sqrt({row.x} * {row.x} + {row.y} * {row.y}))"
    tests = []
    if math.isfinite(south):
        tests.append(f"{lat} >= {number(south - ROUNDING)}")
    if math.isfinite(north):
        tests.append(f"{lat} <= {number(north + ROUNDING)}")
    if not region.full:
        beside = [f"{row.dot(n)} >= {number(-ROUNDING)}" for n in region.sides]
        tests.append(f"({(' AND ' if region.width <= 180 else ' OR ').join(beside)})")
    return f"({' AND '.join(tests)})" if tests else "1"


def _moc(moc: Moc, row: Row) -> str:
    """By the index, which defines a MOC: one IN for each order."""
    tests = []
    for order, cells in moc.cells():
        divided = row.hpx29 if order == ORDER else f"intDiv({row.hpx29}, {4 ** (ORDER - order)})"
        tests.append(f"{divided} IN ({', '.join(map(str, cells))})")
    return f"({' OR '.join(tests)})" if tests else "0"


def _all(regions: tuple[Region, ...], row: Row, word: str) -> str:
    return f"({word.join(membership(r, row) for r in regions)})"


def _union(region: Union, row: Row) -> str:
    """Of many circles all at once (``regions.circles``)."""
    circles: list[Cone] = []
    others: list[Region] = []
    for part in region.parts:
        if isinstance(part, Cone) and 0 <= part.radius <= 90:
            circles.append(part)
        else:
            others.append(part)
    if len(circles) < _MANY:
        return _all(region.parts, row, " OR ")
    tests = [in_some(circles, (row.x, row.y, row.z)), *(membership(part, row) for part in others)]
    return f"({' OR '.join(tests)})"


_MEMBERSHIP: dict[type, Callable[..., str]] = {
    Cone: _cone,
    Polygon: _polygon,
    Range: _range,
    Moc: _moc,
    Union: _union,
    Intersection: lambda region, row: _all(region.parts, row, " AND "),
    Complement: lambda region, row: f"(NOT {membership(region.part, row)})",
    WholeSky: lambda _region, _row: "1",
    Nothing: lambda _region, _row: "0",
}
