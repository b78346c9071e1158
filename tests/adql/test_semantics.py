"""Rows equal the rows of DuckDB, which runs the same query or the SQL given with it."""

from __future__ import annotations

import duckdb
import pytest

from tests.support.adql_rows import Ask, make_comparable

#: ADQL, and DuckDB's SQL where its spelling differs
PAIRS: list[tuple[str, str]] = [
    ("SELECT * FROM small.stars", ""),
    ("SELECT id, mag FROM stars WHERE mag > 1", "SELECT id, mag FROM small.stars WHERE mag > 1"),
    ("SELECT s.*, s.id + 1 FROM small.stars AS s", ""),
    ('SELECT "Mixed Case" FROM small.stars WHERE "Mixed Case" >= 3', ""),
    ("SELECT DISTINCT name, mag FROM small.stars", ""),
    ("SELECT ALL name FROM small.stars", ""),
    # three-valued logic
    ("SELECT id FROM small.stars WHERE NOT (mag > 2 AND parallax > 5)", ""),
    ("SELECT id FROM small.stars WHERE NOT (mag > 2 OR parallax > 5)", ""),
    ("SELECT id FROM small.stars WHERE name IS NULL OR parallax IS NOT NULL", ""),
    ("SELECT id FROM small.stars WHERE parallax NOT IN (7.0, 10.0)", ""),
    ("SELECT id FROM small.stars WHERE n_obs IN (0, 3, NULL)", ""),
    ("SELECT id FROM small.stars WHERE n_obs NOT IN (0, 3, NULL)", ""),
    ("SELECT id FROM small.stars WHERE n_obs IN (2.5, 3.0)", ""),
    ("SELECT id FROM small.stars WHERE mag NOT BETWEEN 1 AND 3", ""),
    ("SELECT id FROM small.stars WHERE id IN (SELECT star FROM small.spectra)", ""),
    ("SELECT id FROM small.stars WHERE id NOT IN (SELECT star FROM small.spectra)", ""),
    ("SELECT id FROM small.stars WHERE id NOT IN (SELECT star FROM small.spectra WHERE star IS NOT NULL)", ""),
    ("SELECT id FROM small.stars WHERE n_obs NOT IN (SELECT star FROM small.spectra WHERE star > 1000)", ""),
    ("SELECT id FROM small.stars WHERE NOT (n_obs NOT IN (SELECT star FROM small.spectra))", ""),
    ("SELECT id FROM small.stars WHERE n_obs IN (SELECT flux FROM small.spectra)", ""),
    ("SELECT id FROM small.stars WHERE EXISTS (SELECT * FROM small.spectra WHERE flux > 100)", ""),
    ("SELECT id FROM small.stars WHERE NOT EXISTS (SELECT * FROM small.spectra WHERE flux > 100)", ""),
    # text
    ("SELECT id FROM small.stars WHERE name = 'alpha'", ""),
    ("SELECT id FROM small.stars WHERE name < 'b'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE '%a'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE '_______a_'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE 'Éta__'", ""),
    ("SELECT id FROM small.stars WHERE name NOT LIKE '%a%'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE 'back\\slash'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE '%\\%'", ""),
    ("SELECT id FROM small.stars WHERE name ILIKE 'éTA%'", ""),
    ("SELECT id FROM small.stars WHERE name LIKE name", ""),
    ("SELECT id FROM small.stars WHERE name = 'it''s'", ""),
    ("SELECT LOWER(name), UPPER(name), name || '/' || name FROM small.stars", ""),
    # arithmetic
    ("SELECT n_obs / 2, n_obs / 4, -7 / 2 FROM small.stars", "SELECT n_obs // 2, n_obs // 4, -7 // 2 FROM small.stars"),
    ("SELECT n_obs + n_obs, n_obs * n_obs, n_obs - 32767 FROM small.stars", "SELECT n_obs::BIGINT + n_obs, n_obs::BIGINT * n_obs, n_obs::BIGINT - 32767 FROM small.stars"),
    ("SELECT id / n_obs, parallax / n_obs FROM small.stars", "SELECT id // n_obs, parallax / nullif(n_obs, 0) FROM small.stars"),
    ("SELECT MOD(id, n_obs), MOD(n_obs, 3) FROM small.stars", ""),
    ("SELECT -id, -mag, +id, - - id FROM small.stars", ""),
    ("SELECT big - 1, big / 2 FROM small.stars", "SELECT big - 1, big // 2 FROM small.stars"),
    ("SELECT mag * 2, mag + 0.5, 1 - mag, mag / 4 FROM small.stars", "SELECT mag::DOUBLE * 2, mag::DOUBLE + 0.5, 1 - mag::DOUBLE, mag::DOUBLE / 4 FROM small.stars"),
    ("SELECT (1 + 2) * 3 - 4 / 2, 1 + 2 * 3 FROM small.stars", "SELECT 7, 7 FROM small.stars"),
    # functions
    ("SELECT ABS(n_obs), ABS(parallax), CEILING(mag), FLOOR(mag) FROM small.stars", ""),
    ("SELECT ROUND(mag), ROUND(-2.5), ROUND(2.5), ROUND(parallax, 1), ROUND(1234.5, -2) FROM small.stars", "SELECT ROUND(mag), ROUND(-2.5::DOUBLE), ROUND(2.5::DOUBLE), ROUND(parallax, 1), ROUND(1234.5::DOUBLE, -2) FROM small.stars"),
    ("SELECT TRUNCATE(mag), TRUNCATE(parallax, 1), TRUNCATE(-2.57, 1) FROM small.stars", "SELECT trunc(mag), trunc(parallax, 1), -2.5 FROM small.stars"),
    ("SELECT SQRT(ABS(mag)), EXP(mag), LOG(1 + ABS(mag)), LOG10(1 + ABS(mag)), POWER(mag, 2) FROM small.stars", "SELECT SQRT(ABS(mag)::DOUBLE), EXP(mag::DOUBLE), LN(1 + ABS(mag)::DOUBLE), LOG10(1 + ABS(mag)::DOUBLE), POWER(mag::DOUBLE, 2) FROM small.stars"),
    ("SELECT SIN(id), COS(id), TAN(id), ASIN(1.0 / id), ACOS(1.0 / id), ATAN(id), ATAN2(id, 2), COT(id), DEGREES(id), RADIANS(id), PI() FROM small.stars", ""),
    ("SELECT COALESCE(parallax, mag, id), COALESCE(name, 'none') FROM small.stars", ""),
    ("SELECT CASE WHEN mag > 2 THEN 'faint' WHEN mag > 0 THEN 'bright' END, CASE n_obs WHEN 3 THEN 1 ELSE 2.5 END FROM small.stars", ""),
    ("SELECT CAST(mag AS INTEGER), CAST(id AS VARCHAR), CAST('12' AS SMALLINT), CAST(n_obs AS DOUBLE PRECISION) FROM small.stars", "SELECT CAST(trunc(mag) AS INTEGER), CAST(id AS VARCHAR), 12, CAST(n_obs AS DOUBLE PRECISION) FROM small.stars"),
    ("SELECT id & 3, id | 8, id ^ 5 FROM small.stars", "SELECT id & 3, id | 8, xor(id, 5) FROM small.stars"),
    ("SELECT CAST(5 / flux AS BIGINT) FROM small.spectra", "SELECT CAST(trunc(5 / nullif(flux, 0)) AS BIGINT) FROM small.spectra"),
    ("SELECT CAST(CAST(id AS VARCHAR) AS DOUBLE PRECISION), CAST(' 7 ' AS BIGINT), CAST(NULL AS INTEGER), CAST(CASE WHEN id > 3 THEN '1.5' END AS REAL) FROM small.stars", "SELECT id::DOUBLE, 7, NULL, CASE WHEN id > 3 THEN 1.5 END FROM small.stars"),
    ("SELECT CASE WHEN id > 3 THEN CAST('2020-01-01' AS TIMESTAMP) END FROM small.stars WHERE id < 3", "SELECT NULL FROM small.stars WHERE id < 3"),
    ("SELECT NULL AS x FROM small.stars UNION SELECT id FROM small.stars", ""),
    ("SELECT mag FROM small.stars UNION SELECT NULL FROM small.stars", ""),
    ("SELECT id FROM small.stars WHERE id NOT IN (SELECT NULL FROM small.stars)", ""),
    ("WITH stars AS (SELECT id FROM stars WHERE id > 3) SELECT * FROM stars", "SELECT id FROM small.stars WHERE id > 3"),
    # one zero
    ("SELECT flux FROM small.spectra WHERE flux IN (0.0)", ""),
    ("SELECT DISTINCT ABS(flux), -flux FROM small.spectra WHERE flux = 0", ""),
    ("SELECT flux, COUNT(*) FROM small.spectra GROUP BY flux", ""),
    ("SELECT COUNT(DISTINCT flux) FROM small.spectra", ""),
    ("SELECT s.id, p.id FROM small.stars AS s JOIN small.spectra AS p ON s.mag = -p.flux", ""),
    ("SELECT id FROM small.stars WHERE mag IN (SELECT -flux FROM small.spectra)", ""),
    ("SELECT mag FROM small.stars INTERSECT SELECT -flux FROM small.spectra", ""),
    # aggregates
    ("SELECT COUNT(*), COUNT(mag), COUNT(DISTINCT name), SUM(n_obs), AVG(n_obs), MIN(mag), MAX(name) FROM small.stars", ""),
    ("SELECT COUNT(*), COUNT(mag), SUM(n_obs), AVG(mag), MIN(mag), MAX(name) FROM small.stars WHERE id > 100", ""),
    ("SELECT SUM(mag), AVG(mag), SUM(DISTINCT n_obs), AVG(DISTINCT n_obs) FROM small.stars", ""),
    ("SELECT name, COUNT(*) FROM small.stars GROUP BY name", ""),
    ("SELECT n_obs / 3 AS third, SUM(id) FROM small.stars GROUP BY n_obs / 3", "SELECT n_obs // 3, SUM(id) FROM small.stars GROUP BY n_obs // 3"),
    ("SELECT mag, MAX(id) - MIN(id) FROM small.stars GROUP BY mag HAVING COUNT(*) > 1", ""),
    ("SELECT name, SUM(parallax) FROM small.stars GROUP BY name HAVING SUM(parallax) IS NULL", ""),
    ("SELECT name, COUNT(*) FROM small.stars WHERE id > 100 GROUP BY name", ""),
    ("SELECT MAX(id) FROM small.stars HAVING COUNT(*) > 100", ""),
    # joins
    ("SELECT s.id, p.id FROM small.stars AS s, small.spectra AS p WHERE s.id = p.star", ""),
    ("SELECT s.id, p.id FROM small.stars AS s, small.spectra AS p WHERE s.id < p.star AND p.flux > 1", ""),
    ("SELECT COUNT(*) FROM small.stars AS s, small.spectra AS p, small.spectra AS q", ""),
    ("SELECT s.id, p.id FROM small.stars AS s JOIN small.spectra AS p ON s.id = p.star", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star AND p.flux > 1", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star AND s.mag > 1", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id > p.star", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.mag > 2", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star OR s.name = p.name", ""),
    ("SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star AND (s.id < p.id OR 'alpha' BETWEEN s.name AND '')", ""),
    ("SELECT s.id, p.id FROM small.stars AS s RIGHT JOIN small.spectra AS p ON s.id = p.star AND (NOT (s.id >= p.id) OR ('a' = 'b' AND p.name > s.name))", ""),
    ("SELECT s.id, p.id FROM small.stars AS s FULL JOIN small.spectra AS p ON s.id = p.star AND (s.id < p.id OR (1 IS NULL AND p.id > 2))", ""),
    ("SELECT s.id, p.id FROM small.stars AS s RIGHT JOIN small.spectra AS p ON s.id = p.star", ""),
    ("SELECT s.id, p.id FROM small.stars AS s RIGHT OUTER JOIN small.spectra AS p ON s.mag < p.flux", ""),
    ("SELECT s.id, p.id FROM small.stars AS s FULL OUTER JOIN small.spectra AS p ON s.id = p.star", ""),
    (  # no column is needed above the joins
        "SELECT 1 AS c FROM small.stars AS s JOIN small.visits AS v ON s.id = v.star FULL OUTER JOIN small.visits AS w"
        " ON s.id IS NULL, small.stars AS t WHERE w.ended = CAST('2020-01-01T00:00:00' AS TIMESTAMP)",
        "",
    ),
    ("SELECT s.id, p.id FROM small.stars AS s FULL JOIN small.spectra AS p ON s.id = p.star AND p.flux > 1", ""),
    ("SELECT s.id, p.id FROM small.stars AS s FULL JOIN small.spectra AS p ON s.mag < p.flux", ""),
    ("SELECT COUNT(*), COUNT(p.id) FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star WHERE p.id IS NULL", ""),
    ("SELECT * FROM small.stars JOIN small.spectra USING (id)", ""),
    ("SELECT id, flux FROM small.stars LEFT JOIN small.spectra USING (id)", ""),
    ("SELECT id, flux, mag FROM small.stars RIGHT JOIN small.spectra USING (id)", ""),
    ("SELECT id, flux, mag FROM small.stars FULL JOIN small.spectra USING (id)", ""),
    ("SELECT * FROM small.stars NATURAL JOIN small.spectra", ""),
    ("SELECT k FROM (SELECT id AS k FROM small.stars) AS a FULL JOIN (SELECT flux + 0.25 AS k FROM small.spectra) AS b USING (k)", ""),
    ("SELECT k FROM (SELECT id AS k FROM small.stars) AS a RIGHT JOIN (SELECT flux AS k FROM small.spectra) AS b USING (k)", ""),
    ("SELECT * FROM small.stars NATURAL LEFT JOIN small.spectra", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a LEFT JOIN small.spectra AS b ON a.id = b.star LEFT JOIN small.spectra AS c ON b.id = c.id AND c.flux > 1", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a LEFT JOIN (small.spectra AS b JOIN small.stars AS c ON b.star = c.id) ON a.id = b.id", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a RIGHT JOIN small.spectra AS b ON a.id = b.star RIGHT JOIN small.stars AS c ON c.id = b.id", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a JOIN small.spectra AS b ON a.id = b.star FULL JOIN small.stars AS c ON c.id = b.id", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a JOIN small.spectra AS b ON a.id > 0 FULL JOIN small.stars AS c ON a.id = c.n_obs WHERE a.id = b.star", ""),
    ("SELECT a.id, b.id, c.id FROM small.stars AS a JOIN small.spectra AS b ON a.name = b.name LEFT JOIN small.stars AS c ON a.id = c.n_obs WHERE a.mag = b.flux", ""),
    # one group
    ("SELECT 1 FROM small.stars HAVING 1 = 1", ""),
    ("SELECT 1 FROM small.stars WHERE id > 100 HAVING 1 = 1", ""),
    ("SELECT COUNT(*) OVER () FROM small.stars HAVING 1 = 1", ""),
    ("SELECT id, (SELECT 1 FROM small.spectra AS p WHERE p.star > 100 HAVING 1 = 1) FROM small.stars AS s", ""),
    ("SELECT COUNT(*) FROM small.stars WHERE id > 100 GROUP BY 1 + 1", ""),
    ("SELECT MAX(NULL), MIN(NULL), COUNT(NULL) FROM small.stars", ""),
    ("SELECT MAX(NULL) FROM small.stars WHERE id > 100", ""),
    # subqueries and sets
    ("SELECT q.n, q.m FROM (SELECT name AS n, MAX(mag) AS m FROM small.stars GROUP BY name) AS q WHERE q.m > 1", ""),
    ("SELECT id, (SELECT MAX(flux) FROM small.spectra) FROM small.stars", ""),
    ("SELECT id, (SELECT flux FROM small.spectra WHERE id > 100) FROM small.stars", ""),
    ("SELECT id FROM small.stars WHERE mag = (SELECT MIN(mag) FROM small.stars)", ""),
    ("SELECT q.id FROM (SELECT id FROM small.stars WHERE mag > 2) AS q JOIN (SELECT star FROM small.spectra) AS r ON q.id = r.star", ""),
    ("SELECT name FROM small.stars UNION SELECT name FROM small.spectra", ""),
    ("SELECT name FROM small.stars UNION ALL SELECT name FROM small.spectra", ""),
    ("SELECT name FROM small.stars EXCEPT SELECT name FROM small.spectra", ""),
    ("SELECT name FROM small.stars INTERSECT SELECT name FROM small.spectra", ""),
    ("SELECT id FROM small.stars UNION SELECT flux FROM small.spectra", ""),
    ("SELECT id FROM small.stars EXCEPT SELECT star FROM small.spectra UNION ALL SELECT id FROM small.spectra", ""),
    ("WITH bright AS (SELECT id, mag FROM small.stars WHERE mag < 3), pairs AS (SELECT b.id, p.flux FROM bright AS b JOIN small.spectra AS p ON b.id = p.star) SELECT * FROM pairs UNION ALL SELECT id, mag FROM bright", "WITH bright AS (SELECT id, mag FROM small.stars WHERE mag < 3), b2 AS (SELECT b.id, p.flux FROM bright AS b JOIN small.spectra AS p ON b.id = p.star) SELECT * FROM b2 UNION ALL SELECT id, mag FROM bright"),
]  # fmt: skip

ORDERED: list[tuple[str, str]] = [
    ("SELECT id FROM small.stars ORDER BY mag, id", ""),
    ("SELECT id, mag FROM small.stars ORDER BY mag DESC, id DESC", "SELECT id, mag FROM small.stars ORDER BY mag DESC NULLS LAST, id DESC"),
    ("SELECT TOP 3 id FROM small.stars ORDER BY id DESC", "SELECT id FROM small.stars ORDER BY id DESC LIMIT 3"),
    ("SELECT id AS x, name FROM small.stars ORDER BY 2, x DESC", ""),
    ("SELECT id FROM small.stars ORDER BY id OFFSET 4", ""),
    ("SELECT TOP 2 id FROM small.stars ORDER BY id OFFSET 4", "SELECT id FROM small.stars ORDER BY id LIMIT 2 OFFSET 4"),
    ("SELECT name, COUNT(*) AS n FROM small.stars GROUP BY name ORDER BY n DESC, name", "SELECT name, COUNT(*) AS n FROM small.stars GROUP BY name ORDER BY n DESC, name NULLS LAST"),
    ("SELECT name, COUNT(*) FROM small.stars GROUP BY name ORDER BY MAX(id)", ""),
    ("SELECT id AS mag FROM small.stars ORDER BY mag DESC", ""),
    ("SELECT -id AS id FROM small.stars ORDER BY id", ""),
    ("SELECT id FROM small.stars ORDER BY mag * -1, id", ""),
    ("SELECT id FROM small.stars UNION SELECT star FROM small.spectra ORDER BY 1 DESC", "SELECT id FROM small.stars UNION SELECT star FROM small.spectra ORDER BY 1 DESC NULLS LAST"),
    ("SELECT q.id FROM (SELECT TOP 4 id FROM small.stars ORDER BY mag) AS q ORDER BY q.id", "SELECT q.id FROM (SELECT id FROM small.stars ORDER BY mag LIMIT 4) AS q ORDER BY q.id"),
    ("SELECT TOP 0 id FROM small.stars", "SELECT id FROM small.stars LIMIT 0"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "sql"), PAIRS)
def test_rows_equal_duckdbs(query: str, sql: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    expected = make_comparable(other.execute(sql or query).fetchall())
    assert sorted(make_comparable(ask(query)), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(("query", "sql"), ORDERED)
def test_order_of_rows_equals_duckdbs(query: str, sql: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    assert make_comparable(ask(query)) == make_comparable(other.execute(sql or query).fetchall())
