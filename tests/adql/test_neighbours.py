"""The cells around a position are its cell and the touching cells, and contain everything within their reach."""

from __future__ import annotations

from itertools import product

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import SkyCoord
from cdshealpix.nested import healpix_to_lonlat, lonlat_to_healpix, neighbours
from numpy.typing import NDArray

from adql.clickhouse.sky.neighbour_cell_sql import cells_around_sql
from clickhouse_schema.adjacent_cells import REACH, order_for_radius
from clickhouse_schema.healpix import NO_POSITION, ORDER
from tap_service.storage.engine.engine import Engine


def _choose_cells(order: int, count: int = 2000) -> NDArray[np.uint64]:
    """Return all cells of a low order, or cells at corners and in the middle of base cells' sides, and random cells."""
    every = 12 * 4**order
    if every <= count:
        return np.arange(every, dtype=np.uint64)
    side = 4**order - 1
    offsets = np.array([0, side, side // 3, side - side // 3, side // 2, side // 4, side // 12, side // 3 + 1])
    at_borders = (np.arange(12)[:, None] * 4**order + offsets).ravel()
    chosen = np.concatenate((at_borders, np.random.default_rng(order).integers(0, every, count)))
    return np.unique(chosen.astype(np.uint64))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 8, 13, 20])
def test_the_cells_around_a_position_equal_another_librarys(order: int, engine: Engine) -> None:
    cells = _choose_cells(order)
    index = cells * np.uint64(4 ** (ORDER - order)) + np.uint64(4 ** (ORDER - order) // 2)
    engine.execute("CREATE OR REPLACE TABLE around (hpx29 UInt64) ENGINE = Memory")
    engine.insert_batches("around", [pa.RecordBatch.from_pydict({"hpx29": pa.array(index, pa.uint64())})])
    found = engine.fetch_table(f"SELECT hpx29, {cells_around_sql('hpx29', order)} AS cells FROM around ORDER BY hpx29")
    touching = neighbours(cells, order)
    for own, around, given in zip(cells.tolist(), touching.tolist(), found["cells"].to_pylist(), strict=True):
        assert set(given) == {cell for cell in around if 0 <= cell < 12 * 4**order} | {own}


def test_an_unknown_position_has_no_cells(engine: Engine) -> None:
    sql = cells_around_sql(f"toUInt64({NO_POSITION})", 7)
    assert engine.fetch_table(f"SELECT {sql} AS cells")["cells"].to_pylist() == [[]]


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5, 9, 14, 20])
def test_points_within_reach_are_in_touching_cells(order: int) -> None:
    """Test points all over the cells, mostly at borders and corners, in all directions."""
    chance = np.random.default_rng(order)
    cells = _choose_cells(order, 400)
    touching = {int(c): {int(c), *map(int, n)} for c, n in zip(cells, neighbours(cells, order), strict=True)}
    for dx, dy in product((0.0, 0.2, 0.5, 1 - 1e-9), repeat=2):
        start = SkyCoord(*healpix_to_lonlat(cells, order, dx, dy))
        for part in (1, 1, 1, 0.7):
            angle, apart = chance.uniform(0, 360, len(cells)) * u.deg, part * REACH / 2**order * u.rad
            there = start.directional_offset_by(angle, apart)
            reached = lonlat_to_healpix(there.ra, there.dec, order)
            assert all(int(c) in touching[int(own)] for own, c in zip(cells, reached, strict=True))


@pytest.mark.parametrize("radius", [0, 5e-324, 1e-309, 1e-9, 1e-6, 1 / 3600, 0.1, 1, 17, 34])
def test_the_order_for_a_radius_is_the_finest_that_reaches_so_far(radius: float) -> None:
    order = order_for_radius(radius)
    assert order is not None
    assert np.radians(radius) <= REACH / 2**order
    assert order == 20 or np.radians(radius) > REACH / 2 ** (order + 1)


@pytest.mark.parametrize("radius", [-1, 35, 180, float("nan"), float("inf")])
def test_no_cells_reach_farther_than_the_base_cells(radius: float) -> None:
    assert order_for_radius(radius) is None
