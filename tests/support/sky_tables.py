"""Two tables of positions that are hard for spatial indexes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tests.adql.sky import Positions, positions

SKY_COUNT = 2000

SKY_LAYOUT = Layout(position=("ra", "dec"), id=("id",))

SKY_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="ra", datatype="double"),
    Column(name="dec", datatype="double"),
    Column(name="mag", datatype="float"),
)

SKY = Schema(
    name="sky", tables=tuple(Table(name=n, columns=SKY_COLUMNS, layout=SKY_LAYOUT) for n in ("points", "others"))
)


def move_positions(points: Positions) -> Positions:
    """A second catalogue: the positions of the first, moved by 1e-6 to 1 degree, and additional positions."""
    rng = np.random.default_rng(2)
    lon, lat = points
    size = 10 ** rng.uniform(-6, 0, len(lon))
    angle = rng.uniform(0, 2 * np.pi, len(lon))
    moved = np.clip(lat + size * np.sin(angle), -90, 90)
    return np.concatenate([(lon + size * np.cos(angle)) % 360, lon[:100]]), np.concatenate([moved, lat[:100]])


def sky_rows() -> Iterator[tuple[Table, pa.RecordBatch]]:
    """Both catalogues, each with rows whose position is NULL, NaN or half known."""
    points = positions(SKY_COUNT, seed=1)
    for table, (lon, lat) in zip(SKY.tables, (points, move_positions(points)), strict=True):
        ra = [*lon.tolist(), None, float("nan"), 10.0, None]
        dec = [*lat.tolist(), None, float("nan"), None, 10.0]
        mag = [float(i % 10) for i in range(len(ra))]
        schema = pa.schema([(c.name, c.type.arrow) for c in SKY_COLUMNS])
        arrays = [pa.array(v, f.type) for v, f in zip((range(len(ra)), ra, dec, mag), schema, strict=True)]
        yield table, pa.RecordBatch.from_arrays(arrays, schema=schema)
