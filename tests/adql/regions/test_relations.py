"""CONTAINS and INTERSECTS of all pairs of shapes, compared with many directions, and columns with constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from adql.clickhouse.sky import row_relation_sql, row_shape_sql
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
    make_box,
)
from adql.regions.region_relations import is_inside, is_intersecting
from adql.regions.stcs import parse_region
from adql.regions.unit_vectors import position_to_vector, positions_to_vectors
from tests.adql.regions.shapes import centres, offset_position, sample_around, simple, sizes, stars

FIXTURES = [HealthCheck.function_scoped_fixture]


@st.composite
def pairs(draw: Any, kinds: Any = simple) -> tuple[Any, ...]:
    """Draw two shapes near each other, of similar or different size, and directions around them."""
    centre, size = draw(centres), draw(sizes)
    other = size * draw(st.sampled_from([0.05, 0.3, 1.0]))
    near = offset_position(centre, draw(st.floats(0, 360)), size * draw(st.floats(0, 1)))
    return (
        draw(kinds(centre, size)),
        draw(kinds(near, other)),
        np.concatenate((sample_around(centre, size), sample_around(near, other))),
    )


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_relations_agree_with_directions(pair: tuple[Any, ...]) -> None:
    """A common direction proves an intersection, a direction outside disproves containment."""
    one, other, points = pair
    in_one, in_other = one.contains(points), other.contains(points)
    # a point where cells meet, such as the pole, is in any of them
    at_corner = isinstance(one, Cone) and one.is_point and isinstance(other, Moc)
    if (in_one & in_other).any() and not at_corner:
        assert is_intersecting(one, other)
        assert is_intersecting(other, one)
    # rounding may put directions on the border inside
    inner = in_one & (one.signed_distance(points) < -1e-12)
    if (inner & ~in_other & (other.signed_distance(points) > 1e-12)).any():
        assert not is_inside(one, other)


@settings(max_examples=25, deadline=None)
@given(pairs())
def test_relations_are_consistent(pair: tuple[Any, ...]) -> None:
    one, other, _ = pair
    assert is_intersecting(one, other) == is_intersecting(other, one)
    assert is_intersecting(one, other) or not is_inside(one, other) or _is_empty(one)
    assert is_inside(one, Union((one, other)))
    assert is_inside(Intersection((one, other)), other)


def _is_empty(region: Region) -> bool:
    return not is_intersecting(region, WholeSky())


@st.composite
def plain(draw: Any, centre: tuple[float, float], size: float) -> Region:
    """Draw a shape of a column, too small or large to touch the other by chance, where rounding would decide."""
    near = offset_position(centre, draw(st.floats(0, 360)), size * draw(st.floats(0, 0.8)))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return Cone(*near, 0.0)
    if kind == 1:
        return Cone(*near, 0.98765 * size * draw(st.floats(0.01, 1)))
    if kind == 2:
        return make_box(*near, 0.91234 * size * draw(st.floats(0.1, 2)), 0.93456 * size * draw(st.floats(0.1, 2)))
    return draw(stars(near, size))


def has_corner_at(shape: Region, border_of: Region) -> bool:
    """Return whether a corner is on the other's border, where rounding decides, as in the same polygon drawn twice."""
    if not isinstance(shape, Polygon):
        return False
    corners = positions_to_vectors(*np.transpose(shape.vertices))
    return bool((np.abs(border_of.signed_distance(corners)) < 1e-12).any())


def as_columns(shape: Region) -> row_shape_sql.Circle | row_shape_sql.Edges:
    """Return the shape as expressions that ClickHouse does not evaluate as constants."""
    if isinstance(shape, Cone):
        x, y, z = (f"materialize({c!r})" for c in position_to_vector(shape.lon, shape.lat))
        return row_shape_sql.Circle((x, y, z), f"materialize({shape.radius!r})")
    assert isinstance(shape, Polygon)
    return row_shape_sql.polygon_edges(f"materialize([{', '.join(repr(float(c)) for v in shape.vertices for c in v)}])")


@settings(max_examples=25, deadline=None, suppress_health_check=FIXTURES)
@given(pairs(plain))
def test_columns_equal_constants(evaluate: Any, pair: tuple[Any, ...]) -> None:
    one, other, _ = pair
    assume(not has_corner_at(one, other) and not has_corner_at(other, one))
    first, second = as_columns(one), as_columns(other)
    sql = [
        row_relation_sql.contains_sql(first, second),
        row_relation_sql.intersects_sql(first, second),
        row_relation_sql.contains_sql(first, other),
        row_relation_sql.intersects_sql(one, second),
    ]
    within, common = is_inside(one, other), is_intersecting(one, other)
    assert evaluate(sql) == [within, common, within, common]


CIRCLE = Cone(10, 10, 2)
HOLLOW = Polygon(((0, 0), (10, 0), (10, 10), (5, 1), (0, 10)))


