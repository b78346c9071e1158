"""What a cluster costs: 1, 2, 4 and 8 shards against the whole table, the overlap on disk, the shards that cones touch.

    python -m tests.benchmarks.bench_shards [rows]

All shards are in one process on one machine (``tests.cluster.in_process``), so the ratios are the price of cutting a
query up and putting its answer together; what more machines gain is not in them. Two million rows over the whole sky.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_sharding
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.shard_map import Sharding
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.cluster.in_process import in_process_cluster

ROUNDS = 7
SHARDS = (1, 2, 4, 8)
RADII = (0.01, 0.03, 0.1, 0.3, 1.0)

SCHEMA = """
name: {name}
tables:
- name: objects
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double, ivoa:unit: deg}}
  - {{name: dec, datatype: double, ivoa:unit: deg}}
  - {{name: mag, datatype: float, ivoa:unit: mag}}
  skyhouse:layout: {{position: [ra, dec], id: [id], overlap_radius: 0.1{more}}}
"""

_CONE = "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE({}, {}, {}))"
_PAIRS = "JOIN {0}.objects AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {1}"

QUERIES = {
    "look-up of an id": "SELECT * FROM {0}.objects AS a WHERE a.id = 4711",
    "cone of 0.1 degrees": "SELECT * FROM {0}.objects AS a WHERE " + _CONE.format(200, 30, 0.1),
    "cone of 10 degrees, counted": "SELECT COUNT(*) FROM {0}.objects AS a WHERE " + _CONE.format(200, 30, 10),
    "scan with set functions": "SELECT COUNT(*), AVG(a.mag) FROM {0}.objects AS a WHERE a.mag BETWEEN 5 AND 15",
    "groups": "SELECT MOD(a.id, 1000) AS k, MAX(a.mag) AS m FROM {0}.objects AS a GROUP BY MOD(a.id, 1000)",
    "brightest hundred": "SELECT TOP 100 a.id, a.mag FROM {0}.objects AS a ORDER BY a.mag, a.id",
    "pairs within 1 arcmin": "SELECT COUNT(*) FROM {0}.objects AS a " + _PAIRS.format("{0}", 1 / 60),
    "pairs within 0.1 degrees of a region": "SELECT COUNT(*) FROM {0}.objects AS a "
    + _PAIRS.format("{0}", 0.1)
    + " WHERE "
    + _CONE.format(200, 30, 10),
}


def write_objects(path: Path, rows: int) -> None:
    """Evenly over the sky."""
    random = np.random.default_rng(1)
    columns = {
        "id": np.arange(rows),
        "ra": random.uniform(0, 360, rows),
        "dec": np.degrees(np.arcsin(random.uniform(-1, 1, rows))),
        "mag": random.uniform(0, 20, rows).astype(np.float32),
    }
    pq.write_table(pa.table(columns), path)


def fill(engine: Engine, folder: Path, objects: Path, reporter: ConsoleReporter) -> Catalogue:
    """``cut.objects`` on all shards, ``whole.objects`` as one table."""
    for name, more in (("cut", ""), ("whole", ", everywhere: true")):
        schema = folder / f"{name}.yaml"
        schema.write_text(SCHEMA.format(name=name, more=more))
        load_files(engine, LoadRequest((objects,), f"{name}.objects", folder / "rejects.csv", schema), reporter)
    return read_catalogue(engine)


def seconds(engine: Engine, catalogue: Catalogue, query: str) -> float:
    translation = translate(query, catalogue)
    began = time.perf_counter()
    engine.fetch_table(translation.sql, translation.settings)
    return time.perf_counter() - began


def compare(engine: Engine, catalogue: Catalogue, reporter: ConsoleReporter) -> None:
    for name, query in QUERIES.items():
        times: dict[str, list[float]] = {"cut": [], "whole": []}
        for _ in range(ROUNDS + 1):
            for table, measured in times.items():
                measured.append(seconds(engine, catalogue, query.format(table)))
        cut, whole = (statistics.median(measured[1:]) * 1000 for measured in times.values())
        reporter.output(f"  {name:40} {whole:9.1f} ms whole, {cut:9.1f} ms cut up: {cut / whole:5.2f}")


def overlaps(engine: Engine, placement: Sharding, reporter: ConsoleReporter) -> None:
    for radius in RADII:
        holders = Overlap(placement.map, radius).copy_shards_sql("hpx29", placement.map.shard_sql("hpx29"))
        copies = (
            f"SELECT avg(length({holders})) AS n FROM (SELECT {index_sql('ra', 'dec')} AS hpx29 FROM whole.objects)"
        )
        [share] = engine.fetch_table(copies).column(0).to_pylist()
        reporter.output(f"  overlap of {radius:4} degrees: {100 * share:6.2f} % more rows")


def cones(engine: Engine, catalogue: Catalogue, reporter: ConsoleReporter) -> None:
    """Shards that answer, of 40 cones at random places."""
    random = np.random.default_rng(2)
    for radius in (0.1, 1.0, 10.0):
        touched = []
        for ra, dec in zip(random.uniform(0, 360, 40), np.degrees(np.arcsin(random.uniform(-1, 1, 40))), strict=True):
            query = "SELECT COUNT(*) FROM cut.objects AS a WHERE " + _CONE.format(ra, dec, radius)
            translation = translate(query, catalogue)
            plan = engine.explain_query(translation.sql, translation.settings)
            touched.append(plan.count("ReadFromMergeTree"))
        reporter.output(f"  cones of {radius:4} degrees: {statistics.mean(touched):.2f} shards, {max(touched)} at most")


def main(rows: int = 2_000_000) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter:
        objects = Path(name) / "objects.parquet"
        write_objects(objects, rows)
        for shards in SHARDS:
            folder = Path(name) / str(shards)
            folder.mkdir()
            with in_process_cluster(folder, shards) as engine:
                catalogue = fill(engine, folder, objects, reporter)
                reporter.output(f"{shards} shards, {rows:,} rows")
                compare(engine, catalogue, reporter)
                placement = read_sharding(engine)
                if placement is not None and shards == max(SHARDS):
                    overlaps(engine, placement, reporter)
                    cones(engine, catalogue, reporter)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
