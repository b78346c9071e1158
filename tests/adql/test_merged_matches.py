"""Matches of large stored tables are merged in HEALPix order, and find the same pairs as other plans."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import SkyCoord
from cdshealpix.nested import healpix_to_lonlat, lonlat_to_healpix

from adql.clickhouse.sky.neighbour_cell_sql import cell_beyond_sql, is_at_border_sql, steps_over_border_sql
from adql.rewrite.matches.match_sizes import choose_merge_order
from adql.translation import translate
from clickhouse_schema.adjacent_cells import find_border_width
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.healpix import ORDER
from tap_service.storage.engine.engine import Engine
from tests.adql.crossmatch_sky import Sky
from tests.adql.match_queries import MATCH_QUERIES, disable_planning, round_values
from tests.support.adql_rows import Rows, query_rows

_MERGE = "full_sorting_merge"
_WITHIN = "DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {}"


@pytest.fixture(scope="session")
def large_catalogue(match_catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with enough rows in its tables that matches are merged."""
    counts = {("matches", entry.table.name): 10**7 for entry in match_catalogue.entries}
    densities = dict.fromkeys(counts, 0.001)
    return replace(match_catalogue, counts=counts, local_densities=densities)


@pytest.fixture
def ask_merged(engine: Engine, large_catalogue: Catalogue) -> Callable[[str], Rows]:
    """Return the rows of a query with a merge join; on a cluster only inner joins within the overlap have one."""

    def ask(query: str) -> Rows:
        assert _MERGE in translate(query, large_catalogue).sql or large_catalogue.sharding is not None
        return query_rows(engine, large_catalogue, query)

    return ask


def _skip_on_cluster(catalogue: Catalogue) -> None:
    if catalogue.sharding is not None:
        pytest.skip("the tables are on several servers")


# --- cells and their borders ------------------------------------------------------------------------------------------


