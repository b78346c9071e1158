"""Area and centroid of any constant region, from its border.

The border is cut where its curves meet, as for relations; a piece counts if the region is on one side of it alone, and
is followed with the region on the left. The area is the sum of the triangles of an apex with the pieces' chords and of
the segments between chords and pieces, up to whole spheres; the centroid is half the integral of p x dp.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from adql.regions.borders import Curve, curves, cuts
from adql.regions.cone import Cone
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_relations import has_moc
from adql.regions.unit_vectors import Reals, ShapeError, lengths, position

_SPHERE = 4 * math.pi

#: Steps to either side of a piece of border, in pieces and in radians
_ASIDE, _LEAST_ASIDE = 1e-7, 1e-13

#: Pieces whose middles are this near, in radians, are one piece that two shapes share
_SAME = 1e-11

Piece = tuple[Curve, float, float]


def area(region: Region) -> float:
    """Square degrees. Raises ``ShapeError`` for combinations that hold a MOC."""
    if isinstance(region, (Cone, Polygon, Moc)):
        return region.area
    pieces = border_pieces(region)
    apex = _apex(pieces)
    found = math.fsum(_swept(apex, *piece) for piece in pieces) % _SPHERE
    if min(found, _SPHERE - found) < 1e-9:  # nothing or everything, but for rounding
        centre = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        inside = int(region.contains(np.concatenate((centre, -centre))).sum())
        found = found - _SPHERE if found > 1 and inside < 3 else found + _SPHERE if found < 1 and inside > 3 else found
    return max(0.0, found) * math.degrees(1) ** 2


def centroid(region: Region) -> tuple[float, float]:
    """Longitude and latitude in degrees of the integral of directions over the region.

    Good to 1e-16 / size radians. Raises ``ShapeError`` for combinations that hold a MOC, and where the integral is 0.
    """
    if isinstance(region, (Cone, Polygon, Moc)):
        return region.centroid
    total = sum((_moment(*piece) for piece in border_pieces(region)), start=np.zeros(3))
    if float(lengths(total)) < 1e-14:
        raise ShapeError("the region has no centroid", "it is empty, without area, or as much on one side of the sky")
    return position(total)


def border_pieces(region: Region) -> list[Piece]:
    """Pieces of the border with the region on the left, from one angle to another; backwards to a lesser angle."""
    if has_moc(region):
        raise ShapeError("area or centroid of a combination that holds a MOC", "combine MOCs alone")
    borders = curves(region)
    found: list[Piece] = []
    seen = np.zeros((0, 3))
    for curve in borders:
        ends = cuts(curve, borders)
        half_way = (ends[1:] + ends[:-1]) / 2
        middle = curve.at(half_way)
        step = np.maximum(_ASIDE * np.diff(ends) * curve.radius, _LEAST_ASIDE)[:, None] * curve.aside(half_way)
        left, right = region.contains(middle + step), region.contains(middle - step)
        for start, stop, point, inner, outer in zip(ends[:-1], ends[1:], middle, left, right, strict=True):
            if inner != outer and not (lengths(seen - point) < _SAME).any():
                seen = np.concatenate((seen, point[None, :]))
                found.append((curve, float(start), float(stop)) if inner else (curve, float(stop), float(start)))
    return found


def _apex(pieces: list[Piece]) -> Reals:
    """A point of the border of a small region, for precision; else a direction whose antipode no border meets."""
    starts = np.array([curve.at(np.array([start]))[0] for curve, start, _ in pieces]).reshape(-1, 3)
    if len(starts) and bool((starts @ starts[0] > 0.9).all()) and all(abs(b - a) < 1 for _, a, b in pieces):
        return np.asarray(starts[0])
    return np.array([0.36, 0.48, 0.8])


def _swept(apex: Reals, curve: Curve, start: float, stop: float) -> float:
    # 1 - height, exact for small circles
    cap = curve.radius**2 / (1 + curve.height) if curve.height > 0 else 1 - curve.height
    # ends of chords must not be antipodes: no more than a quarter of the circle at once
    points = curve.at(np.linspace(start, stop, 5))
    chords = pairwise(points)
    return (stop - start) * cap + sum(_triangle(apex, a, b) - _triangle(curve.axis, a, b) for a, b in chords)


def _triangle(o: Reals, a: Reals, b: Reals) -> float:
    """Signed area; see ``polygon.signed_area``."""
    return 2 * math.atan2(float(np.cross(a - o, b - o) @ o), float(1 + a @ b + (a + b) @ o))


def _moment(curve: Curve, start: float, stop: float) -> Reals:
    """Half the integral of p x dp, with p = height axis + radius (cos t u + sin t v)."""
    around = (math.sin(stop) - math.sin(start)) * curve.u - (math.cos(stop) - math.cos(start)) * curve.v
    whole = curve.radius**2 * (stop - start) * curve.axis - curve.height * curve.radius * around
    return np.asarray(whole / 2)
