"""Plans keep the answers and read few granules: each query runs with and without positions and ids to plan by."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shard_map import Sharding, ShardMap
from tap_service.storage.engine.engine import Engine
from tests.adql.planning import COLUMNS, COUNTS, PLANNED, SIZES, Sky, fill_tables
from tests.adql.sky import DIFFICULT_POSITIONS, inside, separation
from tests.support.adql_rows import query_rows


@pytest.fixture(scope="session")
def planned(engine: Engine) -> Sky:
    return fill_tables(engine)


_ANY = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_ANY_JOIN = settings(_ANY, max_examples=5)

# --- random conditions ------------------------------------------------------------------------------------------------

_RADII = st.floats(-3, 2.25).map(lambda e: round(10**e, 4)) | st.sampled_from([0, 90, 180])
_CENTRES = st.sampled_from(DIFFICULT_POSITIONS) | st.tuples(st.integers(0, 360), st.integers(-90, 90))


@st.composite
def _condition(draw: st.DrawFn, t: str) -> str:
    lon, lat = draw(_CENTRES)
    radius, wider = draw(_RADII), draw(_RADII)
    width, height = draw(st.sampled_from([(1, 1), (20, 5), (350, 3)]))
    distance = f"DISTANCE({t}ra, {t}dec, {lon}, {lat})"
    return draw(
        st.sampled_from(
            [
                f"1 = CONTAINS(POINT({t}ra, {t}dec), CIRCLE({lon}, {lat}, {radius}))",
                f"0 = CONTAINS(POINT({t}ra, {t}dec), CIRCLE({lon}, {lat}, {radius}))",
                f"1 = INTERSECTS(POINT({t}ra, {t}dec), POLYGON(10, 10, 60, 15, 40, 60))",
                f"1 <> CONTAINS(POINT({t}ra, {t}dec), REGION('Not (Circle {lon} {lat} {radius})'))",
                f"{radius} >= DISTANCE(POINT({lon}, {lat}), POINT({t}ra, {t}dec))",
                f"{distance} > {radius}",
                f"{distance} BETWEEN {radius} AND {wider}",
                f"{distance} NOT BETWEEN {radius} AND {wider}",
                f"{distance} = {radius}",
                f"{distance} < {radius} - 1",
                f"{t}ra BETWEEN {lon} - {width} AND {lon} + {width} AND {t}dec BETWEEN {lat} - {height} AND {lat} + {height}",
                f"{t}dec > {lat}",
                f"{t}ra <= {lon}",
                f"{t}mag < 5",
                f"{t}ra IS NULL",
                "1 = 0",
                "1 = 1",
            ]
        )
    )


def _conditions(t: str = "") -> st.SearchStrategy[str]:
    return st.recursive(
        _condition(t),
        lambda inner: (
            st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})")
            | inner.map(lambda c: f"NOT ({c})")
        ),
        max_leaves=6,
    )


@_ANY
@given(condition=_conditions())
def test_covers_of_any_condition_keep_all_rows(condition: str, planned: Sky) -> None:
    planned.fetch_rows(f"SELECT id FROM large WHERE {condition}")


@_ANY
@given(
    condition=_conditions("q."),
    source=st.sampled_from(
        [
            "(SELECT id, ra, dec, mag FROM large WHERE mag > 2)",
            "(SELECT DISTINCT ra, dec, mag FROM large)",
            "(SELECT ra, dec, COUNT(*) AS n, MAX(mag) AS mag FROM large GROUP BY ra, dec)",
            "(SELECT dec AS ra, ra AS dec, mag FROM medium)",
            "(SELECT TOP 3000 ra, dec, mag FROM large ORDER BY id)",
            "(SELECT ra, dec, mag FROM large UNION ALL SELECT ra, dec, mag FROM medium)",
            "(SELECT ra, dec, mag FROM large EXCEPT SELECT ra, dec, mag FROM medium WHERE mag > 5)",
            "(SELECT ra, dec, mag FROM large INTERSECT SELECT ra, dec, mag FROM large WHERE mag > 5)",
            "(SELECT ra, dec, ROW_NUMBER() OVER (ORDER BY id) AS mag FROM medium)",
            "(SELECT b.ra, b.dec, a.mag FROM few AS a LEFT JOIN medium AS b ON a.id = b.id)",
        ]
    ),
)
def test_covers_reach_into_derived_tables_and_keep_all_rows(condition: str, source: str, planned: Sky) -> None:
    planned.fetch_rows(f"SELECT COUNT(*), SUM(q.mag), MIN(q.ra) FROM {source} AS q WHERE {condition}")


@_ANY
@given(condition=_conditions(), having=_condition(""))
def test_conditions_on_groups_keep_all_groups(condition: str, having: str, planned: Sky) -> None:
    planned.fetch_rows(
        f"SELECT ra, dec, COUNT(*) FROM medium WHERE {condition} GROUP BY ra, dec, mag HAVING {having} AND COUNT(*) > 0"
    )


# --- random joins -----------------------------------------------------------------------------------------------------

_NEAR = "DISTANCE(a.ra, a.dec, b.ra, b.dec) < {}"
_KINDS = st.sampled_from(["INNER", "LEFT", "RIGHT", "FULL"])


@_ANY_JOIN
@given(
    kind=_KINDS,
    radius=st.sampled_from([1e-4, 0.003, 0.02]),
    on=st.just("1 = 1") | _condition("a.") | _condition("b."),
    where=st.just("1 = 1") | _conditions("a.") | _conditions("b."),
    tables=st.sampled_from(["few medium", "medium few", "few few", "medium large"]),
)
def test_any_match_keeps_all_pairs(kind: str, radius: float, on: str, where: str, tables: str, planned: Sky) -> None:
    first, second = tables.split()
    planned.fetch_rows(
        f"SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(a.id), SUM(b.id) FROM {first} AS a {kind} JOIN {second} AS b"
        f" ON {_NEAR.format(radius)} AND {on} WHERE {where}"
    )


@_ANY_JOIN
@given(
    kinds=st.tuples(_KINDS, _KINDS),
    where=_conditions("a.") | _conditions("b.") | _conditions("c."),
    hub=st.sampled_from("ab"),
)
def test_any_chain_of_matches_keeps_all_rows(kinds: tuple[str, str], where: str, hub: str, planned: Sky) -> None:
    planned.fetch_rows(
        "SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(b.id), SUM(c.id)"
        f" FROM few AS a {kinds[0]} JOIN (SELECT * FROM few WHERE mag < 8) AS b ON {_NEAR.format(0.02)}"
        f" {kinds[1]} JOIN few AS c ON DISTANCE({hub}.ra, {hub}.dec, c.ra, c.dec) < 0.01 WHERE {where}"
    )


@_ANY_JOIN
@given(
    kind=_KINDS,
    where=st.just("1 = 1") | _conditions("a.") | _conditions("b."),
    more=st.sampled_from(["", " AND b.mag > 3"]),
)
def test_any_join_by_id_keeps_all_rows(kind: str, where: str, more: str, planned: Sky) -> None:
    planned.fetch_rows(
        "SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(a.mag), SUM(b.mag)"
        f" FROM few AS a {kind} JOIN large AS b ON a.id = b.id{more} WHERE {where}"
    )


@_ANY_JOIN
@given(
    kind=st.sampled_from(["INNER", "LEFT"]),
    choice=st.sampled_from(["nearest(1, {})", "nearest(2, {})", "mutual({})"]),
    where=_condition("a.") | _condition("b.") | _conditions("a.") | _conditions("b."),
)
def test_the_nearest_are_chosen_before_any_condition(kind: str, choice: str, where: str, planned: Sky) -> None:
    chosen = choice.format("POINT(a.ra, a.dec), POINT(b.ra, b.dec), 0.02")
    planned.fetch_rows(
        "SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(a.id), SUM(b.id)"
        f" FROM few AS a {kind} JOIN medium AS b ON 1 = skyhouse_{chosen} WHERE {where}"
    )


# --- against brute force ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0, 1e-6, 1e-4, 0.01, 0.4, 3])
@pytest.mark.parametrize("query", ["few AS a JOIN large AS b", "large AS b JOIN (SELECT * FROM few) AS a"])
def test_a_small_table_finds_each_partner(radius: float, query: str, planned: Sky) -> None:
    """The cells around the small table's rows contain all partners, at poles, corners and borders of cells."""
    few, large = planned.known_positions["few"], planned.known_positions["large"]
    apart = separation(few[0][:, None], few[1][:, None], large[0][None, :], large[1][None, :])
    near = "DISTANCE(a.ra, a.dec, b.ra, b.dec) <= " + repr(radius)
    counted = f"SELECT a.id, COUNT(*) FROM {query} ON {near} GROUP BY a.id"
    found = dict(planned.fetch_rows(counted))
    for i in range(len(few[0])):
        sure, border = inside(apart[i], radius)
        assert len(sure) <= found.get(i, 0) <= len(sure | border)


