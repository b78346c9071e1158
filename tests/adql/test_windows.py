"""Window functions equal DuckDB's on the same rows."""

from __future__ import annotations

import duckdb
import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import Ask, make_comparable, query_rows

_FRAMES = (
    "ROWS UNBOUNDED PRECEDING",
    "ROWS 2 PRECEDING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING",
    "ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 2147483646 PRECEDING AND 2147483646 FOLLOWING",
    "ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING",
    "ROWS BETWEEN 4 PRECEDING AND 3 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "RANGE UNBOUNDED PRECEDING",
    "RANGE CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 2 FOLLOWING AND 4 FOLLOWING",
    "RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING",
)
_FUNCTIONS = (
    "COUNT(*)", "COUNT(star)", "COUNT(DISTINCT flux)", "SUM(star)", "AVG(flux)", "MIN(name)", "MAX(flux)",
    "FIRST_VALUE(id)", "LAST_VALUE(name)", "NTH_VALUE(id, 2)",
)  # fmt: skip
#: Number of the first _FUNCTIONS, whose values do not depend on the order of equal rows
_WITHOUT_ORDER = 7


def _assert_same(ask: Ask, other: duckdb.DuckDBPyConnection, query: str, sql: str = "") -> None:
    expected = make_comparable(other.execute(sql or query).fetchall())
    assert sorted(make_comparable(ask(query)), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("key", ["star", "id", "flux"])
def test_frames(frame: str, key: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    functions = _FUNCTIONS if "ROWS" in frame else _FUNCTIONS[:_WITHOUT_ORDER]
    last = ", id" if "ROWS" in frame else ""
    for direction in ("", " DESC"):
        queries = [
            "SELECT id, "
            + ", ".join(f"{f} OVER (ORDER BY {key}{direction}{nulls}{last} {frame})" for f in functions)
            + " FROM small.spectra"
            for nulls in ("", " NULLS LAST")
        ]
        _assert_same(ask, other, *queries)


@pytest.mark.parametrize(
    "function",
    ["COUNT(mag)", "COUNT(name)", "COUNT(id)", "COUNT(variable)", "COUNT(DISTINCT mag)", "SUM(n_obs)", "AVG(mag)", "MIN(name)",
     "MAX(mag)", "MEDIAN(mag)", "STDDEV(mag)", "VAR_POP(mag)", "FIRST_VALUE(mag)", "LAG(mag)", "COUNT(CASE WHEN mag > 2 THEN 1 END)"],
)  # fmt: skip
@pytest.mark.parametrize("window", ["ORDER BY id", "PARTITION BY id", "PARTITION BY variable ORDER BY id"])
def test_a_column_used_only_in_a_window(function: str, window: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    _assert_same(ask, other, f"SELECT id, {function} OVER ({window}) FROM small.stars")


@pytest.mark.parametrize(
    "function",
    [
        "ROW_NUMBER() OVER (PARTITION BY variable ORDER BY id)",
        "RANK() OVER (PARTITION BY variable ORDER BY mag)",
        "DENSE_RANK() OVER (ORDER BY mag)",
        "PERCENT_RANK() OVER (ORDER BY mag)",
        "CUME_DIST() OVER (ORDER BY parallax)",
        "RANK() OVER ()",
        "CUME_DIST() OVER (PARTITION BY variable)",
        "NTILE(4) OVER (ORDER BY id)",
        "NTILE(2) OVER (PARTITION BY variable ORDER BY id DESC)",
        "NTILE(100) OVER (ORDER BY id)",
        "LAG(mag) OVER (ORDER BY id)",
        "LAG(id) OVER (ORDER BY id)",
        "LAG(name, 2) OVER (PARTITION BY variable ORDER BY id)",
        "LAG(n_obs, 1, -15) OVER (ORDER BY id)",
        "LEAD(name, 3, 'none') OVER (ORDER BY id DESC)",
        "LEAD(variable) OVER (ORDER BY id)",
        "LEAD(id, 0) OVER (ORDER BY id)",
        "LAG(big, 1, id) OVER (ORDER BY id)",
        "LEAD(COALESCE(-3, 10), 2, id) OVER (ORDER BY id)",
        "LAG(5) OVER (ORDER BY id)",
        "FIRST_VALUE('x') OVER (ORDER BY id ROWS BETWEEN 5 FOLLOWING AND 6 FOLLOWING)",
        "FIRST_VALUE(name) OVER (PARTITION BY variable ORDER BY id DESC)",
        "LAST_VALUE(name) OVER (ORDER BY id)",
        "LAST_VALUE(parallax) OVER (PARTITION BY variable ORDER BY id)",
        "NTH_VALUE(name, 3) OVER (PARTITION BY variable ORDER BY id)",
        "COUNT(DISTINCT name) OVER (PARTITION BY variable)",
        "SUM(DISTINCT n_obs) OVER (PARTITION BY name ORDER BY id)",
        "COUNT(*) OVER (PARTITION BY name, mag)",
        "MAX(variable) OVER (ORDER BY id)",
        "AVG(n_obs) OVER ()",
        "mag - AVG(mag) OVER (PARTITION BY name)",
        "CASE WHEN ROW_NUMBER() OVER (ORDER BY id) <= 3 THEN 'first' ELSE name END",
        "COALESCE(LAG(n_obs) OVER (ORDER BY id), 0) - 1",
    ],
)
def test_functions(function: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    sql = function
    for key in ("mag", "parallax"):
        sql = sql.replace(f"ORDER BY {key}", f"ORDER BY {key} NULLS LAST")
    _assert_same(ask, other, f"SELECT id, {function} FROM small.stars", f"SELECT id, {sql} FROM small.stars")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, COUNT(*), RANK() OVER (ORDER BY COUNT(*) DESC) FROM small.stars GROUP BY name",
        "SELECT name, SUM(SUM(n_obs)) OVER () FROM small.stars GROUP BY name HAVING COUNT(mag) > 0",
        "SELECT SUM(COUNT(*)) OVER (), COUNT(*) FROM small.stars",
        "SELECT name, LAG(MAX(mag)) OVER (ORDER BY name) FROM small.stars WHERE name IS NOT NULL GROUP BY name",
        "SELECT DISTINCT COUNT(*) OVER (PARTITION BY name) FROM small.stars",
        "SELECT id FROM small.stars ORDER BY COUNT(*) OVER (PARTITION BY name) DESC, id",
        "SELECT q.id, q.r FROM (SELECT id, mag, ROW_NUMBER() OVER (ORDER BY id) AS r FROM small.stars) AS q WHERE q.mag > 1",
        "SELECT q.id, p.id, q.r FROM (SELECT id, RANK() OVER (ORDER BY name) AS r FROM small.stars) AS q"
        " LEFT JOIN small.spectra AS p ON p.star = q.id AND q.r > 2 WHERE q.id > 2",
        "SELECT COUNT(*) OVER () FROM small.stars AS s JOIN small.spectra AS p ON s.id = p.star",
        "SELECT COUNT(*) OVER (PARTITION BY flux) FROM small.spectra",
        "SELECT COUNT(DISTINCT flux) OVER () FROM small.spectra",
        "SELECT id FROM small.stars WHERE id IN (SELECT NTILE(3) OVER (ORDER BY id) FROM small.stars)",
        "SELECT ROW_NUMBER() OVER (ORDER BY id) FROM small.stars EXCEPT SELECT id FROM small.spectra WHERE id > 3",
        "WITH r AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY name ORDER BY id) AS n FROM small.stars)"
        " SELECT id FROM r WHERE n = 1",
        "SELECT ROW_NUMBER() OVER (ORDER BY id) FROM small.stars WHERE id < 0",
    ],
)
def test_windows_in_queries(query: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    _assert_same(ask, other, query, query.replace("ORDER BY name)", "ORDER BY name NULLS LAST)"))


def test_top_counts_after_the_windows(ask: Ask) -> None:
    assert ask("SELECT TOP 2 COUNT(*) OVER () AS n FROM small.stars ORDER BY id OFFSET 1") == [(9,), (9,)]


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT id FROM small.stars WHERE RANK() OVER (ORDER BY id) = 1", "is not allowed in WHERE", "subquery"),
        ("SELECT id FROM small.stars GROUP BY id, COUNT(*) OVER ()", "is not allowed in GROUP BY", "subquery"),
        ("SELECT COUNT(*) OVER () AS n FROM small.stars GROUP BY n", "is not allowed in GROUP BY", "subquery"),
        ("SELECT id FROM small.stars GROUP BY id HAVING 1 < COUNT(*) OVER ()", "is not allowed in HAVING", "subquery"),
        (
            "SELECT s.id FROM small.stars AS s JOIN small.spectra AS p ON 1 = RANK() OVER ()",
            "allowed in ON",
            "subquery",
        ),
        ("SELECT SUM(RANK() OVER ()) FROM small.stars", "RANK OVER inside SUM", "subquery"),
        ("SELECT SUM(RANK() OVER ()) OVER () FROM small.stars", "inside SUM OVER", "subquery"),
        ("SELECT RANK() OVER (ORDER BY RANK() OVER ()) FROM small.stars", "inside RANK OVER", "subquery"),
        ("SELECT RANK() FROM small.stars", "RANK is a window function", "OVER (PARTITION BY"),
        ("SELECT RNK() OVER () FROM small.stars", "not a window function", "did you mean RANK?"),
        ("SELECT SQRT(mag) OVER () FROM small.stars", "expected an operator", "not a window function"),
        ("SELECT ivo_healpix_index(1, 2, 3) OVER () FROM small.stars", "not a window function", "remove OVER"),
        ("SELECT NTILE(0) OVER () FROM small.stars", "literal integer from 1", ""),
        ("SELECT NTILE(id) OVER () FROM small.stars", "literal integer", ""),
        ("SELECT LAG(id, -1) OVER (ORDER BY id) FROM small.stars", "literal integer from 0", ""),
        ("SELECT LAG(id, 1, 'x') OVER (ORDER BY id) FROM small.stars", "LAG mixes INTEGER and CHAR", ""),
        ("SELECT LAG() OVER (ORDER BY id) FROM small.stars", "wrong number of arguments for LAG: 0", "LAG(x [, n"),
        ("SELECT LAG(POINT(id, 0)) OVER () FROM small.stars", "scalar value", ""),
        ("SELECT SUM(name) OVER () FROM small.stars", "SUM takes a number", ""),
        ("SELECT COUNT(*) OVER (ORDER BY id RANGE 2147483647 PRECEDING) FROM small.stars", "offsets of a frame", ""),
        ("SELECT COUNT(*) OVER (RANGE 1 PRECEDING) FROM small.stars", "exactly one ORDER BY expression", "ROWS"),
        ("SELECT COUNT(*) OVER (ORDER BY name RANGE 1 PRECEDING) FROM small.stars", "orders by a number", "ROWS"),
        ("SELECT COUNT(*) OVER (ORDER BY id ROWS 1 FOLLOWING) FROM small.stars", "ends before it starts", ""),
        (
            "SELECT COUNT(*) OVER (ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING) FROM small.stars",
            "ends before it starts",
            "",
        ),
        (
            "SELECT COUNT(*) OVER (ROWS BETWEEN 1 PRECEDING AND 2 PRECEDING) FROM small.stars",
            "ends before it starts",
            "",
        ),
        ("SELECT mag, RANK() OVER (ORDER BY id) FROM small.stars GROUP BY mag", "neither in GROUP BY", "MIN(id)"),
        ("SELECT id FROM small.stars UNION SELECT id FROM small.stars ORDER BY RANK() OVER ()", "output column", ""),
    ],
)
def test_invalid_windows_are_refused(query: str, message: str, hint: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(query, small)
    assert message in caught.value.message
    assert hint in caught.value.hint


_CONE = "1 = CONTAINS(POINT({0}ra, {0}dec), CIRCLE(45, 0, 3))"
_NUMBERED = "(SELECT id, ra, dec, ROW_NUMBER() OVER (ORDER BY id) AS n, COUNT(*) OVER () AS many FROM sky.points)"


def test_a_cone_around_windows_keeps_their_counts(engine: Engine, sky: Catalogue) -> None:
    [(count,)] = query_rows(engine, sky, "SELECT COUNT(*) FROM sky.points")
    rows = query_rows(engine, sky, f"SELECT q.id, q.n, q.many FROM {_NUMBERED} AS q WHERE {_CONE.format('q.')}")
    inside = query_rows(engine, sky, f"SELECT id FROM sky.points WHERE {_CONE.format('')}")
    assert sorted(rows) == [(id_, id_ + 1, count) for (id_,) in sorted(inside)]
    assert rows


def test_windows_over_a_cone_count_its_rows(engine: Engine, sky: Catalogue) -> None:
    inside = query_rows(engine, sky, f"SELECT id FROM sky.points WHERE {_CONE.format('')}")
    rows = query_rows(engine, sky, f"SELECT id, COUNT(*) OVER () FROM sky.points WHERE {_CONE.format('')}")
    assert sorted(rows) == [(id_, len(inside)) for (id_,) in sorted(inside)]


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_windows_over_a_cross_match(kind: str, engine: Engine, sky: Catalogue) -> None:
    """The nearest by number is the nearest of all pairs, and numbered rows keep their numbers in a match."""
    match = f"FROM sky.points AS a {kind} sky.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.05"
    apart = "DISTANCE(a.ra, a.dec, b.ra, b.dec)"
    pairs = query_rows(engine, sky, f"SELECT a.id, b.id, {apart} AS s {match} WHERE {_CONE.format('a.')}")
    numbered = f"SELECT a.id AS x, b.id AS y, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY {apart}, b.id) AS n {match}"
    rows = query_rows(engine, sky, f"SELECT x, y FROM ({numbered} WHERE {_CONE.format('a.')}) AS q WHERE n = 1")
    nearest = {a: b for a, b, _ in sorted(pairs, key=lambda p: (p[2] is None, p[2] or 0, p[1] or 0), reverse=True)}
    assert sorted(rows) == sorted(nearest.items())
    first = query_rows(
        engine,
        sky,
        f"SELECT a.id, b.id, a.n FROM {_NUMBERED} AS a {kind} sky.others AS b"
        f" ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.05 WHERE {_CONE.format('a.')}",
    )
    assert sorted(first, key=repr) == sorted([(a, b, a + 1) for a, b, _ in pairs], key=repr)
