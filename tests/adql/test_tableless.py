"""Checks of queries without tables refuse what no service can accept, and nothing else."""

from __future__ import annotations

import re

import pytest

from adql.errors import AdqlError, offset_to_line_column
from adql.resolve.tableless_check import check_without_tables
from tests.adql.test_extensions import EXAMPLES
from tests.adql.test_slips import SLIPS, find_error

REFUSED = r"""
1:12 ABS takes a number | SELECT ABS('a') FROM t
1:8 ABS takes 1 argument | SELECT ABS(a, b) FROM t
1:8 these arguments do not fit POINT | SELECT POINT('a', 1) FROM t
1:17 POINT takes a number | SELECT POINT(a, 'x') FROM t
1:17 declination 95 | SELECT POINT(1, 95) FROM t
1:14 frame 'FK7' is not known | SELECT POINT('FK7', a, b) FROM t
1:8 there is no function foo | SELECT foo(a) FROM t
1:12 there is no function foo | SELECT MAX(foo(a)) FROM t
1:8 wrong number of arguments for ivo_healpix_index: 1 | SELECT ivo_healpix_index(a) FROM t
1:26 takes a HEALPix order | SELECT ivo_healpix_index(31, a, b) FROM t
1:12 '+' takes a number | SELECT a + 'x' FROM t
1:8 '+' takes a number | SELECT LOWER(a) + 1 FROM t
1:23 LIKE compares texts; this is DOUBLE | SELECT 1 FROM t WHERE SQRT(a) LIKE b
1:23 '=' cannot compare DOUBLE with CHAR | SELECT 1 FROM t WHERE DISTANCE(a, b, c, d) = 'x'
1:8 there is no table x in this FROM | SELECT x.a FROM t
1:8 there is no table x in this FROM | SELECT x.* FROM s.t AS y
1:8 there is no table t in this FROM | SELECT t.a FROM t AS x
1:8 there is no column b in q | SELECT q.b FROM (SELECT a FROM t) AS q
1:8 there is no column c | SELECT c FROM (SELECT a, b FROM t) AS q
1:28 two tables are called x | SELECT a FROM t AS x, u AS x
1:22 this INNER JOIN has no condition | SELECT a FROM t JOIN u
1:26 ORDER BY 2 | SELECT a FROM t ORDER BY 2
1:1 UNION combines queries with the same number | SELECT a FROM t UNION SELECT a, b FROM t
1:29 a subquery for IN must have one column; this one has 2 | SELECT a FROM t WHERE a IN (SELECT a, b FROM t)
1:13 'x' is not a timestamp | SELECT CAST('x' AS TIMESTAMP) FROM t
1:23 MAX is not allowed in WHERE | SELECT a FROM t WHERE MAX(a) > 1
1:8 RNK is not a window function | SELECT RNK() OVER (ORDER BY a) FROM t
1:8 wrong number of arguments for NTILE: 2 | SELECT NTILE(a, 1) OVER (ORDER BY a) FROM t
1:57 radius 200 | SELECT a FROM t WHERE 1=CONTAINS(POINT(a,b), CIRCLE(1,2,200))
1:46 of the polygon cross | SELECT a FROM t WHERE 1=CONTAINS(POINT(a,b), POLYGON(0,0,1,1,1,0,0,1))
1:53 there is no function foo | SELECT a FROM t WHERE EXISTS (SELECT b FROM u WHERE foo(b) = a)
1:30 WITH defines w twice | WITH w AS (SELECT a FROM t), w AS (SELECT b FROM t) SELECT * FROM w
2:6 ABS takes a number | SELECT a,\n ABS('x') FROM t
"""

