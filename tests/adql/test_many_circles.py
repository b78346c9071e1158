"""Many circles under OR are one search, which finds the rows of a brute-force search at all sizes, with short SQL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from adql.clickhouse.sky.circle_grid_sql import in_some_circle_sql
from adql.clickhouse.sky.unit_vector_sql import max_squared_chord
from adql.regions import Cone, Union, position_to_vector
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import DIFFICULT_POSITIONS, Positions, inside, positions, separation
from tests.support.adql_rows import Rows, query_rows

Circles = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _make_circles(count: int, smallest: float, largest: float) -> Circles:
    """Return circles at difficult positions and elsewhere, with radii from 10^smallest to 10^largest degrees."""
    lon, lat = positions(count, seed=6)
    radii = 10 ** np.random.default_rng(count).uniform(smallest, largest, len(lon))
    return lon, lat, radii


def _write_chain(circles: Circles, form: str, word: str = "OR") -> str:
    rows = zip(*(values.tolist() for values in circles), strict=True)
    return f" {word} ".join(form.format(f"{lon!r}, {lat!r}", repr(radius)) for lon, lat, radius in rows)


def _find_certain_rows(points: Positions, circles: Circles) -> tuple[set[int], set[int]]:
    """Return the rows that are certainly in a circle, and the other rows at a circle's border."""
    sure, border = set[int](), set[int]()
    for lon, lat, radius in zip(*circles, strict=True):
        one, other = inside(separation(*points, lon, lat), radius)
        sure, border = sure | one, border | other
    return sure, border - sure


@pytest.fixture(scope="session")
def ask(engine: Engine, sky: Catalogue) -> Callable[[str], Rows]:
    return lambda query: query_rows(engine, sky, query)


NEAR = "1 = CONTAINS(POINT(ra, dec), CIRCLE({}, {}))"
NEARER = "DISTANCE(ra, dec, {}) < {}"


@pytest.mark.parametrize(
    ("sizes", "form"), [((-6, -1), NEAR), ((-7, 1.9), NEARER), ((0.5, 1.2), NEAR)], ids=["small", "all", "large"]
)
def test_many_circles_have_the_rows_of_a_brute_force(
    sizes: tuple[float, float], form: str, ask: Callable[[str], Rows], points: Positions
) -> None:
    circles = _make_circles(60, *sizes)
    sure, border = _find_certain_rows(points, circles)
    condition = _write_chain(circles, form)
    found = {i for (i,) in ask(f"SELECT id FROM points WHERE {condition}")}
    assert sure <= found <= sure | border
    negated = _write_chain(circles, form.replace("1 =", "0 =") if "1 =" in form else f"NOT {form}", "AND")
    rest = {i for (i,) in ask(f"SELECT id FROM points WHERE {negated}")}
    assert rest == set(range(len(points[0]))) - found  # rows without a position are in neither set
    values = ask(f"SELECT id, CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 0 END FROM points")
    assert {i for i, value in values if value == 1} == found
    assert {i for i, value in values if value is None} == {len(points[0]) + i for i in range(4)}


def test_circles_with_other_conditions(ask: Callable[[str], Rows], points: Positions) -> None:
    """Test circles around a computed position, which has no index, with a polygon, with a wide circle, and without a region."""
    circles = _make_circles(20, -2, 0)
    many = _write_chain(circles, NEAR)
    for others in (
        "1 = CONTAINS(POINT(ra, dec), BOX(100, 10, 4, 4))",
        "1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 100))",
        "id < 30",
        "DISTANCE(ra, dec, 10, 20) < -1",
    ):
        sure, border = _find_certain_rows(points, circles)
        more = {i for (i,) in ask(f"SELECT id FROM points WHERE {others}")}
        found = {i for (i,) in ask(f"SELECT id FROM points WHERE {many} OR {others}")}
        assert sure | more <= found <= sure | border | more
        assert {i for (i,) in ask(f"SELECT id FROM points WHERE ({many}) AND {others}")} == more & found - (
            more - sure - border
        )
    plain = ask(f"SELECT COUNT(*) FROM points WHERE {many}")
    computed = many.replace("POINT(ra, dec)", "POINT(q.a, q.b)")
    query = "SELECT COUNT(*) FROM (SELECT ra + mag - mag AS a, dec AS b FROM points) AS q WHERE"
    assert ask(f"{query} {computed}") == plain
    assert ask(f"SELECT COUNT(*) FROM points WHERE 1 = CONTAINS(POINT(ra, dec), {_write_union(circles)})") == plain


def _write_union(circles: Circles) -> str:
    rows = zip(*(values.tolist() for values in circles), strict=True)
    return f"REGION('Union ({' '.join(f'Circle {lon!r} {lat!r} {radius!r}' for lon, lat, radius in rows)})')"


def test_thousands_of_circles_are_one_condition(sky: Catalogue) -> None:
    """Test more circles than OR may have: only the circles of a row's cube are compared."""
    count = 1500
    circles = tuple(values[:count] for values in _make_circles(count, -2, -1))
    translation = translate(f"SELECT COUNT(*) FROM points WHERE {_write_chain(circles, NEAR)}", sky)  # type: ignore[arg-type]
    assert translation.sql.count("sin(") < 20
    assert len(translation.sql) < 600 * count
    assert list(translation.cells) == ["sky.points.hpx29"]


def test_a_point_at_the_border_of_one_of_many_is_inside_unless_it_is_open(engine: Engine) -> None:
    """Test positions all around each circle, just inside and outside: the cubes of a circle contain its border."""
    for radius in (0.0, 1e-9, 0.001, 3.0, 90.0):
        cones = [Cone(ra, dec, radius, is_open=bool(i % 2)) for i, (ra, dec) in enumerate(DIFFICULT_POSITIONS)]
        cones += [Cone(200 + i, 60, 1e-12) for i in range(3)]
        rows = []
        for cone in cones:
            x, y, z = position_to_vector(cone.lon, cone.lat)
            away = np.cross((x, y, z), (0.6, 0.0, 0.8))
            for turn in np.linspace(0, 2 * np.pi, 9):
                axis = np.cos(turn) * away + np.sin(turn) * np.cross((x, y, z), away)
                axis /= np.linalg.norm(axis)
                for apart in (radius * (1 - 1e-9), radius * (1 + 1e-9) + 1e-12):
                    step = np.radians(apart)
                    rows.append(tuple(np.cos(step) * np.array((x, y, z)) + np.sin(step) * axis))
        vectors = np.array(rows)
        union = Union(tuple(cones))
        table = f"(SELECT arrayJoin([{', '.join(str(tuple(map(float, r))) for r in rows)}]) AS p)"
        sql = f"SELECT {in_some_circle_sql(cones, ('p.1', 'p.2', 'p.3'))} AS inside FROM {table}"
        found = [bool(v) for v in engine.fetch_table(sql, {}).column(0).to_pylist()]
        assert found == union.contains(vectors).tolist(), radius
    assert max_squared_chord(0.0, True) == 0
