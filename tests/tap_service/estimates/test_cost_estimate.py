"""Estimates against the rows that the engine reads and counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.row_store import ROW_STORE_GRANULE
from tap_service.models.work_class import Estimate
from tap_service.services.estimates.estimator import Estimator
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

STARS = 120_521
GRANULE = 8192


def estimate_query(estimator: Estimator, catalogue: Catalogue, query: str) -> Estimate:
    return estimator.estimate_cost(translate(query, catalogue), 1)


@pytest.mark.parametrize(
    ("query", "rows", "kind"),
    [
        ("SELECT ra, dec FROM tycho2.bright", STARS, "scan"),
        ("SELECT COUNT(hip) FROM tycho2.bright", STARS, "group"),
        ("SELECT origin, AVG(vt_mag) FROM tycho2.bright GROUP BY origin", STARS, "group"),
        ("SELECT ra FROM tycho2.bright ORDER BY vt_mag", STARS, "sort"),
        ("SELECT TOP 5 ra FROM tycho2.bright ORDER BY vt_mag", STARS, "scan"),
        ("SELECT a.ra FROM tycho2.bright AS a JOIN tycho2.bright AS b ON a.hip = b.hip", 2 * STARS, "join"),
        ("SELECT ra FROM tycho2.bright UNION ALL SELECT ra FROM openngc.objects", STARS + 14_033, "scan"),
        ("SELECT ra FROM tycho2.bright WHERE tyc_id = '1-2-3'", GRANULE, "scan"),
        ("SELECT ra FROM tycho2.bright WHERE tyc_id IN ('1-2-3', '4-5-6')", 2 * GRANULE, "scan"),
        ("SELECT ra FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 180))", STARS, "scan"),
    ],
)
def test_rows_and_kind_of_work(
    estimator: Estimator, demo_catalogue: Catalogue, query: str, rows: int, kind: str
) -> None:
    found = estimate_query(estimator, demo_catalogue, query)
    assert (found.rows, found.kind) == (rows, kind)
    assert found.bytes > 0
    assert found.seconds > 0


@pytest.mark.parametrize(("columns", "rows"), [("*", 2 * ROW_STORE_GRANULE), ("ra, dec", 2 * GRANULE)])
def test_stored_rows_are_in_small_granules(
    estimator: Estimator, demo_catalogue: Catalogue, columns: str, rows: int
) -> None:
    [schema] = (schema for schema in demo_catalogue.schemas if schema.name == "tycho2")
    tables = tuple(
        table.model_copy(update={"layout": table.layout.model_copy(update={"row_store": True})})
        for table in schema.tables
    )
    catalogue = replace(demo_catalogue, schemas=(schema.model_copy(update={"tables": tables}),))
    query = f"SELECT {columns} FROM tycho2.bright WHERE tyc_id IN ('1-2-3', '4-5-6')"
    assert estimate_query(estimator, catalogue, query).rows == rows


@pytest.mark.parametrize(
    ("ra", "dec", "radius"), [(56.75, 24.1, 10), (0, 90, 20), (0, 0, 30), (266, -29, 60), (10, -89, 100)]
)
def test_rows_in_cones(
    estimator: Estimator, demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, ra: float, dec: float, radius: float
) -> None:
    query = f"SELECT COUNT(*) FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, {radius}))"
    translation = translate(query, demo_catalogue)
    counted = demo_engine.fetch_table(translation.sql, translation.settings).column(0)[0].as_py()
    found = estimator.estimate_cost(translation, 1)
    assert counted <= found.rows <= 2 * counted + GRANULE


def test_pairs_without_a_key_cost_most(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    tables = "SELECT COUNT(*) AS n FROM tycho2.bright AS a JOIN tycho2.bright AS b ON "
    keyed, compared = (
        estimate_query(estimator, demo_catalogue, tables + on) for on in ("a.tyc_id = b.tyc_id", "a.vt_mag < b.vt_mag")
    )
    near = estimate_query(estimator, demo_catalogue, tables + "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.1")
    assert max(keyed.seconds, near.seconds) < 1
    assert compared.seconds > 10


def test_bytes_grow_with_the_columns(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    one = estimate_query(estimator, demo_catalogue, "SELECT ra FROM tycho2.bright")
    three = estimate_query(estimator, demo_catalogue, "SELECT ra, dec, tyc_id FROM tycho2.bright")
    assert one.bytes == pytest.approx(8 * STARS, rel=0.2)
    assert three.bytes > 2.5 * one.bytes


def test_rates_are_learned(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    query = "SELECT ra FROM tycho2.bright"
    before = estimate_query(estimator, demo_catalogue, query)
    for _ in range(50):
        estimator.learn_rate(before, 10**9, 100.0)
    after = estimate_query(estimator, demo_catalogue, query)
    assert after.steps
    assert after.seconds - after.steps.write_seconds == pytest.approx(100 * before.bytes / 1e9, rel=0.01)
    estimator.learn_rate(before, 1000, 100.0)  # too small to count
    assert estimate_query(estimator, demo_catalogue, query) == after