@pytest.mark.parametrize(
    ("inner", "outer", "within", "common"),
    [
        (CIRCLE, CIRCLE, True, True),
        (Cone(10, 10, 1), CIRCLE, True, True),
        (CIRCLE, Cone(10, 10, 1), False, True),
        (Cone(0, 0, 1), Cone(2, 0, 1), False, True),
        (Cone(0, 0, 1), Cone(2.0001, 0, 1), False, False),
        (Cone(0, 0, 100), Cone(180, 0, 100), False, True),
        (Cone(0, 90, 170), Cone(0, 90, 180), True, True),
        (make_box(5, 5, 2, 2), HOLLOW, False, False),
        (make_box(5, 5, 8, 2), HOLLOW, False, True),
        (Polygon(((0, 0), (10, 0), (5, 1))), HOLLOW, True, True),
        (Polygon(((0, 10), (5, 1), (10, 10))), HOLLOW, False, True),
        (HOLLOW, HOLLOW, True, True),
        (make_box(20, 0, 1, 1), make_box(21, 0, 1, 1), False, True),
        (make_box(20, 0, 1, 1), Range(19, 21, -1, 1), True, True),
        (Range(350, 10, -5, 5), Cone(0, 0, 8), False, True),
        (Range(350, 10, -5, 5), Cone(0, 0, 11.2), True, True),
        (Cone(0, 90, 5), Range(0, 360, 85, 90), True, True),
        (Cone(0, 90, 5.001), Range(0, 360, 85, 90), False, True),
        (Cone(0, 0, 1), Complement(Cone(90, 0, 60)), True, True),
        (WholeSky(), Union((Cone(0, 0, 91), Cone(180, 0, 91))), True, True),
        (WholeSky(), Union((Cone(0, 0, 89), Cone(180, 0, 90.5))), False, True),
        (Nothing(), CIRCLE, True, False),
        (CIRCLE, Nothing(), False, False),
        (Moc.parse_ascii("3/5"), Moc.parse_ascii("2/1"), True, True),
        (Moc.parse_ascii("2/1"), Moc.parse_ascii("3/5"), False, True),
        (Cone(0, 0.1, 1e-3), Moc.parse_ascii("0/4-7"), True, True),
        (Moc.parse_ascii("8/1"), WholeSky(), True, True),
        (Moc.parse_ascii("29/0-3"), Cone(45, 0, 1e-3), True, True),
        (Moc.parse_ascii("0/0"), Cone(225, 0, 3), False, False),
        (parse_region("range GALACTIC 350 10 -1 1"), parse_region("circle GALACTIC 0 0 10.2"), True, True),
        (parse_region("range GALACTIC 350 10 -1 1"), parse_region("circle GALACTIC 0 0 10"), False, True),
    ],
)  # fmt: skip
def test_known_pairs(inner: Region, outer: Region, within: bool, common: bool) -> None:
    assert (is_inside(inner, outer), is_intersecting(inner, outer)) == (within, common)
    assert is_intersecting(outer, inner) == common


def test_combinations_with_columns(evaluate: Any) -> None:
    one, two = Cone(10, 10, 1), Cone(14, 10, 1)
    small, far = as_columns(Cone(10, 10, 0.5)), as_columns(Cone(30, 30, 1))
    both = Union((one, two))
    sql = [
        row_relation_sql.intersects_sql(small, both), row_relation_sql.intersects_sql(far, both), row_relation_sql.contains_sql(both, as_columns(Cone(12, 10, 4))),
        row_relation_sql.contains_sql(both, small), row_relation_sql.contains_sql(small, Complement(two)), row_relation_sql.intersects_sql(small, Complement(one)),
        row_relation_sql.contains_sql(far, WholeSky()), row_relation_sql.intersects_sql(far, Nothing()), row_relation_sql.contains_sql(small, Intersection((one, Cone(10, 10, 2)))),
    ]  # fmt: skip
    assert evaluate(sql) == [1, 0, 1, 0, 1, 0, 1, 0, 1]


def test_a_closing_vertex_may_be_repeated_in_columns(evaluate: Any) -> None:
    closed = row_shape_sql.polygon_edges("materialize([0., 0, 10, 0, 10, 10, 0, 0])")
    inside, outside, vertex = (as_columns(Cone(lon, lat, 0)) for lon, lat in ((8, 3), (3, 8), (0, 0)))
    assert evaluate([row_relation_sql.contains_sql(p, closed) for p in (inside, outside, vertex)]) == [1, 0, 1]
    area, centroid = evaluate([row_shape_sql.area_sql(closed), row_shape_sql.centroid_sql(closed)])
    plain = Polygon(((0, 0), (10, 0), (10, 10)))
    assert area == pytest.approx(plain.area)
    assert centroid == pytest.approx(plain.centroid)


def test_a_moc_with_a_column_is_refused() -> None:
    with pytest.raises(ShapeError, match="a MOC compared with a shape from columns"):
        row_relation_sql.contains_sql(as_columns(CIRCLE), Moc.parse_ascii("3/5"))
