"""The borders of regions: arcs of great and small circles, and where they meet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Union
from adql.regions.unit_vectors import ROUNDING, Mask, Reals, Vectors, separations

#: Angles along a curve within this are the same crossing
_SAME = 1e-9

#: Least angle between two cuts: pieces below it are made by rounding
_APART = 1e-12


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


def curves(region: Region) -> list[Curve]:
    """Of all shapes in a region; none of MOCs, whose borders are no circles."""
    if isinstance(region, (Union, Intersection)):
        return [c for part in region.parts for c in curves(part)]
    if isinstance(region, Complement):
        return curves(region.part)
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
    return []


def _circle(axis: Reals, radius: float) -> Curve:
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u = u / np.linalg.norm(u)
    return Curve(axis, math.cos(radius), math.sin(radius), u, np.cross(axis, u))


def _range_curves(region: Range) -> list[Curve]:
    x, y, z = np.eye(3)
    west = math.radians(region.west)
    east = west + math.radians(region.width)
    found = []
    for lat in (region.south, region.north):
        if abs(lat) < 90:
            height = math.radians(lat)
            found.append(Curve(z, math.sin(height), math.cos(height), x, y, west, east))
    if not region.full:
        south, north = math.radians(region.south), math.radians(region.north)
        for lon in (west, east):
            u = np.array([math.cos(lon), math.sin(lon), 0.0])
            found.append(Curve(np.cross(u, z), 0.0, 1.0, u, z, south, north))
    return [c for c in found if c.stop > c.start]


def cuts(curve: Curve, others: list[Curve]) -> Reals:
    """Ascending angles along ``curve``, from its start to its stop, where it meets other curves."""
    axes, heights = np.array([o.axis for o in others]), np.array([o.height for o in others])
    cosine, sine = axes @ curve.u * curve.radius, axes @ curve.v * curve.radius
    swing = np.hypot(cosine, sine)
    level = heights - axes @ curve.axis * curve.height
    meets = (swing > ROUNDING) & (np.abs(level) <= swing + ROUNDING)
    met = [o for o, m in zip(others, meets, strict=True) if m]
    if not met:
        return np.array([curve.start, curve.stop])
    half = np.arccos(np.clip(level[meets] / swing[meets], -1, 1))
    towards = np.arctan2(sine[meets], cosine[meets])
    angles = np.concatenate((towards + half, towards - half))
    angles = curve.start + (angles - curve.start) % (2 * math.pi)
    inner = np.unique(angles[_on_arcs(curve.at(angles), [*met, *met])])
    inner = inner[(inner > curve.start + _APART) & (inner < curve.stop - _APART)]
    inner = inner[np.diff(inner, prepend=curve.start) > _APART]
    return np.concatenate(([curve.start], inner, [curve.stop]))


def _on_arcs(points: Vectors, arcs: list[Curve]) -> Mask:
    """Which points, each on the circle of its arc, are on the arc."""
    u, v = np.array([a.u for a in arcs]), np.array([a.v for a in arcs])
    start, stop = np.array([a.start for a in arcs]), np.array([a.stop for a in arcs])
    angle = np.arctan2(np.einsum("ij,ij->i", points, v), np.einsum("ij,ij->i", points, u))
    return np.asarray((angle - start + _SAME) % (2 * math.pi) <= stop - start + 2 * _SAME)
