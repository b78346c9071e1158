"""Shapes: orientation, borders, areas, centroids, and numbers that define no shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.clickhouse.sky import row_shape_sql
from adql.regions import (
    Complement,
    Cone,
    Intersection,
    Moc,
    Nothing,
    Polygon,
    Range,
    Region,
    ShapeError,
    Union,
    WholeSky,
    area_centroid,
    make_box,
    make_circle,
)
from adql.regions.celestial_frames import transform_region
from adql.regions.unit_vectors import positions_to_vectors, separations, vector_to_position
from clickhouse_schema.healpix import Cells
from tests.adql.regions.shapes import centres, offset_position, sizes, stars
from tests.adql.regions.test_relations import as_columns

SKY = 4 * math.pi * math.degrees(1) ** 2

#: The triangle in the ADQL standard's examples of AREA, CENTROID and POLYGON
EXAMPLE = Polygon(((10.0, -10.5), (20.0, 20.5), (30.0, 30.5)))


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (Cone(10, 20, 0), 0.0),
        (Cone(10, 20, 90), SKY / 2),
        (Cone(10, 20, 180), SKY),
        (Polygon(((0, 0), (90, 0), (0, 90))), SKY / 8),
        (Polygon(((0, 0), (0, 90), (90, 0))), SKY / 8),
        (Polygon(((0, -1e-8), (120, -1e-8), (240, -1e-8))), SKY / 2),
        (Polygon(((0, -90), (0, 0), (0, 90), (90, 0))), SKY / 4),
        (Range(0, 360, 0, 90), SKY / 2),
        (Range(350, 10, -90, 90), SKY / 18),
        (Range(10, 20, 30, 30), 0.0),
        (Moc.parse_ascii("0/3"), SKY / 12),
        (Moc.parse_ascii("1/0-47"), SKY),
        (Moc.parse_ascii(""), 0.0),
        (Polygon(((0, 0), (1e-9, 0), (0, 1e-9))), 5e-19),
    ],
)
def test_areas(shape: Cone | Polygon | Range | Moc, area: float) -> None:
    assert shape.area == pytest.approx(area, rel=1e-9, abs=1e-30)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_area_of_a_polygon_is_the_sum_of_its_triangles_angles(data: Any) -> None:
    """Test Girard's theorem: the area is the excess of the angles over a plane polygon's."""
    polygon = data.draw(stars(data.draw(centres), data.draw(st.floats(1, 50))))
    edges = polygon.edges
    normals = edges.normals if polygon.is_left else -edges.normals[::-1]
    corners = edges.a if polygon.is_left else edges.b[::-1]
    before = np.roll(normals, 1, axis=0)
    turn = np.arctan2(np.einsum("ij,ij->i", np.cross(before, normals), corners), np.einsum("ij,ij->i", before, normals))
    assert math.radians(math.radians(polygon.area)) == pytest.approx(2 * math.pi - turn.sum(), rel=1e-8)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_columns_have_the_constants_areas_and_centroids(evaluate: Any, data: Any) -> None:
    polygon = data.draw(stars(data.draw(centres), data.draw(sizes)))
    shape = as_columns(polygon)
    area, centroid = evaluate([row_shape_sql.area_sql(shape), row_shape_sql.centroid_sql(shape)])
    assert area == pytest.approx(polygon.area, rel=1e-9)
    assert separations(positions_to_vectors(*centroid), positions_to_vectors(*polygon.centroid))[0] < 1e-11


def test_columns_make_circles_and_boxes(evaluate: Any) -> None:
    cone = as_columns(Cone(350, -60, 7))
    area, centroid, corners = evaluate(
        [row_shape_sql.area_sql(cone), row_shape_sql.centroid_sql(cone), row_shape_sql.box_sql("359.5", "89", "3", "4")]
    )
    assert area == pytest.approx(Cone(350, -60, 7).area)
    assert centroid == pytest.approx([350, -60])
    assert corners == pytest.approx([c for vertex in make_box(359.5, 89, 3, 4).vertices for c in vertex])


@settings(max_examples=40, deadline=None)
@given(centre=centres, size=sizes, turn=st.floats(0, 360))
def test_the_centroid_of_a_regular_polygon_is_its_centre(centre: tuple[float, float], size: float, turn: float) -> None:
    polygon = Polygon(tuple(offset_position(centre, turn + a, size) for a in range(0, 360, 72)))
    assert separations(positions_to_vectors(*polygon.centroid), positions_to_vectors(*centre))[0] < 1e-11


def test_centroids() -> None:
    assert make_box(359.5, 10, 4, 3).centroid == pytest.approx((359.5, 10))
    assert Polygon(((0, 0), (90, 0), (0, 90))).centroid == pytest.approx((45, math.degrees(math.atan(math.sqrt(0.5)))))
    assert Cone(-10, 5, 1).centroid == (350, 5)
    assert Moc.parse_ascii("0/0-3").centroid[1] == pytest.approx(90)
    assert EXAMPLE.contains(positions_to_vectors(*EXAMPLE.centroid)).all()


def test_a_box_has_its_arms_on_great_circles() -> None:
    """Test at declination 60: the ends of the arms are half the width away, measured on the sky."""
    shape = make_box(100, 60, 10, 4)
    ends = [offset_position((100, 60), angle, size) for angle, size in ((90, 5), (270, 5), (0, 2), (180, 2))]
    assert shape.is_on_border(positions_to_vectors(*np.array(ends).T)).all()
    beyond = [
        offset_position((100, 60), angle, size) for angle, size in ((90, 5.001), (270, 5.001), (0, 2.001), (180, 2.001))
    ]
    assert not shape.contains(positions_to_vectors(*np.array(beyond).T)).any()


def test_a_box_without_height_is_a_line() -> None:
    shape = make_box(2, 3, 3, 0)
    on, off = offset_position((2, 3), 90, 1.4), offset_position((2, 3), 0, 1e-6)
    assert shape.contains(positions_to_vectors([2, on[0], off[0]], [3, on[1], off[1]])).tolist() == [True, True, False]


@pytest.mark.parametrize("size", [10.0, 1e-3, 1e-8])
def test_a_border_ends_at_its_vertices(size: float) -> None:
    """Test points on the great circle of an edge, inside and just beyond its ends, also of a tiny polygon."""
    polygon = Polygon(((10, 0), (10 + size, 0), (10, size)))
    along = positions_to_vectors([10 + size * f for f in (-1e-5, 0, 0.5, 1, 1 + 1e-5)], [0] * 5)
    if size == 1e-8:  # as close as rounding allows
        along = positions_to_vectors([10 + size * f for f in (-0.01, 0, 0.5, 1, 1.01)], [0] * 5)
    assert polygon.is_on_border(along).tolist() == [False, True, True, True, False]
    assert polygon.contains(along).tolist() == [False, True, True, True, False]


def test_repeated_vertices_are_dropped() -> None:
    polygon = Polygon(((0, 0), (0, 0), (10, 0), (10, 10), (370, 10), (0, 0)))
    assert len(polygon.edges.a) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polygon(()), "polygon of 0 distinct vertices"),
        (lambda: Polygon(((0, 0), (1, 1), (0, 0), (360, 0))), "polygon of 2 distinct vertices"),
        (lambda: Polygon(((0, 0), (180, 0), (3, 3))), "antipodes"),
        (lambda: Polygon(((0, 0), (10, 0), (20, 0))), "encloses no area"),
        (lambda: Polygon(((0, 0), (120, 0), (240, 0))), "half of the sky"),
        (lambda: Polygon(((0, 0), (10, 10), (10, 0), (0, 10))), "edges 1 and 3 of the polygon cross"),
        (lambda: Polygon(((0, 0), (10, 0), (10, 91))), "declination 91"),
        (lambda: Polygon(((0, 0), (10, 0), (math.nan, 1))), "is not a position"),
        (lambda: make_circle(0, 0, -1), "radius -1"),
        (lambda: make_circle(0, 0, 181), "radius 181"),
        (lambda: make_circle(0, 0, math.nan), "radius nan"),
        (lambda: make_circle(0, -91, 1), "declination -91"),
        (lambda: make_box(0, 0, -1, 1), "width -1"),
        (lambda: make_box(0, 0, 1, 180), "height 180"),
        (lambda: Range(0, 1, 3, 2), "southern latitude 3 is above northern latitude 2"),
        (lambda: Moc.parse_ascii("").centroid, "empty MOC"),
    ],
)
def test_refused_shapes(make: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        make()


LENS = Intersection((Cone(0, 0, 90), Cone(90, 0, 90)))


@pytest.mark.parametrize(
    ("region", "area"),
    [
        (LENS, SKY / 4),
        (Complement(LENS), 3 * SKY / 4),
        (Union((Cone(0, 0, 10), Cone(40, 0, 10))), 2 * Cone(0, 0, 10).area),
        (Intersection((Cone(0, 0, 10), Complement(Cone(0, 0, 5)))), Cone(0, 0, 10).area - Cone(0, 0, 5).area),
        (Union((Polygon(((0, 0), (90, 0), (0, 90))), Polygon(((0, 0), (0, 90), (-90, 0))))), SKY / 4),
        (Complement(Cone(1, 1, 1e-4)), SKY - Cone(1, 1, 1e-4).area),
        (Union((Cone(0, 0, 91), Cone(180, 0, 91))), SKY),
        (Intersection((Cone(0, 0, 89), Cone(180, 0, 89))), 0.0),
        (transform_region(Range(10, 300, -20, 20), "GALACTIC", "ICRS"), Range(10, 300, -20, 20).area),
        (WholeSky(), SKY),
        (Nothing(), 0.0),
    ],
)  # fmt: skip
def test_areas_of_combinations(region: Region, area: float) -> None:
    assert area_centroid.find_area(region) == pytest.approx(area, rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_measures_by_the_border_equal_those_of_the_shapes(data: Any) -> None:
    """Compare a polygon and a circle with combinations of one part."""
    centre, size = data.draw(centres), data.draw(st.floats(0.01, 50))
    for shape in (data.draw(stars(centre, size)), Cone(*centre, size)):
        region = Union((shape,))
        assert area_centroid.find_area(region) == pytest.approx(shape.area, rel=1e-6)
        apart = separations(
            positions_to_vectors(*area_centroid.find_centroid(region)), positions_to_vectors(*shape.centroid)
        )[0]
        assert apart < 1e-12 / math.radians(size)


def test_overlapping_shapes_against_counted_cells() -> None:
    region = Union((Intersection((Cone(0, 0, 10), Complement(make_box(3, 3, 6, 6)))), Range(355, 2, -20, 5), EXAMPLE))
    cell_centres = Cells.base_cells().divide_cells(8).find_centres()
    inside = region.contains(cell_centres)
    assert area_centroid.find_area(region) == pytest.approx(inside.mean() * SKY, rel=2e-3)
    counted = positions_to_vectors(*vector_to_position(cell_centres[inside].sum(axis=0)))
    assert separations(positions_to_vectors(*area_centroid.find_centroid(region)), counted)[0] < math.radians(0.05)


def test_regions_without_area_or_centroid() -> None:
    with pytest.raises(ShapeError, match="combination with a MOC"):
        area_centroid.find_area(Union((Moc.parse_ascii("3/5"), Cone(0, 0, 1))))
    with pytest.raises(ShapeError, match="no centroid"):
        area_centroid.find_centroid(WholeSky())
