"""CONTAINS and INTERSECTS of two constant regions.

The borders of all shapes, great and small circles, divide the sky into faces; a region, however it is put together,
holds a face wholly or not at all. Each face borders on some piece of curve between two crossings, so one direction on
either side of the middle of every piece meets every face: whatever two regions have in common, one of these is in.
That is exact down to faces thinner than 1e-7 of the piece. MOCs, whose borders are no circles, are compared by cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from adql.regions.algebra import Complement, Intersection, Rotated, Union
from adql.regions.cone import Cone
from adql.regions.interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import INSIDE, OUTSIDE, SLACK, Region
from adql.regions.sphere import ROUNDING, Reals, Vectors, direction, lengths, separations
from clickhouse_schema.healpix import ORDER, Cells

#: Steps to either side of a piece of border, in pieces and in radians
_ASIDE, _LEAST_ASIDE = 1e-7, 1e-13

#: Cells at which the comparison of a MOC's border with another shape's ends
_MOST_CELLS = 20_000

#: Angles along a curve within this are the same crossing
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Curve:
    """Arc of the circle of the directions p with axis . p = height: p(t) = height axis + radius (cos t u + sin t v)."""

    axis: Reals
    height: float
    radius: float
    u: Reals
    v: Reals
    start: float = 0.0
    stop: float = 2 * math.pi

    def at(self, angles: Reals) -> Vectors:
        return np.asarray(self.height * self.axis + self.radius * self._around(angles))

    def aside(self, angles: Reals) -> Vectors:
        """Unit vectors at right angles to the curve, on the sphere, on the side of the axis."""
        return np.asarray(self.radius * self.axis - self.height * self._around(angles))

    def _around(self, angles: Reals) -> Vectors:
        return np.asarray(np.cos(angles)[:, None] * self.u + np.sin(angles)[:, None] * self.v)

    def has(self, points: Vectors) -> Reals:
        """Which points of the circle are on the arc."""
        angle = (np.arctan2(points @ self.v, points @ self.u) - self.start + _SAME) % (2 * math.pi)
        return np.asarray(angle <= self.stop - self.start + 2 * _SAME)


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
    return has_moc(region.part) if isinstance(region, (Complement, Rotated)) else isinstance(region, Moc)


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
    curves = [*_curves(first), *_curves(second)]
    points = np.array([*_points(first), *_points(second), (0.0, 0.0, 1.0)])
    beside, on_border = [points], [points]
    for curve in curves:
        cuts = _cuts(curve, curves)
        length = np.diff(cuts)
        half_way = (cuts[1:] + cuts[:-1]) / 2
        middle = curve.at(half_way)
        step = np.maximum(_ASIDE * length * curve.radius, _LEAST_ASIDE)[:, None] * curve.aside(half_way)
        beside += [moved / lengths(moved)[:, None] for moved in (middle + step, middle - step)]
        on_border += [middle, curve.at(cuts)]
    return np.concatenate(beside), np.concatenate(on_border)


def _cuts(curve: Curve, others: list[Curve]) -> Reals:
    """Ascending angles along ``curve``, from its start to its stop, where it meets other curves."""
    axes, heights = np.array([o.axis for o in others]), np.array([o.height for o in others])
    cosine, sine = axes @ curve.u * curve.radius, axes @ curve.v * curve.radius
    swing = np.hypot(cosine, sine)
    level = heights - axes @ curve.axis * curve.height
    meets = (swing > ROUNDING) & (np.abs(level) <= swing + ROUNDING)
    half = np.arccos(np.clip(level[meets] / swing[meets], -1, 1))
    towards = np.arctan2(sine[meets], cosine[meets])
    met = [o for o, m in zip(others, meets, strict=True) if m]
    found = [np.array([curve.start, curve.stop])]
    for angles in (towards + half, towards - half):
        angles = curve.start + (angles - curve.start) % (2 * math.pi)
        where = curve.at(angles)
        on = [bool(o.has(p[None, :])[0]) for o, p in zip(met, where, strict=True)]
        found.append(angles[np.array(on, dtype=bool) & (angles < curve.stop)])
    return np.unique(np.concatenate(found))


def _points(region: Region) -> list[tuple[float, ...]]:
    """Positions that are parts of the region without a border."""
    if isinstance(region, (Union, Intersection)):
        return [p for part in region.parts for p in _points(part)]
    if isinstance(region, Complement):
        return _points(region.part)
    if isinstance(region, Rotated):
        return [tuple(np.array(region.matrix).T @ p) for p in _points(region.part)]
    return [direction(region.lon, region.lat)] if isinstance(region, Cone) and region.is_point else []


def _curves(region: Region) -> list[Curve]:
    if isinstance(region, (Union, Intersection)):
        return [c for part in region.parts for c in _curves(part)]
    if isinstance(region, Complement):
        return _curves(region.part)
    if isinstance(region, Cone):
        if region.is_point or region.radius >= 180:
            return []
        return [_circle(region.centre[0], math.radians(region.radius))]
    if isinstance(region, Polygon):
        edges = region.edges
        arcs = separations(edges.a, edges.b)
        rows = zip(edges.normals, edges.a, np.cross(edges.normals, edges.a), arcs, strict=True)
        return [Curve(n, 0.0, 1.0, a, v, 0.0, float(arc)) for n, a, v, arc in rows]
    if isinstance(region, Range):
        return _range_curves(region)
    if isinstance(region, Rotated):
        turn = np.array(region.matrix).T
        turned = [(c, turn @ c.axis, turn @ c.u, turn @ c.v) for c in _curves(region.part)]
        return [replace(c, axis=axis, u=u, v=v) for c, axis, u, v in turned]
    return []


def _circle(axis: Reals, radius: float) -> Curve:
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u = u / np.linalg.norm(u)
    return Curve(axis, math.cos(radius), math.sin(radius), u, np.cross(axis, u))


def _range_curves(region: Range) -> list[Curve]:
    x, y, z = np.eye(3)
    west = math.radians(region.west)
    east = west + math.radians(region.width)
    curves = []
    for lat in (region.south, region.north):
        if abs(lat) < 90:
            height = math.radians(lat)
            curves.append(Curve(z, math.sin(height), math.cos(height), x, y, west, east))
    if not region.full:
        south, north = math.radians(region.south), math.radians(region.north)
        for lon in (west, east):
            u = np.array([math.cos(lon), math.sin(lon), 0.0])
            curves.append(Curve(np.cross(u, z), 0.0, 1.0, u, z, south, north))
    return [c for c in curves if c.stop > c.start]
