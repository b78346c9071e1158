"""Divided queries return the rows of the undivided query, each once, for any number of pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adql import Division, Undivided, choose_borders, divide_query, find_middle
from adql.rewrite.covers.spatial_covers import find_cells_read
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.healpix import NO_POSITION
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.adql_rows import Rows, make_comparable

#: Numbers of pieces; joins have only the first, since ClickHouse takes longer to plan them
COUNTS = [7, 1, 60]

NEAR = "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, 0.5))"

DIVIDED = [
    "SELECT id, ra, dec, mag FROM sky.points",
    "SELECT id FROM sky.points WHERE mag > 3 AND dec < 20",
    "SELECT id, SQRT(mag) FROM sky.points WHERE ra IS NULL OR mag < 2",
    "SELECT id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 85, 40))",
    "SELECT id FROM sky.points WHERE 0 = CONTAINS(POINT(ra, dec), CIRCLE(10, 85, 40))",
    "SELECT i FROM (SELECT id AS i, ra, dec FROM sky.points WHERE mag > 2 ORDER BY mag) AS p WHERE dec > -40",
    "WITH p AS (SELECT * FROM sky.points) SELECT p.id FROM p WHERE p.mag BETWEEN 2 AND 5",
    "SELECT id FROM sky.points WHERE id IN (SELECT id FROM sky.others WHERE mag < 3)",
    "SELECT id FROM sky.points AS a WHERE EXISTS (SELECT 1 AS x FROM sky.others AS b WHERE b.id = a.id AND b.mag < 3)",
    "SELECT id FROM sky.points TABLESAMPLE (30) REPEATABLE (5)",
    f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {NEAR}",
    f"SELECT a.id, b.id FROM matches.others AS b JOIN matches.ones AS a ON {NEAR} AND a.mag < b.mag",
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {NEAR}",
    f"SELECT a.id, b.id FROM matches.ones AS a RIGHT JOIN matches.others AS b ON {NEAR}",
    f"SELECT a.id, b.id FROM matches.ones AS a, matches.others AS b WHERE {NEAR}",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a JOIN matches.others AS b ON {NEAR} LEFT JOIN matches.ones AS c"
    " ON DISTANCE(POINT(b.ra, b.dec), POINT(c.ra, c.dec)) < 0.2",
    "SELECT p.i, b.id FROM (SELECT id AS i, ra AS x, dec AS y FROM matches.ones) AS p LEFT JOIN"
    " (SELECT id, ra, dec FROM matches.others WHERE mag < 5) AS b ON DISTANCE(POINT(p.x, p.y), POINT(b.ra, b.dec)) < 1",
    "SELECT m.i, m.j FROM (SELECT a.id AS i, b.id AS j FROM matches.ones AS a LEFT JOIN matches.others AS b"
    f" ON {NEAR}) AS m WHERE m.i > 3",
    "SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON a.id = b.id",
    f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {NEAR} AND NOT EXISTS (SELECT 1 AS x FROM"
    " matches.others AS c WHERE DISTANCE(a.ra, a.dec, c.ra, c.dec) < DISTANCE(a.ra, a.dec, b.ra, b.dec))",
    f"SELECT a.id, (SELECT COUNT(*) FROM matches.others AS b WHERE {NEAR}) AS n FROM matches.ones AS a",
    "SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON"
    " DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < a.err",
    "SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON"
    " DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 2",
]

UNDIVIDED = {
    "SELECT DISTINCT mag FROM sky.points": "DISTINCT",
    "SELECT id FROM sky.points ORDER BY mag": "ORDER BY",
    "SELECT id FROM sky.points OFFSET 5": "OFFSET",
    "SELECT id, RANK() OVER (ORDER BY mag) AS r FROM sky.points": "window",
    "SELECT id FROM sky.points UNION ALL SELECT id FROM sky.others": "UNION",
    "SELECT id FROM sky.points WHERE RAND() < 0.5": "random",
    "SELECT i FROM (SELECT TOP 5 id AS i FROM sky.points) AS p": "no table",
    f"SELECT a.id, b.id FROM sky.points AS a FULL JOIN sky.others AS b ON {NEAR}": "no table",
    "SELECT a.id FROM sky.points AS a WHERE a.id IN (SELECT TOP 3 id FROM sky.others)": "a subquery that may return other rows",
}


@pytest.fixture(scope="session")
def piecewise(sky: Catalogue, match_catalogue: Catalogue) -> Catalogue:
    """Return a catalogue of tables that are small enough to be read for each piece."""
    counts = {("sky", "points"): 2004, ("sky", "others"): 2104, ("matches", "ones"): 160, ("matches", "others"): 220}
    return Catalogue((*sky.schemas, *match_catalogue.schemas), counts, sharding=sky.sharding)


def divide(query: str, catalogue: Catalogue, limit: int | None = None) -> Division:
    resolved = translate(query, catalogue, limit=limit).bound
    assert resolved is not None
    found = divide_query(resolved)
    assert isinstance(found, Division), found
    return found


def fetch_rows(engine: EmbeddedEngine, sql: str, settings: dict) -> Rows:
    answer = engine.fetch_table(sql, settings)
    return list(zip(*(column.to_pylist() for column in answer.columns), strict=True)) if answer.num_columns else []


def cut_evenly(engine: EmbeddedEngine, cut_by: Division, count: int) -> tuple[int, ...]:
    """Return borders by the actual rows of the driving table."""
    cells = fetch_rows(engine, f"SELECT intDiv(hpx29, {4**25}) FROM {cut_by.scan.entry.storage_sql}", {})
    return choose_borders(
        np.bincount([cell for (cell,) in cells], minlength=12 * 4**4 + 1)[:-1].astype(float), 4, count
    )


@pytest.mark.parametrize("query", DIVIDED)
def test_pieces_equal_the_undivided_query(engine: EmbeddedEngine, piecewise: Catalogue, query: str) -> None:
    whole = translate(query, piecewise)
    wanted = sorted(make_comparable(fetch_rows(engine, whole.sql, whole.settings)))
    assert wanted
    by = divide(query, piecewise)
    for count in COUNTS[: 1 if "matches" in query else 3]:
        found: Rows = []
        for piece in by.make_pieces(cut_evenly(engine, by, count)):
            made = by.make_statement(piece)
            found += fetch_rows(engine, made.sql, made.settings)
        assert sorted(make_comparable(found)) == wanted, count


@pytest.mark.parametrize("query", UNDIVIDED)
def test_undivided_queries(piecewise: Catalogue, query: str) -> None:
    resolved = translate(query, piecewise).bound
    assert resolved is not None
    found = divide_query(resolved)
    assert isinstance(found, Undivided)
    assert UNDIVIDED[query] in found.reason


def test_each_piece_has_its_part_of_the_row_limit(engine: EmbeddedEngine, piecewise: Catalogue) -> None:
    by = divide("SELECT TOP 50 id FROM sky.points", piecewise, limit=30)
    for piece in by.make_pieces(cut_evenly(engine, by, 3)):
        made = by.make_statement(piece)
        assert len(fetch_rows(engine, made.sql, made.settings)) == 30


def test_a_large_table_is_not_read_for_each_piece(piecewise: Catalogue) -> None:
    large = Catalogue(piecewise.schemas, {("sky", "points"): 10**9, ("sky", "others"): 10**8})
    equal = "SELECT a.id FROM sky.points AS a JOIN sky.others AS b ON a.id = b.id"
    near = f"SELECT a.id FROM sky.points AS a JOIN sky.others AS b ON {NEAR}"
    resolved = translate(equal, large).bound
    assert resolved is not None
    found = divide_query(resolved)
    assert found == Undivided("sky.others would be read completely for each piece of sky.points")
    assert divide(near, large).scan.entry.qualified_name == "sky.points"
    inside = "SELECT id FROM sky.points WHERE id IN (SELECT id FROM sky.others)"
    assert isinstance(divide_query(translate(inside, large).bound), Undivided)


def test_tied_tables_are_read_near_the_piece(engine: EmbeddedEngine, piecewise: Catalogue) -> None:
    large = Catalogue(piecewise.schemas, {("sky", "points"): 10**9, ("sky", "others"): 10**8})
    by = divide(f"SELECT a.id FROM sky.points AS a LEFT JOIN sky.others AS b ON {NEAR}", large)
    for piece in by.make_pieces(cut_evenly(engine, by, 20))[:-1]:
        cells = find_cells_read(by.make_statement(piece).query)["sky.others.hpx29"]
        assert (cells.ranges[:, 1] - cells.ranges[:, 0]).sum() < 0.5 * NO_POSITION


@pytest.mark.parametrize(
    ("rows_of_cells", "count", "expected"),
    [
        ([4, 4, 4], 3, (1.0, 2.0)),
        ([4, 4, 4], 6, (0.5, 1.0, 1.5, 2.0, 2.5)),
        ([0, 12, 0], 2, (1.5,)),
        ([0, 0, 0], 5, ()),
        ([1, 0, 1], 2, (2.0,)),
        ([5, 5, 5], 1, ()),
    ],
)
def test_borders(rows_of_cells: list[float], count: int, expected: tuple[float, ...]) -> None:
    size = 4**25
    found = choose_borders(np.array([*rows_of_cells, *[0.0] * (12 * 4**4 - 3)]), 4, count)
    assert found == tuple(int(share * size) for share in expected)


@settings(deadline=None)
@given(arrays(np.int64, st.just(48), elements=st.integers(0, 10**12)), st.integers(1, 300))
def test_borders_ascend_and_share_evenly(rows_of_cells: np.ndarray, count: int) -> None:
    found = choose_borders(rows_of_cells.astype(float), 1, count)
    assert list(found) == sorted({*found})
    assert len(found) < count
    assert all(0 < border < NO_POSITION for border in found)
    reached = np.interp(
        np.array(found, dtype=float) / 4**28, np.arange(49), np.concatenate(([0], np.cumsum(rows_of_cells)))
    )
    shares = np.diff([0, *reached, rows_of_cells.sum()])
    assert (shares <= rows_of_cells.sum() / count * 1.01 + 1).all()


def test_a_piece_is_halved_by_its_rows() -> None:
    rows = np.zeros(48)
    rows[[3, 10, 11]] = 100, 300, 100
    cell = 4**28
    assert find_middle(rows, 1, 0, None) == 10 * cell + cell // 2
    assert find_middle(rows, 1, 3 * cell, 4 * cell) == 3 * cell + cell // 2
    assert find_middle(rows, 1, 20 * cell, 22 * cell) == 21 * cell  # there are no rows


def test_cutting_terminates() -> None:
    rows = np.ones(48)
    first, end, count = 0, None, 0
    while (middle := find_middle(rows, 1, first, end)) is not None:
        assert first < middle
        end, count = middle, count + 1
    assert 30 < count < 50
    assert find_middle(rows, 1, NO_POSITION, None) is None
