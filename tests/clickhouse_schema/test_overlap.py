"""Overlaps: a row has a copy on each other shard with cells within the radius, and on few other shards."""

from __future__ import annotations

import random

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import SkyCoord
from cdshealpix.nested import healpix_to_lonlat, lonlat_to_healpix
from numpy.typing import NDArray

from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.shard_map import MAP_ORDER, ShardMap
from tap_service.storage.engine.engine import Engine

_CELLS = 12 * 4**MAP_ORDER
_chance = random.Random(6)
_SCATTERED = ShardMap(MAP_ORDER, tuple(_chance.randrange(5) for _ in range(_CELLS + 1)))

#: Positions (x, y) from 0 to 1 in the map's cells: corners and a side
_OFFSETS = ((0.0, 0.0), (1 - 1e-12, 1 - 1e-12), (0.0, 1 - 1e-12), (0.5, 0.0))


def _make_points() -> SkyCoord:
    """Return points in all cells and on their borders, at the poles and at longitude 0, and some close to each."""
    cells = np.arange(_CELLS)
    at = [healpix_to_lonlat(cells, MAP_ORDER, dx, dy) for dx, dy in _OFFSETS]
    lon = np.concatenate([*(lon.deg for lon, _ in at), np.arange(0, 360, 7.5), np.zeros(200)])
    lat = np.concatenate([*(lat.deg for _, lat in at), 48 * [89.9999], np.linspace(-90, 90, 200)])
    return SkyCoord(lon * u.deg, lat * u.deg)


def _find_index(at: SkyCoord) -> NDArray[np.uint64]:
    return lonlat_to_healpix(at.ra, at.dec, ORDER)


def _find_homes(map_: ShardMap, index: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.array(map_.cells)[(index >> np.uint64(2 * (ORDER - MAP_ORDER))).astype(np.int64)]


def _find_copies(
    engine: Engine, overlap: Overlap, index: NDArray[np.uint64], homes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether each shard has a copy of each row, shape (rows, shards)."""
    rows = {"n": np.arange(len(index)), "hpx29": index, "__shard": homes.astype(np.uint16)}
    engine.execute("CREATE OR REPLACE TABLE overlapping (n Int64, hpx29 UInt64, __shard UInt16) ENGINE = Memory")
    engine.insert_batches("overlapping", [pa.RecordBatch.from_pydict(rows)])
    found = engine.fetch_table(f"SELECT n, arrayJoin({overlap.copy_shards_sql()}) AS holder FROM overlapping")
    held = np.zeros((len(index), overlap.map.shard_count), dtype=bool)
    n, holder = found["n"].to_numpy(), found["holder"].to_numpy()
    assert len(n) == len(set(zip(n.tolist(), holder.tolist(), strict=True)))
    held[n, holder] = True
    return held


@pytest.mark.parametrize(
    ("map_", "radius"),
    [
        (ShardMap.build_uniform(7), 1 / 3600),
        (ShardMap.build_uniform(7), 0.1),
        (_SCATTERED, 0.1),
        (_SCATTERED, 1.9),
        (ShardMap.build_uniform(3), 10.0),
    ],
)
def test_rows_within_the_radius_of_a_shards_cells_have_a_copy_there(
    map_: ShardMap, radius: float, engine: Engine
) -> None:
    chance = np.random.default_rng(int(radius * 1e4))
    starts = _make_points()
    at = starts.directional_offset_by(
        chance.uniform(0, 360, len(starts)) * u.deg, radius * chance.exponential(0.4, len(starts)) * u.deg
    )
    index = _find_index(at)
    homes = _find_homes(map_, index)
    held = _find_copies(engine, Overlap(map_, radius), index, homes)
    needed = np.zeros_like(held)
    for part in (1, 1, 0.9, 0.5, 1):
        there = at.directional_offset_by(chance.uniform(0, 360, len(at)) * u.deg, part * radius * (1 - 1e-7) * u.deg)
        needed[np.arange(len(at)), _find_homes(map_, _find_index(there))] = True
    needed[np.arange(len(at)), homes] = False
    assert needed.sum() > 500
    assert not (needed & ~held).any()
    assert not held[np.arange(len(at)), homes].any()
    for shard in range(0, map_.shard_count, 3):
        copies = engine.fetch_table(f"SELECT n FROM overlapping WHERE {Overlap(map_, radius).has_copy_sql(shard)}")[
            "n"
        ].to_numpy()
        assert set(copies) == set(np.flatnonzero(held[:, shard]))


def test_few_rows_outside_the_radius_have_a_copy(engine: Engine) -> None:
    """Points all over the sky: points within 0.1 degrees of another shard have copies, and at most twice as many."""
    chance = np.random.default_rng(4)
    at = SkyCoord(chance.uniform(0, 360, 200_000) * u.deg, np.arcsin(chance.uniform(-1, 1, 200_000)) * u.rad)
    index, map_ = _find_index(at), ShardMap.build_uniform(7)
    homes = _find_homes(map_, index)
    held = _find_copies(engine, Overlap(map_, 0.1), index, homes).any(axis=1)
    near = np.zeros(len(at), dtype=bool)
    for angle in range(0, 360, 40):
        near |= _find_homes(map_, _find_index(at.directional_offset_by(angle * u.deg, 0.0999 * u.deg))) != homes
    assert 0.5 * held.sum() < near.sum() < held.sum() < 0.03 * len(at)


def test_without_a_radius_or_a_position_there_are_no_copies(engine: Engine) -> None:
    index = _find_index(_make_points())
    map_ = ShardMap.build_uniform(7)
    assert not _find_copies(engine, Overlap(map_, 0.0), index, _find_homes(map_, index)).any()
    nowhere = np.array([NO_POSITION], dtype=np.uint64)
    assert not _find_copies(engine, Overlap(_SCATTERED, 1.9), nowhere, np.array([3])).any()


def test_a_child_has_a_copy_in_the_shard_of_its_position(engine: Engine) -> None:
    """Its home is the home of its parent, which may be beyond the border."""
    index = _find_index(_make_points())
    map_ = ShardMap.build_uniform(3)
    held = _find_copies(engine, Overlap(map_, 0.1), index, np.zeros(len(index), dtype=np.int64))
    lies = _find_homes(map_, index)
    assert held[np.arange(len(index)), lies][lies != 0].all()
    assert not held[:, 0].any()
