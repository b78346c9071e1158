"""Sectors of polygons with many vertices, so that only the few edges of a sector decide about positions in it.

Meridians of a reference direction divide the sky into sectors. The arc from a position to the reference is in the
sector of the position, so it can cross only edges that touch the sector, and the position can be only on these edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adql.regions.polygon import Polygon
from adql.regions.polygon_edges import Edges
from adql.regions.unit_vectors import Reals, Vectors, dot_products, vector_lengths

#: Ten times the rounding of a direction; divided by the distance from the reference, the rounding of an azimuth
_ROUNDING = 1e-14

#: Minimum sine of the distance of a reference from the great circles of all edges, if there is such a reference
_MIN_CLEARANCE = 1e-7

#: Number of candidate references near the polygon, and over the sky
_NEAR_REFERENCES, _FAR_REFERENCES = 48, 8

#: Maximum number of edges in all sectors, for each edge of the polygon
_MAX_COPIES = 16

_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sectors:
    """A polygon's edges by sector.

    Parameters
    ----------
    pole, u, v : Reals
        Unit vectors at right angles, shape (3,); ``pole`` is the reference.
    edges : Edges
        Counterclockwise around ``pole``, seen from outside the sphere.
    bounds : Reals
        The starts of the sectors: ascending azimuths in radians from ``u`` towards ``v``. The first is below all
        azimuths.
    members : tuple of tuple of int
        The numbers of the edges of each sector.
    """

    pole: Reals
    u: Reals
    v: Reals
    edges: Edges
    bounds: Reals
    members: tuple[tuple[int, ...], ...]


def divide_polygon(polygon: Polygon, far: Vectors) -> Sectors:
    """Divide a polygon around the reference from which the fewest edges are behind each other.

    Parameters
    ----------
    polygon : Polygon
        The polygon.
    far : Vectors
        Candidate references over the sky, shape (n, 3); others are near the polygon. The antipodes of references, which
        no unique arc joins to them, are outside all but the largest polygons.

    Returns
    -------
    Sectors
        The edges of the polygon by sector.
    """
    edges = polygon.edges
    total = len(edges.a)
    near = _choose_clearest(edges, _spread_around(edges.a), _NEAR_REFERENCES)
    candidates = np.concatenate((near, _choose_clearest(edges, far, _FAR_REFERENCES)))
    clearance = _find_clearance(edges, candidates) - polygon.contains(-candidates)
    good = clearance > _MIN_CLEARANCE
    if not good.any():
        good = clearance == clearance.max()
    views = (_View.from_pole(edges, pole) for pole in candidates[good])
    view = min(views, key=lambda view: view.count_copies(total))
    count = total
    while count > 1 and view.count_copies(count) > _MAX_COPIES * total:
        count //= 2
    return view.divide_edges(count)


def _spread_around(vertices: Vectors) -> Vectors:
    """Return directions spread over a cap that contains the vertices, unless they surround half of the sky."""
    total = vertices.sum(axis=0)
    middle = total / max(float(vector_lengths(total)), 1e-9)
    u, v = _perpendiculars(middle)
    i = np.arange(200) + 0.5
    reach = np.sqrt(i / 200) * vector_lengths(vertices - middle).max()
    angle = np.pi * (1 + np.sqrt(5)) * i
    cosines, sines = np.cos(angle)[:, None], np.sin(angle)[:, None]
    spread = middle + reach[:, None] * (cosines * u + sines * v)
    return np.asarray(spread / vector_lengths(spread)[:, None])


def _perpendiculars(pole: Reals) -> tuple[Reals, Reals]:
    """Return unit vectors perpendicular to ``pole`` and to each other, counterclockwise."""
    u = np.cross(pole, np.eye(3)[np.argmin(np.abs(pole))])
    u = u / vector_lengths(u)
    return u, np.cross(pole, u)


def _find_clearance(edges: Edges, points: Vectors) -> Reals:
    return np.asarray(np.abs(dot_products(points, edges.normals)).min(axis=1))


def _choose_clearest(edges: Edges, points: Vectors, count: int) -> Vectors:
    return points[np.argsort(-_find_clearance(edges, points), kind="stable")[:count]]


@dataclass(frozen=True, slots=True)
class _View:
    """The azimuths, seen from ``pole``, of the first and last points of edges; first > last across the cut."""

    pole: Reals
    u: Reals
    v: Reals
    edges: Edges
    first: Reals
    last: Reals

    @classmethod
    def from_pole(cls, edges: Edges, pole: Reals) -> _View:
        middle = edges.a.mean(axis=0)
        u = middle - (middle @ pole) * pole  # the cut is opposite to the polygon
        u = u / vector_lengths(u) if vector_lengths(u) > 1e-9 else _perpendiculars(pole)[0]
        v = np.cross(pole, u)
        is_reversed = (edges.normals @ pole < 0)[:, None]
        a = np.where(is_reversed, edges.b, edges.a)
        b = np.where(is_reversed, edges.a, edges.b)
        oriented = Edges(a, b, np.where(is_reversed, -edges.normals, edges.normals))
        first, last = (np.arctan2(p @ v, p @ u) for p in (a, b))
        slack = _ROUNDING / max(float(np.abs(edges.normals @ pole).min()), _ROUNDING)
        return cls(pole, u, v, oriented, first - slack, last + slack)

    def find_bounds(self, count: int) -> Reals:
        """Return the starts of ``count`` sectors with about equal numbers of edges, and a start before them."""
        indexes = np.linspace(0, len(self.first), count, endpoint=False).astype(np.int64)
        return np.concatenate(([-4.0], np.unique(np.sort(self.first)[indexes])))

    def find_ends(self, bounds: Reals) -> tuple[_Numbers, _Numbers]:
        """Return the numbers of the sectors in which each edge begins and ends."""
        first = np.searchsorted(bounds, self.first, side="right") - 1
        last = np.searchsorted(bounds, self.last, side="right") - 1
        return np.maximum(first, 0), last

    def count_copies(self, count: int) -> int:
        bounds = self.find_bounds(count)
        first, last = self.find_ends(bounds)
        is_across = self.first > self.last
        return int((last - first + 1 + len(bounds) * is_across).sum())

    def divide_edges(self, count: int) -> Sectors:
        bounds = self.find_bounds(count)
        members: list[list[int]] = [[] for _ in bounds]
        is_across = self.first > self.last
        for edge, (first, last) in enumerate(zip(*self.find_ends(bounds), strict=True)):
            touched = [*range(last + 1), *range(first, len(bounds))] if is_across[edge] else [*range(first, last + 1)]
            for sector in touched:
                members[sector].append(edge)
        return Sectors(self.pole, self.u, self.v, self.edges, bounds, tuple(map(tuple, members)))
