"""CONTAINS and INTERSECTS of two constant regions.

The borders of all shapes are great and small circles, which divide the sky into faces. A region, however it is
combined, contains a face entirely or not at all. Each face is next to a part of an arc between two crossings, so the
directions on both sides of the middle of all parts meet all faces. If two regions have an area in common, it contains
one of these directions. This is exact except for faces thinner than 1e-7 of the part. MOCs, whose borders are not
circles, are compared by cells.
"""

from __future__ import annotations

import math

import numpy as np

from adql.regions.borders import cut_arc, find_arcs, find_middles
from adql.regions.cone import MAX_POINT_RADIUS, Cone
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import INSIDE, OUTSIDE, SLACK, Region
from adql.regions.region_algebra import Combination, Complement, Intersection, Nothing, WholeSky, has_moc
from adql.regions.unit_vectors import (
    ROUNDING,
    Vectors,
    position_to_vector,
    separations,
    vector_lengths,
    vector_to_position,
)
from clickhouse_schema.healpix import ORDER, Cells

#: A direction that is hardly ever on a border, as a sample for regions without a border
ANYWHERE = (0.36, 0.48, 0.8)

#: Number of border cells above which the comparison of a MOC with another shape stops dividing
_MAX_CELLS = 20_000


def is_inside(inner: Region, outer: Region) -> bool:
    """Test whether one region contains another; borders may be in common.

    Parameters
    ----------
    inner, outer : Region
        The regions.

    Returns
    -------
    bool
        Exact for two circles and for two MOCs.
    """
    if isinstance(inner, Cone) and inner.is_point:
        return bool(outer.contains(inner.centre)[0])
    if isinstance(inner, Cone) and isinstance(outer, Cone):
        separation = math.degrees(float(separations(inner.centre, outer.centre)[0]))
        return outer.radius == 180 or separation + inner.radius <= outer.radius + math.degrees(ROUNDING)
    if isinstance(inner, Polygon) and isinstance(outer, Cone) and outer.is_point:
        return bool((separations(inner.edges.a, outer.centre) <= math.radians(MAX_POINT_RADIUS)).all())
    if isinstance(inner, Moc) and isinstance(outer, Moc):
        return not len(inner.intersection(outer.complement()).ranges)
    has_cells = has_moc(inner) or has_moc(outer)
    if has_cells and _has_common_cell(Intersection((inner, Complement(outer))), if_touching=False):
        return False
    next_to_border, on_border = _sample_directions(inner, outer)
    if (inner.contains(next_to_border) & ~outer.contains(next_to_border)).any():
        return False
    # shapes without an area consist only of their border
    beyond = inner.contains(on_border) & ~outer.contains(on_border) & (outer.signed_distance(on_border) > SLACK)
    return not bool(beyond.any())


def find_enclosing_positions(region: Region) -> Region:
    """Find the positions that contain a region, which exist only for a region without extent.

    Parameters
    ----------
    region : Region
        The region.

    Returns
    -------
    Region
        A point, or a circle of the size of a point; the whole sky for an empty region; nothing for other regions.
    """
    if has_moc(region):
        return WholeSky() if isinstance(region, Moc) and not len(region.ranges) else Nothing()
    if isinstance(region, Polygon):
        lon, lat = region.centroid
        point, found = Cone(lon, lat, 0.0), Cone(lon, lat, MAX_POINT_RADIUS)
    else:
        _, on_border = _sample_directions(region, region)
        inside = on_border[region.contains(on_border)]
        if not len(inside):
            return WholeSky()
        point = found = Cone(*vector_to_position(inside[0]), 0.0)
    return found if is_inside(region, point) else Nothing()


def is_intersecting(first: Region, second: Region) -> bool:
    """Test whether two regions have a direction in common; touching borders suffice.

    Parameters
    ----------
    first, second : Region
        The regions.

    Returns
    -------
    bool
        Exact for two circles and for two MOCs.
    """
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Cone) and one.is_point:
            return bool(other.contains(one.centre)[0])
    if isinstance(first, Cone) and isinstance(second, Cone):
        separation = math.degrees(float(separations(first.centre, second.centre)[0]))
        return separation <= first.radius + second.radius + math.degrees(ROUNDING)
    if isinstance(first, Moc) and isinstance(second, Moc):
        return bool(len(first.intersection(second).ranges))
    samples = np.concatenate(_sample_directions(first, second))
    if (first.contains(samples) & second.contains(samples)).any():
        return True
    return (has_moc(first) or has_moc(second)) and _has_common_cell(Intersection((first, second)), if_touching=True)


def _has_common_cell(both: Intersection, *, if_touching: bool) -> bool:
    """Test whether a cell or its centre is inside all parts; ``if_touching`` if only border cells remain."""
    cells = Cells.base_cells()
    while True:
        classes = both.classify_cells(cells)
        if (classes == INSIDE).any():
            return True
        cells = cells.filter_cells(classes != OUTSIDE)
        if not len(cells):
            return False
        if both.contains(cells.find_centres()).any():
            return True
        if cells.order == ORDER or len(cells) > _MAX_CELLS:
            return if_touching
        cells = cells.divide_cells(1)


def _sample_directions(first: Region, second: Region) -> tuple[Vectors, Vectors]:
    """Return directions next to the parts of all borders except borders of MOCs, and their middles and ends."""
    arcs = [*find_arcs(first), *find_arcs(second)]
    points = np.array([*_find_points(first), *_find_points(second), ANYWHERE])
    next_to_border, on_border = [points], [points]
    for arc in arcs:
        cuts = cut_arc(arc, arcs)
        middles, steps = find_middles(arc, cuts)
        next_to_border += [moved / vector_lengths(moved)[:, None] for moved in (middles + steps, middles - steps)]
        on_border += [middles, arc.find_points(cuts)]
    return np.concatenate(next_to_border), np.concatenate(on_border)


def _find_points(region: Region) -> list[tuple[float, ...]]:
    """Return the parts of a region that are points and have no border."""
    if isinstance(region, Combination):
        return [point for part in region.parts for point in _find_points(part)]
    if isinstance(region, Complement):
        return _find_points(region.part)
    if isinstance(region, Cone) and region.is_point:
        return [position_to_vector(region.lon, region.lat)]
    return []