def test_many_circles_have_one_bounded_cover(planned: Sky) -> None:
    chance = random.Random(5)
    cones = [(chance.uniform(0, 360), chance.uniform(-80, 80), chance.choice([0.05, 0.2, 1])) for _ in range(100)]
    circles = " OR ".join(f"1 = CONTAINS(POINT(ra, dec), CIRCLE({x}, {y}, {r}))" for x, y, r in cones)
    query = f"SELECT id FROM large WHERE {circles}"
    lon, lat = planned.known_positions["large"]
    wanted: set[int] = set()
    for x, y, r in cones:
        wanted |= inside(separation(lon, lat, x, y), r)[0]
    assert {row[0] for row in planned.fetch_rows(query)} == wanted
    [cells] = translate(query, PLANNED).cells.values()
    assert sum(len(of_order) for _, of_order in cells.list_cells()) <= 1600
    assert cells.area < 4 * np.pi * sum((r + 0.5) ** 2 for _, _, r in cones)


# --- granules ---------------------------------------------------------------------------------------------------------

_CONE = "1 = CONTAINS(POINT({0}ra, {0}dec), CIRCLE(100, 30, 6))"
_A, _B = _CONE.format("a."), _CONE.format("b.")
_MATCH = _NEAR.format(0.001)
_FIRST = "(SELECT TOP 30 * FROM {} WHERE ra IS NOT NULL AND dec > 20 ORDER BY {})"


