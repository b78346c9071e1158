"""Membership of a row's position in a constant region, as ClickHouse SQL.

The tests are the same as in ``Region.contains``, on the components of the row's unit vector: signs of products with
constant vectors, and angles only for ranges of latitude. ClickHouse's pointInPolygon is planar and is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from adql.clickhouse.sky.circle_grid_sql import in_some_circle_sql
from adql.clickhouse.sky.neighbour_cell_sql import is_in_cells_sql
from adql.clickhouse.sky.unit_vector_sql import Vector, is_near_constant_sql
from adql.regions.circle_union import MIN_UNION_CIRCLES
from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.polygon_sectors import divide_polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import (
    ROUNDING,
    Reals,
    Vectors,
    dot_products,
    position_to_vector,
    positions_to_vectors,
)
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.quoting import float_literal

#: Polygons with more edges are divided into sectors
_MAX_UNDIVIDED_EDGES = 12

_MINUS_ROUNDING = float_literal(-ROUNDING)


@dataclass(frozen=True, slots=True)
class Row:
    """SQL of a row's position: the components of its unit vector and, for MOCs, its HEALPix index of order 29."""

    x: str
    y: str
    z: str
    hpx29: str = ""

    @property
    def vector(self) -> Vector:
        return self.x, self.y, self.z

    def dot_sql(self, vector: Reals) -> str:
        terms = [f"{name} * {float_literal(c)}" for name, c in zip(self.vector, vector, strict=True) if c]
        return f"({' + '.join(terms)})" if terms else "0."

    def is_left_sql(self, normal: Reals) -> str:
        """Return the test whether the row is on the side to which a normal points, or on the great circle."""
        return f"{self.dot_sql(normal)} >= {_MINUS_ROUNDING}"


def membership_sql(region: Region, row: Row) -> str:
    """Return the test whether a row's position is in a region.

    Parameters
    ----------
    region
        The region.
    row
        SQL of the position.

    Returns
    -------
    str
        A condition (UInt8). It is NULL only if the vector is NULL, and false for a vector of NaN except in complements.
    """
    return _MEMBERSHIP[type(region)](region, row)


def excludes_unknown(region: Region) -> bool:
    """Return whether ``membership_sql`` is false or NULL for all positions with an unknown coordinate."""
    match region:
        case Polygon():
            return _is_tested_by_sides(region)
        case Range():
            return not region.has_all_longitudes or any(map(math.isfinite, region.latitude_limits))
        case Intersection():
            return any(map(excludes_unknown, region.parts))
        case _:
            return isinstance(region, Cone)


def _cone_sql(cone: Cone, row: Row) -> str:
    x, y, z = (float_literal(c) for c in position_to_vector(cone.lon, cone.lat))
    return is_near_constant_sql(row.vector, (x, y, z), cone.radius, strict=cone.is_open)


def _polygon_sql(polygon: Polygon, row: Row) -> str:
    """Test a convex polygon by the inner sides of its edges, another polygon by crossings and its border."""
    if len(polygon.edges.a) > _MAX_UNDIVIDED_EDGES:
        return _sectors_sql(polygon, row)
    if _is_tested_by_sides(polygon):
        inward = polygon.edges.normals * (1 if polygon.is_left else -1)
        return all_sql(*(row.is_left_sql(normal) for normal in inward))
    return f"({_crossings_sql(polygon, row)} OR {_on_border_sql(polygon, row)})"


def _is_tested_by_sides(polygon: Polygon) -> bool:
    return polygon.is_convex and len(polygon.edges.a) <= _MAX_UNDIVIDED_EDGES


