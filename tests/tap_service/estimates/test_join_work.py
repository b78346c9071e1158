"""Estimates of joins, compared with the rows of the engine and with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shard_map import CLUSTER_NAME, MAP_ORDER, Sharding, ShardMap
from tap_service.models.work_class import Estimate, Steps, WorkClass
from tap_service.services.estimates.estimator import Estimator
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore

STARS, OBJECTS = 120_521, 14_033
#: The factor by which an estimate may be off
MAX_FACTOR = 2.0

APART = "DISTANCE(a.ra, a.dec, b.ra, b.dec)"
STAR_STAR = "FROM tycho2.bright AS a JOIN tycho2.bright AS b ON"
OBJECT_STAR = "FROM openngc.objects AS a JOIN tycho2.bright AS b ON"
NEAR_PLEIADES = "1 = CONTAINS(POINT({0}.ra, {0}.dec), CIRCLE(56.75, 24.1, 15))"

QueryEstimator = Callable[..., Estimate]


@pytest.fixture
def estimate_query(demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, tmp_path: Path) -> Iterator[QueryEstimator]:
    store = SqliteJobStore(tmp_path)
    estimator = Estimator(demo_engine, store)
    yield lambda query, limit=None: estimator.estimate_cost(translate(query, demo_catalogue, limit=limit), 1)
    store.close()


def get_steps(estimate: Estimate) -> Steps:
    assert estimate.steps
    return estimate.steps


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a.ra {STAR_STAR} {APART} < 0.001",
        f"SELECT a.ra {STAR_STAR} {APART} < 0.3",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 1.5",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 10 WHERE {NEAR_PLEIADES.format('a')}",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 10 WHERE {NEAR_PLEIADES.format('b')}",
        f"SELECT a.ra {STAR_STAR} {APART} < 180 WHERE {NEAR_PLEIADES.format('a')} AND {NEAR_PLEIADES.format('b')}",
        f"SELECT a.ra {STAR_STAR} 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, b.vt_mag / 40))",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 1 + a.majax / 60",
        f"SELECT a.ra {OBJECT_STAR} {APART} < b.vt_mag / 20 + a.majax / 60",
        f"SELECT a.ra {OBJECT_STAR.replace('JOIN', 'LEFT JOIN')} {APART} < 0.1",
        f"SELECT a.ra {OBJECT_STAR} 1 = skyhouse_nearest(2, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 1.5)",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 0.5 JOIN tycho2.bright AS c ON DISTANCE(c.ra, c.dec, a.ra, a.dec) < 0.5",
        f"SELECT a.ra FROM openngc.objects AS a, tycho2.bright AS b WHERE {APART} < 1",
        f"SELECT a.ra FROM (SELECT ra, dec FROM openngc.objects) AS a JOIN tycho2.bright AS b ON {APART} < 1",
        "SELECT a.ra FROM (SELECT TOP 20 * FROM openngc.objects) AS a, (SELECT TOP 300 * FROM tycho2.bright) AS b",
        "SELECT ra FROM tycho2.bright UNION ALL SELECT ra FROM openngc.objects",
    ],
)
def test_estimates_are_near_the_true_rows(
    estimate_query: QueryEstimator, demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, query: str
) -> None:
    found = get_steps(estimate_query(query))
    assert found.sure
    counted = translate(f"SELECT COUNT(*) FROM ({query}) AS q", demo_catalogue)
    true = demo_engine.fetch_table(counted.sql, counted.settings).column(0)[0].as_py()
    assert true / MAX_FACTOR < found.written < true * MAX_FACTOR


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a.ra {STAR_STAR} {APART} < 2",
        f"SELECT a.ra {STAR_STAR} {APART} < 0.5 WHERE {NEAR_PLEIADES.format('a')}",
        f"SELECT a.ra {OBJECT_STAR} {APART} < 1 + a.majax / 60",
        f"SELECT a.ra {OBJECT_STAR} 1 = skyhouse_nearest(2, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 3)",
        f"SELECT COUNT(*), MIN(a.ra) {OBJECT_STAR} {APART} < 3",
        f"SELECT COUNT(*) {OBJECT_STAR} a.ra < b.ra",
        f"SELECT a.ra {STAR_STAR} a.tyc_id = b.tyc_id",
    ],
)
def test_the_same_on_a_cluster(
    demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, tmp_path: Path, query: str
) -> None:
    cells = 12 * 4**MAP_ORDER
    shards = ShardMap(MAP_ORDER, (*(cell * 3 // cells for cell in range(cells)), 0))
    cluster = Catalogue(
        demo_catalogue.schemas,
        counts=demo_catalogue.counts,
        local_densities=demo_catalogue.local_densities,
        sharding=Sharding(CLUSTER_NAME, shards),
    )
    store = SqliteJobStore(tmp_path)
    estimator = Estimator(demo_engine, store)
    here, there = (get_steps(estimator.estimate_cost(translate(query, each), 1)) for each in (demo_catalogue, cluster))
    store.close()
    assert there.sure == here.sure
    assert there.joined == pytest.approx(here.joined, rel=0.01)
    assert there.written == pytest.approx(here.written, rel=0.01)


def test_uploaded_rows_may_be_anywhere(demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, tmp_path: Path) -> None:
    """Uploaded rows have positions but no density table."""
    columns = tuple(Column(name=name, datatype="double") for name in ("ra", "dec"))
    mine = Table(name="mine", columns=columns, layout=Layout(position=("ra", "dec")))
    entry = TableEntry(Schema(name="TAP_UPLOAD", tables=(mine,)), mine, 1000, stored_sql="`skyhouse`.`upload_1`")
    query = f"SELECT a.ra FROM TAP_UPLOAD.mine AS a JOIN tycho2.bright AS b ON {APART} < 60"
    store = SqliteJobStore(tmp_path)
    found = get_steps(
        Estimator(demo_engine, store).estimate_cost(translate(query, demo_catalogue.add_entries((entry,))), 1)
    )
    store.close()
    assert not found.sure
    assert found.written == pytest.approx(1000 * STARS / 4, rel=0.01)


def test_counted_pairs_are_estimated_by_cells(estimate_query: QueryEstimator) -> None:
    counted = get_steps(estimate_query(f"SELECT COUNT(*) {STAR_STAR} {APART} < 20"))
    tested = get_steps(estimate_query(f"SELECT COUNT(*), MIN(a.ra) {STAR_STAR} {APART} < 20"))
    assert counted.sure
    assert counted.written == 1
    assert 0.1 * tested.joined < counted.joined < 0.8 * tested.joined
    part = get_steps(estimate_query(f"SELECT COUNT(*) {STAR_STAR} {APART} < 20 WHERE {NEAR_PLEIADES.format('a')}"))
    assert part.sure
    assert part.joined < 0.1 * counted.joined


def test_products_are_exact(estimate_query: QueryEstimator) -> None:
    product = get_steps(estimate_query("SELECT a.ra FROM openngc.objects AS a, tycho2.bright AS b"))
    assert product.joined == product.written == OBJECTS * STARS
    compared = get_steps(estimate_query(f"SELECT COUNT(*) {OBJECT_STAR} a.ra < b.ra"))
    outer = get_steps(estimate_query(f"SELECT COUNT(*) {OBJECT_STAR.replace('JOIN', 'LEFT JOIN')} a.ra < b.ra"))
    assert compared.joined == OBJECTS * STARS
    assert outer.joined >= OBJECTS * STARS
    three = "SELECT COUNT(*) FROM openngc.objects AS a, tycho2.bright AS b, openngc.objects AS c"
    assert get_steps(estimate_query(three)).joined == OBJECTS * STARS * (1 + OBJECTS)


def test_a_larger_radius_has_a_larger_estimate(estimate_query: QueryEstimator) -> None:
    """A larger radius never has a smaller estimate."""
    radii = [0.001 * 2.2**power for power in range(16)] + [180]
    found = [estimate_query(f"SELECT a.ra {STAR_STAR} {APART} <= {radius}") for radius in radii]
    written = [get_steps(each).written for each in found]
    assert written == sorted(written)
    assert STARS <= written[0] < 1.01 * STARS
    assert written[-1] == STARS**2
    assert found[-1].seconds > 1000 * found[0].seconds


def test_a_region_reduces_the_estimate(estimate_query: QueryEstimator) -> None:
    """A region on either side reduces the estimate."""
    query = f"SELECT a.ra {STAR_STAR} {APART} < 0.5"
    everywhere, first, second = (
        get_steps(estimate_query(query + where))
        for where in ("", f" WHERE {NEAR_PLEIADES.format('a')}", f" WHERE {NEAR_PLEIADES.format('b')}")
    )
    assert first.written < everywhere.written / 20
    assert second.written == pytest.approx(first.written, rel=0.3)


def test_a_look_up_by_id_reduces_the_estimate(estimate_query: QueryEstimator) -> None:
    all_ = get_steps(estimate_query(f"SELECT b.ra {STAR_STAR} {APART} < 5"))
    one = get_steps(estimate_query(f"SELECT b.ra {STAR_STAR} {APART} < 5 WHERE a.tyc_id = '1-13-1'"))
    few = get_steps(estimate_query(f"SELECT b.ra {STAR_STAR} {APART} < 5 WHERE a.tyc_id IN ('1-13-1', '1-16-1')"))
    assert 100 < one.written < all_.written / 10_000
    assert few.written == pytest.approx(2 * one.written, abs=2)


def test_unknown_conditions_make_the_estimate_unsure(estimate_query: QueryEstimator) -> None:
    """Conditions reduce the rows, by an unknown factor."""
    query = f"SELECT a.ra {STAR_STAR} {APART} < 0.5"
    filtered = get_steps(estimate_query(query + " WHERE a.vt_mag < 5"))
    assert not filtered.sure
    assert filtered.written == get_steps(estimate_query(query)).written
    by_value = get_steps(estimate_query(f"SELECT COUNT(*) {STAR_STAR} a.origin = b.origin"))
    assert not by_value.sure
    assert by_value.joined >= STARS
    assert not get_steps(estimate_query(f"SELECT COUNT(*) {STAR_STAR} a.tyc_id = b.tyc_id")).sure
    some = f"SELECT name FROM openngc.objects AS a WHERE EXISTS (SELECT * FROM tycho2.bright AS b WHERE {APART} < 3)"
    assert get_steps(estimate_query(some)).written <= OBJECTS


def test_a_row_limit_reduces_work_that_it_ends(estimate_query: QueryEstimator) -> None:
    query = f"SELECT a.ra {STAR_STAR} {APART} < 25"
    whole, cut = estimate_query(query), estimate_query(query, limit=100_001)
    assert get_steps(cut).written == 100_001
    assert cut.seconds < whole.seconds / 100
    for keeping in (query + " ORDER BY b.ra", query.replace("a.ra FROM", "DISTINCT a.ra FROM")):
        assert estimate_query(keeping, limit=100_001).seconds > whole.seconds / 2
    unsure = estimate_query(query + " WHERE a.vt_mag < b.vt_mag", limit=100_001)
    assert cut.seconds < unsure.seconds < whole.seconds


def test_work_classes(estimate_query: QueryEstimator) -> None:
    """/sync, the queues and the portal depend on the work class."""

    def work(query: str) -> WorkClass:
        return WorkClass.from_seconds(estimate_query(query).seconds)

    assert work(f"SELECT COUNT(*) {STAR_STAR} {APART} < 0.01") is WorkClass.SHORT
    assert work(f"SELECT MIN(a.ra) {STAR_STAR} {APART} < 25") is not WorkClass.SHORT
    assert work(f"SELECT a.ra, b.ra, a.vt_mag, b.vt_mag {STAR_STAR} {APART} < 90") is WorkClass.VERY_LONG
    assert work(f"SELECT COUNT(*) {STAR_STAR} a.tyc_id = b.tyc_id") is WorkClass.SHORT


def test_written_rows_and_values_cost_time(estimate_query: QueryEstimator) -> None:
    tables = "FROM (SELECT TOP 50 * FROM openngc.objects) AS a, (SELECT TOP 100000 * FROM tycho2.bright) AS b"
    counted, narrow, wide = (estimate_query(f"SELECT {what} {tables}") for what in ("COUNT(*)", "a.ra", "a.*, b.*"))
    assert get_steps(narrow).written == get_steps(wide).written == 5_000_000
    assert counted.seconds < narrow.seconds < wide.seconds / 10
    assert narrow.seconds > 0.2


@pytest.mark.parametrize(
    "query",
    [
        *(f"SELECT a.ra {STAR_STAR} {APART} {than}" for than in ("<= 0", "< 0", "< -1", "< 400", "< 1e-300", "< 1e-9")),
        f"SELECT TOP 0 a.ra {STAR_STAR} {APART} < 25",
        "SELECT COUNT(*) FROM " + ", ".join(f"tycho2.bright AS t{number}" for number in range(80)),
        "SELECT COUNT(*) FROM tycho2.bright AS a"
        + "".join(f" JOIN tycho2.bright AS t{n} ON DISTANCE(a.ra, a.dec, t{n}.ra, t{n}.dec) < 150" for n in range(9)),
        f"SELECT a.ra {STAR_STAR} {APART} < a.vt_mag / 0",
        f"SELECT a.ra {STAR_STAR} {APART} < (SELECT MAX(majax) FROM openngc.objects)",
        f"SELECT a.ra {STAR_STAR} 1 = 0 AND {APART} < 1",
    ],
)
@pytest.mark.parametrize("limit", [None, 0, 101])
def test_any_join_has_a_finite_estimate(estimate_query: QueryEstimator, query: str, limit: int | None) -> None:
    found = estimate_query(query, limit=limit)
    assert 0 <= found.seconds < 1e25
    assert get_steps(found).joined >= 0
    assert get_steps(found).written >= 0


def test_what_a_match_keeps_follows_the_rows_of_its_smaller_side(
    estimator: Estimator, demo_catalogue: Catalogue
) -> None:
    def find_kept(query: str) -> float:
        return estimator.find_kept_bytes(translate(query, _shrink_tables(demo_catalogue)), 1).total

    few = find_kept(f"SELECT COUNT(*) {OBJECT_STAR} {APART} < 0.001 AND a.majax < b.vt_mag")
    many = find_kept(f"SELECT COUNT(*) {STAR_STAR} {APART} < 0.001 AND a.vt_mag < b.vt_mag")
    assert 64 * OBJECTS < few < 300 * OBJECTS
    assert 64 * STARS < many < 300 * STARS
    assert find_kept(f"SELECT COUNT(*) {STAR_STAR} a.tyc_id = b.tyc_id") == 0
    both = find_kept(f"SELECT a.ra FROM tycho2.bright AS a FULL JOIN tycho2.bright AS b ON {APART} < 0.001")
    assert many < both < 3 * many


def test_merged_tables_are_not_kept(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    merged = translate(f"SELECT COUNT(*) {STAR_STAR} {APART} < 0.001", demo_catalogue)
    assert "merged in HEALPix order" in "\n".join(merged.plan)
    assert estimator.find_kept_bytes(merged, 1).total == 0


def _shrink_tables(catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with row counts so small that no table is merged with another."""
    return replace(catalogue, counts={table: min(rows, 99_999) for table, rows in catalogue.counts.items()})


def test_where_kept_rows_are(estimator: Estimator, demo_catalogue: Catalogue) -> None:
    near = f"SELECT a.ra {STAR_STAR} {APART} < 0.001 WHERE {NEAR_PLEIADES.format('a')}"
    unmerged = _shrink_tables(demo_catalogue)
    kept = estimator.find_kept_bytes(translate(near, unmerged), 1)
    everywhere = estimator.find_kept_bytes(translate(near.split(" WHERE")[0], unmerged), 1)
    assert 0 < kept.rows.sum() < everywhere.rows.sum() / 10
    for order in (2, everywhere.order, everywhere.order + 1):
        assert everywhere.spread_to(order).sum() == pytest.approx(everywhere.rows.sum())
