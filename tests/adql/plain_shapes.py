"""Relations of circles, polygons and their unions by plain geometry in numpy, independent of ``adql.regions``.

Every function broadcasts over leading axes. A margin, in radians, is how far a circle could grow or a border move before
the answer changes. Above 0 the relation holds; at about 0 borders touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def to_unit_vectors(lon: Reals, lat: Reals) -> Reals:
    """Return unit vectors, shape (..., 3), of degrees."""
    ra, dec = np.radians(lon), np.radians(lat)
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=-1)


def compute_angle(a: Reals, b: Reals) -> Reals:
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), _dot(a, b))


def _dot(a: Reals, b: Reals) -> Reals:
    return np.sum(a * b, axis=-1)


@dataclass(frozen=True)
class Circles:
    """Circles with a centre of shape (..., 3), and a radius of shape (...) in radians."""

    centre: Reals
    radius: Reals


@dataclass(frozen=True)
class Polygons:
    """Polygons smaller than a hemisphere around ``middle``, perhaps concave; vertices have the shape (..., k, 3)."""

    vertices: Reals
    middle: Reals


#: Parts that are far from each other
Shapes = Circles | Polygons | tuple[Circles | Polygons, ...]


def project_from_plane(lon: Reals, lat: Reals, x: Reals, y: Reals) -> Reals:
    """Return unit vectors of points (x east, y north) in the plane that touches the sphere at (lon, lat)."""
    centre = to_unit_vectors(lon, lat)
    ra, dec = np.radians(lon), np.radians(lat)
    east = np.stack([-np.sin(ra), np.cos(ra), 0 * ra], axis=-1)
    north = np.stack([-np.sin(dec) * np.cos(ra), -np.sin(dec) * np.sin(ra), np.cos(dec)], axis=-1)
    found = centre + x[..., None] * east + y[..., None] * north
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def contains(inner: Shapes, outer: Shapes) -> Reals:
    """Return the margin by which all of ``inner`` is in ``outer``."""
    if isinstance(inner, tuple):
        return np.minimum.reduce([contains(part, outer) for part in inner])
    if isinstance(outer, tuple):
        return np.maximum.reduce([contains(inner, part) for part in outer])
    if isinstance(outer, Circles):
        if isinstance(inner, Circles):
            margin = outer.radius - inner.radius - compute_angle(inner.centre, outer.centre)
            margin = np.where((outer.radius >= np.pi) & (inner.radius >= 0), 9.0, margin)
            return np.where((inner.radius < 0) | (outer.radius < 0), -9.0, margin)
        beyond = -_compute_depth(-outer.centre, inner) - (np.pi - outer.radius)
        return np.where(outer.radius >= np.pi, 9.0, np.where(outer.radius < 0, -9.0, beyond))
    if isinstance(inner, Circles):
        return np.where(inner.radius < 0, -9.0, _compute_depth(inner.centre, outer) - inner.radius)
    corners = np.min(_compute_vertex_depths(inner, outer), axis=-1)
    return np.minimum(
        corners, -np.maximum(_compute_crossing(inner, outer), np.max(_compute_vertex_depths(outer, inner), axis=-1))
    )


def intersects(first: Shapes, second: Shapes) -> Reals:
    """Return the margin by which the shapes have a direction in common."""
    if isinstance(first, tuple):
        return np.maximum.reduce([intersects(part, second) for part in first])
    if isinstance(second, tuple) or (isinstance(first, Polygons) and isinstance(second, Circles)):
        return intersects(second, first)
    if isinstance(first, Circles):
        if isinstance(second, Circles):
            margin = first.radius + second.radius - compute_angle(first.centre, second.centre)
            return np.where((first.radius < 0) | (second.radius < 0), -9.0, margin)
        return np.where(first.radius < 0, -9.0, _compute_depth(first.centre, second) + first.radius)
    corners = [np.max(_compute_vertex_depths(*pair), axis=-1) for pair in ((first, second), (second, first))]
    return np.maximum(np.maximum(*corners), _compute_crossing(first, second))


def _compute_depth(point: Reals, polygon: Polygons) -> Reals:
    """Return the distance of a direction to the border, negative outside."""
    a, b, n = _find_edges(polygon)
    p = point[..., None, :]
    between = (_dot(np.cross(n, a), p) > 0) & (_dot(np.cross(b, n), p) > 0)
    away = np.where(
        between, np.abs(np.arcsin(np.clip(_dot(p, n), -1, 1))), np.minimum(compute_angle(p, a), compute_angle(p, b))
    )
    turned = np.arctan2(_dot(p, np.cross(a, b)), _dot(a, b) - _dot(a, p) * _dot(b, p)).sum(axis=-1)
    inside = (np.abs(turned) > np.pi) & (_dot(point, polygon.middle) > 0)
    return np.where(inside, 1, -1) * away.min(axis=-1)


def _compute_vertex_depths(corners: Polygons, polygon: Polygons) -> Reals:
    """Return the depth of each vertex of ``corners``, shape (..., k)."""
    around = Polygons(polygon.vertices[..., None, :, :], polygon.middle[..., None, :])
    return _compute_depth(corners.vertices, around)


def _find_edges(polygon: Polygons) -> tuple[Reals, Reals, Reals]:
    a = polygon.vertices
    b = np.roll(a, -1, axis=-2)
    n = np.cross(a - b, a + b)
    return a, b, n / np.linalg.norm(n, axis=-1, keepdims=True)


def _compute_crossing(first: Polygons, second: Polygons) -> Reals:
    """Return by how much sides cross; -9 if none cross."""
    a, b, n = (side[..., :, None, :] for side in _find_edges(first))
    c, d, m = (side[..., None, :, :] for side in _find_edges(second))
    apart = (_dot(n, c), -_dot(n, d), _dot(m, b), -_dot(m, a))
    least, most = np.minimum.reduce(apart), np.maximum.reduce(apart)
    crossed = np.where(_dot(a + b, c + d) > 0, np.maximum(least, -most), -9.0)
    return np.asarray(np.where(crossed > 0, crossed, -9.0).max(axis=(-2, -1)))
