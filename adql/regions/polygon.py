"""Polygons on the sphere, whose edges are great circles, and BOX."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from adql.regions.region import Region
from adql.regions.unit_vectors import (
    ROUNDING,
    Mask,
    Reals,
    ShapeError,
    Vectors,
    checked_position,
    direction,
    directions,
    dots,
    lengths,
    position,
    separations,
)

#: A polygon's area over its squared circumference is at least this; below, it is a line.
_FLAT = 1e-13

#: The side of a BOX that was given as 0, in degrees (4e-8 arcsec): a box is a closed set of at least this size.
_THINNEST = 1e-11

#: Radians; below it polygons are as good as flat for their centroid
SMALL = 1e-4

#: Vertices: whether sides cross is looked for among all pairs of them
_MOST_VERTICES = 5000

#: points x edges that are in memory at once
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Edges:
    """Great-circle arcs from ``a`` to ``b``; ``normals`` are of unit length and point to the left of the way."""

    a: Vectors
    b: Vectors
    normals: Vectors

    @classmethod
    def around(cls, vertices: Vectors) -> Edges:
        """(a-b) x (a+b) = 2 a x b, without its cancellation for short edges."""
        a, b = vertices, np.roll(vertices, -1, axis=0)
        across = np.cross(a - b, a + b)
        return cls(a, b, across / lengths(across)[:, None])

    def heights(self, points: Vectors) -> Reals:
        """Sine of the distance to each edge's great circle, positive on the left, shape (points, edges)."""
        return dots(points, self.normals)

    @property
    def along(self) -> tuple[Vectors, Vectors]:
        """Unit vectors along the edges, from the start onward and from the end back: on the circle, both products with
        a point are positive between the ends. (Cosines of the distance to the middle would be blind to 1e-8 radians.)
        """
        return np.cross(self.normals, self.a), np.cross(self.b, self.normals)

    def distances(self, points: Vectors) -> Reals:
        """To each edge in radians, shape (points, edges): to its great circle where the foot of the perpendicular is on
        the edge, else to its start (its end is the start of the next one)."""
        onward, back = self.along
        after = dots(points, onward)
        beside = (after >= 0) & (dots(points, back) >= 0)
        to_circle = np.arctan2(np.abs(self.heights(points)), np.hypot(dots(points, self.a), after))
        to_start = separations(points[:, None, :], self.a[None, :, :])
        return np.where(beside, np.minimum(to_circle, to_start), to_start)


