"""Cones and cross-matches return exactly the rows of a brute-force search over all positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import DIFFICULT_POSITIONS, Positions, inside, separation
from tests.support.adql_rows import Rows, query_rows


@pytest.fixture(scope="session")
def ask(engine: Engine, sky: Catalogue) -> Callable[[str], Rows]:
    return lambda query: query_rows(engine, sky, query)


def _ids(rows: Rows) -> list[int]:
    return [row[0] for row in rows]


@pytest.mark.parametrize("radius", [0, 1e-5, 1e-3, 0.7, 1, 30, 89.999, 90, 90.001, 150, 179, 179.9999, 180])
@pytest.mark.parametrize("centre", DIFFICULT_POSITIONS)
def test_a_cone_has_exactly_the_rows_of_a_brute_force(
    centre: tuple[float, float], radius: float, ask: Callable[[str], Rows], points: Positions
) -> None:
    found = _ids(
        ask(f"SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({centre[0]}, {centre[1]}, {radius}))")
    )
    sure, border = inside(separation(*points, *centre), radius)
    assert len(found) == len(set(found))
    assert sure <= set(found) <= sure | border


#: Rows per square degree for which a cone is searched by the cells around it, by few cells and by many
DENSITIES = (1e-3, 1e4, 1e12)


def _with_density(sky: Catalogue, density: float) -> Catalogue:
    return replace(sky, local_densities={("sky", "points"): density})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lon=st.floats(-360, 720),
    lat=st.floats(-90, 90) | st.sampled_from([-90.0, 90.0, 0.0]),
    radius=st.floats(0, 180) | st.floats(-10, 0).map(lambda e: 10**e) | st.floats(-10, 0).map(lambda e: 180 - 10**e),
    density=st.sampled_from(DENSITIES),
)
def test_any_cone_has_exactly_the_rows_of_a_brute_force(
    lon: float, lat: float, radius: float, density: float, engine: Engine, sky: Catalogue, points: Positions
) -> None:
    query = f"SELECT id FROM points WHERE DISTANCE(POINT({lon!r}, {lat!r}), POINT(ra, dec)) <= {radius!r}"
    found = set(_ids(query_rows(engine, _with_density(sky, density), query)))
    sure, border = inside(separation(*points, lon, lat), radius)
    assert sure <= found <= sure | border


@pytest.mark.parametrize("radius", [1e-6, 0.01, 3, 40])
def test_every_cover_of_a_cone_leaves_the_same_rows(radius: float, engine: Engine, sky: Catalogue) -> None:
    for lon, lat in DIFFICULT_POSITIONS:
        query = f"SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({lon}, {lat}, {radius}))"
        found = [set(_ids(query_rows(engine, _with_density(sky, density), query))) for density in DENSITIES]
        assert found[0]
        assert found[0] == found[1] == found[2]


def test_a_cone_with_few_rows_is_written_once(sky: Catalogue) -> None:
    """The cover has few cells and no inner cells, which would spare too few tests of rows."""
    query = "SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(45, 30, 1))"
    found = [translate(query, _with_density(sky, density)).sql for density in DENSITIES]
    few, close, many = (
        [cell for cells in re.findall(r" IN \(([\d, ]+)\)", sql) for cell in cells.split(", ")] for sql in found
    )
    assert len(few) <= 9 < len(close) <= 100 < len(many)
    assert (len(set(few)), len(set(close))) == (len(few), len(close))
    assert len(set(many)) < len(many)
    assert [sql.count("cos(") for sql in found] == [1, 1, 1]


@pytest.mark.parametrize(
    ("condition", "negated"),
    [
        ("0 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 60))", True),
        ("1 <> CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 60))", True),
        ("NOT 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 60))", True),
        ("NOT (DISTANCE(ra, dec, 10, 20) <= 60)", True),
        ("DISTANCE(ra, dec, 10, 20) > 60", True),
        ("CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 60)) = 1", False),
        ("60 >= DISTANCE(ra, dec, 10, 20)", False),
        ("1 = INTERSECTS(CIRCLE(POINT(10, 20), 60), POINT('ICRS', ra, dec))", False),
        ("1 = INTERSECTS(CIRCLE(10, 20, 50), CIRCLE(ra, dec, 10))", False),
        ("1 = CONTAINS(CIRCLE(ra, dec, 10), CIRCLE(10, 20, 70))", False),
        ("CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 60)) + 1 > 1", False),
    ],
)
def test_a_condition_and_its_negation_divide_the_rows_with_a_position(
    condition: str, negated: bool, ask: Callable[[str], Rows], points: Positions
) -> None:
    sure, border = inside(separation(*points, 10, 20), 60)
    wanted = set(range(len(points[0]))) - sure if negated else sure
    assert set(_ids(ask(f"SELECT id FROM points WHERE {condition}"))) - border == wanted - border


def test_covers_reach_through_ors_subqueries_and_common_tables(ask: Callable[[str], Rows], points: Positions) -> None:
    one, _ = inside(separation(*points, 0, 90), 0.5)
    two, _ = inside(separation(*points, 45, 0), 0.3)
    cone = "1 = CONTAINS(POINT(ra, dec), CIRCLE({}, {}, {}))"
    both = f"{cone.format(0, 90, 0.5)} OR {cone.format(45, 0, 0.3)} AND mag >= 0"
    assert set(_ids(ask(f"SELECT id FROM points WHERE {both}"))) == one | two
    assert set(
        _ids(
            ask(f"SELECT q.id FROM (SELECT id, ra, dec FROM points WHERE mag < 5) AS q WHERE {cone.format(0, 90, 0.5)}")
        )
    ) == {i for i in one if i % 10 < 5}
    assert set(_ids(ask(f"WITH p AS (SELECT * FROM points) SELECT id FROM p WHERE {cone.format(45, 0, 0.3)}"))) == two


def test_a_cone_reads_few_granules(engine: Engine, sky: Catalogue) -> None:
    """The cover is a condition by which the primary key prunes."""
    cone = translate("SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(45, 0, 0.001))", sky)
    plan = engine.explain_query(cone.sql, cone.settings)
    assert "PrimaryKey" in plan
    assert "hpx29" in plan
    assert list(cone.cells) == ["sky.points.hpx29"]
    assert cone.cells["sky.points.hpx29"].area < 1e-4  # square degrees; the cone has 3e-6


@pytest.mark.parametrize("radius", [1e-6, 1e-3, 0.02, 0.5, 10])
@pytest.mark.parametrize(
    "form", ["DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {}", "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, {}))"]
)
def test_a_cross_match_has_each_pair_once(
    radius: float, form: str, ask: Callable[[str], Rows], points: Positions, others: Positions
) -> None:
    few = 400  # of the first catalogue, so that the brute force over all pairs stays small
    found = ask(f"SELECT a.id, b.id FROM points AS a JOIN others AS b ON {form.format(radius)} WHERE a.id < {few}")
    assert len(found) == len(set(found))
    lon, lat = (v[:few, None] for v in points)
    apart = separation(lon, lat, others[0][None, :], others[1][None, :])
    sure, border = inside(apart.ravel(), radius)
    width = apart.shape[1]
    assert {divmod(i, width) for i in sure} <= set(found) <= {divmod(i, width) for i in sure | border}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.id, b.id FROM points AS a, others AS b WHERE DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 AND b.mag < 3",
        "SELECT a.id, b.id FROM (SELECT * FROM points WHERE mag > 2) AS a JOIN others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01",
        "SELECT a.id, b.id FROM points AS a LEFT JOIN others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 AND b.mag < 3",
        "SELECT a.id, b.id FROM points AS a RIGHT JOIN others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 AND a.mag > 2",
        "SELECT a.id, b.id, c.id FROM points AS a JOIN others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 "
        "JOIN points AS c ON DISTANCE(c.ra, c.dec, b.ra, b.dec) < 0.02 WHERE a.id < 20 AND c.mag < 2",
        "SELECT a.id, b.id FROM points AS a JOIN others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 "
        "WHERE 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(0, 90, 1))",
        "SELECT COUNT(*), MAX(b.mag) FROM points AS a JOIN others AS b ON 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, 0.1))",
    ],
)
def test_a_planned_cross_match_equals_the_unplanned_one(query: str, ask: Callable[[str], Rows]) -> None:
    """``+ 0 * a.id`` makes the radius an expression of the row, for which no plan exists: all pairs are tested."""
    unplanned = query.replace("< 0.0", "< 0 * a.id + 0.0").replace("b.dec, 0.1)", "b.dec, 0 * a.id + 0.1)")
    assert unplanned != query
    assert sorted(ask(query), key=repr) == sorted(ask(unplanned), key=repr)


@pytest.mark.parametrize(
    ("condition", "west", "east", "south", "north"),
    [
        ("ra BETWEEN 10 AND 50 AND dec BETWEEN -10 AND 45", 10, 50, -10, 45),
        ("dec >= 80 AND ra > 300 AND mag >= 0", 300, 360, 80, 90),
        ("45 >= ra AND dec < 0 AND 44 <= ra AND dec > -1", 44, 45, -1, 0),
        ("(ra BETWEEN 44 AND 46 AND dec BETWEEN -1 AND 1) OR 1 = 0", 44, 46, -1, 1),
        ("q.ra BETWEEN 0 AND 10 AND q.dec BETWEEN 89 AND 90", 0, 10, 89, 90),
    ],
)
def test_ranges_of_coordinates_prune_and_keep_their_rows(
    condition: str, west: float, east: float, south: float, north: float, ask: Callable[[str], Rows], points: Positions,
    sky: Catalogue,
) -> None:  # fmt: skip
    source = "(SELECT id, ra, dec, mag FROM points) AS q" if "q." in condition else "points"
    query = f"SELECT id FROM {source} WHERE {condition}"
    lon, lat = points
    strict = ">" in condition or "<" in condition
    wanted = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)
    if strict:
        wanted &= (
            ((lon > west) | (west in (44,)))
            & (lat < north if north == 0 else lat <= north)
            & ((lat > south) | (south == 80))
        )
    assert set(_ids(ask(query))) == set(np.flatnonzero(wanted).tolist())
    [cells] = translate(query, sky).cells.values()
    assert cells.area < 20_000


def test_one_bounded_coordinate_keeps_rows_with_the_other_unknown(
    ask: Callable[[str], Rows], points: Positions
) -> None:
    half_known = len(points[0]) + 3  # ra NULL, dec 10
    assert half_known in set(_ids(ask("SELECT id FROM points WHERE dec BETWEEN 9.5 AND 10.5")))


@pytest.mark.parametrize(
    "shape",
    [
        "POLYGON(0, 0, 40, 0, 40, 40, 0, 40)",  # a side along the equator does not depend on the unknown longitude
        "POLYGON(0, 0, 40, 0, 20, 10, 40, 40, 0, 40)",
        f"POLYGON({', '.join(f'{lon}, {80 if lon % 60 else 70}' for lon in range(0, 360, 20))})",
        "BOX(20, 0, 60, 40)",
        "CIRCLE(10, 10, 120)",
        "REGION('UNION (CIRCLE 10 10 20 BOX 60 0 20 20)')",
    ],
)
def test_no_region_has_rows_whose_position_is_unknown(
    shape: str, ask: Callable[[str], Rows], points: Positions
) -> None:
    known = len(points[0])
    without_cover = f"CONTAINS(POINT(ra + 0, dec + 0), {shape})"
    inside_of_it = set(_ids(ask(f"SELECT id FROM points WHERE 1 = {without_cover}")))
    assert inside_of_it == set(_ids(ask(f"SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), {shape})")))
    assert inside_of_it == set(_ids(ask(f"SELECT id FROM points WHERE 1 = {without_cover} OR id < 0")))
    outside = set(_ids(ask(f"SELECT id FROM points WHERE NOT (1 = {without_cover})")))
    assert inside_of_it
    assert inside_of_it | outside == set(range(known))