@pytest.mark.parametrize(
    ("query", "pruned"),
    [
        (f"SELECT id FROM large WHERE {_CONE.format('')}", "large"),
        ("SELECT id FROM large WHERE 0 = CONTAINS(POINT(ra, dec), CIRCLE(100, 30, 174))", "large"),
        ("SELECT id FROM large WHERE NOT DISTANCE(ra, dec, 100, 30) >= 6 AND mag > 2", "large"),
        ("SELECT id FROM large WHERE NOT (DISTANCE(ra, dec, 100, 30) > 6 OR mag > 2)", "large"),
        ("SELECT id FROM large WHERE DISTANCE(100, 30, ra, dec) BETWEEN 5 AND 6", "large"),
        ("SELECT id FROM large WHERE 6 > DISTANCE(POINT(100, 30), POINT(ra, dec))", "large"),
        (
            "SELECT id FROM large WHERE (DISTANCE(ra, dec, 100, 30) < 3 AND mag > 1) OR DISTANCE(ra, dec, 9, 8) < 2",
            "large",
        ),
        (f"SELECT q.id FROM (SELECT * FROM large WHERE mag > 2) AS q WHERE {_CONE.format('q.')}", "large"),
        (
            "WITH p AS (SELECT ra AS x, dec AS y FROM large), q AS (SELECT x AS ra, y AS dec FROM p) "
            f"SELECT * FROM q WHERE {_CONE.format('')}",
            "large",
        ),
        (f"SELECT * FROM (SELECT DISTINCT ra, dec FROM large) AS q WHERE {_CONE.format('q.')}", "large"),
        (f"SELECT * FROM (SELECT ra, dec FROM large GROUP BY ra, dec) AS q WHERE {_CONE.format('q.')}", "large"),
        (f"SELECT ra, dec FROM large GROUP BY ra, dec HAVING {_CONE.format('')} AND COUNT(*) > 0", "large"),
        (
            "SELECT q.id FROM (SELECT id, ra, dec FROM large UNION ALL SELECT id, ra, dec FROM medium) AS q"
            f" WHERE {_CONE.format('q.')}",
            "large medium",
        ),
        (f"SELECT a.id FROM large AS a JOIN medium AS b ON {_MATCH} WHERE {_A}", "large medium"),
        (f"SELECT a.id FROM large AS a JOIN medium AS b ON {_MATCH} WHERE {_B}", "large medium"),
        (f"SELECT a.id FROM large AS a, medium AS b WHERE {_MATCH} AND {_B}", "large medium"),
        (f"SELECT a.id FROM large AS a LEFT JOIN medium AS b ON {_MATCH} WHERE {_A}", "large medium"),
        (f"SELECT a.id FROM large AS a LEFT JOIN medium AS b ON {_MATCH} WHERE {_B}", "large medium"),
        (f"SELECT a.id FROM large AS a LEFT JOIN medium AS b ON {_MATCH} AND {_A}", "medium"),
        (f"SELECT a.id FROM large AS a LEFT JOIN medium AS b ON {_MATCH} AND {_B}", "medium"),
        (f"SELECT a.id FROM large AS a LEFT JOIN medium AS b ON a.id = b.id AND {_B}", "medium"),
        (f"SELECT a.id FROM large AS a FULL JOIN medium AS b ON {_MATCH} WHERE {_A}", "large medium"),
        (
            f"SELECT a.id FROM large AS a JOIN medium AS b ON {_MATCH} LEFT JOIN (SELECT * FROM large) AS c"
            f" ON DISTANCE(b.ra, b.dec, c.ra, c.dec) < 0.001 WHERE {_A}",
            "large medium",
        ),
        (
            f"SELECT a.id FROM large AS a JOIN medium AS b ON {_MATCH}"
            " WHERE a.ra BETWEEN 100 AND 105 AND a.dec BETWEEN 30 AND 35",
            "large medium",
        ),
    ],
)
def test_few_granules_are_read(query: str, pruned: str, planned: Sky) -> None:
    planned.fetch_rows(query)
    for table in pruned.split():
        assert planned.find_share_read(query, table) < 0.05


