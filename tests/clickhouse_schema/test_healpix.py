"""The index formula and the geometry of cells, compared with an independent library."""

from __future__ import annotations

import astropy.units as u
import cdshealpix
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import Latitude, Longitude

from clickhouse_schema.healpix import NO_POSITION, ORDER, cell_centres, index_sql, max_cell_radius
from tap_service.storage.engine.engine import Engine


def _make_vectors(lon: Longitude, lat: Latitude) -> np.ndarray:
    return np.stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)), axis=-1).value


def _store_positions(engine: Engine, name: str, lon: np.ndarray, lat: np.ndarray) -> pa.Table:
    engine.execute("CREATE DATABASE IF NOT EXISTS healpix")
    engine.execute(f"CREATE TABLE healpix.{name} (lon Float64, lat Float64) ENGINE = Memory")
    engine.insert_batches(f"healpix.{name}", [pa.record_batch({"lon": lon, "lat": lat})])
    return engine.fetch_table(f"SELECT lon, lat, {index_sql('lon', 'lat')} AS cell FROM healpix.{name}")


def test_random_positions_have_the_index_of_the_other_library(engine: Engine) -> None:
    rng = np.random.default_rng(3)
    count = 200_000
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, count)))
    lat[:5000] = 90 - 10 ** rng.uniform(-12, 0, 5000)
    lat[5000:10000] = -90 + 10 ** rng.uniform(-12, 0, 5000)
    answer = _store_positions(engine, "random", rng.uniform(0, 360, count), lat)
    theirs = cdshealpix.lonlat_to_healpix(
        Longitude(answer["lon"].to_numpy(), u.deg), Latitude(answer["lat"].to_numpy(), u.deg), ORDER
    )
    assert answer.num_rows == count
    assert (answer["cell"].to_numpy() == theirs).all()


def test_positions_on_borders_are_in_their_cell(engine: Engine) -> None:
    """At round numbers libraries may choose either neighbour; the cell must contain the position within rounding."""
    lon, lat = (
        v.ravel().astype(float)
        for v in np.meshgrid(np.arange(0, 361, 22.5), [-90, -41.8103148957786, -45, 0, 30, 41.8103148957786, 90])
    )
    answer = _store_positions(engine, "borders", lon, lat)
    cells = answer["cell"].to_numpy()
    position = _make_vectors(Longitude(answer["lon"].to_numpy(), u.deg), Latitude(answer["lat"].to_numpy(), u.deg))
    apart = np.linalg.norm(cell_centres(ORDER, cells) - position, axis=1)
    assert cells.max() < NO_POSITION
    assert (apart <= max_cell_radius(ORDER) + 1e-9).all()


@pytest.mark.parametrize(
    ("order", "lon", "lat", "cell"),
    [(0, 1, 1, 4), (17, 1, 1, 81609757711), (17, 359, -1, 73009064944), (17, -1, -1, 73009064944)],
)
def test_the_examples_of_the_ivoa_catalogue(order: int, lon: float, lat: float, cell: int, engine: Engine) -> None:
    assert engine.fetch_table(f"SELECT {index_sql(str(lon), str(lat), order)} AS cell").to_pylist() == [{"cell": cell}]


@pytest.mark.parametrize(
    ("lon", "lat"),
    [("NULL", "1"), ("1", "NULL"), ("nan", "1"), ("1", "nan"), ("inf", "0"), ("1", "90.1"), ("1", "-91")],
)
def test_invalid_positions_are_in_no_cell(lon: str, lat: str, engine: Engine) -> None:
    assert engine.fetch_table(f"SELECT {index_sql(lon, lat)} AS cell").to_pylist() == [{"cell": NO_POSITION}]


@pytest.mark.parametrize("order", [0, 1, 2, 3, 6, 13, 29])
def test_centres_and_radii(order: int) -> None:
    rng = np.random.default_rng(order)
    cells = np.unique(np.concatenate([rng.integers(0, 12 * 4**order, 400), np.arange(12) * 4**order])).astype(np.uint64)
    ours = cell_centres(order, cells)
    assert np.abs(ours - _make_vectors(*cdshealpix.healpix_to_lonlat(cells, order))).max() < 1e-15
    corners = _make_vectors(*cdshealpix.vertices(cells, order))
    assert np.linalg.norm(corners - ours[:, None, :], axis=2).max() <= max_cell_radius(order) + 1e-15
