"""Relations of shapes by plain geometry in numpy, independent of ``adql.regions``: circles, polygons, unions of them.

Every function broadcasts over leading axes and gives margins in radians: how much a circle could grow, or a border move,
before the answer changes. A margin above 0 says yes, one of about 0 that borders touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def unit(lon: Reals, lat: Reals) -> Reals:
    """Unit vectors, shape (..., 3), of degrees."""
    ra, dec = np.radians(lon), np.radians(lat)
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=-1)


def angle(a: Reals, b: Reals) -> Reals:
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), _dot(a, b))


def _dot(a: Reals, b: Reals) -> Reals:
    return np.sum(a * b, axis=-1)


@dataclass(frozen=True)
class Circles:
    """``centre``: shape (..., 3); ``radius``: radians, shape (...)."""

    centre: Reals
    radius: Reals


@dataclass(frozen=True)
class Polygons:
    """``vertices``: shape (..., k, 3), of polygons smaller than a hemisphere around ``middle``, concave too."""

    vertices: Reals
    middle: Reals


#: Parts that are far from each other
Shapes = Circles | Polygons | tuple[Circles | Polygons, ...]


def in_plane(lon: Reals, lat: Reals, x: Reals, y: Reals) -> Reals:
    """Unit vectors of points (x east, y north) in the plane that touches the sphere at (lon, lat)."""
    centre = unit(lon, lat)
    ra, dec = np.radians(lon), np.radians(lat)
    east = np.stack([-np.sin(ra), np.cos(ra), 0 * ra], axis=-1)
    north = np.stack([-np.sin(dec) * np.cos(ra), -np.sin(dec) * np.sin(ra), np.cos(dec)], axis=-1)
    found = centre + x[..., None] * east + y[..., None] * north
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def contains(inner: Shapes, outer: Shapes) -> Reals:
    """The margin by which all of ``inner`` is in ``outer``."""
    if isinstance(inner, tuple):
        return np.minimum.reduce([contains(part, outer) for part in inner])
    if isinstance(outer, tuple):
        return np.maximum.reduce([contains(inner, part) for part in outer])
    if isinstance(outer, Circles):
        if isinstance(inner, Circles):
            margin = outer.radius - inner.radius - angle(inner.centre, outer.centre)
            margin = np.where((outer.radius >= np.pi) & (inner.radius >= 0), 9.0, margin)
            return np.where((inner.radius < 0) | (outer.radius < 0), -9.0, margin)
        beyond = -_depth(-outer.centre, inner) - (np.pi - outer.radius)
        return np.where(outer.radius >= np.pi, 9.0, np.where(outer.radius < 0, -9.0, beyond))
    if isinstance(inner, Circles):
        return np.where(inner.radius < 0, -9.0, _depth(inner.centre, outer) - inner.radius)
    corners = np.min(_depth_of_each(inner, outer), axis=-1)
    return np.minimum(corners, -np.maximum(_crossing(inner, outer), np.max(_depth_of_each(outer, inner), axis=-1)))


def intersects(first: Shapes, second: Shapes) -> Reals:
    """The margin by which the shapes have a direction in common."""
    if isinstance(first, tuple):
        return np.maximum.reduce([intersects(part, second) for part in first])
    if isinstance(second, tuple) or (isinstance(first, Polygons) and isinstance(second, Circles)):
        return intersects(second, first)
    if isinstance(first, Circles):
        if isinstance(second, Circles):
            margin = first.radius + second.radius - angle(first.centre, second.centre)
            return np.where((first.radius < 0) | (second.radius < 0), -9.0, margin)
        return np.where(first.radius < 0, -9.0, _depth(first.centre, second) + first.radius)
    corners = [np.max(_depth_of_each(*pair), axis=-1) for pair in ((first, second), (second, first))]
    return np.maximum(np.maximum(*corners), _crossing(first, second))


def _depth(point: Reals, polygon: Polygons) -> Reals:
    """How deep a direction lies inside: the distance to the border, negative outside."""
    a, b, n = _edges(polygon)
    p = point[..., None, :]
    between = (_dot(np.cross(n, a), p) > 0) & (_dot(np.cross(b, n), p) > 0)
    away = np.where(between, np.abs(np.arcsin(np.clip(_dot(p, n), -1, 1))), np.minimum(angle(p, a), angle(p, b)))
    turned = np.arctan2(_dot(p, np.cross(a, b)), _dot(a, b) - _dot(a, p) * _dot(b, p)).sum(axis=-1)
    inside = (np.abs(turned) > np.pi) & (_dot(point, polygon.middle) > 0)
    return np.where(inside, 1, -1) * away.min(axis=-1)


def _depth_of_each(corners: Polygons, polygon: Polygons) -> Reals:
    """Of each vertex of the first, shape (..., k)."""
    around = Polygons(polygon.vertices[..., None, :, :], polygon.middle[..., None, :])
    return _depth(corners.vertices, around)


def _edges(polygon: Polygons) -> tuple[Reals, Reals, Reals]:
    a = polygon.vertices
    b = np.roll(a, -1, axis=-2)
    n = np.cross(a - b, a + b)
    return a, b, n / np.linalg.norm(n, axis=-1, keepdims=True)


def _crossing(first: Polygons, second: Polygons) -> Reals:
    """Of the sides that cross, by how much; -9 if none do."""
    a, b, n = (side[..., :, None, :] for side in _edges(first))
    c, d, m = (side[..., None, :, :] for side in _edges(second))
    apart = (_dot(n, c), -_dot(n, d), _dot(m, b), -_dot(m, a))
    least, most = np.minimum.reduce(apart), np.maximum.reduce(apart)
    crossed = np.where(_dot(a + b, c + d) > 0, np.maximum(least, -most), -9.0)
    return np.asarray(np.where(crossed > 0, crossed, -9.0).max(axis=(-2, -1)))