@pytest.mark.parametrize(
    ("query", "table"),
    [
        (f"SELECT a.id FROM few AS a JOIN large AS b ON {_MATCH}", "large"),
        (f"SELECT a.id FROM large AS b JOIN few AS a ON {_MATCH} AND b.mag > 2", "large"),
        (f"SELECT a.id FROM few AS a LEFT JOIN large AS b ON {_MATCH}", "large"),
        (f"SELECT a.id FROM (SELECT id, ra, dec FROM few) AS a, (SELECT * FROM large) AS b WHERE {_MATCH}", "large"),
        (f"SELECT a.id FROM medium AS a JOIN large AS b ON {_MATCH} WHERE a.id = 77", "large"),
        (f"SELECT a.id, b.id FROM {_FIRST.format('medium', 'mag, id')} AS a LEFT JOIN large AS b ON {_MATCH}", "large"),
    ],
)
def test_a_small_side_selects_granules_of_the_large_one(query: str, table: str, planned: Sky) -> None:
    planned.fetch_rows(query)
    assert planned.find_share_read(query, table) < 0.7  # a third of the small table is where the large table is dense


def test_first_rows_of_equal_values_are_the_same_in_the_filter(planned: Sky) -> None:
    """Each row is near itself, whichever of the equally bright rows are found."""
    for condition in ("DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.0001 AND b.id - a.id = 0", "a.id = b.id"):
        query = f"SELECT COUNT(*), COUNT(b.id) FROM {_FIRST.format('large', 'mag')} AS a LEFT JOIN large AS b ON {condition}"
        assert query_rows(planned.engine, PLANNED, query) == [(30, 30)]
        assert translate(query, PLANNED).sql.count("LIMIT 30") == 2


_OWN = "DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {0}"
_CIRCLES = "1 = CONTAINS(POINT(b.ra, b.dec), CIRCLE(a.ra, a.dec, a.r / 10))"
_BOXES = "1 = CONTAINS(POINT(b.ra, b.dec), BOX(a.ra, a.dec, 0.1, a.r / 10))"


