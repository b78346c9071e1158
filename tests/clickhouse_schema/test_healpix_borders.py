"""The index at all borders of base cells and next to them: its cell must contain the position within rounding."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from clickhouse_schema.healpix import NO_POSITION, ORDER, cell_centres, index_sql, max_cell_radius
from tap_service.storage.engine.engine import Engine

#: Rounding of the positions and of the formula, radians
_ROUNDING = 1e-14

_CAP = math.degrees(math.asin(2 / 3))
_STEPS = (0.0, 1e-300, 1e-20, 1e-16, 7e-15, 3e-14, 6e-14, 1e-12, 1e-9)


def _add_neighbours(values: list[float]) -> set[float]:
    return {sign * value + step for value in values for step in (*_STEPS, *(-s for s in _STEPS)) for sign in (-1, 1)}


@pytest.fixture(scope="module")
def positions() -> NDArray[np.float64]:
    """Return longitudes and latitudes in degrees, shape (n, 2)."""
    lons = sorted(_add_neighbours([22.5 * k for k in range(17)]) | {720.0, math.nextafter(360, 0)})
    nearest = {math.nextafter(v, to) for v in (_CAP, -_CAP, 45.0, -90.0, 90.0) for to in (-91, 91)}
    lats = sorted(lat for lat in _add_neighbours([0, 10, 30, _CAP, 45, 60, 89, 90]) | nearest if abs(lat) <= 90)
    return np.array(list(itertools.product(lons, lats)))


@pytest.fixture(scope="module")
def stored(engine: Engine, positions: NDArray[np.float64]) -> pa.Table:
    engine.execute("CREATE DATABASE IF NOT EXISTS borders")
    engine.execute("CREATE TABLE borders.positions (lon Float64, lat Nullable(Float64)) ENGINE = Memory")
    engine.insert_batches("borders.positions", [pa.record_batch({"lon": positions[:, 0], "lat": positions[:, 1]})])
    return engine.fetch_table(f"SELECT lon, lat, {index_sql('lon', 'lat')} AS cell FROM borders.positions")


def test_each_position_is_in_its_cell(stored: pa.Table, positions: NDArray[np.float64]) -> None:
    lon, lat = (np.radians(stored[name].to_numpy()) for name in ("lon", "lat"))
    vectors = np.stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)), axis=1)
    cells = stored["cell"].to_numpy()
    assert len(cells) == len(positions)
    assert cells.max() < NO_POSITION
    assert np.linalg.norm(vectors - cell_centres(ORDER, cells), axis=1).max() <= max_cell_radius(ORDER) + _ROUNDING


def test_the_index_is_an_unsigned_number_and_never_null(stored: pa.Table) -> None:
    assert stored.schema.field("cell").type == pa.uint64()
    assert not stored.schema.field("cell").nullable


def test_no_position_at_lower_orders(engine: Engine) -> None:
    answer = engine.fetch_table(f"SELECT {index_sql('nan', '0.', 5)} AS far, {index_sql('NULL', '0.', 0)} AS least")
    assert answer.to_pylist() == [{"far": 12 * 4**5, "least": 12}]
