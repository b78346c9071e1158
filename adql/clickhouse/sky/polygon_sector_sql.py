"""Polygons of many vertices: the few edges that matter for a position, by the direction in which it is seen.

Meridians of a reference direction divide the sky into sectors. The arc from a position to the reference stays in the
position's sector, so only the edges that touch the sector can be crossed by it, or have the position on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adql.regions.polygon import Edges, Polygon
from adql.regions.unit_vectors import Reals, Vectors, dots, lengths

#: Rounding of a direction over its distance from the reference is that of an azimuth; ten times as much
_ROUNDING = 1e-14

#: References are at least so far, as a sine, from the great circle of every edge, if there are any such.
_CLEAR = 1e-7

#: How many references are tried, those around the polygon and those all over the sky
_NEAR, _FAR = 48, 8

#: Edges in all sectors together, at most, for each edge of the polygon
_COPIES = 16

_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sectors:
    """``edges`` go counterclockwise around ``pole``, a unit vector, as seen from outside the sphere.

    ``bounds``: where each sector begins: ascending azimuths in radians, measured from ``u`` towards ``v``; the first is
    below all. ``members``: the numbers of the edges of each sector.
    """

    pole: Reals
    u: Reals
    v: Reals
    edges: Edges
    bounds: Reals
    members: tuple[tuple[int, ...], ...]


def sectors(polygon: Polygon, far: Vectors) -> Sectors:
    """Around the reference from which the fewest edges lie behind each other, near the polygon or one of ``far``.

    The antipode of the reference, which no arc joins uniquely to it, is not inside, for all but the largest polygons.
    """
    edges = polygon.edges
    candidates = np.concatenate((_clearest(edges, _around(edges.a), _NEAR), _clearest(edges, far, _FAR)))
    clear = _clearness(edges, candidates) - polygon.contains(-candidates)
    good = clear > _CLEAR
    if not good.any():
        good = clear == clear.max()
    view = min((_View.of(edges, pole) for pole in candidates[good]), key=lambda view: view.copies(len(edges.a)))
    count = len(edges.a)
    while count > 1 and view.copies(count) > _COPIES * len(edges.a):
        count //= 2
    return view.divided(count)


def _around(vertices: Vectors) -> Vectors:
    """Directions all over a cap that the vertices are in, but for those of a polygon around half of the sky."""
    total = vertices.sum(axis=0)
    middle = total / max(float(lengths(total)), 1e-9)
    u, v = _across(middle)
    i = np.arange(200) + 0.5
    reach = np.sqrt(i / 200) * lengths(vertices - middle).max()
    angle = np.pi * (1 + np.sqrt(5)) * i
    found = middle + reach[:, None] * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v)
    return np.asarray(found / lengths(found)[:, None])


def _across(pole: Reals) -> tuple[Reals, Reals]:
    """Unit vectors at right angles to ``pole`` and to each other, counterclockwise."""
    u = np.cross(pole, np.eye(3)[np.argmin(np.abs(pole))])
    u = u / lengths(u)
    return u, np.cross(pole, u)


def _clearness(edges: Edges, points: Vectors) -> Reals:
    return np.asarray(np.abs(dots(points, edges.normals)).min(axis=1))


def _clearest(edges: Edges, points: Vectors, count: int) -> Vectors:
    return points[np.argsort(-_clearness(edges, points), kind="stable")[:count]]


@dataclass(frozen=True, slots=True)
class _View:
    """The edges as seen from ``pole``: azimuths of their first and last points, first > last across the cut."""

    pole: Reals
    u: Reals
    v: Reals
    edges: Edges
    first: Reals
    last: Reals

    @classmethod
    def of(cls, edges: Edges, pole: Reals) -> _View:
        middle = edges.a.mean(axis=0)
        u = middle - (middle @ pole) * pole  # the cut is on the other side of the polygon
        u = u / lengths(u) if lengths(u) > 1e-9 else _across(pole)[0]
        v = np.cross(pole, u)
        turned = (edges.normals @ pole < 0)[:, None]
        a, b = np.where(turned, edges.b, edges.a), np.where(turned, edges.a, edges.b)
        oriented = Edges(a, b, np.where(turned, -edges.normals, edges.normals))
        first, last = (np.arctan2(p @ v, p @ u) for p in (a, b))
        slack = _ROUNDING / max(float(np.abs(edges.normals @ pole).min()), _ROUNDING)
        return cls(pole, u, v, oriented, first - slack, last + slack)

    def bounds(self, count: int) -> Reals:
        """Of ``count`` sectors, and one before them; about as many edges begin in each."""
        places = np.linspace(0, len(self.first), count, endpoint=False).astype(np.int64)
        return np.concatenate(([-4.0], np.unique(np.sort(self.first)[places])))

    def spans(self, bounds: Reals) -> tuple[_Numbers, _Numbers]:
        """Numbers of the sectors that each edge begins and ends in."""
        first, last = (np.searchsorted(bounds, ends, side="right") - 1 for ends in (self.first, self.last))
        return np.maximum(first, 0), last

    def copies(self, count: int) -> int:
        bounds = self.bounds(count)
        first, last = self.spans(bounds)
        return int((last - first + 1 + len(bounds) * (self.first > self.last)).sum())

    def divided(self, count: int) -> Sectors:
        bounds = self.bounds(count)
        members: list[list[int]] = [[] for _ in bounds]
        across = self.first > self.last
        for edge, (first, last) in enumerate(zip(*self.spans(bounds), strict=True)):
            touched = (*range(last + 1), *range(first, len(bounds))) if across[edge] else range(first, last + 1)
            for sector in touched:
                members[sector].append(edge)
        return Sectors(self.pole, self.u, self.v, self.edges, bounds, tuple(tuple(m) for m in members))