#: Queries whose columns may be arrays, shapes, texts or times in some table
ACCEPTED = (
    "SELECT t.a, s.t.b, c.s.t.d FROM t",
    "SELECT (a + 1)[1], a[b], -a, a * b, COORD1(a), AREA(b), a || b, a FROM s.t",
    "SELECT * FROM t JOIN u USING (x) NATURAL JOIN v WHERE x = 1 ORDER BY 7",
    "SELECT q.y + 1, q.y || 'x', z FROM (SELECT t.*, a AS y FROM t) AS q",
    "SELECT y + 1 FROM (SELECT a AS y FROM t UNION SELECT b FROM u) AS q WHERE y IN (SELECT c FROM v UNION SELECT 'x' FROM w)",
    "SELECT a FROM t WHERE a IN (SELECT * FROM u) AND b = (SELECT * FROM v) AND c IN (1, d, e)",
    "SELECT * FROM t UNION SELECT a, b, c FROM u ORDER BY 3",
    "SELECT x FROM (SELECT 'a' AS x FROM t) AS q WHERE EXISTS (SELECT 1 FROM u WHERE x + 1 = y)",
    "SELECT 1 FROM t WHERE 1 = CONTAINS(a, b) AND 1 = INTERSECTS(REGION(c), CIRCLE(p, r)) AND DISTANCE(p, q) < r",
    "SELECT POLYGON(a, b, c), POLYGON(a, b, POINT(1, 2), d), CIRCLE(a, 1), BOX(a, 1, 1) FROM t",
    "SELECT IN_UNIT(SQRT(POWER(a, 2) + b), 'rad/yr'), IN_UNIT(COALESCE(a, b), 'mas') FROM t",
    "SELECT a, MAX(b), COUNT(DISTINCT c), RANK() OVER (PARTITION BY a ORDER BY MAX(b)) FROM t GROUP BY a HAVING MIN(a) > b",
    "SELECT greatest(a, b, 1), COALESCE(a, '2020-01-01'), CASE WHEN a THEN b ELSE 'x' END FROM t WHERE a AND NOT b",
    "SELECT x.a FROM t AS x TABLESAMPLE (5) CROSS JOIN (SELECT 1 AS id FROM u) AS q",
    "SELECT k + 1 FROM (SELECT k FROM t) AS a FULL JOIN (SELECT 2 AS k FROM u) AS b USING (k) NATURAL JOIN (SELECT k, l FROM v) AS c",
    "SELECT id FROM (SELECT 1 AS id FROM t) AS a JOIN (SELECT 2 AS id FROM u) AS b USING (id)",
    "WITH stars AS (SELECT id FROM stars WHERE id > 3) SELECT * FROM stars",
    "SELECT DISTINCT a FROM t ORDER BY b",
    "SELECT ivo_simbadpoint('M 31'), ivo_healpix_index(5, a), ivo_geom_transform('ICRS', 'GALACTIC', a) FROM t",
)


@pytest.mark.parametrize("line", REFUSED.strip().split("\n"))
def test_queries_that_no_tables_make_valid(line: str) -> None:
    expected, query = line.split(" | ")
    position, message = expected.split(" ", 1)
    query = query.replace("\\n", "\n")
    with pytest.raises(AdqlError, match=re.escape(message)) as caught:
        check_without_tables(query)
    assert "{}:{}".format(*offset_to_line_column(query, caught.value.span.start)) == position


@pytest.mark.parametrize("query", ACCEPTED)
def test_queries_that_some_tables_make_valid(query: str) -> None:
    check_without_tables(query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM t, s.t AS u", "t s.t"),
        ('SELECT a.x FROM TAP_UPLOAD."My t" AS a JOIN "TAP_UPLOAD".b ON a.x = b.x', "TAP_UPLOAD.My t TAP_UPLOAD.b"),
        ("SELECT 'TAP_UPLOAD.a' AS x -- TAP_UPLOAD.b\nFROM t AS TAP_UPLOAD WHERE TAP_UPLOAD.c = 1", "t"),
        (
            "WITH a AS (SELECT x FROM up.one), b AS (SELECT x FROM a) SELECT x FROM b WHERE x IN (SELECT y FROM two)",
            "up.one two",
        ),
        ("WITH a AS (SELECT x FROM a) SELECT x FROM a", "a"),
        (
            "SELECT x FROM (SELECT x FROM one) AS q UNION SELECT y FROM two WHERE EXISTS (SELECT 1 FROM three)",
            "one two three",
        ),
    ],
)
def test_the_names_of_the_tables_that_are_read(query: str, names: str) -> None:
    read = {".".join(name) for name in check_without_tables(query)}
    assert read == set(re.findall(r"\S+\.My t|\S+", names))


def test_equalities_of_one_column_have_no_limit() -> None:
    check_without_tables("SELECT a FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(1500)))


def test_queries_that_are_valid_with_tables_are_valid_without() -> None:
    """The queries of all other tests are checked as they run, by conftest."""
    for query in [*(better for *_, better in SLIPS if better), *(query for query, _ in EXAMPLES.values())]:
        assert find_error(query) is None
        check_without_tables(query)
