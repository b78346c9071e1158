"""The size of a cluster for LSST's final release: bytes and rates measured here, and what follows from them.

    BENCH_DATA=folder python -m tests.benchmarks.bench_scale

The folder has ``gaia_bright.parquet`` and ``tycho2.parquet``, which are not shipped; without it the demo's tables are
used. Forced sources are made up: 800 visits of each object, fluxes with noise that cannot be compressed. Rates are
for one thread, the best of seven rounds; docs/scale.md explains the tables.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.shard_balance import balance_shards
from clickhouse_schema.shard_map import ShardMap
from clickhouse_schema.table_ddl import create_table_sql
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.support.environment import ROOT

#: rows, and bytes of a row as it is defined: Wang et al. 2011, "Qserv", table 1
OBJECTS, SOURCES, FORCED = (26e9, 2000), (1.8e12, 650), (21e12, 30)

#: additional stored bytes of a row: hpx29, and the projection by id
EXTRA = 6.1 + 3.4

#: of a server: cores, bytes per second from its disks, filled bytes of disk
CORES, DISK_RATE, DISK = 32, 10e9, 140e12

#: degrees; the part of the sky south of +2 degrees
RADIUS, SOUTH = 0.1, 2.0

VISITS, PER_FIELD, FIELDS = 800, 2000, 8
ROUNDS = 7
UNCACHED = {"use_query_condition_cache": 0, "max_threads": 1}

FORCED_SOURCES = Table(
    name="forced",
    columns=(
        Column(name="object_id", datatype="long", nullable=False),
        Column(name="ccd_visit_id", datatype="long", nullable=False),
        Column(name="flux", datatype="float", nullable=False),
        Column(name="flux_err", datatype="float", nullable=False),
        Column(name="flags", datatype="short", nullable=False),
    ),
    layout=Layout(id=("object_id", "ccd_visit_id")),
)


@dataclass(frozen=True)
class Measured:
    """``kept``: bytes on disk for each byte of a row as it is defined; ``forced``: bytes of a forced source on disk;
    ``rate``: rows a second of one core that reads one column, of ``width`` bytes on disk."""

    kept: float
    forced: float
    rate: float
    width: float


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, open_engine(Path(folder)) as engine:
        kept = max(_kept(engine, path, Path(folder)) for path in _files())
        measured = _forced(engine, kept)
    print(f"one thread reads {measured.rate / 1e6:.0f} M rows/s of a column of {measured.width:.1f} B")
    _storage(measured)
    for servers in (1, 10, 100):
        _times(measured, servers)


def _files() -> list[Path]:
    folder = os.environ.get("BENCH_DATA")
    shipped = ROOT / "loaders" / "demo"
    names = ("gaia_bright.parquet", "tycho2.parquet") if folder else ("tycho2_bright.parquet", "openngc.parquet")
    return [Path(folder or shipped) / name for name in names]


def _kept(engine: Engine, path: Path, folder: Path) -> float:
    table = f"scale.{path.stem}"
    with ConsoleReporter() as reporter:
        load_files(engine, LoadRequest(files=(path,), table=table, rejects=folder / "rejects.csv"), reporter)
    columns = [each for each in _columns(engine, path.stem) if each["column"] != "hpx29"]
    defined = sum(_width(column["type"], column["whole"]) for column in columns)
    disk = sum(column["disk"] for column in columns)
    print(f"{path.stem}: {len(columns)} columns, a row of {defined:.0f} B takes {disk:.1f} B, {disk / defined:.2f}")
    return disk / defined


def _columns(engine: Engine, table: str) -> list[dict[str, Any]]:
    """Return the type of each column, and the bytes of a row on disk and in memory, without chunk numbers."""
    return engine.fetch_table(
        "SELECT column, any(type) AS type, sum(column_data_compressed_bytes) / sum(rows) AS disk,"
        " sum(column_data_uncompressed_bytes) / sum(rows) AS whole FROM system.parts_columns"
        f" WHERE active AND database = 'scale' AND table = '{table}' AND NOT startsWith(column, '__') GROUP BY column"
    ).to_pylist()


def _width(kind: str, whole: float) -> float:
    """Return the bytes of a value as it is defined, without the marks of NULL and the lengths of texts."""
    bits = re.search(r"\d+", kind)
    return int(bits[0]) / 8 if bits else max(whole - 8, 1)


def _forced(engine: Engine, kept: float) -> Measured:
    engine.execute(create_table_sql(FORCED_SOURCES, "scale.forced"))
    random = np.random.default_rng(1)
    for field in range(FIELDS):
        engine.insert_batches("scale.forced", [_field(random, field)])
    engine.execute("OPTIMIZE TABLE scale.forced FINAL")
    disk = {each["column"]: each["disk"] for each in _columns(engine, "forced")}
    rows = VISITS * PER_FIELD * FIELDS
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        engine.fetch_table("SELECT count() AS n FROM scale.forced WHERE flux > 99000", UNCACHED)
        best = min(best, time.perf_counter() - began)
    row = sum(disk.values())
    print(f"forced sources: a row takes {row:.1f} B, of which the flux {disk['flux']:.1f} B")
    return Measured(kept, row, rows / best, disk["flux"])


def _field(random: np.random.Generator, field: int) -> pa.RecordBatch:
    """Objects of one field, all seen by the same visits."""
    rows = PER_FIELD * VISITS
    visits = np.sort(random.choice(2_000_000_000, VISITS, replace=False)).astype(np.int64) * 189
    objects = np.sort(random.choice(1 << 40, PER_FIELD, replace=False)).astype(np.int64) + (field << 50)
    noise = np.tile(random.uniform(80, 300, VISITS), PER_FIELD) * random.normal(1, 0.05, rows)
    flux = np.repeat(10 ** random.uniform(2, 5, PER_FIELD), VISITS) + noise * random.normal(size=rows)
    return pa.record_batch(
        {
            "object_id": np.repeat(objects, VISITS),
            "ccd_visit_id": np.tile(visits, PER_FIELD),
            "flux": flux.astype(np.float32),
            "flux_err": noise.astype(np.float32),
            "flags": (random.random(rows) < 0.02).astype(np.int16),
        }
    )


# --- what follows -----------------------------------------------------------------------------------------------------


def _storage(measured: Measured) -> None:
    print("\n| table | rows | a row | one copy |\n|---|---|---|---|")
    for name, rows, size in _tables(measured):
        print(f"| {name} | {rows:.3g} | {size:.1f} B | {rows * size / 1e12:.0f} TB |")
    print(f"| all | | | {_one_copy(measured) / 1e12:.0f} TB |")


def _tables(measured: Measured) -> list[tuple[str, float, float]]:
    return [
        ("objects", OBJECTS[0], OBJECTS[1] * measured.kept + EXTRA),
        ("sources", SOURCES[0], SOURCES[1] * measured.kept + EXTRA),
        ("forced sources", FORCED[0], measured.forced),
    ]


def _one_copy(measured: Measured) -> float:
    return sum(rows * size for _, rows, size in _tables(measured))


def _times(measured: Measured, servers: int) -> None:
    shards = max(1, servers // 2)
    overlap = _overlap(shards)
    objects = _tables(measured)[0]
    size = 2 * (_one_copy(measured) + overlap * objects[1] * objects[2])
    copies = f"{100 * overlap:.1f} % of the objects"
    print(f"\n{servers} servers, {shards} shards: the overlap of {RADIUS} degrees has {copies}")
    print(f"  two replicas of all are {size / 1e15:.2f} PB, {size / DISK / servers:.2f} of the disks")
    for name, rows, _ in _tables(measured):
        computing = rows / (measured.rate * CORES * shards)
        reading = rows * measured.width / (DISK_RATE * shards)
        print(f"  one column of all {name}: {computing:.2g} s of computing, {reading:.2g} s of reading")


def _overlap(shards: int) -> float:
    """Copies of each row, with rows all over the south."""
    if shards == 1:
        return 0.0
    with tempfile.TemporaryDirectory() as folder, open_engine(Path(folder)) as engine:
        south = _southern()
        map_: ShardMap = balance_shards(south, shards)
        index = "rand64(number) % toUInt64(3458764513820540928)"
        cells = ", ".join(str(cell) for cell in np.flatnonzero(south))
        found = engine.fetch_table(
            f"SELECT avg(length({Overlap(map_, RADIUS).copy_shards_sql('hpx29', 'home')})) AS copies FROM"
            f" (SELECT {index} AS hpx29, {map_.shard_sql('hpx29')} AS home FROM numbers(2000000))"
            f" WHERE bitShiftRight(hpx29, 50) IN ({cells})"
        )
    return float(found["copies"][0].as_py())


def _southern() -> np.ndarray:
    """Return 1 for each cell of the map in the survey's part of the sky, and nothing for rows without a position."""
    import cdshealpix.nested

    _, latitude = cdshealpix.nested.healpix_to_lonlat(np.arange(3072), 4)
    return np.append((np.asarray(latitude.deg) < SOUTH).astype(float), 0.0)


if __name__ == "__main__":
    main()
