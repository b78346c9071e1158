"""The condition of a region holds for the indexes in it, whatever its form."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.match_region import MatchRegion
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

_ORDER = 6
_CELLS = 12 * 4**_ORDER

#: Cells of order 6, by description
REGIONS: dict[str, list[int]] = {
    "nothing": [],
    "one cell": [7],
    "two ranges": [*range(16), *range(_CELLS - 3, _CELLS)],
    "few cells": [0, 2, 9, 12, 13, 4000, _CELLS - 1],
    "few large ranges": [cell for first in (0, 5001, 40_000) for cell in range(first, first + 1501)],
    "many ranges, many cells": [cell for first in range(0, 48_000, 800) for cell in range(first, first + 101)],
    "the whole sky": list(range(_CELLS)),
}


@pytest.mark.parametrize("name", REGIONS)
def test_the_condition_holds_for_indexes_in_the_region(engine: EmbeddedEngine, name: str) -> None:
    cells = np.array(REGIONS[name], np.int64)
    shift = 2 * (ORDER - _ORDER)
    edges = np.concatenate([cells, cells - 1, cells + 1]) if len(cells) else np.arange(3)
    edges = np.unique(edges[(edges >= 0) & (edges < _CELLS)])
    indexes = np.concatenate([edges << shift, (edges << shift) + (1 << shift) - 1])
    values = pa.table({"hpx29": np.append(indexes, NO_POSITION)})
    engine.execute("CREATE DATABASE IF NOT EXISTS regions")
    engine.execute("CREATE OR REPLACE TABLE regions.rows (hpx29 Int64) ENGINE = MergeTree ORDER BY hpx29")
    engine.insert_batches("regions.rows", values.to_batches())
    condition = MatchRegion.from_cells(_ORDER, cells).condition_sql()
    found = engine.fetch_table(f"SELECT hpx29 FROM regions.rows WHERE {condition} ORDER BY hpx29")
    wanted = np.sort(indexes[np.isin(indexes >> shift, cells)])
    assert found.column(0).to_pylist() == wanted.tolist()


@pytest.mark.parametrize(("name", "uses"), [("few cells", 1), ("many ranges, many cells", 1), ("few large ranges", 6)])
def test_the_condition_uses_the_index_few_times(name: str, uses: int) -> None:
    assert MatchRegion.from_cells(_ORDER, REGIONS[name]).condition_sql().count("hpx29") == uses
