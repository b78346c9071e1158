"""Regions as unions of intersections of shapes, and the numbers that stand for them in a table and in SQL.

The form of the numbers is told in ``clickhouse_schema.shape_cover.shape_column``.
"""

from __future__ import annotations

import math
from itertools import product

from adql.clickhouse.sky import border_arc_sql
from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError

#: Of what regions are put together
Simple = Cone | Polygon | Range

#: Shapes, 1, and complements of shapes, -1, that a direction is in all of
Term = tuple[tuple[float, Simple], ...]

#: Terms of a region; more are too slow to compare with
_MOST_TERMS = 1000


def normal_form(region: Region) -> list[Term]:
    """The terms of which one holds a direction; none of an empty region. Raises ``ShapeError`` for MOCs."""
    return [term for term in map(_without_idle, _terms(region, complement=False)) if term]


def shape_rows(region: Region, terms: list[Term]) -> list[list[float]]:
    """The shapes of all terms, and the pieces of the border unless it is that of one shape."""
    rows = [[float(i), sign, *_numbers(shape)] for i, term in enumerate(terms) for sign, shape in term]
    if len(rows) == 1 and rows[0][1] > 0 and not isinstance(terms[0][0][1], Range):
        return rows
    return rows + border_arc_sql.numbers(region)


def _terms(region: Region, *, complement: bool) -> list[Term]:
    if isinstance(region, Complement):
        return _terms(region.part, complement=not complement)
    if isinstance(region, (Union, Intersection)):
        parts = [_terms(part, complement=complement) for part in region.parts]
        if isinstance(region, Union) != complement:
            return [term for part in parts for term in part]
        if math.prod(len(part) for part in parts) > _MOST_TERMS:
            raise ShapeError(f"a region of more than {_MOST_TERMS} intersections")
        return [tuple(shape for term in terms for shape in term) for terms in product(*parts)]
    if isinstance(region, (WholeSky, Nothing)):
        return [((1.0, Cone(0.0, 0.0, 180.0)),)] if isinstance(region, WholeSky) != complement else []
    if isinstance(region, Moc):
        raise ShapeError("a MOC, for which there is the xtype moc, cannot be part of it")
    assert isinstance(region, (Cone, Polygon, Range))  # noqa: S101  there are no others that queries and tables make
    return [((-1.0 if complement else 1.0, region),)]


def _without_idle(term: Term) -> Term:
    """A point with other shapes is the point alone if it is in them, else nothing."""
    points = [shape for sign, shape in term if sign > 0 and isinstance(shape, Cone) and shape.is_point]
    if not points:
        return term
    inside = all(bool(shape.contains(points[0].centre)[0]) == (sign > 0) for sign, shape in term)
    return ((1.0, points[0]),) if inside else ()


def _numbers(shape: Simple) -> list[float]:
    if isinstance(shape, Cone):
        return [shape.lon, shape.lat, shape.radius]
    if isinstance(shape, Range):
        return [shape.west, shape.east, shape.south, shape.north]
    return [number for vertex in shape.vertices for number in vertex]