@pytest.mark.parametrize(
    "query",
    [
        f"few AS a JOIN large AS b ON {_OWN.format('a.r / 10')}",
        f"few AS a LEFT JOIN large AS b ON {_OWN.format('SQRT(a.r * a.r + 1E-6)')} AND b.mag > 2",
        f"large AS b JOIN (SELECT id, ra, dec, 2 * r AS r FROM few WHERE mag > 1) AS a ON {_CIRCLES}",
        f"few AS a, (SELECT * FROM large) AS b WHERE {_CIRCLES}",
        f"large AS b JOIN few AS a ON {_BOXES} AND a.r > 0 AND a.dec BETWEEN -89 AND 89",
    ],
)
def test_radii_depend_on_rows_of_a_small_side(query: str, planned: Sky) -> None:
    planned.fetch_rows(f"SELECT a.id, b.id FROM {query}")
    assert planned.find_share_read(f"SELECT a.id, b.id FROM {query}", "large") < 0.8


def test_rows_with_a_partner_in_a_small_table_of_radii(planned: Sky) -> None:
    query = f"SELECT b.id FROM large AS b WHERE EXISTS (SELECT 1 FROM few AS a WHERE {_CIRCLES})"
    planned.fetch_rows(query)
    assert planned.find_share_read(query, "large") < 0.8


@_ANY
@given(
    kind=st.sampled_from(["", "LEFT", "RIGHT", "FULL"]),
    radius=st.sampled_from(
        ["a.r", "a.r * 100", "a.r / 1000", "a.id / 3.0", "a.id - 30", "a.mag * 40", "a.r + b.r / 9"]
    ),
    tables=st.sampled_from(["few AS a {} JOIN large AS b", "large AS b {} JOIN few AS a"]),
    where=_conditions("a.") | _conditions("b."),
)
def test_any_radii_of_a_small_side_keep_all_pairs(
    kind: str, radius: str, tables: str, where: str, planned: Sky
) -> None:
    planned.fetch_rows(
        "SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(a.id), SUM(b.id)"
        f" FROM {tables.format(kind)} ON {_OWN.format(radius)} WHERE {where}"
    )


def test_a_join_by_id_looks_up_the_ids(planned: Sky) -> None:
    query = "SELECT a.id, b.mag FROM few AS a JOIN large AS b ON a.id = b.id WHERE a.mag > 7"
    planned.fetch_rows(query)
    translation = translate(query, PLANNED)
    small_too = {"min_table_rows_to_use_projection_index": 0}
    assert "Name: by_id" in planned.engine.explain_query(translation.sql, translation.settings | small_too)


@pytest.mark.parametrize(
    ("indexes", "is_sharded", "is_chosen"), [((), False, False), ((), True, True), (("seen",), False, True)]
)
def test_a_join_by_another_column_filters_by_its_values_if_that_saves_much(
    indexes: tuple[str, ...], is_sharded: bool, is_chosen: bool
) -> None:
    """The filter saves granules of an index, or rows to send; without such savings ClickHouse filters by itself."""
    columns = (*COLUMNS, Column(name="seen", datatype="long"))
    layout = Layout(position=("ra", "dec"), id=("id",), indexes=indexes)
    tables = tuple(Table(name=name, columns=columns, layout=layout) for name in SIZES)
    placement = Sharding("skyhouse", ShardMap.build_uniform(3)) if is_sharded else None
    catalogue = Catalogue((Schema(name="planned", tables=tables),), COUNTS, sharding=placement)
    sql = translate("SELECT a.id, b.mag FROM few AS a LEFT JOIN large AS b ON a.id = b.seen", catalogue).sql
    assert bool(re.search(r"`seen` (GLOBAL )?IN \(SELECT", sql)) == is_chosen


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a.id FROM large AS a LEFT JOIN few AS b ON {_MATCH}",  # each row of large stays
        f"SELECT a.id FROM (SELECT TOP 5 * FROM few) AS a JOIN large AS b ON {_MATCH}",  # may be five other rows
        f"SELECT a.id FROM (SELECT TOP 5 * FROM few ORDER BY mag + RAND()) AS a JOIN large AS b ON {_MATCH}",
        f"SELECT a.id FROM (SELECT TOP 5 * FROM few WHERE RAND() < 0.5 ORDER BY id) AS a JOIN large AS b ON {_MATCH}",
        "SELECT a.id FROM few AS a JOIN large AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 40",
        "SELECT a.id FROM few AS a JOIN few AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.001",
    ],
)
def test_no_filter_by_cells_if_it_changes_the_answer_or_saves_nothing(query: str) -> None:
    assert "mortonDecode" not in translate(query, PLANNED).sql
