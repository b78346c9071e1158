"""The borders of regions: arcs of great and small circles, their crossings, and the arcs that bound a region."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Combination, Complement, has_moc
from adql.regions.unit_vectors import ROUNDING, Mask, Reals, ShapeError, Vectors, separations, vector_lengths

#: Angles along an arc that differ by less, in radians, are the same crossing
_SAME_ANGLE = 1e-9

#: Minimum angle, in radians, between two cuts; shorter parts result from rounding
MIN_PART = 1e-12

#: Step from the middle of a part to its sides, as a fraction of its length, and its minimum in radians
SIDE_STEP, MIN_SIDE_STEP = 1e-7, 1e-13

#: Circles whose axes and radii differ by less, in radians, are the same
SAME_CIRCLE = 1e-11

#: Parts whose middles are nearer, in radians, are the same part of two shapes
_SAME_PART = 1e-11


@dataclass(frozen=True, slots=True)
class Arc:
    """Arc of a circle: p(t) = height axis + radius (cos t u + sin t v) for t from ``start`` to ``stop``.

    Parameters
    ----------
    axis, u, v : Reals
        Unit vectors at right angles, shape (3,).
    height, radius : float
        Cosine and sine of the circle's angular radius.
    start, stop : float
        Radians.
    """

    axis: Reals
    height: float
    radius: float
    u: Reals
    v: Reals
    start: float = 0.0
    stop: float = 2 * math.pi

    def find_points(self, angles: Reals) -> Vectors:
        """Return the directions at angles of shape (n,), shape (n, 3)."""
        return np.asarray(self.height * self.axis + self.radius * self._find_radial(angles))

    def find_point(self, angle: float) -> Reals:
        """Return the direction at an angle, shape (3,)."""
        return np.asarray(self.find_points(np.array([angle]))[0])

    def find_normals(self, angles: Reals) -> Vectors:
        """Return unit vectors perpendicular to the arc, tangential to the sphere, on the side of the axis."""
        return np.asarray(self.radius * self.axis - self.height * self._find_radial(angles))

    def _find_radial(self, angles: Reals) -> Vectors:
        cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
        return np.asarray(cosines * self.u + sines * self.v)


def find_arcs(region: Region) -> list[Arc]:
    """Return the borders of all shapes in a region, without borders of MOCs, which are not circles."""
    if isinstance(region, Combination):
        return [arc for part in region.parts for arc in find_arcs(part)]
    if isinstance(region, Complement):
        return find_arcs(region.part)
    if isinstance(region, Cone):
        if region.is_point or region.radius >= 180:
            return []
        return [_make_circle_arc(region.centre[0], math.radians(region.radius))]
    if isinstance(region, Polygon):
        edges = region.edges
        arcs = separations(edges.a, edges.b)
        rows = zip(edges.normals, edges.a, np.cross(edges.normals, edges.a), arcs, strict=True)
        return [Arc(n, 0.0, 1.0, a, v, 0.0, float(arc)) for n, a, v, arc in rows]
    if isinstance(region, Range):
        return _find_range_arcs(region)
    return []


def _make_circle_arc(axis: Reals, radius: float) -> Arc:
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u = u / np.linalg.norm(u)
    return Arc(axis, math.cos(radius), math.sin(radius), u, np.cross(axis, u))


def _find_range_arcs(region: Range) -> list[Arc]:
    x, y, z = np.eye(3)
    west = math.radians(region.west)
    east = west + math.radians(region.width)
    arcs = []
    for lat in (region.south, region.north):
        if abs(lat) < 90:
            height = math.radians(lat)
            arcs.append(Arc(z, math.sin(height), math.cos(height), x, y, west, east))
    if not region.has_all_longitudes:
        south, north = math.radians(region.south), math.radians(region.north)
        for lon in (west, east):
            u = np.array([math.cos(lon), math.sin(lon), 0.0])
            arcs.append(Arc(np.cross(u, z), 0.0, 1.0, u, z, south, north))
    return [arc for arc in arcs if arc.stop > arc.start]


def cut_arc(arc: Arc, others: list[Arc]) -> Reals:
    """Return the ascending angles at which an arc meets other arcs, from its start to its stop.

    It meets another arc on the same circle at the ends of that arc.
    """
    axes = np.array([other.axis for other in others])
    heights = np.array([other.height for other in others])
    cosine, sine = axes @ arc.u * arc.radius, axes @ arc.v * arc.radius
    swing = np.hypot(cosine, sine)
    level = heights - axes @ arc.axis * arc.height
    same = np.maximum(swing, np.abs(level)) < SAME_CIRCLE * arc.radius
    meets = ~same & (swing > ROUNDING) & (np.abs(level) <= swing + ROUNDING)
    met = [other for other, meeting in zip(others, meets, strict=True) if meeting]
    ends = [_find_ends(arc, other) for other, is_same in zip(others, same, strict=True) if is_same]
    angles = np.concatenate([np.zeros(0), *ends])
    if met:
        half = np.arccos(np.clip(level[meets] / swing[meets], -1, 1))
        towards = np.arctan2(sine[meets], cosine[meets])
        crossings = np.concatenate((towards + half, towards - half))
        crossings = crossings[_is_on_arcs(arc.find_points(crossings), [*met, *met])]
        angles = np.concatenate((angles, crossings))
    inner = np.unique(arc.start + (angles - arc.start) % (2 * math.pi))
    inner = inner[(inner > arc.start + MIN_PART) & (inner < arc.stop - MIN_PART)]
    inner = inner[np.diff(inner, prepend=arc.start) > MIN_PART]
    return np.concatenate(([arc.start], inner, [arc.stop]))


def _find_ends(arc: Arc, other: Arc) -> Reals:
    """Return the angles along an arc of the ends of another arc on the same circle."""
    ends = other.find_points(np.array([other.start, other.stop]))
    return np.asarray(np.arctan2(ends @ arc.v, ends @ arc.u))


def _is_on_arcs(points: Vectors, arcs: list[Arc]) -> Mask:
    """Test which points are on their arc; each point is on the circle of its arc."""
    u = np.array([arc.u for arc in arcs])
    v = np.array([arc.v for arc in arcs])
    start = np.array([arc.start for arc in arcs])
    stop = np.array([arc.stop for arc in arcs])
    angle = np.arctan2(np.einsum("ij,ij->i", points, v), np.einsum("ij,ij->i", points, u))
    from_start = (angle - start + _SAME_ANGLE) % (2 * math.pi)
    return np.asarray(from_start <= stop - start + 2 * _SAME_ANGLE)


def find_middles(arc: Arc, cuts: Reals) -> tuple[Vectors, Vectors]:
    """Return the middles of the parts between cuts, and small steps from them to the side of the axis of the arc."""
    angles = (cuts[1:] + cuts[:-1]) / 2
    steps = np.maximum(SIDE_STEP * np.diff(cuts) * arc.radius, MIN_SIDE_STEP)
    return arc.find_points(angles), steps[:, None] * arc.find_normals(angles)


@dataclass(slots=True)
class Border:
    """The border of a region.

    Attributes
    ----------
    arcs
        Arcs with the region on one side, the left one; a reversed arc stops before its start.
    lines
        Arcs of the region without an area on either side.
    points
        Directions of the region at the ends of arcs that do not belong to it, shape (3,).
    """

    arcs: list[Arc] = field(default_factory=list)
    lines: list[Arc] = field(default_factory=list)
    points: list[Reals] = field(default_factory=list)


def find_border(region: Region) -> Border:
    """Find the border of a region.

    Raises
    ------
    ShapeError
        If the region has a MOC.
    """
    if has_moc(region):
        raise ShapeError("a combination with a MOC has no area or centroid", "combine MOCs only with MOCs")
    arcs = find_arcs(region)
    border = Border()
    seen = np.zeros((0, 3))
    own_ends, other_ends = np.zeros((0, 3)), np.zeros((0, 3))
    for arc in arcs:
        cuts = cut_arc(arc, arcs)
        middles, steps = find_middles(arc, cuts)
        left, right, on = (region.contains(points) for points in (middles + steps, middles - steps, middles))
        for part in np.flatnonzero((left != right) | (on & ~left)):
            middle = middles[part]
            if not (vector_lengths(seen - middle) < _SAME_PART).any():
                seen = np.concatenate((seen, middle[None, :]))
                start, stop = float(cuts[part]), float(cuts[part + 1])
                if right[part]:
                    start, stop = stop, start
                found = border.arcs if left[part] or right[part] else border.lines
                found.append(replace(arc, start=start, stop=stop))
        ends, is_own = arc.find_points(cuts), left | right | on
        next_to_own = np.append(is_own, False) | np.insert(is_own, 0, False)
        own_ends = np.concatenate((own_ends, ends[next_to_own]))
        other_ends = np.concatenate((other_ends, ends[~next_to_own & region.contains(ends)]))
    for end in other_ends:
        if not (vector_lengths(own_ends - end) < _SAME_PART).any():
            own_ends = np.concatenate((own_ends, end[None, :]))
            border.points.append(end)
    return border
