"""Rows per second and core of an export as HATS, compared with the Parquet files that the engine writes alone.

    python -m tests.benchmarks.bench_hats [copies]

The demo's 120,521 stars of Tycho-2 (18 columns) are copied with jitter. Each round writes all rows: the engine alone
into one file in any order, the engine alone sorted by the HEALPix index, and ``skyhouse export`` without and with
margins and verification. The engine is in this process, so the processor time includes both. The figures to quote are
rows per second of processor time, and the ratio to the engine's sorted file.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clickhouse_schema.quoting import quote_string
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder
from tests.support.environment import ROOT

COPIES = 20
ROUNDS = 3
TABLE = "bench.stars"
DEMO = ROOT / "loaders" / "demo" / "tycho2_bright.parquet"


def write_stars(path: Path, copies: int) -> int:
    """Write ``copies`` of the stars, each half a degree away and with other values; return the rows."""
    stars = pq.read_table(DEMO)
    random = np.random.default_rng(1)

    def shift(name: str, sigma: float) -> pa.Array:
        column = stars[name]
        return pc.add(column, pa.array(random.normal(0, sigma, len(stars)))).cast(column.type)

    with pq.ParquetWriter(path, stars.schema) as writer:
        for number in range(copies):
            changed = {"ra": pa.array(shift("ra", 0.5).to_numpy() % 360)}
            changed["dec"] = pa.array(np.clip(shift("dec", 0.5).to_numpy(), -90, 90))
            changed |= {name: shift(name, 0.01) for name in ("pmra", "pmdec", "bt_mag", "vt_mag")}
            changed["tyc_id"] = pc.binary_join_element_wise(stars["tyc_id"], f"{number}", "-")
            writer.write_table(pa.table([changed.get(name, stars[name]) for name in stars.column_names], stars.schema))
    return len(stars) * copies


def write_alone(engine: Engine, path: Path, order: str) -> None:
    engine.execute(f"INSERT INTO FUNCTION file({quote_string(str(path))}, 'Parquet') SELECT * FROM {TABLE} {order}")


def export(engine: Engine, target: Path, margin: float) -> None:
    shutil.rmtree(target, ignore_errors=True)
    export_hats(engine, ExportRequest(source=TABLE, target=str(target), margin=margin), Recorder())


def measure(work: Callable[[], None]) -> tuple[float, float]:
    """Return seconds of wall time and of processor time."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def count_bytes(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(each.stat().st_size for each in files if each.is_file())


def main(copies: int = COPIES) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter:
        folder = Path(name)
        rows = write_stars(folder / "stars.parquet", copies)
        with open_engine(folder / "data") as engine:
            load_files(
                engine,
                LoadRequest(files=(folder / "stars.parquet",), table=TABLE, rejects=folder / "rejects.csv"),
                Recorder(),
            )
            while engine.fetch_table("SELECT count() AS n FROM system.merges").column(0)[0].as_py():
                time.sleep(0.1)
            works: dict[str, tuple[Path, Callable[[], None]]] = {
                "engine alone, any order": (folder / "a", lambda: write_alone(engine, folder / "a", "")),
                "engine alone, sorted": (folder / "b", lambda: write_alone(engine, folder / "b", "ORDER BY hpx29")),
                "export, partitions": (folder / "c", lambda: export(engine, folder / "c", 0.0)),
                "export, with margins": (folder / "d", lambda: export(engine, folder / "d", 10.0)),
            }
            found: dict[str, list[tuple[float, float]]] = {title: [] for title in works}
            for _ in range(ROUNDS):
                for title, (path, work) in works.items():
                    path.unlink() if path.is_file() else None
                    found[title].append(measure(work))
            reporter.output(f"{rows:,} rows of 18 columns, medians of {ROUNDS}")
            for title, figures in found.items():
                clock, used = (statistics.median(column) for column in zip(*figures, strict=True))
                size = count_bytes(works[title][0]) / rows
                reporter.output(
                    f"{title:24} {rows / used / 1e3:6.0f} krows/s a core, {rows / clock / 1e3:6.0f} krows/s on the clock,"
                    f" {size:.0f} bytes a row"
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
