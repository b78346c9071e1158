"""Random shapes of all sizes at difficult positions, directions around them, and an independent polygon test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from adql.regions import Complement, Cone, Intersection, Moc, Polygon, Range, Region, Union, make_box
from adql.regions.celestial_frames import transform_region
from adql.regions.unit_vectors import Vectors, position_to_vector, positions_to_vectors, vector_to_position
from clickhouse_schema.healpix import vectors_to_index
from tests.adql.sky import DIFFICULT_POSITIONS, positions

#: Radians (1e-9 arcsec): rows nearer to a border may fall on either side
BORDER = math.radians(1e-9 / 3600)

centres = st.sampled_from(DIFFICULT_POSITIONS) | st.tuples(st.floats(0, 359), st.floats(-89, 89))
sizes = st.floats(-7, 1.7).map(lambda exponent: float(10**exponent))


def offset_position(centre: tuple[float, float], angle: float, size: float) -> tuple[float, float]:
    """Return the position ``size`` degrees from another one in the direction ``angle``, in degrees."""
    lon, lat = centre
    ra, dec = math.radians(lon), math.radians(lat)
    east = np.array([-math.sin(ra), math.cos(ra), 0.0])
    north = np.array([-math.sin(dec) * math.cos(ra), -math.sin(dec) * math.sin(ra), math.cos(dec)])
    way = math.cos(math.radians(angle)) * north + math.sin(math.radians(angle)) * east
    return vector_to_position(
        math.cos(math.radians(size)) * np.array(position_to_vector(lon, lat)) + math.sin(math.radians(size)) * way
    )


@st.composite
def stars(draw: Any, centre: tuple[float, float], size: float, least: int = 3, most: int = 12) -> Polygon:
    """Draw a star-shaped polygon around a position, mostly concave, in either orientation."""
    count = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    angles = (np.arange(count) + rng.uniform(0, 0.8, count)) * 360 / count
    vertices = [offset_position(centre, a, size * r) for a, r in zip(angles, rng.uniform(0.3, 1, count), strict=True)]
    return Polygon(tuple(vertices if draw(st.booleans()) else vertices[::-1]))


def make_comb(centre: tuple[float, float], size: float, teeth: int) -> Polygon:
    """Return a polygon of parallel teeth, 4 vertices each; most hide each other, seen from nearly everywhere."""
    steps = np.repeat(np.arange(2 * teeth), 2) / (2 * teeth) - 0.5
    heights = np.tile([0.6, -0.4, -0.4, 0.6], teeth)
    spots = [(x * size, y * size) for x, y in zip(steps, heights, strict=True)]
    spots += [
        (0.51 * size, 0.6 * size),
        (0.51 * size, -0.5 * size),
        (-0.51 * size, -0.5 * size),
        (-0.51 * size, 0.6 * size),
    ]
    vertices = [offset_position(centre, math.degrees(math.atan2(x, y)), math.hypot(x, y)) for x, y in spots]
    return Polygon(tuple(vertices))


@st.composite
def ranges(draw: Any, centre: tuple[float, float], size: float) -> Range:
    south = max(-90.0, centre[1] - size * draw(st.floats(0, 1)))
    north = min(90.0, centre[1] + size * draw(st.floats(0, 1)))
    return Range(centre[0] - size * draw(st.floats(0, 1)), centre[0] + size * draw(st.floats(0, 4)), south, north)


@st.composite
def mocs(draw: Any, centre: tuple[float, float], size: float) -> Moc:
    """Draw cells of three orders near a position."""
    order = max(0, min(26, round(math.log2(60 / size))))
    near = positions_to_vectors(*np.array([offset_position(centre, a, size / 2) for a in range(0, 360, 60)]).T)
    picked = draw(
        st.lists(st.tuples(st.sampled_from(vectors_to_index(near).tolist()), st.integers(0, 2)), min_size=1, max_size=5)
    )
    return Moc.from_cells([(order + deeper, [index >> (2 * (29 - order - deeper))]) for index, deeper in picked])


@st.composite
def simple(draw: Any, centre: tuple[float, float], size: float) -> Region:
    kind = draw(st.integers(0, 5))
    near = offset_position(centre, draw(st.floats(0, 360)), size * draw(st.floats(0, 0.8)))
    if kind == 0:
        return Cone(*near, size * draw(st.floats(0, 1)))
    if kind == 1:
        return make_box(*near, size * draw(st.floats(0.01, 2)), size * draw(st.floats(0.01, 2)))
    if kind == 2:
        return draw(ranges(near, size))
    if kind == 3:
        return draw(mocs(near, size))
    if kind == 4:
        return transform_region(draw(ranges(near, size)), "GALACTIC", "ICRS")
    return draw(stars(near, size))


@st.composite
def regions(draw: Any, kinds: Any = simple) -> tuple[Region, Vectors]:
    """Draw a shape or a combination of shapes, and directions around it."""
    centre, size = draw(centres), draw(sizes)
    parts = tuple(draw(kinds(centre, size)) for _ in range(draw(st.integers(1, 3))))
    region = parts[0]
    if len(parts) == 2:
        region = draw(st.sampled_from([Union, Intersection]))(parts)
    elif len(parts) == 3:
        region = Intersection((Union(parts[:2]), Complement(parts[2])))
    if draw(st.integers(0, 4)) == 0:
        region = Complement(region)
    return region, sample_around(centre, size)


def sample_around(centre: tuple[float, float], size: float, count: int = 1500) -> Vectors:
    """Return directions near a position, and at all difficult positions."""
    rng = np.random.default_rng(5)
    spread = rng.normal(size=(count, 3)) * math.radians(size)
    near = np.array(position_to_vector(*centre)) + spread
    lon, lat = positions(300, 7)
    return np.concatenate((near / np.linalg.norm(near, axis=1)[:, None], positions_to_vectors(lon, lat)))


def is_inside_in_plane(polygon: Polygon, centre: tuple[float, float], points: Vectors) -> NDArray[np.bool_]:
    """Test by the even-odd rule in the gnomonic plane around ``centre``, where great circles are straight lines."""
    middle = np.array(position_to_vector(*centre))
    east = np.cross([0.0, 0.0, 1.0], middle) if abs(middle[2]) < 0.9 else np.cross([1.0, 0.0, 0.0], middle)
    east = east / np.linalg.norm(east)
    north = np.cross(middle, east)
    vertices = positions_to_vectors(*np.array(polygon.vertices).T)
    vx, vy = vertices @ east / (vertices @ middle), vertices @ north / (vertices @ middle)
    ahead = points @ middle > 0
    depth = np.where(ahead, points @ middle, 1.0)
    px, py = (points @ east / depth)[:, None], (points @ north / depth)[:, None]
    wx, wy = np.roll(vx, -1), np.roll(vy, -1)
    straddles = (vy > py) != (wy > py)
    height = np.where(wy == vy, 1.0, wy - vy)
    crossed = straddles & (px < vx + (py - vy) * (wx - vx) / height)
    return np.asarray(ahead & (crossed.sum(axis=1) % 2 == 1))
