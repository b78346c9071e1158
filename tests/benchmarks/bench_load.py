"""Compare rows per second loaded from Parquet with the engine's inserts without HEALPix; run with ``make bench``.

In one run, the same file of 12 columns goes through ``skyhouse load`` (read, checked, hpx29, sorted by it, verified,
published) and through the engine's Parquet reader into a table of the same columns and codecs, sorted by the id
instead. The engine's insert is measured with its default settings, which use all cores.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Layout
from clickhouse_schema.table_ddl import create_table_sql
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.storage.server_storage import open_server_storage
from tap_service.storage.engine.engine import Engine

ROWS = 5_000_000
GROUP = 500_000


def write_file(path: Path, rows: int) -> None:
    """12 columns as in a catalogue: id, position, 6 measurements, a count, a name, a number that is often missing."""
    random = np.random.default_rng(1)
    writer = None
    for first in range(0, rows, GROUP):
        size = min(GROUP, rows - first)
        columns = {
            "source_id": random.integers(0, 2**62, size),
            "ra": random.uniform(0, 360, size),
            "dec": np.degrees(np.arcsin(random.uniform(-1, 1, size))),
            **{f"value{number}": random.normal(size=size).astype("f4") for number in range(6)},
            "count": random.integers(0, 1000, size).astype("i4"),
            "name": [f"TYC {number}" for number in random.integers(0, 100_000, size)],
            "parallax": pa.array(random.normal(size=size), mask=random.random(size) < 0.2),
        }
        group = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, group.schema)
        writer.write_table(group)
    if writer is not None:
        writer.close()


def engine_alone(engine: Engine, path: Path) -> float:
    """Return the seconds of the engine's INSERT of the file, without hpx29 and without the loader."""
    state = open_server_storage(engine, "bench", "stars").live.read_state()
    if state is None:
        raise RuntimeError("the loader left no table")
    table = state.entry.tables[0].model_copy(update={"name": "plain", "layout": Layout(id=("source_id",))})
    statement = create_table_sql(table, "bench.plain")
    engine.execute(statement)
    engine.execute("ALTER TABLE bench.plain DROP PROJECTION by_id")
    while engine.fetch_table("SELECT 1 AS one FROM system.merges").num_rows:  # of the table that was just loaded
        time.sleep(0.1)
    began = time.perf_counter()
    engine.execute(f"INSERT INTO bench.plain SELECT * FROM file({quote_string(str(path))})")
    return time.perf_counter() - began


def main(rows: int = ROWS) -> None:
    with tempfile.TemporaryDirectory() as folder, ConsoleReporter() as reporter:
        path = Path(folder) / "stars.parquet"
        write_file(path, rows)
        with open_engine(Path(folder) / "data") as engine:
            began = time.perf_counter()
            load_files(
                engine, LoadRequest(files=(path,), table="bench.stars", rejects=Path(folder) / "rejects.csv"), reporter
            )
            loader = time.perf_counter() - began
            plain = engine_alone(engine, path)
    reporter.output(f"skyhouse load, 12 columns with hpx29: {rows / loader:,.0f} rows/s")
    reporter.output(f"the engine alone, without hpx29:      {rows / plain:,.0f} rows/s")
    reporter.output(f"ratio: {plain / loader:.2f} (aim: 0.5)")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
