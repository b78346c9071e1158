"""Queries at a limit are translated; beyond it they are refused with a position and a hint."""

from __future__ import annotations

import math

import pytest

from adql.errors import AdqlError, offset_to_line_column
from adql.limits import (
    MAX_COLUMNS,
    MAX_CONDITIONS,
    MAX_IN_VALUES,
    MAX_REGION_SHAPES,
    MAX_RELATIONS,
    MAX_SQL,
    MAX_VERTICES,
    MAX_WITH_DEPTH,
)
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.support.adql_rows import Ask


def _assert_refused(query: str, catalogue: Catalogue, message: str, hint: str, line: int = 2) -> None:
    with pytest.raises(AdqlError, match=message) as caught:
        translate(query, catalogue)
    assert hint in caught.value.hint
    assert offset_to_line_column(query, caught.value.span.start)[0] == line


def _select_columns(count: int) -> str:
    return f"SELECT\n{', '.join(f'id AS x{i}' for i in range(count))} FROM small.stars"


def test_columns(small: Catalogue) -> None:
    assert len(translate(_select_columns(MAX_COLUMNS), small).fields) == MAX_COLUMNS
    _assert_refused(_select_columns(MAX_COLUMNS + 1), small, "selects more than 10000 columns", "use several queries")
    stars = ", ".join(["*"] * (MAX_COLUMNS // 8 + 1))
    _assert_refused(
        f"SELECT\n{stars} FROM small.stars", small, "selects more than 10000 columns", "use several queries"
    )


def test_values_of_in(small: Catalogue) -> None:
    query = "SELECT id FROM small.stars WHERE\nid IN ({})".format
    translate(query(", ".join(map(str, range(MAX_IN_VALUES - 10)))), small)  # 10: other words and symbols of the query
    _assert_refused(
        query(", ".join(f"id + {i}" for i in range(MAX_CONDITIONS + 1))), small, "joins more than 1000 cond", "upload"
    )


def _chain_with_tables(count: int) -> str:
    tables = [f"c{i} AS (SELECT id FROM {f'c{i - 1}' if i else 'small.stars'})" for i in range(count)]
    return f"WITH {','.join(tables)} SELECT COUNT(*) FROM\nc{count - 1}"


def test_chains_of_with(small: Catalogue, ask: Ask) -> None:
    assert ask(_chain_with_tables(MAX_WITH_DEPTH)) == [(9,)]
    _assert_refused(
        _chain_with_tables(MAX_WITH_DEPTH + 1), small, "more than 60 WITH tables", "combine some of them", line=1
    )
    _assert_refused(_chain_with_tables(1000), small, "more than 60 WITH tables", "combine some of them", line=1)


def test_tables(small: Catalogue) -> None:
    query = "SELECT COUNT(*) FROM\n{}".format
    joined = ", ".join(f"small.stars AS t{i}" for i in range(MAX_RELATIONS + 1))
    _assert_refused(query(joined), small, "more than 500 tables", "each use of a WITH table")


def test_many_tables_are_joined_by_their_keys(small: Catalogue, ask: Ask) -> None:
    """Test a hundred tables joined in WHERE: each equality is in the ON of its join."""
    tables = ", ".join(f"small.stars AS t{i}" for i in range(100))
    keys = " AND ".join(f"t{i}.id = t{i + 1}.id" for i in range(99))
    sql = translate(f"SELECT COUNT(*) FROM {tables} WHERE {keys}", small).sql
    assert sql.count(" ON ") == 99
    assert "WHERE" not in sql
    few = "SELECT COUNT(*) FROM small.stars AS a, small.stars AS b, small.stars AS c WHERE a.id = b.id AND b.id = c.id"
    assert ask(few) == [(9,)]


def _draw_polygon(count: int) -> str:
    angles = [2 * math.pi * i / count for i in range(count)]
    return ", ".join(f"{100 + math.cos(a)!r}, {math.sin(a)!r}" for a in angles)


def test_vertices(sky: Catalogue) -> None:
    query = "SELECT TOP 1 id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec),\nPOLYGON({}))".format
    translate(query(_draw_polygon(MAX_VERTICES)), sky)
    _assert_refused(query(_draw_polygon(MAX_VERTICES + 1)), sky, "polygon of 5001 vertices", "or a MOC")


def test_shapes_of_a_region(sky: Catalogue) -> None:
    circles = "Circle 10 10 1 " * (MAX_REGION_SHAPES + 1)
    query = f"SELECT id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec),\nREGION('Union ({circles})'))"
    _assert_refused(query, sky, "region has more than 1000 shapes", "use a MOC")


@pytest.mark.parametrize("depth", [24, 48])
def test_positions_computed_from_positions(depth: int, sky: Catalogue) -> None:
    """Each rotation repeats its operands: without a limit, each doubles the time."""
    position = "POINT(ra, dec)"
    for i in range(depth):
        frames = "'ICRS', 'GALACTIC'" if i % 2 else "'FK4', 'ICRS'"
        position = f"ivo_geom_transform({frames}, {position})"
    _assert_refused(f"SELECT\n{position} FROM sky.points", sky, "too deep|too many parts", "subquery")


def test_the_sql_of_a_query(small: Catalogue) -> None:
    text = "x" * 20_000
    columns = ", ".join(f"'{text}{i}' AS x{i}" for i in range(MAX_SQL // 20_000 + 1))
    with pytest.raises(AdqlError, match="characters"):
        translate(f"SELECT {columns} FROM small.stars", small)
