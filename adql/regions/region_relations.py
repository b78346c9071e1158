"""CONTAINS and INTERSECTS of two constant regions.

The borders of all shapes, great and small circles, divide the sky into faces; a region, however it is put together,
holds a face wholly or not at all. Each face borders on some piece of curve between two crossings, so one direction on
either side of the middle of every piece meets every face: whatever two regions have in common, one of these is in.
That is exact down to faces thinner than 1e-7 of the piece. MOCs, whose borders are no circles, are compared by cells.
"""

from __future__ import annotations

import math

import numpy as np

from adql.regions.borders import curves, cuts
from adql.regions.cone import Cone
from adql.regions.moc import Moc
from adql.regions.region import INSIDE, OUTSIDE, SLACK, Region
from adql.regions.region_algebra import Complement, Intersection, Union
from adql.regions.unit_vectors import ROUNDING, Vectors, direction, lengths, separations
from clickhouse_schema.healpix import ORDER, Cells

#: Steps to either side of a piece of border, in pieces and in radians
_ASIDE, _LEAST_ASIDE = 1e-7, 1e-13

#: Cells at which the comparison of a MOC's border with another shape's ends
_MOST_CELLS = 20_000


def contains(inner: Region, outer: Region) -> bool:
    """Whether all of ``inner`` is in ``outer``; common borders are no hindrance."""
    if isinstance(inner, Cone) and inner.is_point:
        return bool(outer.contains(inner.centre)[0])
    if isinstance(inner, Cone) and isinstance(outer, Cone):
        apart = math.degrees(float(separations(inner.centre, outer.centre)[0]))
        return outer.radius == 180 or apart + inner.radius <= outer.radius + math.degrees(ROUNDING)
    if isinstance(inner, Moc) and isinstance(outer, Moc):
        return not len(inner.intersection(outer.complement()).ranges)
    if (has_moc(inner) or has_moc(outer)) and _share_cells(Intersection((inner, Complement(outer))), touching=False):
        return False
    beside, on_border = _samples(inner, outer)
    if (inner.contains(beside) & ~outer.contains(beside)).any():
        return False
    # shapes without an area are but border
    out = inner.contains(on_border) & ~outer.contains(on_border) & (outer.distance(on_border) > SLACK)
    return not bool(out.any())


def intersects(first: Region, second: Region) -> bool:
    """Whether some direction is in both; touching borders are enough."""
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Cone) and one.is_point:
            return bool(other.contains(one.centre)[0])
    if isinstance(first, Cone) and isinstance(second, Cone):
        apart = math.degrees(float(separations(first.centre, second.centre)[0]))
        return apart <= first.radius + second.radius + math.degrees(ROUNDING)
    if isinstance(first, Moc) and isinstance(second, Moc):
        return bool(len(first.intersection(second).ranges))
    beside, on_border = _samples(first, second)
    samples = np.concatenate((beside, on_border))
    if (first.contains(samples) & second.contains(samples)).any():
        return True
    return (has_moc(first) or has_moc(second)) and _share_cells(Intersection((first, second)), touching=True)


def has_moc(region: Region) -> bool:
    if isinstance(region, (Union, Intersection)):
        return any(has_moc(p) for p in region.parts)
    return has_moc(region.part) if isinstance(region, Complement) else isinstance(region, Moc)


def _share_cells(both: Intersection, *, touching: bool) -> bool:
    """Whether there is a cell inside of all parts, or the centre of one; ``touching`` if only ever smaller border cells
    remain.
    """
    cells = Cells.base()
    while True:
        classes = both.classify(cells)
        if (classes == INSIDE).any():
            return True
        cells = cells.only(classes != OUTSIDE)
        if not len(cells):
            return False
        if both.contains(cells.centres()).any():
            return True
        if cells.order == ORDER or len(cells) > _MOST_CELLS:
            return touching
        cells = cells.divided(1)


def _samples(first: Region, second: Region) -> tuple[Vectors, Vectors]:
    """Directions beside the pieces of all borders but those of MOCs, and on them: middles and ends."""
    borders = [*curves(first), *curves(second)]
    points = np.array([*_points(first), *_points(second), (0.0, 0.0, 1.0)])
    beside, on_border = [points], [points]
    for curve in borders:
        ends = cuts(curve, borders)
        length = np.diff(ends)
        half_way = (ends[1:] + ends[:-1]) / 2
        middle = curve.at(half_way)
        step = np.maximum(_ASIDE * length * curve.radius, _LEAST_ASIDE)[:, None] * curve.aside(half_way)
        beside += [moved / lengths(moved)[:, None] for moved in (middle + step, middle - step)]
        on_border += [middle, curve.at(ends)]
    return np.concatenate(beside), np.concatenate(on_border)


def _points(region: Region) -> list[tuple[float, ...]]:
    """Positions that are parts of the region without a border."""
    if isinstance(region, (Union, Intersection)):
        return [p for part in region.parts for p in _points(part)]
    if isinstance(region, Complement):
        return _points(region.part)
    return [direction(region.lon, region.lat)] if isinstance(region, Cone) and region.is_point else []
