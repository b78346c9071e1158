"""Area and centroid of a constant region, from its border arcs.

The area is the sum of the triangles between an apex and the chords of the arcs and of the segments between chords and
arcs, modulo the area of the sphere. The centroid is half the integral of p x dp along the border.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from adql.regions.borders import Arc, find_border
from adql.regions.cone import Cone
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.unit_vectors import Reals, ShapeError, vector_lengths, vector_to_position

_SPHERE = 4 * math.pi


def find_area(region: Region) -> float:
    """Compute the area of a region.

    Parameters
    ----------
    region : Region
        The region.

    Returns
    -------
    float
        Square degrees.

    Raises
    ------
    ShapeError
        If the region is a combination with a MOC.
    """
    if isinstance(region, (Cone, Polygon, Moc)):
        return region.area
    arcs = find_border(region).arcs
    apex = _choose_apex(arcs)
    area = math.fsum(_swept_area(apex, arc) for arc in arcs) % _SPHERE
    if min(area, _SPHERE - area) < 1e-9:  # rounding would decide between nothing and everything, so samples decide
        axes = np.eye(3)
        inside = int(region.contains(np.concatenate((axes, -axes))).sum())
        if area > 1 and inside < 3:
            area -= _SPHERE
        elif area < 1 and inside > 3:
            area += _SPHERE
    return max(0.0, area) * math.degrees(1) ** 2


def find_centroid(region: Region) -> tuple[float, float]:
    """Compute the position of the integral of directions over a region, exact to 1e-16 / size radians.

    Parameters
    ----------
    region : Region
        The region.

    Returns
    -------
    tuple of float
        Longitude and latitude in degrees.

    Raises
    ------
    ShapeError
        If the region is a combination with a MOC, or if the integral is 0.
    """
    if isinstance(region, (Cone, Polygon, Moc)):
        return region.centroid
    total = sum((_find_moment(arc) for arc in find_border(region).arcs), start=np.zeros(3))
    if float(vector_lengths(total)) < 1e-14:
        raise ShapeError("the region has no centroid", "it is empty, has no area, or is balanced around the sky")
    return vector_to_position(total)


def _choose_apex(arcs: list[Arc]) -> Reals:
    """Return a point on the border of a small region, for precision; else a direction with its antipode off borders."""
    starts = np.array([arc.find_point(arc.start) for arc in arcs]).reshape(-1, 3)
    is_near = len(starts) > 0 and bool((starts @ starts[0] > 0.9).all())
    if is_near and all(abs(arc.stop - arc.start) < 1 for arc in arcs):
        return np.asarray(starts[0])
    return np.array([0.36, 0.48, 0.8])


def _swept_area(apex: Reals, arc: Arc) -> float:
    # 1 - height, exact for small circles
    cap = arc.radius**2 / (1 + arc.height) if arc.height > 0 else 1 - arc.height
    # each chord spans at most a quarter of the circle, because its ends must not be antipodes
    chords = pairwise(arc.find_points(np.linspace(arc.start, arc.stop, 5)))
    triangles = sum(_triangle_area(apex, a, b) - _triangle_area(arc.axis, a, b) for a, b in chords)
    return (arc.stop - arc.start) * cap + triangles


def _triangle_area(o: Reals, a: Reals, b: Reals) -> float:
    """Return the signed area; see ``polygon.signed_area``."""
    triple = np.cross(a - o, b - o) @ o
    below = 1 + a @ b + (a + b) @ o
    return 2 * math.atan2(float(triple), float(below))


def _find_moment(arc: Arc) -> Reals:
    """Return half the integral of p x dp."""
    start, stop = arc.start, arc.stop
    along_u = math.sin(stop) - math.sin(start)
    along_v = math.cos(stop) - math.cos(start)
    radial = along_u * arc.u - along_v * arc.v
    integral = arc.radius**2 * (stop - start) * arc.axis - arc.height * arc.radius * radial
    return np.asarray(integral / 2)