def _put_at_borders(order: int, count: int) -> SkyCoord:
    """Return positions in cells of an order, most at borders, also in cells at the corners of base cells."""
    chance = np.random.default_rng(order)
    side = 4**order - 1
    corners = np.array([0, side, side // 3, side - side // 3])
    at_corners = (np.arange(12)[:, None] * 4**order + corners).ravel()
    cells = np.concatenate((at_corners, chance.integers(0, 12 * 4**order, count))).astype(np.uint64)
    offsets = product((0.0, 1e-6, 0.1, 0.5, 1 - 1e-6, 1 - 1e-9), repeat=2)
    lon, lat = zip(*(healpix_to_lonlat(cells, order, dx, dy) for dx, dy in offsets), strict=True)
    return SkyCoord(np.concatenate(lon), np.concatenate(lat))


@pytest.mark.parametrize("order", [2, 3, 5, 9, 14, 20])
def test_copies_are_in_every_cell_with_something_within_the_radius(order: int, engine: Engine) -> None:
    radius = math.degrees(0.2 / 2**order)
    assert 4 * find_border_width(radius) <= 2 ** (ORDER - order) * 2
    start = _put_at_borders(order, 500)
    chance = np.random.default_rng(order + 100)
    angle = chance.uniform(0, 360, len(start)) * u.deg
    there = start.directional_offset_by(angle, chance.choice([1.0, 1.0, 0.5], len(start)) * radius * u.deg)
    own = lonlat_to_healpix(start.ra, start.dec, ORDER)
    of_partner = lonlat_to_healpix(there.ra, there.dec, order)
    engine.execute("CREATE OR REPLACE TABLE copies (row UInt32, hpx29 UInt64) ENGINE = Memory")
    columns = {"row": pa.array(np.arange(len(own)), pa.uint32()), "hpx29": pa.array(own, pa.uint64())}
    engine.insert_batches("copies", [pa.RecordBatch.from_pydict(columns)])
    copies = engine.fetch_table(
        f"SELECT row, {cell_beyond_sql('hpx29', 'step', order)} AS cell FROM"
        f" (SELECT row, hpx29, {steps_over_border_sql('hpx29', order, radius)} AS step FROM copies"
        f" WHERE {is_at_border_sql('hpx29', order, radius)})"
    )
    found = set(zip(copies["row"].to_pylist(), copies["cell"].to_pylist(), strict=True))
    assert len(found) == copies.num_rows  # once each, or pairs would be found twice
    found |= {(row, int(cell)) for row, cell in enumerate(own >> np.uint64(2 * (ORDER - order)))}
    assert {(row, int(cell)) for row, cell in enumerate(of_partner)} <= found
    assert copies.num_rows < 2.5 * len(own)


def test_rows_far_from_the_border_are_not_copied(engine: Engine) -> None:
    middle = 5 * 4 ** (ORDER - 3) + 4 ** (ORDER - 3) // 4 * 3  # of a base cell: no coordinate is near its border
    sql = is_at_border_sql(f"toUInt64({middle})", 3, 0.5)
    assert engine.fetch_table(f"SELECT {sql} AS near")["near"].to_pylist() == [0]


@pytest.mark.parametrize(
    ("radius", "crowding", "order"), [(5 / 3600, 1212, 11), (1 / 3600, 100, 10), (0.1, 41_000, None), (10, 1, None)]
)
def test_the_order_of_cells_follows_radius_and_density(radius: float, crowding: float, order: int | None) -> None:
    assert choose_merge_order(radius, crowding) == order


# --- the pairs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL"])
@pytest.mark.parametrize("radius", [0.0, 1e-6, 1e-4, 0.01, 0.3, 1.2])
def test_pairs_within_a_radius(
    kind: str, radius: float, matches: Sky, ask_merged: Callable[[str], Rows], ask_matches: Callable[[str], Rows]
) -> None:
    """Compare with a brute-force search."""
    query = f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON {_WITHIN.format(radius)}"
    found = ask_merged(query)
    assert sorted(found, key=repr) == sorted(ask_matches(query), key=repr)
    within = matches.known & (matches.apart <= radius * (1 - 1e-9) - 1e-12)
    assert {(int(i), int(j)) for i, j in np.argwhere(within)} <= set(found)


@pytest.mark.parametrize("query", [query for query in MATCH_QUERIES if "0.5" in query])
def test_merged_matches_equal_unplanned_ones(
    query: str, engine: Engine, large_catalogue: Catalogue, ask_matches: Callable[[str], Rows]
) -> None:
    found = round_values(query_rows(engine, large_catalogue, query))
    assert found == round_values(ask_matches(disable_planning(query)))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.id FROM matches.ones AS a WHERE EXISTS (SELECT 1 FROM matches.others AS b WHERE {near})",
        "SELECT a.id FROM matches.ones AS a WHERE NOT EXISTS (SELECT 1 FROM matches.others AS b WHERE {near})",
        "SELECT a.id FROM matches.ones AS a WHERE NOT EXISTS"
        " (SELECT 1 FROM matches.others AS b WHERE {near} AND a.mag < 3)",
        "SELECT a.id FROM matches.ones AS a WHERE a.mag > 2 AND NOT EXISTS"
        " (SELECT 1 FROM matches.others AS b WHERE {near} AND b.mag < 4 AND a.mag > b.mag)",
        "SELECT a.mag, COUNT(*) FROM (SELECT * FROM matches.ones WHERE mag > 1) AS a"
        " WHERE EXISTS (SELECT 1 FROM matches.others AS b WHERE {near}) GROUP BY a.mag",
        "SELECT COUNT(*), SUM(a.id * b.id) FROM matches.ones AS a JOIN matches.others AS b ON {near}",
        "SELECT a.id, COUNT(*) FROM matches.ones AS a JOIN matches.others AS b ON {near} GROUP BY a.id",
        # indistinguishable rows
        "SELECT a.ra, a.mag, b.id FROM matches.twins AS a LEFT JOIN matches.ones AS b ON {near} WHERE a.mag < 3",
        "SELECT COUNT(*) FROM matches.twins AS a WHERE NOT EXISTS (SELECT 1 FROM matches.ones AS b WHERE {near})",
        *(
            f"SELECT a.mag, b.id FROM matches.twins AS a {kind} JOIN matches.ones AS b"
            f" ON 1 = {choice}POINT(a.ra, a.dec), POINT(b.ra, b.dec), 0.3) AND b.mag > 1"
            for kind in ("INNER", "LEFT", "RIGHT")
            for choice in ("skyhouse_nearest(2, ", "skyhouse_mutual(")
        ),
    ],
)  # fmt: skip
def test_other_joins_are_made_of_merged_pairs(
    query: str, ask_merged: Callable[[str], Rows], ask_matches: Callable[[str], Rows]
) -> None:
    query = query.format(near=_WITHIN.format(0.3))
    assert round_values(ask_merged(query)) == round_values(ask_matches(query))


