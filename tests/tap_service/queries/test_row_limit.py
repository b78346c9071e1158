"""Row limits: estimated rows are compared with the engine's, and a cut result never looks complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.models.work_class import ResultRows
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.queries.row_limit import RowLimit, apply_row_limit, fitting_percentage
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore

STARS, GALAXIES = 120_521, 14_033
CONE = "1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 30))"


@pytest.fixture
def estimator(demo_engine: EmbeddedEngine, tmp_path: Path) -> Iterator[Estimator]:
    store = SqliteJobStore(tmp_path)
    yield Estimator(demo_engine, store)
    store.close()


EXACT = [
    "SELECT * FROM tycho2.bright",
    "SELECT ra FROM tycho2.bright ORDER BY vt_mag OFFSET 20",
    "SELECT TOP 7 ra FROM tycho2.bright",
    "SELECT TOP 200000 ra FROM tycho2.bright",
    "SELECT COUNT(*) AS n, MAX(ra) AS m FROM tycho2.bright",
    "SELECT ra FROM (SELECT TOP 50 ra FROM tycho2.bright) AS q",
    "WITH w AS (SELECT TOP 5 ra FROM tycho2.bright) SELECT * FROM w",
    "SELECT ra FROM tycho2.bright UNION ALL SELECT ra FROM openngc.objects",
    "SELECT a.ra FROM (SELECT TOP 5 ra FROM tycho2.bright) AS a, openngc.objects AS b",
    "SELECT ra, RANK() OVER (ORDER BY ra) AS r FROM openngc.objects",
]
ABOUT = [
    f"SELECT ra FROM tycho2.bright WHERE {CONE}",
    "SELECT ra FROM tycho2.bright WHERE dec BETWEEN 10 AND 40 AND ra < 200",
    "SELECT ra FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(10, 20, 60, 20, 60, 60, 10, 60))",
    f"SELECT ra FROM tycho2.bright WHERE NOT {CONE}",
    f"SELECT ra FROM tycho2.bright WHERE {CONE} OR 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, -89, 20))",
    "SELECT ra FROM tycho2.bright TABLESAMPLE (25)",
    f"SELECT ra FROM tycho2.bright WHERE {CONE} UNION ALL SELECT ra FROM openngc.objects",
]
AT_MOST = [
    "SELECT ra FROM tycho2.bright WHERE vt_mag < 5",
    f"SELECT ra FROM tycho2.bright WHERE {CONE} AND vt_mag < 9",
    f"SELECT ra FROM tycho2.bright WHERE {CONE} AND MOD(ra, 2) < 1",
    "SELECT DISTINCT origin FROM tycho2.bright",
    "SELECT origin, COUNT(*) AS n FROM tycho2.bright GROUP BY origin HAVING COUNT(*) > 3",
    "SELECT COUNT(*) AS n FROM tycho2.bright HAVING COUNT(*) > 200000",
    "SELECT type FROM openngc.objects UNION SELECT type FROM openngc.objects",
    "SELECT type FROM openngc.objects EXCEPT SELECT 'G' AS type FROM openngc.objects",
    "SELECT type FROM openngc.objects INTERSECT SELECT TOP 3 type FROM openngc.objects",
    "SELECT TOP 9 a.ra FROM tycho2.bright AS a JOIN openngc.objects AS b ON a.tyc_id = b.name",
    "SELECT a.ra FROM tycho2.bright AS a, (SELECT TOP 2 ra FROM openngc.objects) AS b WHERE a.ra < b.ra",
]


@pytest.mark.parametrize(("precision", "queries"), [("exact", EXACT), ("about", ABOUT), ("at most", AT_MOST)])
def test_rows_are_foreseen(
    estimator: Estimator, demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, precision: str, queries: list[str]
) -> None:
    """The engine counts the rows in one query."""
    translations = [translate(query, demo_catalogue) for query in queries]
    counts = ", ".join(f"(SELECT count() FROM ({made.sql})) AS n{at}" for at, made in enumerate(translations))
    (row,) = demo_engine.fetch_table(f"SELECT {counts}", translations[0].settings).to_pylist()
    for query, limit, counted in zip(queries, [None, 4, 100_000] * 9, row.values(), strict=False):
        found = estimator.estimate_result_rows(translate(query, demo_catalogue, limit=limit), 1)
        assert found is not None, query
        assert found.precision == precision, query
        allowed = {"exact": (counted, counted), "about": (0.9 * counted, 1.15 * counted)}
        least, most = allowed.get(precision, (counted, STARS * GALAXIES))
        assert least <= found.rows <= most, (query, counted)


def test_of_joins_nobody_knows(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    query = "SELECT a.ra FROM tycho2.bright AS a LEFT JOIN openngc.objects AS b ON a.tyc_id = b.name"
    assert estimator.estimate_result_rows(translate(query, demo_catalogue), 1) is None


def limited(estimator: Estimator, catalogue: Catalogue, query: str, limit: int = 100_000) -> RowLimit:
    translation = translate(query, catalogue, limit=limit + 1)
    return apply_row_limit(RowLimit(limit, 10**7), estimator.estimate_result_rows(translation, 1), translation, query)


class TestWarning:
    def test_says_what_is_cut_and_the_way_out(self, estimator: Estimator, demo_catalogue: Catalogue) -> None:
        assert limited(estimator, demo_catalogue, "SELECT * FROM tycho2.bright AS b").warning == (
            "The query gives 120,521 rows; the row limit of 100,000 will cut them. "
            "Rows come in HEALPix order, so entire parts of the sky will be missing. "
            "Ask for more with MAXREC, up to 10000000. "
            "For rows from everywhere, ask for a sample: FROM tycho2.bright AS b TABLESAMPLE (82)."
        )

    def test_of_an_order_of_the_querys_own(self, estimator: Estimator, demo_catalogue: Catalogue) -> None:
        found = limited(estimator, demo_catalogue, "SELECT ra FROM tycho2.bright ORDER BY vt_mag")
        assert "The last rows in the query's order will be missing" in found.warning
        assert found.sample is None

    @pytest.mark.parametrize(
        ("query", "limit"),
        [
            ("SELECT * FROM tycho2.bright", STARS),
            ("SELECT * FROM tycho2.bright", 0),
            ("SELECT TOP 100 ra FROM tycho2.bright", 100),
            ("SELECT ra FROM tycho2.bright WHERE vt_mag < 9", 100_000),  # at most: the exact number is unknown
            ("SELECT * FROM tycho2.bright TABLESAMPLE (82)", 100_000),
        ],
    )
    def test_is_not_given_without_cause(
        self, estimator: Estimator, demo_catalogue: Catalogue, query: str, limit: int
    ) -> None:
        assert limited(estimator, demo_catalogue, query, limit).warning == ""


class TestSample:
    @pytest.mark.parametrize("limit", [30, 1000, 100_000, 120_000])
    @pytest.mark.parametrize("where", ["", " WHERE dec < 70", f" WHERE vt_mag < 20 AND {CONE}"])
    def test_fits(
        self, estimator: Estimator, demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, limit: int, where: str
    ) -> None:
        query = f"SELECT tyc_id, dec FROM tycho2.bright AS b{where}"
        sample = limited(estimator, demo_catalogue, query, limit).sample
        if sample is None:
            assert limit == 120_000
            assert where
            return
        made = translate(query[: sample.at] + sample.text + query[sample.at :], demo_catalogue)
        rows = demo_engine.fetch_table(f"SELECT count() AS n FROM ({made.sql})", made.settings)["n"][0].as_py()
        assert (0 if "AND" in where else 0.3 * limit) < rows <= limit

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT origin, COUNT(*) AS n FROM tycho2.bright GROUP BY origin",
            "SELECT DISTINCT ra FROM tycho2.bright",
            "SELECT ra, RANK() OVER (ORDER BY ra) AS r FROM tycho2.bright",
            "SELECT ra FROM tycho2.bright UNION ALL SELECT ra FROM openngc.objects",
            "SELECT ra FROM (SELECT ra FROM tycho2.bright) AS q",
            "SELECT ra FROM tycho2.bright OFFSET 1000",  # a sample of 10 rows has none after these
            "SELECT ra FROM tycho2.bright TABLESAMPLE (90)",
            "SELECT TOP 1000 ra FROM tycho2.bright",  # the number of rows without TOP is unknown
        ],
    )
    def test_is_not_offered_where_it_answers_another_query(
        self, estimator: Estimator, demo_catalogue: Catalogue, query: str
    ) -> None:
        assert limited(estimator, demo_catalogue, query, 10).sample is None

    @pytest.mark.parametrize(("limit", "rows"), [(1, 2), (1, 10**12), (99, 100), (10**6, 10**9), (5, 6)])
    def test_percentages_are_adql(self, limit: int, rows: float) -> None:
        percent = float(fitting_percentage(limit, rows))
        assert 0 < percent < 100
        assert rows * percent / 100 <= limit


def test_what_was_cut_is_told_in_the_past() -> None:
    found = RowLimit(10, 100, 0, ResultRows(50, "about"), "sky")
    assert found.text_after_cut == (
        "The query gives about 50 rows. Rows come in HEALPix order, so entire parts of the sky are missing. "
        "Ask for more with MAXREC, up to 100."
    )
    assert re.match("Ask for more", RowLimit(10, 100).text_after_cut)
    assert RowLimit(100, 100, 1000).text_after_cut == "A job gives more, with MAXREC up to 1000."
    assert "ask in parts" in RowLimit(1000, 1000, 1000).text_after_cut
    assert replace(found, limit=0).text_after_cut == "Ask for more with MAXREC, up to 100."
