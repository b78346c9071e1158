"""Divided queries with groups: merged set functions return the same values as for all rows at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adql import Undivided, divide_query
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.merge_tables import hold_merge_table
from tap_service.storage.engine.query_tables import DATABASE
from tests.adql.test_pieces import cut_evenly, divide, fetch_rows, piecewise  # noqa: F401
from tests.support.adql_rows import Rows, make_comparable

ALL = (
    "COUNT(*) AS n, COUNT(mag) AS m, COUNT(DISTINCT mag) AS d, SUM(mag) AS s, SUM(id) AS i, SUM(DISTINCT id) AS di,"
    " AVG(dec) AS a, AVG(DISTINCT mag) AS ad, MIN(ra) AS lo, MAX(dec) AS hi, STDDEV(dec) AS sd, STDDEV_POP(dec) AS sp,"
    " VARIANCE(dec) AS v, VAR_POP(ra) AS vp, COVAR_SAMP(ra, dec) AS cs, COVAR_POP(ra, dec) AS cp, CORR(ra, dec) AS c,"
    " ivo_histogram(mag, 0, 10, 5) AS h, MIN(CASE WHEN id > 5 THEN 'a)''(' ELSE 'b' END) AS t"
)
NEAR = "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, 0.5))"

GROUPED = [
    f"SELECT {ALL} FROM sky.points",
    f"SELECT {ALL} FROM sky.points WHERE id < 0",
    f"SELECT {ALL} FROM sky.points WHERE ra IS NULL",
    f"SELECT mag, {ALL} FROM sky.points GROUP BY mag",
    f"SELECT mag, {ALL} FROM sky.points WHERE id < 3 GROUP BY mag",
    "SELECT COUNT(*) AS n FROM sky.points",
    "SELECT mag FROM sky.points GROUP BY mag",
    "SELECT MOD(id, 7) AS k, mag, SUM(dec) / COUNT(*) AS m FROM sky.points GROUP BY MOD(id, 7), mag",
    "SELECT mag * -0.0 AS z, COUNT(*) AS n FROM sky.points GROUP BY mag * -0.0",
    "SELECT TOP 3 mag, COUNT(*) AS n FROM sky.points GROUP BY mag HAVING COUNT(*) > 10 ORDER BY 2 DESC, 1",
    "SELECT mag FROM sky.points GROUP BY mag HAVING MAX(id) - MIN(id) > 1900 ORDER BY AVG(dec) OFFSET 2",
    "SELECT DISTINCT COUNT(*) AS n FROM sky.points GROUP BY mag",
    "SELECT 1 AS one FROM sky.points HAVING COUNT(*) > 5",
    "SELECT 1 AS one FROM sky.points HAVING COUNT(*) < 5",
    "SELECT CASE WHEN dec > 0 THEN 'north' ELSE 'south' END AS half, AVG(mag) AS m FROM sky.points"
    " GROUP BY CASE WHEN dec > 0 THEN 'north' ELSE 'south' END",
    f"SELECT a.mag, COUNT(*) AS n, SUM(b.mag) AS s FROM matches.ones AS a JOIN matches.others AS b ON {NEAR} GROUP BY a.mag",
    f"SELECT a.mag, COUNT(b.id) AS n FROM matches.ones AS a LEFT JOIN matches.others AS b ON {NEAR} GROUP BY a.mag",
    "SELECT AVG(p.m) AS a FROM (SELECT mag + 1 AS m, ra, dec FROM sky.points WHERE id > 9) AS p WHERE p.dec > 0",
]

UNDIVIDED = {
    "SELECT 1 AS one FROM sky.points HAVING 1 = 1": "only group",
    "SELECT MEDIAN(mag) AS m FROM sky.points": "MEDIAN",
    "SELECT ivo_string_agg('a', ',') AS m FROM sky.points": "IVO_STRING_AGG",
    "SELECT AVG(p.n) AS a FROM (SELECT COUNT(*) AS n FROM sky.points GROUP BY mag) AS p": "no table",
    "SELECT mag, RANK() OVER (ORDER BY COUNT(*)) AS r FROM sky.points GROUP BY mag": "window",
    "SELECT COUNT(*) - (SELECT COUNT(*) FROM sky.others) AS d FROM sky.points": "subquery",
}


@pytest.mark.parametrize("query", GROUPED)
def test_groups_equal_the_undivided_querys(engine: EmbeddedEngine, piecewise: Catalogue, query: str) -> None:  # noqa: F811
    whole = translate(query, piecewise)
    wanted = make_lists_comparable(fetch_rows(engine, whole.sql, whole.settings))
    by = divide(query, piecewise)
    for count in (7,) if "JOIN" in query else (1, 20):
        found = merge_pieces(engine, query, piecewise, count)
        assert found == wanted if "ORDER" in query else sorted(found) == sorted(wanted), (count, by)


def merge_pieces(engine: EmbeddedEngine, query: str, catalogue: Catalogue, count: int) -> Rows:
    by = divide(query, catalogue)
    pieces = by.make_pieces(cut_evenly(engine, by, count))
    bare = by.make_statement(pieces[0], bare=True)
    types = dict(row[:2] for row in fetch_rows(engine, f"DESCRIBE TABLE ({bare.sql})", bare.settings))
    statements = [by.make_statement(piece) for piece in pieces]
    parts = [engine.fetch_table(made.sql, made.settings) for made in statements]
    batches = [batch for part in parts if part.num_columns for batch in part.to_batches()]
    engine.execute(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    with hold_merge_table(engine, "groups_test", types, batches):
        made = by.make_merging_statement(DATABASE, "groups_test", types)
        return make_lists_comparable(fetch_rows(engine, made.sql, made.settings))


def make_lists_comparable(found: Rows) -> Rows:
    return make_comparable([tuple(repr(value) if isinstance(value, list) else value for value in row) for row in found])


@pytest.mark.parametrize("group", ["", "GROUP BY a.mag HAVING COUNT(*) > 1", "GROUP BY b.id"])
def test_matches_that_are_counted(engine: EmbeddedEngine, piecewise: Catalogue, group: str) -> None:  # noqa: F811
    """Each piece counts its matches by cells of the sky, as the undivided query does."""
    crowded = {("matches", name): 1e4 for name in ("ones", "others")}
    catalogue = replace(piecewise, local_densities=crowded)
    key = f", {group.split()[2]}" if group else ""
    query = f"SELECT COUNT(*) AS n{key} FROM matches.ones AS a JOIN matches.others AS b ON {NEAR} {group}"
    whole = translate(query, catalogue)
    assert "in cells of the sky" in " ".join(whole.plan)
    wanted = make_lists_comparable(fetch_rows(engine, whole.sql, whole.settings))
    statement = divide(query, catalogue).make_pieces(cut_evenly(engine, divide(query, catalogue), 5))
    assert "arrayFlatten" in divide(query, catalogue).make_statement(statement[0]).sql
    assert sorted(merge_pieces(engine, query, catalogue, 5)) == sorted(wanted)


@pytest.mark.parametrize("query", UNDIVIDED)
def test_groups_that_cannot_be_merged(piecewise: Catalogue, query: str) -> None:  # noqa: F811
    resolved = translate(query, piecewise).bound
    assert resolved is not None
    found = divide_query(resolved)
    assert isinstance(found, Undivided)
    assert UNDIVIDED[query] in found.reason