def test_rows_have_one_number_in_all_parts_of_a_query(engine: Engine, large_catalogue: Catalogue) -> None:
    """Rows keep their numbers in both branches, also in a table of several parts, some excluded by the key."""
    _skip_on_cluster(large_catalogue)
    engine.execute("DROP TABLE IF EXISTS matches.kept SYNC")
    engine.execute("CREATE TABLE matches.kept AS matches.ones")
    engine.execute("SYSTEM STOP MERGES matches.kept")
    for part in range(5):
        engine.execute(f"INSERT INTO matches.kept (id, ra, dec, err, mag) SELECT id, ra, dec, err, mag FROM matches.ones WHERE id % 5 = {part}")  # fmt: skip
    query = (
        "SELECT a.id FROM matches.ones AS a WHERE dec BETWEEN {} AND 60 AND NOT EXISTS"
        " (SELECT 1 FROM matches.others AS b WHERE DISTANCE(a.ra, a.dec, b.ra, b.dec) < 1e-4)"
    )
    for south in (-90, 40):
        translation = translate(query.format(south), large_catalogue)
        assert _MERGE in translation.sql
        found = engine.fetch_table(translation.sql.replace("`ones`", "`kept`"), translation.settings)
        wanted = engine.fetch_table(translation.sql, translation.settings)
        assert wanted.num_rows > 10
        assert sorted(found.column(0).to_pylist()) == sorted(wanted.column(0).to_pylist())
    engine.execute("DROP TABLE matches.kept SYNC")


# --- choice of the plan -------------------------------------------------------------------------------------------------------------


def test_the_engine_reads_both_tables_in_their_order(engine: Engine, large_catalogue: Catalogue) -> None:
    _skip_on_cluster(large_catalogue)
    query = f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {_WITHIN.format(1e-3)}"
    translation = translate(query, large_catalogue)
    plan = engine.fetch_table(f"EXPLAIN actions = 1 {translation.sql}", translation.settings)
    lines = " ".join(plan.column(0).to_pylist())
    assert lines.count("FullSortingMergeJoin") == 2
    assert lines.count("InOrder") >= 3  # only the copies are sorted


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 + a.err / 100",
        "SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(a.ra + 1, a.dec, b.ra, b.dec) < 0.01",
        "SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 AND a.mag = b.mag",
        "SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 40",
        "SELECT a.id FROM (SELECT TOP 9 * FROM matches.ones) AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01",
        "SELECT a.id FROM (SELECT MAX(id) AS id, ra, dec FROM matches.ones GROUP BY ra, dec) AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01",
        "SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01 WHERE b.id IN (SELECT id FROM matches.ones WHERE mag < 2)",
    ],
)  # fmt: skip
def test_other_matches_keep_their_plan(query: str, large_catalogue: Catalogue) -> None:
    assert _MERGE not in translate(query, large_catalogue).sql


@pytest.mark.parametrize(("ones", "others"), [(10**5, 10**7), (10**7, 10**5), (50_000, 50_000), (10**6, 10**8)])
def test_a_small_side_is_put_into_a_hash_table(ones: int, others: int, large_catalogue: Catalogue) -> None:
    counts = {("matches", "ones"): ones, ("matches", "others"): others}
    query = f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {_WITHIN.format(1e-3)}"
    assert _MERGE not in translate(query, replace(large_catalogue, counts=counts)).sql


def test_the_plan_names_the_merge(large_catalogue: Catalogue) -> None:
    query = f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {_WITHIN.format(1e-3)}"
    plan = "\n".join(translate(query, large_catalogue).plan)
    assert "inner join by nearness, merged in HEALPix order" in plan
