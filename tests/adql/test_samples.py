"""TABLESAMPLE: the same rows each time, in the given percentage, and all rows of the other tables."""

from __future__ import annotations

import math

import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import Ask, Rows, query_rows


@pytest.fixture
def count(engine: Engine, sky: Catalogue) -> int:
    [(rows,)] = query_rows(engine, sky, "SELECT COUNT(*) FROM sky.points")
    return int(rows)


@pytest.mark.parametrize("percent", [0.5, 10, 50, 99.9])
def test_the_given_percentage_of_rows(percent: float, engine: Engine, sky: Catalogue, count: int) -> None:
    [(taken,)] = query_rows(engine, sky, f"SELECT COUNT(*) FROM sky.points TABLESAMPLE ({percent})")
    part = percent / 100
    assert abs(taken - count * part) < 5 * math.sqrt(count * part * (1 - part)) + 1


def test_the_same_rows_each_time_and_others_with_a_seed(engine: Engine, sky: Catalogue, count: int) -> None:
    def ids(sample: str) -> set[Rows]:
        return {row[0] for row in query_rows(engine, sky, f"SELECT id FROM sky.points AS p TABLESAMPLE {sample}")}

    assert ids("(20)") == ids("(20)") == ids("BERNOULLI (20)") == ids("(20) REPEATABLE (0)")
    assert ids("(20)") < ids("(40)") < ids("(100)")
    assert len(ids("(100)")) == count
    other = ids("(20) REPEATABLE (1)")
    assert len(other & ids("(20)")) < len(other) / 2


def test_a_sample_in_an_outer_join(engine: Engine, sky: Catalogue, count: int) -> None:
    """The answer has all rows of the left table, whatever the sample of the right table is."""
    query = (
        "SELECT COUNT(*), COUNT(b.id) FROM sky.points AS a LEFT JOIN sky.points AS b TABLESAMPLE (10) ON a.id = b.id"
    )
    [(rows, matched)] = query_rows(engine, sky, query)
    [(taken,)] = query_rows(engine, sky, "SELECT COUNT(*) FROM sky.points TABLESAMPLE (10)")
    assert (rows, matched) == (count, taken)


def test_a_cone_on_a_sample_prunes_and_is_exact(engine: Engine, sky: Catalogue) -> None:
    cone = "1 = CONTAINS(POINT(ra, dec), CIRCLE(45, 0, 5))"
    sampled = translate(f"SELECT id FROM sky.points TABLESAMPLE (50) WHERE {cone}", sky)
    assert sampled.cells
    taken = {row[0] for row in query_rows(engine, sky, "SELECT id FROM sky.points TABLESAMPLE (50)")}
    inside = {row[0] for row in query_rows(engine, sky, f"SELECT id FROM sky.points WHERE {cone}")}
    assert {
        row[0] for row in query_rows(engine, sky, f"SELECT id FROM sky.points TABLESAMPLE (50) WHERE {cone}")
    } == taken & inside
    plan = engine.fetch_table(f"EXPLAIN indexes = 1 {sampled.sql}", sampled.settings).column(0).to_pylist()
    assert any("hpx29" in line for line in plan)


def test_names_of_a_sampled_table(ask: Ask) -> None:
    rows = ask('SELECT small.stars.id, stars."Mixed Case", mag FROM small.stars TABLESAMPLE (100)')
    assert len(rows) == 9
    assert len(ask("SELECT * FROM small.stars TABLESAMPLE (100)")[0]) == 8
    assert len(ask("SELECT tablesample.id FROM small.stars AS tablesample")) == 9


def test_a_table_of_with_has_no_sample(small: Catalogue) -> None:
    query = "WITH w AS (SELECT id FROM small.stars) SELECT id FROM w TABLESAMPLE (10)"
    with pytest.raises(AdqlError, match="takes a table of the catalogue"):
        translate(query, small)
