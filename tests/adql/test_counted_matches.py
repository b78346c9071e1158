"""Matches whose pairs are only counted, cell by cell: compared with a brute-force search."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adql.clickhouse.sky.unit_vector_sql import direction_sql
from adql.clickhouse.sky.zone_cell_sql import find_cell_radius, zone_cell_centre_sql, zone_cell_sql, zone_cells_near_sql
from adql.rewrite.matches.match_sizes import choose_zone_height
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.crossmatch_sky import Sky
from tests.support.adql_rows import Rows, query_rows

#: A separation that differs less from a radius, in degrees and relative to it, may be on either side
_BORDER = 1e-12

_NEAR = "DISTANCE(a.ra, a.dec, b.ra, b.dec) {} {!r}"


def crowd(catalogue: Catalogue, radius: float, pairs: float) -> Catalogue:
    """Return the catalogue of a sky so crowded that a row has about ``pairs`` partners."""
    density = pairs / (math.pi * radius**2)
    names = ("ones", "others", "nothing", "twins")
    return replace(catalogue, local_densities={("matches", name): density for name in names})


def is_counted(query: str, catalogue: Catalogue) -> bool:
    return any("in cells of the sky" in line for line in translate(query, catalogue).plan)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(radius=st.floats(-5, 1.47).map(lambda e: 10**e) | st.just(30.0), pairs=st.floats(2, 5).map(lambda e: 10**e))
def test_counts_are_exact(
    radius: float, pairs: float, engine: Engine, matches: Sky, match_catalogue: Catalogue
) -> None:
    catalogue = crowd(match_catalogue, radius, pairs)
    near = _NEAR.format("<", radius)
    total = f"SELECT COUNT(*) FROM matches.ones AS a, matches.others AS b WHERE {near}"
    each = f"SELECT b.id, COUNT(*) FROM matches.ones AS a JOIN matches.others AS b ON {near} GROUP BY b.id"
    assert is_counted(total, catalogue) or catalogue.sharding
    assert is_counted(each, catalogue) or catalogue.sharding
    slack = _BORDER * (1 + radius)
    least, most = (matches.known & (matches.apart < radius + sign * slack) for sign in (-1, 1))
    assert least.sum() <= query_rows(engine, catalogue, total)[0][0] <= most.sum()
    found: dict[int, int] = dict(query_rows(engine, catalogue, each))
    assert found.keys() <= set(np.flatnonzero(most.any(axis=0)).tolist())
    for number, (low, high) in enumerate(zip(least.sum(axis=0), most.sum(axis=0), strict=True)):
        assert low <= found.get(number, 0) <= high


@pytest.mark.parametrize(
    "query",
    [
        # conditions on either side, groups by either side, expressions of the count
        "SELECT a.mag, COUNT(*) AS n FROM {join} ON {near} WHERE a.id > 20 AND b.mag < 5 GROUP BY a.mag HAVING COUNT(*) > 2 ORDER BY n DESC, a.mag",
        "SELECT b.mag + 1, 2 * COUNT(*) FROM {join} ON {near} AND a.id > 20 AND b.id <> 4 GROUP BY b.mag ORDER BY 1",
        "SELECT TOP 5 a.id, COUNT(*) FROM {join} ON {near} GROUP BY a.id ORDER BY COUNT(*) DESC, a.id",
        "SELECT COUNT(*) FROM (SELECT ra, dec FROM matches.ones WHERE id > 9) AS a JOIN matches.others AS b ON {near}",
        "SELECT COUNT(*) FROM {join} ON {near} WHERE b.id IN (SELECT id FROM matches.ones WHERE mag > 3)",
        "SELECT COUNT(*) FROM {join} ON {near} WHERE 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(10, 20, 60))",
        "SELECT COUNT(*) FROM matches.ones AS a JOIN matches.ones AS b ON {near}",
        "SELECT COUNT(*) FROM matches.twins AS a JOIN matches.twins AS b ON {near}",
        "SELECT COUNT(*) FROM matches.nothing AS a JOIN matches.others AS b ON {near}",
        "SELECT a.id, COUNT(*) FROM matches.nothing AS a JOIN matches.others AS b ON {near} GROUP BY a.id",
        "SELECT COUNT(*) FROM {join} ON DISTANCE(a.ra + 1, a.dec, b.ra, b.dec / 2) < 20",
        "SELECT COUNT(*) FROM {join} ON {near} HAVING COUNT(*) > 100000",
        "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM {join} ON {near} GROUP BY b.id) AS c",
    ],
)  # fmt: skip
@pytest.mark.parametrize("radius", [3.0, 25.0])
def test_answers_equal_those_of_cubes(query: str, radius: float, engine: Engine, match_catalogue: Catalogue) -> None:
    text = query.format(join="matches.ones AS a JOIN matches.others AS b", near=_NEAR.format("<=", radius))
    crowded, sparse = crowd(match_catalogue, radius, 3000), crowd(match_catalogue, radius, 1)
    assert is_counted(text, crowded) or crowded.sharding
    assert not is_counted(text, sparse)
    assert _sort(query_rows(engine, crowded, text)) == _sort(query_rows(engine, sparse, text))


def _sort(rows: Rows) -> Rows:
    return sorted(rows, key=repr)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(b.mag) FROM {join} ON {near}",
        "SELECT COUNT(*), MIN(a.mag) FROM {join} ON {near}",
        "SELECT a.id, b.id, COUNT(*) FROM {join} ON {near} GROUP BY a.id, b.id",
        "SELECT COUNT(*) FROM {join} ON {near} WHERE a.id < b.id",
        "SELECT COUNT(*) FROM {left} ON {near}",
        "SELECT COUNT(*) FROM {join} ON {near} WHERE RAND() < 0.5",
        "SELECT COUNT(*) FROM {join} ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < a.err",
        "SELECT COUNT(*) FROM {join} ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 31",
        "SELECT COUNT(*) FROM (SELECT TOP 9 ra, dec FROM matches.ones) AS a JOIN matches.others AS b ON {near}",
        "SELECT a.id FROM {join} ON {near}",
        "SELECT COUNT(*) FROM {join} ON {near} JOIN matches.ones AS c ON c.id = a.id",
    ],
)
def test_other_queries_test_every_pair(query: str, match_catalogue: Catalogue) -> None:
    join = "matches.ones AS a JOIN matches.others AS b"
    text = query.format(join=join, left=join.replace("JOIN", "LEFT JOIN"), near=_NEAR.format("<", 3))
    assert not is_counted(text, crowd(match_catalogue, 3, 3000))


@pytest.mark.parametrize(("pairs", "parts"), [(1, None), (100, 2), (1300, 4), (1e5, 12)])
def test_crowded_skies_have_small_cells(pairs: float, parts: int | None) -> None:
    height = choose_zone_height(0.1, pairs / (math.pi * 0.01))
    assert height == (None if parts is None else 0.1 / parts)


_POSITIONS = """(SELECT arrayJoin([0., 1e-9, 44.9, 90., 180., 359.999999999]) AS lon,
    arrayJoin([-90., -89.9999, -88., -45.05, -1e-12, 0., 12.3, 60., 89.2, 89.99999, 90.]) AS lat)"""


@pytest.mark.parametrize("height", [0.001, 0.7, 7.1, 29.9])
def test_cells_contain_their_rows_and_know_their_neighbours(height: float, engine: Engine) -> None:
    """A row is within its cell's radius of the cell's centre, and cells near each other are listed once."""
    vector = direction_sql("lon", "lat")
    cell, centre = zone_cell_sql(vector, height), zone_cell_centre_sql("cell", height)
    rows = f"(SELECT {cell} AS cell, {', '.join(f'{v} AS {n}' for v, n in zip(vector, 'xyz', strict=True))} FROM {_POSITIONS})"
    placed = _fetch(engine, f"SELECT x, y, z, {', '.join(centre)} FROM {rows}")
    assert _separate(placed[:, :3], placed[:, 3:]).max() <= find_cell_radius(height)

    reach = 1.5 * height
    near = f"SELECT cell, {zone_cells_near_sql('cell', height, reach)} AS other FROM (SELECT DISTINCT cell FROM {rows})"
    listed = [tuple(pair) for pair in _fetch(engine, near).astype(np.int64).tolist()]
    assert len(listed) == len(set(listed))
    cells = _fetch(engine, f"SELECT DISTINCT cell, {', '.join(centre)} FROM {rows}")
    for one in cells:
        for other in cells[_separate(cells[:, 1:], one[1:]) < reach]:
            assert (int(one[0]), int(other[0])) in listed


def _separate(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    separation: NDArray[np.float64] = np.degrees(2 * np.arcsin(np.linalg.norm(left - right, axis=1) / 2))
    return separation


def _fetch(engine: Engine, sql: str) -> NDArray[np.float64]:
    return np.stack([column.to_numpy().astype(float) for column in engine.fetch_table(sql).columns], axis=1)
