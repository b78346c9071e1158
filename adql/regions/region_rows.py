"""Regions in the form that a table stores: unions of intersections of shapes, and the numbers of these shapes.

``clickhouse_schema.shape_cover.shape_column`` defines the numbers.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from adql.regions.borders import Arc, Border, find_border
from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Combination, Complement, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError, vector_to_position

#: A shape that regions combine
Simple = Cone | Polygon | Range

#: An intersection of shapes, with sign 1, and complements of shapes, with sign -1
Term = tuple[tuple[float, Simple], ...]

#: Maximum number of terms of a region; comparisons with more terms are too slow
_MAX_TERMS = 1000


def normal_form(region: Region) -> list[Term]:
    """Write a region as a union of terms.

    Parameters
    ----------
    region : Region
        The region.

    Returns
    -------
    list of Term
        The terms; none for an empty region.

    Raises
    ------
    ShapeError
        If the region has a MOC or too many terms.
    """
    return [term for term in map(_reduce_point_term, _expand_terms(region, complement=False)) if term]


def shape_rows(region: Region, terms: list[Term]) -> list[list[float]]:
    """Return the numbers of the shapes of all terms, followed by the border arcs unless there is only one shape.

    Parameters
    ----------
    region : Region
        The region.
    terms : list of Term
        Its normal form.

    Returns
    -------
    list of list of float
        The numbers, as ``clickhouse_schema.shape_cover.shape_column`` defines them.
    """
    is_single = _is_single_shape(terms)
    border = Border() if is_single else find_border(region)
    # an intersection that consists of single positions has a term for each position
    positions = (vector_to_position(point) for point in border.points)
    terms = [*terms, *(((1.0, Cone(*position, 0.0)),) for position in positions)]
    rows = []
    for i, term in enumerate(terms):
        rows += [[float(i), sign, *_shape_numbers(shape)] for sign, shape in term]
    return rows if is_single else rows + _border_rows(region, border)


def _is_single_shape(terms: list[Term]) -> bool:
    """Return whether a region is one circle or polygon, whose numbers define its border, too."""
    if len(terms) != 1 or len(terms[0]) != 1:
        return False
    [(sign, shape)] = terms[0]
    return sign > 0 and not isinstance(shape, Range)


def _expand_terms(region: Region, *, complement: bool) -> list[Term]:
    if isinstance(region, Complement):
        return _expand_terms(region.part, complement=not complement)
    if isinstance(region, Combination):
        parts = [_expand_terms(part, complement=complement) for part in region.parts]
        if isinstance(region, Union) != complement:
            return [term for part in parts for term in part]
        if math.prod(len(part) for part in parts) > _MAX_TERMS:
            raise ShapeError(f"a region of more than {_MAX_TERMS} intersections")
        return [tuple(shape for term in terms for shape in term) for terms in product(*parts)]
    if isinstance(region, (WholeSky, Nothing)):
        is_everything = isinstance(region, WholeSky) != complement
        return [((1.0, Cone(0.0, 0.0, 180.0)),)] if is_everything else []
    if isinstance(region, Moc):
        raise ShapeError("a MOC, for which there is the xtype moc, cannot be part of it")
    assert isinstance(region, (Cone, Polygon, Range))  # noqa: S101  queries and tables make no others
    return [((-1.0 if complement else 1.0, region),)]


def _reduce_point_term(term: Term) -> Term:
    """Replace an intersection with a point by the point, or by nothing if another shape excludes it."""
    points = [shape for sign, shape in term if sign > 0 and isinstance(shape, Cone) and shape.is_point]
    if not points:
        return term
    point = points[0]
    is_inside = all(bool(shape.contains(point.centre)[0]) == (sign > 0) for sign, shape in term)
    return ((1.0, point),) if is_inside else ()


def _shape_numbers(shape: Simple) -> list[float]:
    if isinstance(shape, Cone):
        return [shape.lon, shape.lat, shape.radius]
    if isinstance(shape, Range):
        return [shape.west, shape.east, shape.south, shape.north]
    return [number for vertex in shape.vertices for number in vertex]


def _border_rows(region: Region, border: Border) -> list[list[float]]:
    middles = [arc.find_point((arc.start + arc.stop) / 2) for arc in border.arcs]
    own = region.contains(np.array(middles).reshape(-1, 3))
    arcs = [_arc_numbers(arc, float(belongs)) for arc, belongs in zip(border.arcs, own, strict=True)]
    return arcs + [_arc_numbers(line, 2.0) for line in border.lines]


def _arc_numbers(arc: Arc, own: float) -> list[float]:
    """Return [-1, own, axis, 1 - height, radius, u, v, length], rotated so that the arc starts at angle 0."""
    start, stop = min(arc.start, arc.stop), max(arc.start, arc.stop)
    c, s = math.cos(start), math.sin(start)
    u, v = c * arc.u + s * arc.v, c * arc.v - s * arc.u
    # 1 - height, exact for small circles
    k = arc.radius**2 / (1 + arc.height) if arc.height > 0 else 1 - arc.height
    return [-1.0, own, *arc.axis.tolist(), k, arc.radius, *u.tolist(), *v.tolist(), stop - start]