@dataclass(frozen=True, slots=True)
class Polygon(Region):
    """The smaller of the two sides of a closed line of great-circle arcs, whatever the sense of its vertices.

    ``vertices`` are (lon, lat) in degrees. A vertex that repeats its neighbour, as the last one may the first, is
    left out. Raises ``ShapeError`` for less than three distinct vertices, neighbours that are antipodes (any great
    circle joins them), edges that cross, and for lines that enclose no area or exactly half of the sky.
    """

    vertices: tuple[tuple[float, float], ...]
    edges: Edges = field(init=False, repr=False, compare=False)
    #: Whether the inside is on the left of the way along the vertices
    left: bool = field(init=False, repr=False, compare=False)
    _area: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.vertices) > _MOST_VERTICES:
            raise ShapeError(
                f"a polygon of {len(self.vertices)} vertices; at most {_MOST_VERTICES} are taken",
                "leave out vertices, or give the region as a MOC: REGION('order/cells ...')",
            )
        for lon, lat in self.vertices:
            checked_position(lon, lat)
        points = _distinct(directions(*np.array(self.vertices, dtype=np.float64).reshape(-1, 2).T))
        if len(points) < 3:
            raise ShapeError(
                f"a polygon of {len(points)} distinct vertices", "give at least three, as ra1, dec1, ra2, dec2 ..."
            )
        if (lengths(points + np.roll(points, -1, axis=0)) < 1e-12).any():
            raise ShapeError("two neighbouring vertices of the polygon are antipodes", "put a vertex between them")
        edges = Edges.around(points)
        _refuse_crossing(edges)
        area = signed_area(points)
        _refuse_flat(edges, abs(area))
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "left", area > 0)
        object.__setattr__(self, "_area", abs(area))

    def contains(self, points: Vectors) -> Mask:
        """Inside by the sum of signed triangles, or on an edge.

        The triangles with apex -p over the edges have the signed areas 2 atan2(-p.(a x b), 1 + a.b - p.a - p.b) (A. van
        Oosterom, J. Strackee 1983, IEEE Trans. Biomed. Eng. 30, 125); the second is (a-p).(b-p), which keeps its digits
        for the smallest polygons. Their sum is the area on the left, less 4 pi if p lies there. So it is larger than
        2 pi, in size, exactly for p in the smaller side; and near an edge its jump depends on the sign of p.(a x b)
        alone.
        """
        step = max(1, _BLOCK // len(self.edges.a))
        parts = [self._contains(points[i : i + step]) for i in range(0, len(points), step)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)

    def _contains(self, points: Vectors) -> Mask:
        a, b = self.edges.a, self.edges.b
        triple = self.edges.heights(points) * (lengths(np.cross(a - b, a + b)) / 2)
        away = a[None, :, :] - points[:, None, :]
        below = np.einsum("ijk,ijk->ij", away, np.roll(away, -1, axis=1))
        return np.asarray(np.abs(np.arctan2(-triple, below).sum(axis=1)) > math.pi) | self.on_border(points)

    def on_border(self, points: Vectors) -> Mask:
        """Which points are on an edge or vertex, within rounding."""
        after, before = self.edges.along
        beside = (dots(points, after) >= -ROUNDING) & (dots(points, before) >= -ROUNDING)
        return np.asarray((beside & (np.abs(self.edges.heights(points)) <= ROUNDING)).any(axis=1))

    def distance(self, points: Vectors) -> Reals:
        step = max(1, _BLOCK // len(self.edges.a))
        parts = [self.edges.distances(points[i : i + step]).min(axis=1) for i in range(0, len(points), step)]
        apart = np.concatenate(parts) if parts else np.zeros(0)
        return np.where(self.contains(points), -apart, apart)

    @property
    def convex(self) -> bool:
        """Whether the polygon is the intersection of the hemispheres on the inner sides of its edges."""
        inner = self.edges.heights(self.edges.a) * (1 if self.left else -1)
        return bool((inner >= -ROUNDING).all())

    @property
    def size(self) -> float:
        return math.sqrt(self._area / math.pi)

    @property
    def area(self) -> float:
        """Square degrees."""
        return math.degrees(math.degrees(self._area))

    @property
    def centroid(self) -> tuple[float, float]:
        """Direction of the integral of unit vectors over the inside, which is half the sum of edge length x normal.

        In a small polygon that sum cancels (the error is 1e-16 / size radians) and the plane's centroid takes over (its
        error is below size^3): together within 1e-11 radians.
        """
        a, b = self.edges.a, self.edges.b
        if float(lengths(a - a[0]).max()) < SMALL:
            return position(_flat_centroid(a))
        total = (self.edges.normals * separations(a, b)[:, None]).sum(axis=0)
        return position(total if self.left else -total)


def box(lon: float, lat: float, width: float, height: float) -> Polygon:
    """ADQL's BOX, which is STC's Box: the arms of a cross extend from the centre along great circles, parallel to the
    axes there, half the size to either side; the sides are the great circles through the ends of the arms, at right
    angles to them. That is a rectangle in the gnomonic projection around the centre: not a range of coordinates.

    Sizes in degrees, from 0 to less than 180.
    """
    checked_position(lon, lat)
    for what, value in (("width", width), ("height", height)):
        if not 0 <= value < 180:
            raise ShapeError(
                f"BOX of {what} {value:g} degrees: its great-circle sides need 0 <= {what} < 180",
                "for a band of the sky compare coordinates: ra BETWEEN ... AND dec BETWEEN ...",
            )
    x = math.tan(math.radians(max(width, _THINNEST)) / 2)
    y = math.tan(math.radians(max(height, _THINNEST)) / 2)
    centre = np.array(direction(lon, lat))
    ra, dec = math.radians(lon), math.radians(lat)
    east = np.array([-math.sin(ra), math.cos(ra), 0.0])
    north = np.array([-math.sin(dec) * math.cos(ra), -math.sin(dec) * math.sin(ra), math.cos(dec)])
    corners = [centre + sx * x * east + sy * y * north for sx, sy in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
    return Polygon(tuple(position(c) for c in corners))


def _flat_centroid(vertices: Vectors) -> Vectors:
    """Of the polygon's projection to the tangent plane at its first vertex: triangles weighted by their areas."""
    o = vertices[0]
    a, b = vertices[1:-1] - o, vertices[2:] - o
    weights = np.cross(a, b) @ o
    return np.asarray(o + (weights[:, None] * (a + b)).sum(axis=0) / (3 * weights.sum()))


def signed_area(vertices: Vectors) -> float:
    """Area in steradians of the smaller side of the closed line, negative if that is on the right of the way.

    Sum of the signed triangles over the first vertex; with differences in the triple product it keeps its digits for
    the smallest polygons.
    """
    o, a, b = vertices[0], vertices[1:-1], vertices[2:]
    triple = np.einsum("j,ij->i", o, np.cross(a - o, b - o))
    below = 1.0 + np.einsum("ij,ij->i", a, b) + (a + b) @ o
    return math.remainder(float(2 * np.arctan2(triple, below).sum()), 4 * math.pi)


def _distinct(points: Vectors) -> Vectors:
    """Without those that repeat the one before them, the last before the first."""
    return points[lengths(points - np.roll(points, 1, axis=0)) > 2 * ROUNDING]


def _refuse_crossing(edges: Edges) -> None:
    step = max(1, _BLOCK // len(edges.a))
    for i in range(0, len(edges.a), step):
        some = Edges(edges.a[i : i + step], edges.b[i : i + step], edges.normals[i : i + step])
        crossing = np.argwhere(crossings(some, edges))
        if len(crossing):
            first, second = crossing[0] + (i + 1, 1)
            raise ShapeError(
                f"edges {first} and {second} of the polygon cross", "give the vertices in their order along the border"
            )


def crossings(some: Edges, others: Edges) -> Mask:
    """Which pairs of arcs AB and CD cross, not merely touch: triangles ACB, CBD, BDA, DAC all turn the same way."""
    ab_c, ab_d = others.a @ some.normals.T, others.b @ some.normals.T  # [other, some]
    cd_a, cd_b = some.a @ others.normals.T, some.b @ others.normals.T  # [some, other]
    apart = (np.minimum(np.abs(ab_c), np.abs(ab_d)) > ROUNDING).T & (np.minimum(np.abs(cd_a), np.abs(cd_b)) > ROUNDING)
    turn = ab_d.T > 0
    return np.asarray(apart & ((ab_c.T > 0) != turn) & ((cd_a > 0) == turn) & ((cd_b > 0) != turn))


def _refuse_flat(edges: Edges, area: float) -> None:
    around = float(separations(edges.a, edges.b).sum())
    if area < _FLAT * min(around, 1.0) ** 2:
        raise ShapeError("the polygon encloses no area", "its vertices are on one great circle")
    if 2 * math.pi - area < 1e-12 * len(edges.a):
        raise ShapeError("the polygon encloses half of the sky, on either side", "for a hemisphere give a CIRCLE of 90")