def _crossings_sql(polygon: Polygon, row: Row) -> str:
    """Test the parity of the number of edges that the great-circle arc from the row to a reference direction crosses.

    Arcs ab and pr cross if the triangles apb, pbr, bra and rap have the same orientation: with s the sign of r.(a x b),
    s p.(a x b) < 0 <= s p.(r x a) and s p.(r x b) < 0. A vertex on the great circle of p and r counts as on one side,
    the same for both of its edges, so the parity is right there, too.
    """
    edges = polygon.edges
    reference = _choose_reference(polygon)
    sides = [f"({row.dot_sql(np.cross(reference, a))} >= 0)" for a in edges.a]
    crossed = []
    for i, normal in enumerate(edges.normals):
        here, there = sides[i], sides[(i + 1) % len(sides)]
        turn, side = (">", "<") if normal @ reference > 0 else ("<", ">")
        crossed.append(all_sql(f"{here} {turn} {there}", f"{row.dot_sql(normal)} {side} 0"))
    inside = bool(polygon.contains(reference[None, :])[0])
    return f"({_parity_sql(crossed)} = {0 if inside else 1})"


def _parity_sql(flags: list[str]) -> str:
    """Test whether an odd number of flags is set, by a balanced tree, because ClickHouse limits the depth."""
    if len(flags) == 1:
        return flags[0]
    half = len(flags) // 2
    return f"bitXor({_parity_sql(flags[:half])}, {_parity_sql(flags[half:])})"


def _choose_reference(polygon: Polygon) -> Reals:
    """Return the candidate direction that is farthest from the great circles of all edges, so that signs are certain.

    Its antipode, which no unique arc joins to it, is outside all but the largest polygons.
    """
    clearance = np.abs(dot_products(_REFERENCES, polygon.edges.normals)).min(axis=1)
    clearance -= polygon.contains(-_REFERENCES)
    return np.asarray(_REFERENCES[clearance.argmax()])


def _spread_directions(count: int) -> Vectors:
    """Return directions that are spread over the sky, on a golden spiral."""
    i = np.arange(count) + 0.5
    lon = np.degrees(math.pi * (1 + math.sqrt(5)) * i)
    lat = np.degrees(np.arcsin(1 - 2 * i / count))
    return positions_to_vectors(lon, lat)


_REFERENCES = _spread_directions(1000)


def _on_border_sql(polygon: Polygon, row: Row) -> str:
    """Test whether the row is on the great circle of an edge, between its ends; see ``Edges.tangents``.

    The second part is an array function, which ClickHouse computes only for the few rows near a great circle.
    """
    edges = polygon.edges
    near = f"least({', '.join(f'abs({row.dot_sql(n)})' for n in edges.normals)}) <= {ROUNDING!r}"
    numbers = np.column_stack((edges.normals, *edges.tangents))
    array = ", ".join(f"({', '.join(float_literal(c) for c in line)})" for line in numbers)
    height, after, before = (f"{row.x} * e.{i} + {row.y} * e.{i + 1} + {row.z} * e.{i + 2}" for i in (1, 4, 7))
    between = (f"{after} >= {_MINUS_ROUNDING}", f"{before} >= {_MINUS_ROUNDING}")
    return all_sql(near, f"arrayExists(e -> {all_sql(f'abs({height}) <= {ROUNDING!r}', *between)}, [{array}])")


