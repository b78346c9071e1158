"""Edges of polygons, which are arcs of great circles: their distances and crossings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adql.regions.unit_vectors import (
    ROUNDING,
    Mask,
    Reals,
    Vectors,
    cross_products,
    dot_products,
    separations,
    vector_lengths,
)

#: Number of neighbouring edges that are tested for crossings together, if their bounds meet the bounds of other edges
_RUN = 48

#: Rounding of a bound
_SLACK = 1e-12

#: Directions along which runs of edges have bounds: the vertices, edges and faces of an octahedron, one of opposite
#: ones
_DIRECTIONS = np.array(
    [[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)], dtype=np.float64
)


@dataclass(frozen=True, slots=True)
class Edges:
    """Great-circle arcs from ``a`` to ``b``, shape (n, 3); the unit vectors ``normals`` point to the left."""

    a: Vectors
    b: Vectors
    normals: Vectors

    @classmethod
    def from_vertices(cls, vertices: Vectors) -> Edges:
        """Make the edges of a closed line, with 2 a x b as (a-b) x (a+b), which does not cancel for short edges."""
        a, b = vertices, np.roll(vertices, -1, axis=0)
        across = cross_products(a - b, a + b)
        return cls(a, b, across / vector_lengths(across)[:, None])

    def choose_edges(self, which: slice | NDArray[np.int64]) -> Edges:
        """Return a selection of the edges."""
        return Edges(self.a[which], self.b[which], self.normals[which])

    def find_heights(self, points: Vectors) -> Reals:
        """Return the sine of the distance to the great circle of each edge, positive on its left.

        The shape is (points, edges).
        """
        return dot_products(points, self.normals)

    @property
    def tangents(self) -> tuple[Vectors, Vectors]:
        """Unit vectors along the edges: forward from the start, and backward from the end.

        The products of both with a point of the great circle are positive between the ends. (The cosine of the distance
        to the middle is exact only to 1e-8 radians.)
        """
        return cross_products(self.normals, self.a), cross_products(self.b, self.normals)

    def find_distances(self, points: Vectors) -> Reals:
        """Return the distance to each edge in radians, shape (points, edges).

        The distance is to the great circle if the foot of the perpendicular is on the edge, else to the start of the
        edge; its end is the start of the next edge.
        """
        onward, back = self.tangents
        after = dot_products(points, onward)
        has_foot = (after >= 0) & (dot_products(points, back) >= 0)
        along = np.hypot(dot_products(points, self.a), after)
        to_circle = np.arctan2(np.abs(self.find_heights(points)), along)
        to_start = separations(points[:, None, :], self.a[None, :, :])
        return np.where(has_foot, np.minimum(to_circle, to_start), to_start)


def find_first_crossing(edges: Edges) -> tuple[int, int] | None:
    """Return the first two edges of a closed line that cross; None if no edges cross.

    A run of neighbouring edges is tested only against runs whose bounds meet its bounds, so that a line of n edges
    takes about n tests instead of n squared.
    """
    total = len(edges.a)
    low, high = _bound_runs(edges)
    numbers = np.arange(total)
    for run, start in enumerate(range(0, total, _RUN)):
        meets = ((low[run] <= high[run:]) & (high[run] >= low[run:])).all(axis=1)
        later = numbers[start:][np.repeat(meets, _RUN)[: total - start]]
        some = slice(start, start + _RUN)
        crossing = np.argwhere(find_crossings(edges.choose_edges(some), edges.choose_edges(later)))
        if len(crossing):
            first, second = crossing[0]
            return start + int(first), int(later[second])
    return None


def _bound_runs(edges: Edges) -> tuple[Reals, Reals]:
    """Return the minimum and maximum products with ``_DIRECTIONS`` in each run, shape (runs, directions).

    An arc is farthest from its chord in the middle, where the distance is 1 - cos(length / 2).
    """
    middles = vector_lengths(edges.a + edges.b) / 2
    bulge = ((1 - middles) + _SLACK)[:, None] * vector_lengths(_DIRECTIONS)
    one, other = edges.a @ _DIRECTIONS.T, edges.b @ _DIRECTIONS.T
    starts = np.arange(0, len(middles), _RUN)
    low = np.minimum.reduceat(np.minimum(one, other) - bulge, starts)
    return low, np.maximum.reduceat(np.maximum(one, other) + bulge, starts)


def find_crossings(some: Edges, others: Edges) -> Mask:
    """Test which pairs of arcs AB and CD cross, shape (some, others); touching does not count.

    They cross if the triangles ACB, CBD, BDA and DAC have the same orientation.
    """
    ab_c = (others.a @ some.normals.T).T
    ab_d = (others.b @ some.normals.T).T
    cd_a = some.a @ others.normals.T
    cd_b = some.b @ others.normals.T
    ends_of_cd_apart = np.minimum(np.abs(ab_c), np.abs(ab_d)) > ROUNDING
    ends_of_ab_apart = np.minimum(np.abs(cd_a), np.abs(cd_b)) > ROUNDING
    turn = ab_d > 0
    opposite = ((ab_c > 0) != turn) & ((cd_a > 0) == turn) & ((cd_b > 0) != turn)
    return np.asarray(ends_of_cd_apart & ends_of_ab_apart & opposite)
