"""The SQL of membership selects the same rows as ``contains``, and both agree with independent tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.clickhouse.sky.membership_sql import Row, membership_sql
from adql.regions import Complement, Cone, Polygon, Range, Region, Union, WholeSky, make_box
from adql.regions.unit_vectors import Vectors, positions_to_vectors
from tests.adql.regions.shapes import (
    BORDER,
    centres,
    is_inside_in_plane,
    make_comb,
    offset_position,
    regions,
    sample_around,
    sizes,
    stars,
)
from tests.adql.regions.spots import Select
from tests.adql.sky import positions, separation

FIXTURES = [HealthCheck.function_scoped_fixture]


@settings(max_examples=40, deadline=None, suppress_health_check=FIXTURES)
@given(regions())
def test_sql_equals_contains(select: Select, row: Row, spots: Vectors, sample: tuple[Region, Vectors]) -> None:
    region, _ = sample
    found = np.zeros(len(spots), dtype=bool)
    found[select(membership_sql(region, row))] = True
    clear = np.abs(region.signed_distance(spots)) > BORDER
    expected = region.contains(spots)
    different = found != expected
    if "Moc" not in repr(region):  # the index alone decides membership in a MOC
        different &= clear
    assert np.flatnonzero(different).tolist() == []


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_contains_equals_the_even_odd_rule_in_the_plane(data: Any) -> None:
    centre, size = data.draw(centres), data.draw(sizes)
    polygon = data.draw(stars(centre, size))
    points = sample_around(centre, size)
    clear = np.abs(polygon.signed_distance(points)) > BORDER
    assert (polygon.contains(points) == is_inside_in_plane(polygon, centre, points))[clear].all()


@settings(max_examples=35, deadline=None, suppress_health_check=FIXTURES)
@given(data=st.data(), centre=centres, size=sizes)
def test_many_edges_are_tested_by_sectors(evaluate: Any, data: Any, centre: tuple[float, float], size: float) -> None:
    combs = st.integers(3, 30).map(lambda teeth: make_comb(centre, size, teeth))
    polygon = data.draw(st.one_of(stars(centre, size, 13, 90), combs))
    _check_by_sectors(polygon, sample_around(centre, size, 200), evaluate)


@pytest.mark.parametrize("centre", [(100.0, 30.0), (0.0, 90.0)])
def test_hundreds_of_edges_make_a_short_condition(evaluate: Any, centre: tuple[float, float]) -> None:
    jagged = Polygon(tuple(offset_position(centre, i * 360 / 800, 3.0 + i % 2) for i in range(800)))
    for polygon in (jagged, make_comb(centre, 5.0, 200)):
        assert len(_check_by_sectors(polygon, sample_around(centre, 4.0, 500), evaluate)) < 450 * len(polygon.vertices)


def _check_by_sectors(polygon: Polygon, points: Vectors, evaluate: Any) -> str:
    """Compare the condition with ``contains``, also close to edges, and return it; edges and vertices are inside."""
    edges = polygon.edges
    middles = (edges.a + edges.b) / np.linalg.norm(edges.a + edges.b, axis=1)[:, None]
    border = np.concatenate((edges.a, middles))
    nearby = np.concatenate([middles + distance * edges.normals for distance in (-1e-6, -1e-12, 1e-12, 1e-6)])
    points = np.concatenate((points, nearby))
    points = points[np.abs(polygon.signed_distance(points)) > 1e-14]
    condition = membership_sql(polygon, Row("p.1", "p.2", "p.3"))
    assert "arrayFilter" in condition
    literal = ", ".join(f"({x!r}, {y!r}, {z!r})" for x, y, z in np.concatenate((points, border)).tolist())
    [found] = evaluate([f"arrayMap(p -> {condition}, [{literal}])"])
    assert np.flatnonzero(np.array(found[: len(points)]) != polygon.contains(points)).tolist() == []
    assert found[len(points) :] == [1] * len(border)
    return condition


@settings(max_examples=20, deadline=None, suppress_health_check=FIXTURES)
@given(centre=centres, size=st.floats(1e-6, 179.9))
def test_cones_equal_astropy(select: Select, row: Row, centre: tuple[float, float], size: float) -> None:
    distances = separation(*positions(1000, 11), *centre)
    clear = np.abs(distances - size) * 3600 > 1e-9
    found = np.zeros(len(distances), dtype=bool)
    found[select(membership_sql(Cone(*centre, size), row))] = True
    assert (found == (distances <= size))[clear].all()


@pytest.mark.parametrize(
    "polygon",
    [
        Polygon(((10, 10), (20, 10), (15, 30))),
        Polygon(((10, 10), (20, 10), (12, 12), (10, 30))),
        Polygon(((0, 80), (120, 80), (240, 80))),
        Polygon(((359.9, 44.9), (0.1, 44.9), (0, 45), (0.1, 45.1), (359.9, 45.1))),
        make_box(0, 90, 1, 1),
        make_box(45, 0, 1e-6, 1e-6),
    ],
)
def test_vertices_and_edges_belong_to_the_polygon(polygon: Polygon, evaluate: Any) -> None:
    edges = polygon.edges
    middles = edges.a + edges.b
    points = np.concatenate((edges.a, middles / np.linalg.norm(middles, axis=1)[:, None]))
    assert polygon.contains(points).all()
    tests = [membership_sql(polygon, Row(*(repr(float(c)) for c in p))) for p in points]
    assert evaluate(tests) == [1] * len(tests)


def test_a_range_equals_between(select: Select, row: Row) -> None:
    lon, lat = positions(1000, 11)
    between = (lon >= 44.5) & (lon <= 91) & (lat >= -1) & (lat <= 42)
    assert select(membership_sql(Range(44.5, 91, -1, 42), row)).tolist() == np.flatnonzero(between).tolist()
    across = ((lon >= 359) | (lon <= 1)) & (lat >= -90) & (lat <= 45)
    found = set(select(membership_sql(Range(359, 1, -90, 45), row)).tolist())
    # a pole is inside at every longitude
    assert found - set(np.flatnonzero(np.abs(lat) == 90).tolist()) == set(
        np.flatnonzero(across & (np.abs(lat) < 90)).tolist()
    )


def test_unknown_positions_are_in_no_shape_but_in_complements(evaluate: Any) -> None:
    nowhere = Row("nan", "nan", "nan", "13835058055282163712")
    shapes = [
        Cone(1, 2, 3),
        make_box(1, 2, 3, 4),
        Union((Cone(1, 2, 3), Range(1, 2, 3, 4))),
        make_comb((1.0, 2.0), 3.0, 5),
    ]
    assert evaluate([membership_sql(s, nowhere) for s in shapes]) == [0, 0, 0, 0]
    assert evaluate([membership_sql(Complement(s), nowhere) for s in shapes]) == [1, 1, 1, 1]
    assert evaluate([membership_sql(WholeSky(), nowhere)]) == [1]


def test_a_polygon_is_the_smaller_side_in_either_orientation() -> None:
    vertices = ((0.0, 80.0), (120.0, 80.0), (240.0, 80.0))
    pole, far = positions_to_vectors([0, 0], [90, -90])
    for polygon in (Polygon(vertices), Polygon(vertices[::-1])):
        assert polygon.contains(np.array([pole, far])).tolist() == [True, False]