def _sectors_sql(polygon: Polygon, row: Row) -> str:
    """Test like ``_crossings_sql`` and ``_on_border_sql``, but only the edges that touch the row's sector.

    With (p.u, p.v) the part of the row p perpendicular to the reference, p.(r x a) is a.u p.v - a.v p.u.
    """
    found = divide_polygon(polygon, _REFERENCES)
    edges, start = found.edges, _array_literal(found.bounds)
    inside = bool(polygon.contains(found.pole[None, :])[0])

    def product_sql(vectors: Vectors) -> str:
        return f"({' + '.join(f'{name} * {_array_literal(c)}[e]' for name, c in zip('xyz', vectors.T, strict=True))})"

    def side_sql(ends: Vectors) -> str:
        return f"({_array_literal(ends @ found.u)}[e] * v >= {_array_literal(ends @ found.v)}[e] * u)"

    crosses = all_sql(f"{side_sql(edges.a)} > {side_sql(edges.b)}", "h < 0")
    crossed = f"arrayCount((e, h) -> {crosses}, near, heights)"
    after, before = (product_sql(tangents) for tangents in edges.tangents)
    on_circle = f"arrayFilter((e, h) -> abs(h) <= {ROUNDING!r}, near, heights)"
    between = all_sql(f"{after} >= {_MINUS_ROUNDING}", f"{before} >= {_MINUS_ROUNDING}")
    test = f"{crossed} % 2 = {0 if inside else 1} OR arrayExists(e -> {between}, {on_circle})"
    heights = f"arrayMap(e -> {product_sql(edges.normals)}, near)"
    lists = ", ".join(f"[{', '.join(str(e + 1) for e in sector)}]" for sector in found.members)
    near = f"[{lists}][indexOfAssumeSorted({start}, roundDown(atan2(v, u), {start}))]"
    within = f"arrayMap(near -> arrayMap(heights -> {test}, [{heights}])[1], [{near}])[1]"
    across = ", ".join(f"[{Row('x', 'y', 'z').dot_sql(axis)}]" for axis in (found.u, found.v))
    turned = f"arrayMap((x, y, z, u, v) -> {within}, [x], [y], [z], {across})[1]"
    known = ", ".join(f"[ifNull({name}, nan)]" for name in row.vector)
    return f"arrayMap((x, y, z) -> {turned}, {known})[1]"


def _array_literal(values: Reals) -> str:
    """Return a literal of an array. (With parentheses around its numbers it would be a function call.)"""
    return f"[{', '.join(repr(float(v)) for v in values)}]"


def _range_sql(region: Range, row: Row) -> str:
    south, north = region.latitude_limits
    lat = f"atan2({row.z}, sqrt({row.x} * {row.x} + {row.y} * {row.y}))"
    tests = []
    if math.isfinite(south):
        tests.append(f"{lat} >= {float_literal(south - ROUNDING)}")
    if math.isfinite(north):
        tests.append(f"{lat} <= {float_literal(north + ROUNDING)}")
    if not region.has_all_longitudes:
        sides = [row.is_left_sql(normal) for normal in region.side_normals]
        tests.append(all_sql(*sides) if region.width <= 180 else f"({' OR '.join(sides)})")
    return all_sql(*tests) if tests else "1"


def _moc_sql(moc: Moc, row: Row) -> str:
    """Test the index, which defines a MOC."""
    cells = moc.list_cells()
    return is_in_cells_sql(row.hpx29, cells) if cells else "0"


def _list_tests(regions: Iterable[Region], row: Row) -> list[str]:
    return [membership_sql(region, row) for region in regions]


def _union_sql(region: Union, row: Row) -> str:
    """Test many circles in one step (``circle_grid_sql``)."""
    circles: list[Cone] = []
    others: list[Region] = []
    for part in region.parts:
        if isinstance(part, Cone) and 0 <= part.radius <= 90:
            circles.append(part)
        else:
            others.append(part)
    if len(circles) < MIN_UNION_CIRCLES:
        return f"({' OR '.join(_list_tests(region.parts, row))})"
    tests = [in_some_circle_sql(circles, row.vector), *_list_tests(others, row)]
    return f"({' OR '.join(tests)})"


_MEMBERSHIP: dict[type, Callable[..., str]] = {
    Cone: _cone_sql,
    Polygon: _polygon_sql,
    Range: _range_sql,
    Moc: _moc_sql,
    Union: _union_sql,
    Intersection: lambda region, row: all_sql(*_list_tests(region.parts, row)),
    Complement: lambda region, row: f"(NOT {membership_sql(region.part, row)})",
    WholeSky: lambda _region, _row: "1",
    Nothing: lambda _region, _row: "0",
}
