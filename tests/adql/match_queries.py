"""Queries of all kinds with matches of the tables of ``tests.adql.crossmatch_sky``."""

from __future__ import annotations

from tests.support.adql_rows import Rows

_NEAR = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.5"
_OF_C = "DISTANCE(POINT(b.ra, b.dec), POINT(c.ra, c.dec)) < 0.5"

MATCH_QUERIES = [
    # a table with itself, each pair once
    f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.ones AS b ON {_NEAR} AND a.id < b.id",
    f"SELECT a.id, b.id FROM matches.ones AS a, matches.ones AS b WHERE a.id < b.id AND {_NEAR}",
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.ones AS b ON {_NEAR} AND a.id <> b.id",
    # three tables
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR} JOIN matches.ones AS c ON {_OF_C}",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} LEFT JOIN matches.ones AS c ON {_OF_C}",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a FULL JOIN matches.others AS b ON {_NEAR} LEFT JOIN matches.ones AS c ON {_OF_C}",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR} FULL JOIN matches.ones AS c ON {_OF_C}",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a, matches.others AS b, matches.ones AS c WHERE {_NEAR} AND {_OF_C} AND c.mag < 3",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} LEFT JOIN matches.others AS c"
    " ON DISTANCE(POINT(a.ra, a.dec), POINT(c.ra, c.dec)) < 2 * c.err",
    f"SELECT a.id, b.id FROM matches.ones AS a RIGHT JOIN (matches.others AS b JOIN matches.ones AS c ON {_OF_C}) ON {_NEAR}",
    # further conditions with the nearness
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} AND a.mag < 3 AND b.mag > 2 AND a.mag <> b.mag",
    f"SELECT a.id, b.id FROM matches.ones AS a FULL JOIN matches.others AS b ON {_NEAR} AND a.mag < 3 AND b.mag > 2 AND a.mag <> b.mag",
    f"SELECT a.id, b.id FROM matches.ones AS a FULL JOIN matches.others AS b ON {_NEAR} WHERE a.mag < 3 OR b.id IS NULL",
    f"SELECT COUNT(*), COUNT(a.id), COUNT(b.id) FROM matches.ones AS a FULL JOIN matches.others AS b ON {_NEAR}",
    f"SELECT COUNT(*) FROM matches.ones AS a FULL JOIN matches.nothing AS b ON {_NEAR}",
    f"SELECT COUNT(*) FROM matches.nothing AS a FULL JOIN matches.ones AS b ON {_NEAR}",
    f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON a.mag = b.mag AND {_NEAR}",
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} AND (a.mag < b.mag OR b.mag IS NULL OR a.id > b.id)",
    # nearness below OR and NOT
    f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR} OR a.id = b.id",
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON ({_NEAR} AND a.mag < 2) OR ({_NEAR} AND b.mag < 2)",
    f"SELECT COUNT(*) FROM matches.ones AS a JOIN matches.others AS b ON NOT ({_NEAR}) WHERE a.id < 300 AND b.id < 300",
    f"SELECT COUNT(*) FROM matches.ones AS a LEFT JOIN matches.others AS b ON NOT ({_NEAR}) AND DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 1",
    # derived tables
    f"SELECT a.id, b.id FROM (SELECT id, ra, dec FROM matches.ones WHERE mag < 4) AS a LEFT JOIN (SELECT * FROM matches.others WHERE mag > 2) AS b ON {_NEAR}",
    f"WITH a AS (SELECT * FROM matches.ones WHERE dec > 0), b AS (SELECT * FROM a WHERE mag > 1) SELECT a.id, b.id FROM a FULL JOIN b ON {_NEAR}",
    f"SELECT a.id, b.n FROM matches.ones AS a LEFT JOIN (SELECT mag, MIN(ra) AS ra, MAX(dec) AS dec, COUNT(*) AS n FROM matches.others GROUP BY mag) AS b ON {_NEAR}",
    "SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN (SELECT TOP 50 * FROM matches.others ORDER BY id) AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < b.err",
    f"SELECT a.id, b.id FROM (SELECT TOP 50 * FROM matches.others ORDER BY id) AS a FULL JOIN matches.ones AS b ON {_NEAR}",
    # positions that are expressions, on either side
    "SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(POINT(a.ra + a.mag / 3600, a.dec), POINT(b.ra, b.dec)) < 0.5",
    "SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b"
    " ON DISTANCE(POINT(COALESCE(a.ra, 10), COALESCE(a.dec, 20)), POINT(COALESCE(b.ra, 10), COALESCE(b.dec, 20))) < 0.5",
    "SELECT a.id, c.id FROM matches.ones AS a LEFT JOIN matches.nothing AS b ON a.id = b.id JOIN matches.others AS c"
    " ON DISTANCE(POINT(COALESCE(b.ra, a.ra), COALESCE(b.dec, 10)), POINT(c.ra, c.dec)) < 5",
    "SELECT a.id, b.id FROM (SELECT * FROM matches.ones WHERE id < 300) AS a JOIN matches.others AS b"
    " ON DISTANCE(ivo_epoch_prop_pos(a.ra, a.dec, 0, 1000 * a.mag, 0, 0, 2000, 2016), POINT(b.ra, b.dec)) < 0.5",
    "SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN (SELECT * FROM matches.others WHERE id < 300) AS b"
    " ON DISTANCE(POINT(a.ra, a.dec), ivo_epoch_prop_pos(b.ra, b.dec, 0, 1000 * b.mag, 0, 0, 2000, 2016)) < 0.5",
    # positions of several tables, by other kinds of joins
    *(
        f"SELECT COUNT(*), COUNT(a.id), COUNT(b.id) FROM matches.ones AS a {kind} JOIN matches.others AS b ON {condition} JOIN matches.ones AS c"
        " ON DISTANCE(POINT(COALESCE(b.ra, a.ra), COALESCE(b.dec, a.dec)), POINT(c.ra, c.dec)) < 5"
        for kind, condition in (("FULL", "a.mag + b.mag < 1"), ("LEFT", "a.mag > 5.5 AND b.mag < 1"), ("FULL", "a.mag < 1"), ("LEFT", "a.id = b.id"))
    ),
    "SELECT COUNT(*) FROM matches.ones AS a, matches.others AS b, matches.ones AS c WHERE a.id = b.id AND DISTANCE(POINT(a.ra + b.mag, a.dec), POINT(c.ra, c.dec)) < 5",
    # outputs and groups
    f"SELECT a.id, MIN(DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec))) FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} GROUP BY a.id",
    f"SELECT a.ra, a.dec, DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)), COUNT(*) FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR} GROUP BY a.ra, a.dec, b.ra, b.dec",
    f"SELECT a.id, DISTANCE(POINT(b.ra, b.dec), POINT(a.ra, a.dec)) AS d FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR} ORDER BY d, a.id",
]  # fmt: skip


def disable_planning(query: str) -> str:
    """Return the query with DISTANCE in an expression, which is not planned as a nearness."""
    return query.replace("DISTANCE(", "0 + DISTANCE(")


def round_values(rows: Rows) -> Rows:
    """Return the sorted rows, with numbers rounded beyond the effect of the order of operations."""
    rounded = [tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows]
    return sorted(rounded, key=repr)
