"""Compare cones and scans of an attached HATS catalogue with the loaded catalogue and a glob over all files.

    python -m tests.benchmarks.bench_attach [million rows]

The default is 4 million rows in 192 partitions. ``by glob`` is what ClickHouse reads if the translator does not
select files; ``over HTTP`` reads the files from a server on this machine, first into an empty cache.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adql import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.hats.hats_pixel import SPATIAL_INDEX, HatsPixel
from clickhouse_schema.hats.partition_info import FILE_NAME, write_partition_info
from clickhouse_schema.healpix import vectors_to_index
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.storage.engine.engine import Engine
from tests.servers.file_server import serving_files
from tests.tap_service.hats.hats_files import write_properties

ORDER = 2
ROUNDS = 60
RADIUS = 0.1
MAGNITUDES = 8

CONE = "SELECT id, ra, dec, mag0 FROM {table} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, {radius}))"
SCAN = "SELECT COUNT(*), AVG(mag0), MAX(mag3) FROM {table}"


def write_sky(folder: Path, count: int) -> None:
    """Write rows all over the sky, with a partition for each pixel of ``ORDER``."""
    random = np.random.default_rng(1)
    lon, z = random.uniform(0, 2 * np.pi, count), random.uniform(-1, 1, count)
    across = np.sqrt(1 - z * z)
    index = vectors_to_index(np.stack([across * np.cos(lon), across * np.sin(lon), z], axis=-1))
    columns = {SPATIAL_INDEX: index, "id": np.arange(count), "ra": np.degrees(lon), "dec": np.degrees(np.arcsin(z))}
    columns |= {f"mag{n}": random.normal(18, 2, count).astype(np.float32) for n in range(MAGNITUDES)}
    order = np.argsort(index)
    rows = pa.table({name: values[order] for name, values in columns.items()})
    pixels = [HatsPixel(ORDER, number) for number in range(12 * 4**ORDER)]
    borders = np.searchsorted(rows[SPATIAL_INDEX].to_numpy(), [pixel.first_cell for pixel in pixels]).tolist()
    for pixel, first, end in zip(pixels, borders, [*borders[1:], count], strict=True):
        path = folder / pixel.build_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.slice(first, end - first), path, compression="zstd")
    (folder / FILE_NAME).write_text(write_partition_info(pixels))
    write_properties(folder, obs_collection="sky", hats_nrows=str(count))


def measure(reporter: ConsoleReporter, name: str, ask: Callable[[float, float], int]) -> None:
    """Report the median of cones at the same positions for each; the first cones fill the engine's caches."""
    random = np.random.default_rng(7)
    times, rows = [], 0
    for _ in range(ROUNDS):
        ra, dec = random.uniform(0, 360), np.degrees(np.arcsin(random.uniform(-1, 1)))
        began = time.perf_counter()
        rows += ask(ra, dec)
        times.append((time.perf_counter() - began) * 1e3)
    times = sorted(times[5:])
    reporter.output(
        f"{name:<40} median {statistics.median(times):6.1f} ms, 9 of 10 within {times[len(times) * 9 // 10]:6.1f} ms"
        f" ({rows:,} rows)"
    )


def ask_engine(engine: Engine, catalogue: Catalogue, query: str, change: Callable[[str], str] = str) -> pa.Table:
    translation = translate(query, catalogue)
    return engine.fetch_table(change(translation.sql), translation.settings)


def run(engine: Engine, gateway: FileGateway, folder: Path, reporter: ConsoleReporter) -> None:
    with serving_files(folder) as server:
        load_files(
            engine, LoadRequest(files=(folder / "sky",), table="bench.loaded", rejects=folder / "rejects.csv"), reporter
        )
        attach_catalogue(engine, AttachRequest(address=str(folder / "sky"), table="bench.attached"), reporter)
        attach_catalogue(engine, AttachRequest(address=f"{server.url}/sky", table="bench.remote"), reporter)
        catalogue = gateway.publish(read_catalogue(engine))

        def ask_cone(table: str, change: Callable[[str], str] = str) -> Callable[[float, float], int]:
            def ask(ra: float, dec: float) -> int:
                query = CONE.format(table=table, ra=ra, dec=dec, radius=RADIUS)
                return ask_engine(engine, catalogue, query, change).num_rows

            return ask

        def read_glob(sql: str) -> str:
            before, after = re.split(r"url\('[^']*'", sql, maxsplit=1)
            return f"{before}file('{folder}/sky/dataset/*/*/*.parquet'{after}"

        measure(reporter, "loaded", ask_cone("bench.loaded"))
        measure(reporter, "attached", ask_cone("bench.attached"))
        measure(reporter, "by glob", ask_cone("bench.attached", read_glob))
        measure(reporter, "attached over HTTP, empty cache", ask_cone("bench.remote"))
        measure(reporter, "attached over HTTP, again", ask_cone("bench.remote"))
        for table in ("loaded", "attached", "remote", "remote"):
            began = time.perf_counter()
            ask_engine(engine, catalogue, SCAN.format(table=f"bench.{table}"))
            reporter.output(f"scan of three columns, {table:<20} {time.perf_counter() - began:6.2f} s")


def main(millions: float = 4) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter:
        folder = Path(name)
        write_sky(folder / "sky", int(millions * 1e6))
        gateway = FileGateway("127.0.0.1", folder / "cache", 10 << 30)
        with open_engine(folder / "data") as engine:
            run(engine, gateway, folder, reporter)
        gateway.close()


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
