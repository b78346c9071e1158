"""Rows of queries on timestamps, booleans, bytes, arrays and points, with NULLs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.services.queries.value_errors import explain_value_error
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.support.adql_rows import query_rows

_OBS = Table(
    name="obs",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        Column(name="t", datatype="timestamp"),
        Column(name="flag", datatype="boolean"),
        Column(name="b", datatype="byte"),
        Column(name="flux", datatype="double", arraysize="*"),
        Column(name="pos", datatype="double", arraysize="2", xtype="point"),
        Column(name="span", datatype="double", arraysize="2", xtype="interval"),
        Column(name="counts", datatype="int", arraysize="3"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",)),
)
_ROWS = """(1, 10, 20, '2020-01-01 00:00:00', true, 1, [1, 2], [10, 20], [1, 2], [1, 2, 3]),
    (2, NULL, NULL, NULL, NULL, NULL, [], [], [], []),
    (3, 10.001, 20, '2021-06-01 12:30:00.5', false, 255, [3], [11, 20], [0, 0.5], [7, 8, 9])"""
_EARLY, _LATE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 6, 1, 12, 30, 0, 500000, tzinfo=UTC)

CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("SELECT id FROM obs WHERE t > '2020-06-01'", [(3,)]),
    ("SELECT id FROM obs WHERE t IN ('2020-01-01', '2021-06-01T12:30:00.5Z')", [(1,), (3,)]),
    ("SELECT id FROM obs WHERE t NOT IN ('2020-01-01', NULL)", []),
    ("SELECT id FROM obs WHERE t BETWEEN '2020-01-01' AND '2020-12-31 23:59:59'", [(1,)]),
    ("SELECT MIN(t), MAX(t), COUNT(DISTINCT t) FROM obs", [(_EARLY, _LATE, 2)]),
    ("SELECT id, CASE WHEN flag THEN t END FROM obs", [(1, _EARLY), (2, None), (3, None)]),
    ("SELECT COALESCE(t, CAST('2020-01-01' AS TIMESTAMP)) FROM obs WHERE id < 3", [(_EARLY,), (_EARLY,)]),
    ("SELECT CAST(t AS CHAR(10)), CAST(t AS VARCHAR) FROM obs WHERE id = 3", [("2021-06-01", "2021-06-01T12:30:00.500000")]),
    ("SELECT CAST(CASE WHEN id = 1 THEN '2020-01-01' || 'T12:00:00.25Z' WHEN id = 3 THEN ' 2020-01-01 ' END AS TIMESTAMP) FROM obs", [(datetime(2020, 1, 1, 12, 0, 0, 250000, tzinfo=UTC),), (None,), (_EARLY,)]),
    ("SELECT id FROM obs WHERE t = CAST(CAST(t AS VARCHAR) AS TIMESTAMP)", [(1,), (3,)]),
    ("SELECT CASE WHEN id = 1 THEN '2021-06-01T12:30:00.5' ELSE t END, COALESCE(t, '2020-01-01') FROM obs", [(_LATE, _EARLY), (None, _EARLY), (_LATE, _LATE)]),
    ("SELECT id FROM obs WHERE '2020-06-01' < t AND t NOT BETWEEN '2022-01-01' AND '2023-01-01' AND t <> '2020-01-01'", [(3,)]),
    ("SELECT id FROM obs WHERE t = '2020-01-01' OR t = '2021-06-01T12:30:00.5' OR t = '2000-01-01'", [(1,), (3,)]),
    ("SELECT id FROM obs WHERE t = (SELECT MAX(t) FROM obs) OR t IN (SELECT MIN(t) FROM obs)", [(1,), (3,)]),
    ("SELECT LAG(t, 1, '2020-01-01') OVER (ORDER BY id), MAX(t) OVER (ORDER BY id) FROM obs", [(_EARLY, _EARLY), (_EARLY, _EARLY), (None, _LATE)]),
    ("SELECT t, COUNT(*) FROM obs GROUP BY t ORDER BY t DESC", [(_LATE, 1), (_EARLY, 1), (None, 1)]),
    ("SELECT flux + flux, flux * 2, 2 - flux, -flux FROM obs", [([2.0, 4.0], [2.0, 4.0], [1.0, 0.0], [-1.0, -2.0]), ([], [], [], []), ([6.0], [6.0], [-1.0], [-3.0])]),
    ("SELECT (flux / b)[1], (flux + NULL)[1], (1 / flux * flux)[2] FROM obs", [(1.0, None, 1.0), (None, None, None), (3 / 255, None, None)]),
    ("SELECT a.flux + b.flux FROM obs AS a, obs AS b WHERE a.id < b.id", [([],), ([],), ([],)]),
    ("SELECT CASE WHEN (flux / 0)[1] = (flux / 0)[1] THEN 1 ELSE 0 END FROM obs WHERE id = 1", [(0,)]),
    ("SELECT span + span, span * 10, span[2] - span[1], counts + 1, -counts FROM obs", [([2.0, 4.0], [10.0, 20.0], 1.0, [2, 3, 4], [-1, -2, -3]), ([], [], None, [], []), ([0.0, 1.0], [0.0, 5.0], 0.5, [8, 9, 10], [-7, -8, -9])]),
    ("SELECT span FROM obs WHERE span[1] < 0.5", [([0.0, 0.5],)]),
    ("SELECT t FROM obs WHERE id = 1 UNION SELECT NULL FROM obs", [(_EARLY,), (None,)]),
    ("SELECT pos FROM obs WHERE id = 1 UNION SELECT NULL FROM obs", [([10.0, 20.0],), ([],)]),
    ("SELECT id FROM obs WHERE flag <> FALSE OR flag IS NULL", [(1,), (2,)]),
    ("SELECT id FROM obs WHERE NOT flag", [(3,)]),
    ("SELECT flag, COUNT(*), MAX(flag) FROM obs GROUP BY flag", [(False, 1, False), (True, 1, True), (None, 1, None)]),
    ("SELECT CAST(flag AS INTEGER), CAST(flag AS VARCHAR) FROM obs", [(0, "false"), (1, "true"), (None, None)]),
    ("SELECT b + 1, b * b, -b, ABS(b), b / 2, MOD(b, 7), ~b FROM obs WHERE id = 3", [(256, 65025, -255, 255, 127, 3, -256)]),
    ("SELECT flux[1], flux[2], flux[0], flux[-1], flux[id] FROM obs", [(1.0, 2.0, None, None, 1.0), (3.0, None, None, None, None), (None,) * 5]),
    ("SELECT id FROM obs WHERE flux IS NULL OR pos IS NULL", [(2,)]),
    ("SELECT CASE WHEN id = 1 THEN flux END FROM obs", [([1.0, 2.0],), ([],), ([],)]),
    ("SELECT id, CASE WHEN id = 1 THEN pos ELSE POINT(ra, dec) END FROM obs", [(1, [10.0, 20.0]), (2, []), (3, [10.001, 20.0])]),
    ("SELECT COORD1(pos), COORD2(POINT(ra, dec)) FROM obs", [(10.0, 20.0), (11.0, 20.0), (None, None)]),
    ("SELECT id FROM obs WHERE 1 = CONTAINS(pos, CIRCLE(10, 20, 0.1))", [(1,)]),
    ("SELECT id FROM obs WHERE 0 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.0001))", [(3,)]),
    ("SELECT CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) AS c, COUNT(*) FROM obs GROUP BY c", [(1, 2), (None, 1)]),
    ("SELECT ivo_healpix_index(5, ra, dec), ivo_healpix_index(0, pos) FROM obs", [(4965, 4), (4965, 4), (None, None)]),
    ("SELECT a.id, b.id FROM obs AS a FULL JOIN obs AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.1 AND a.id <> b.id", [(1, 3), (2, None), (3, 1), (None, 2)]),
]  # fmt: skip

REFUSED = [
    ("SELECT pos + 1 FROM obs", "'+' takes a number; this is POINT", ""),
    ("SELECT flux + 'a' FROM obs", "this is CHAR", ""),
    ("SELECT flux & 1 FROM obs", "this is DOUBLE[]", ""),
    ("SELECT counts + span FROM obs", "arrays of the same length; these have 3 and 2 elements", ""),
    ("SELECT id FROM obs WHERE flux = flux", "cannot compare", "v[1]"),
    ("SELECT id FROM obs WHERE span < 3", "cannot compare INTERVAL with INTEGER", "v[1]"),
    ("SELECT id FROM obs WHERE t = CAST(id AS VARCHAR)", "cannot compare TIMESTAMP with CHAR", "CAST(... AS TIMESTAMP)"),
    ("SELECT id FROM obs WHERE t > 5", "cannot compare TIMESTAMP with INTEGER", ""),
    ("SELECT id FROM obs WHERE t > '2020'", "is not a timestamp", "2026-01-31T12:00:00"),
    ("SELECT id FROM obs WHERE t IN ('2020-02-30')", "is not a timestamp", ""),
    ("SELECT COALESCE(t, 'never') FROM obs", "is not a timestamp", ""),
    ("SELECT t + 1 FROM obs", "takes a number; this is TIMESTAMP", ""),
    ("SELECT CAST(t AS INTEGER) FROM obs", "cannot convert TIMESTAMP to INTEGER", ""),
    ("SELECT CAST(id AS TIMESTAMP) FROM obs", "cannot convert BIGINT to TIMESTAMP", ""),
    ("SELECT CAST(flux AS VARCHAR) FROM obs", "cannot convert DOUBLE[] to VARCHAR", ""),
]  # fmt: skip

#: Texts that only ClickHouse accepts as timestamps
NO_TIMESTAMPS = (
    "12:00",
    "20200101",
    "Jan 3 2020",
    "2020-02-30",
    "2020-01-01T25:00:00",
    "2020-01-01T00:00:00+02:00",
    "",
)


@pytest.fixture(scope="module")
def kinds(engine: Engine) -> Catalogue:
    engine.execute("CREATE DATABASE IF NOT EXISTS kinds")
    engine.execute(create_table_sql(_OBS, "kinds.obs"))
    names = ", ".join(column.name for column in _OBS.columns)
    engine.execute(f"INSERT INTO kinds.obs ({names}) VALUES {_ROWS}")
    return Catalogue((Schema(name="kinds", tables=(_OBS,)),))


@pytest.mark.parametrize(("query", "rows"), CASES)
def test_rows_of_a_query(query: str, rows: list[tuple[Any, ...]], engine: Engine, kinds: Catalogue) -> None:
    assert sorted(query_rows(engine, kinds, query), key=repr) == sorted(rows, key=repr)


@pytest.mark.parametrize(("query", "message", "hint"), REFUSED)
def test_type_mismatches_are_refused(query: str, message: str, hint: str, kinds: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(query, kinds)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("text", NO_TIMESTAMPS)
def test_a_computed_text_is_not_a_timestamp(text: str, engine: Engine, kinds: Catalogue) -> None:
    with pytest.raises(EngineValueError) as caught:
        query_rows(engine, kinds, f"SELECT CAST('{text}' || '' AS TIMESTAMP) FROM obs")
    assert "a text is no timestamp" in explain_value_error(caught.value)
