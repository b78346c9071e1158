"""The stage of a running query, from the engine's figures."""

from __future__ import annotations

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.services.queries.query_stages import QueryStages
from tap_service.storage.engine.engine import Progress

MATCH = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.1"
JOIN = "FROM tycho2.bright AS a JOIN openngc.objects AS b ON"
#: successive figures of the engine: rows read, expected and joined, and whether rows have been returned
BEGINS, READS, JOINS, RESTS, WRITES = (
    (0, 0, 0, False),
    (60, 100, 0, False),
    (100, 100, 50, False),
    (100, 100, 50, False),
    (100, 100, 50, True),
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ra FROM tycho2.bright", "reading reading reading reading writing"),
        ("SELECT COUNT(*) FROM tycho2.bright", "reading reading grouping grouping writing"),
        ("SELECT DISTINCT ra FROM tycho2.bright", "reading reading grouping grouping writing"),
        ("SELECT ra FROM tycho2.bright UNION SELECT ra FROM openngc.objects", "reading reading grouping grouping writing"),
        ("SELECT ra FROM tycho2.bright ORDER BY dec", "reading reading sorting sorting writing"),
        ("SELECT RANK() OVER (ORDER BY ra) FROM tycho2.bright", "reading reading sorting sorting writing"),
        (f"SELECT a.ra {JOIN} {MATCH}", "reading reading matching matching writing"),
        (f"SELECT COUNT(*) {JOIN} {MATCH}", "reading reading matching grouping writing"),
        (f"SELECT a.ra {JOIN} {MATCH} ORDER BY a.ra", "reading reading matching sorting writing"),
        (f"SELECT name FROM openngc.objects AS b WHERE EXISTS (SELECT * FROM tycho2.bright AS a WHERE {MATCH})", "reading reading matching matching writing"),
        (f"SELECT name, (SELECT COUNT(*) FROM tycho2.bright AS a WHERE {MATCH}) FROM openngc.objects AS b", "reading reading matching grouping writing"),
        (f"SELECT a.ra {JOIN} a.tyc_id = b.name", "reading reading joining joining writing"),
        ("SELECT a.ra FROM tycho2.bright AS a, openngc.objects AS b", "reading reading joining joining writing"),
    ],
)  # fmt: skip
def test_what_goes_on(demo_catalogue: Catalogue, query: str, expected: str) -> None:
    stages = QueryStages(translate(query, demo_catalogue).query)
    found, before = [], Progress(0, 0, 0, 0)
    for read, total, joined, written in (BEGINS, READS, JOINS, RESTS, WRITES):
        seen = Progress(read, 0, total, 0, joined)
        found.append(stages.current_stage(before, seen, written=written))
        before = seen
    assert " ".join(found) == expected


def test_sql_of_others() -> None:
    assert QueryStages(None).current_stage(Progress(0, 0, 0, 0), Progress(5, 0, 9, 0), written=False) == "reading"
