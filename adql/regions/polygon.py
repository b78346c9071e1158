"""Polygons on the sphere, with great circles as edges, and BOX."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from adql.limits import MAX_VERTICES
from adql.regions.polygon_edges import Edges, find_first_crossing
from adql.regions.region import Region
from adql.regions.unit_vectors import (
    ROUNDING,
    Mask,
    Reals,
    ShapeError,
    Vectors,
    check_position,
    cross_products,
    dot_products,
    position_to_vector,
    positions_to_vectors,
    separations,
    vector_lengths,
    vector_to_position,
)

#: A polygon with less area, in units of its squared circumference, is a line
_MIN_AREA = 1e-13

#: Minimum width and height of a BOX in degrees (4e-8 arcsec), so that a box with sides of 0 is a closed set, too
_MIN_BOX_SIDE = 1e-11

#: Size in radians below which the centroid of a polygon is computed in the plane
MAX_FLAT_SIZE = 1e-4

#: Maximum number of products of points and edges in memory
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Polygon(Region):
    """The smaller side of a closed line of great-circle arcs, whose vertices may be in either orientation.

    Parameters
    ----------
    vertices : tuple of (float, float)
        Longitude and latitude in degrees. A vertex that repeats its predecessor is removed, also the last one if it
        repeats the first one.

    Raises
    ------
    ShapeError
        If there are fewer than three distinct vertices, if neighbours are antipodes (no unique great circle joins
        them), if edges cross, or if the line encloses no area or exactly half of the sky.
    """

    vertices: tuple[tuple[float, float], ...]
    edges: Edges = field(init=False, repr=False, compare=False)
    #: Whether the inside is on the left in the order of the vertices
    is_left: bool = field(init=False, repr=False, compare=False)
    _area: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.vertices) > MAX_VERTICES:
            raise ShapeError(
                f"a polygon of {len(self.vertices)} vertices; at most {MAX_VERTICES} are allowed",
                "use fewer vertices, or a MOC: REGION('order/cells ...')",
            )
        for lon, lat in self.vertices:
            check_position(lon, lat)
        longitudes, latitudes = np.array(self.vertices, dtype=np.float64).reshape(-1, 2).T
        points = _drop_repeated(positions_to_vectors(longitudes, latitudes))
        if len(points) < 3:
            raise ShapeError(
                f"a polygon of {len(points)} distinct vertices", "give at least three: ra1, dec1, ra2, dec2, ra3, dec3"
            )
        if (vector_lengths(points + np.roll(points, -1, axis=0)) < 1e-12).any():
            raise ShapeError("two neighbouring vertices of the polygon are antipodes", "put a vertex between them")
        edges = Edges.from_vertices(points)
        _refuse_crossing_edges(edges)
        area = signed_area(points)
        _refuse_flat_polygon(edges, abs(area))
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "is_left", area > 0)
        object.__setattr__(self, "_area", abs(area))

    def contains(self, points: Vectors) -> Mask:
        """Test membership by the sum of signed triangles, and positions on edges.

        The triangles with apex -p over the edges have the signed areas 2 atan2(-p.(a x b), 1 + a.b - p.a - p.b) (A. van
        Oosterom, J. Strackee 1983, IEEE Trans. Biomed. Eng. 30, 125). The denominator is (a-p).(b-p), which keeps its
        digits for the smallest polygons. The sum is the area on the left, minus 4 pi if p is there, so its absolute
        value exceeds 2 pi if and only if p is in the smaller side. Near an edge its jump depends only on the sign of
        p.(a x b).
        """
        inside = [self._contains_block(block) for block in self._split_blocks(points)]
        return np.concatenate(inside) if inside else np.zeros(0, dtype=bool)

    def _split_blocks(self, points: Vectors) -> Iterator[Vectors]:
        step = max(1, _BLOCK // len(self.edges.a))
        return (points[i : i + step] for i in range(0, len(points), step))

    def _contains_block(self, points: Vectors) -> Mask:
        a, b = self.edges.a, self.edges.b
        lengths_of_normals = vector_lengths(cross_products(a - b, a + b)) / 2
        triple = self.edges.find_heights(points) * lengths_of_normals
        away = a[None, :, :] - points[:, None, :]
        below = np.einsum("ijk,ijk->ij", away, np.roll(away, -1, axis=1))
        angles = np.abs(np.arctan2(-triple, below).sum(axis=1))
        return np.asarray(angles > math.pi) | self.is_on_border(points)

    def is_on_border(self, points: Vectors) -> Mask:
        """Test which points are on an edge or vertex, within rounding; shape (n,)."""
        after, before = self.edges.tangents
        is_between = (dot_products(points, after) >= -ROUNDING) & (dot_products(points, before) >= -ROUNDING)
        on_circle = np.abs(self.edges.find_heights(points)) <= ROUNDING
        return np.asarray((is_between & on_circle).any(axis=1))

    def signed_distance(self, points: Vectors) -> Reals:
        nearest = [self.edges.find_distances(block).min(axis=1) for block in self._split_blocks(points)]
        distance = np.concatenate(nearest) if nearest else np.zeros(0)
        return np.where(self.contains(points), -distance, distance)

    def find_cap(self) -> tuple[Vectors, float]:
        """Return a cap of all vertices. Below 90 degrees it contains the edges, and so the smaller side."""
        total = self.edges.a.sum(axis=0)
        length = float(vector_lengths(total))
        if length < 1e-9:
            return Region.find_cap(self)
        radius = float(separations(self.edges.a, total / length).max()) + ROUNDING
        return (total / length, radius) if radius < math.radians(80) else Region.find_cap(self)

    @property
    def is_convex(self) -> bool:
        """Whether the polygon is the intersection of the hemispheres on the inner sides of its edges."""
        inner = self.edges.find_heights(self.edges.a) * (1 if self.is_left else -1)
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
        """Direction of the integral of unit vectors over the inside: half the sum of edge length x normal.

        For a small polygon this sum cancels (its error is 1e-16 / size radians), so the centroid in the plane is used
        (its error is below size^3). Both are exact to 1e-11 radians.
        """
        a, b = self.edges.a, self.edges.b
        if float(vector_lengths(a - a[0]).max()) < MAX_FLAT_SIZE:
            return vector_to_position(_find_flat_centroid(a))
        total = (self.edges.normals * separations(a, b)[:, None]).sum(axis=0)
        return vector_to_position(total if self.is_left else -total)


def make_box(lon: float, lat: float, width: float, height: float) -> Polygon:
    """Make ADQL's BOX, which is STC's Box.

    The arms of a cross extend from the centre along great circles, parallel to the axes there, by half of the size in
    both directions. The sides are the great circles through the ends of the arms, perpendicular to the arms. They are a
    rectangle in the gnomonic projection around the centre, not a range of coordinates.

    Parameters
    ----------
    lon, lat : float
        Centre in degrees.
    width, height : float
        Degrees, from 0 to less than 180.

    Raises
    ------
    ShapeError
        If the centre is not a position, or a size is out of range.
    """
    check_position(lon, lat)
    for what, value in (("width", width), ("height", height)):
        if not 0 <= value < 180:
            raise ShapeError(
                f"BOX of {what} {value:g} degrees: its great-circle sides need 0 <= {what} < 180",
                "for a band of the sky, compare coordinates: ra BETWEEN ... AND dec BETWEEN ...",
            )
    x = math.tan(math.radians(max(width, _MIN_BOX_SIDE)) / 2)
    y = math.tan(math.radians(max(height, _MIN_BOX_SIDE)) / 2)
    centre = np.array(position_to_vector(lon, lat))
    ra, dec = math.radians(lon), math.radians(lat)
    to_pole = -math.sin(dec)
    east = np.array([-math.sin(ra), math.cos(ra), 0.0])
    north = np.array([to_pole * math.cos(ra), to_pole * math.sin(ra), math.cos(dec)])
    arms = ((x, -y), (x, y), (-x, y), (-x, -y))
    corners = [centre + right * east + up * north for right, up in arms]
    return Polygon(tuple(vector_to_position(corner) for corner in corners))


def _find_flat_centroid(vertices: Vectors) -> Vectors:
    """Return the centroid in the tangent plane at the first vertex, by triangles weighted by area."""
    o = vertices[0]
    a, b = vertices[1:-1] - o, vertices[2:] - o
    weights = np.cross(a, b) @ o
    weighted = (weights[:, None] * (a + b)).sum(axis=0)
    return np.asarray(o + weighted / (3 * weights.sum()))


def signed_area(vertices: Vectors) -> float:
    """Return the signed area of the smaller side of a closed line.

    It is the sum of signed triangles with the first vertex. Differences in the triple product keep the digits of small
    polygons.

    Parameters
    ----------
    vertices : Vectors
        Unit vectors, shape (n, 3).

    Returns
    -------
    float
        Steradians; negative if the smaller side is on the right in the order of the vertices.
    """
    o, a, b = vertices[0], vertices[1:-1], vertices[2:]
    triple = np.einsum("j,ij->i", o, np.cross(a - o, b - o))
    below = 1.0 + np.einsum("ij,ij->i", a, b) + (a + b) @ o
    return math.remainder(float(2 * np.arctan2(triple, below).sum()), 4 * math.pi)


def _drop_repeated(points: Vectors) -> Vectors:
    """Remove points that repeat their predecessor, which is the last point for the first one."""
    return points[vector_lengths(points - np.roll(points, 1, axis=0)) > 2 * ROUNDING]


def _refuse_crossing_edges(edges: Edges) -> None:
    crossing = find_first_crossing(edges)
    if crossing is not None:
        first, second = crossing
        raise ShapeError(
            f"edges {first + 1} and {second + 1} of the polygon cross",
            "give the vertices in their order along the border",
        )


def _refuse_flat_polygon(edges: Edges, area: float) -> None:
    around = float(separations(edges.a, edges.b).sum())
    if area < _MIN_AREA * min(around, 1.0) ** 2:
        raise ShapeError("the polygon encloses no area", "its vertices are on one great circle")
    if 2 * math.pi - area < 1e-12 * len(edges.a):
        raise ShapeError(
            "the polygon encloses half of the sky, on either side", "for a hemisphere, use a CIRCLE of radius 90"
        )
