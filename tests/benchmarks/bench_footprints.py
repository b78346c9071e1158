"""Search a million footprints with and without their stored covers, and read region texts.

    python -m tests.benchmarks.bench_footprints

Rectangles of 1 arcsec to 20 degrees, equally many of each order of magnitude, in the order of their positions: far
more large ones than an archive has. With covers a search takes 0.05 to 0.15 s, half of it for planning the test's
SQL; testing every row takes 1 to 4 s.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from adql.regions.unit_vectors import positions_to_vectors
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.readers import shape_columns
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

COUNT = 1_000_000
TEXTS = 20_000
ROUNDS = 5

OBS = Table(
    name="obs",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        Column(name="footprint", datatype="double", arraysize="*", xtype="polygon"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",)),
)

SEARCHES = (
    "CONTAINS(POINT(200, 50), footprint)",
    *(f"INTERSECTS(CIRCLE(200, 50, {radius}), footprint)" for radius in (0.01, 1, 10)),
)


def rectangles(count: int) -> pa.Table:
    rng = np.random.default_rng(1)
    ra, dec = rng.uniform(0, 360, count), np.degrees(np.arcsin(rng.uniform(-1, 1, count)))
    half = np.tan(np.radians(10 ** rng.uniform(np.log10(1 / 3600), np.log10(20), count)) / 2)[:, None]
    centre = positions_to_vectors(ra, dec)
    east = np.stack((-centre[:, 1], centre[:, 0], np.zeros(count)), axis=1) / np.hypot(*centre[:, :2].T)[:, None]
    north = np.cross(centre, east)
    columns = []
    for sx, sy in ((1, -1), (1, 1), (-1, 1), (-1, -1)):
        x, y, z = (centre + sx * half * east + sy * half * north).T
        columns += [np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arctan2(z, np.hypot(x, y)))]
    vertices = pa.FixedSizeListArray.from_arrays(np.stack(columns, axis=1).ravel(), 8).cast(pa.list_(pa.float64()))
    return pa.table({"id": np.arange(count), "ra": ra, "dec": dec, "footprint": vertices})


def main() -> None:
    rows = rectangles(COUNT)
    kind = OBS.get_column("footprint").type
    began = time.perf_counter()
    shape_columns.find_bad_shapes(kind, rows["footprint"].combine_chunks())
    print(f"checked {COUNT / (time.perf_counter() - began):,.0f} rectangles a second")
    numbers = rows["footprint"].slice(0, TEXTS).to_pylist()
    texts = pa.array(["Polygon ICRS " + " ".join(map(repr, vertices)) for vertices in numbers])
    began = time.perf_counter()
    shape_columns.read_regions(Column(name="s", datatype="string", xtype="adql:REGION").type, texts)
    print(f"read {TEXTS / (time.perf_counter() - began):,.0f} texts a second")
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        engine.execute("CREATE DATABASE bench")
        engine.execute(create_table_sql(OBS, "bench.obs"))
        began = time.perf_counter()
        engine.insert_batches("bench.obs", rows.to_batches())
        print(f"inserted {COUNT / (time.perf_counter() - began):,.0f} rows a second")
        catalogue = Catalogue((Schema(name="bench", tables=(OBS,)),))
        for search in SEARCHES:
            pruned, found = _asked(engine, catalogue, f"1 = {search}")
            whole, same = _asked(engine, catalogue, f"(CASE WHEN 1 = {search} THEN 1 ELSE 0 END) = 1")
            assert found == same
            print(f"{search}: {found} rows, {pruned * 1000:.0f} ms; every row tested {whole * 1000:.0f} ms")
        engine.close()


def _asked(engine: EmbeddedEngine, catalogue: Catalogue, condition: str) -> tuple[float, int]:
    translation = translate(f"SELECT id FROM obs WHERE {condition}", catalogue)
    times, found = [], 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = engine.fetch_table(translation.sql, translation.settings | {"use_query_condition_cache": 0}).num_rows
        times.append(time.perf_counter() - began)
    return statistics.median(times), found


if __name__ == "__main__":
    main()
