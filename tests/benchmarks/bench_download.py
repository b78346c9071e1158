"""Compare downloads through HTTP with the engine's Arrow stream, and measure the memory of the service.

    python -m tests.benchmarks.bench_download [rows [format ...]]

A separate service process serves the table of bench_formats; the client reads and drops the rows. Each round first
takes the Arrow stream of the engine alone, also in the service's process, and then each format: the figures to quote
are the ratios. Aims: BINARY2 at least 0.5, TABLEDATA and CSV at least 0.3. Memory is the service's peak, for a
twentieth of the rows and for all rows: it must not grow with the rows.
"""

from __future__ import annotations

import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Schema
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.benchmarks.bench_formats import CREATE, FIELDS
from tests.support.running_service import running_service

ROWS = 2_000_000
ROUNDS = 3
FORMATS = ("votable", "votable/td", "csv", "fits", "parquet", "arrow", "json")
_FELIS = {"long": "long", "double": "double", "float": "float", "int": "int", "char": "string", "unicodeChar": "text"}


def serve(folder: str, rows: int, pipe: Connection) -> None:
    """Answer "arrow" with the seconds of the engine's stream alone and "memory" with the peak so far in bytes."""
    engine = EmbeddedEngine(Path(folder))
    prepare_engine(engine)
    columns = [{"name": field.name, "datatype": _FELIS[field.type.datatype]} for field in FIELDS]
    schema = Schema.model_validate({"name": "bench", "tables": [{"name": "t", "columns": columns}]}, strict=False)
    engine.execute("CREATE DATABASE bench")
    engine.execute(CREATE.format(rows=rows).replace("CREATE TABLE bench", "CREATE TABLE bench.t"))
    register_table(engine, schema, schema.tables[0])
    with running_service(
        Config(query_log="", jobs_path=engine.data_path / "jobs", sync_seconds=3600), engine
    ) as server:
        pipe.send(server.sync)
        while (asked := pipe.recv()) != "end":
            if asked == "memory":
                pipe.send(peak_memory())
                continue
            began = time.perf_counter()
            with engine.stream_batches("SELECT * FROM bench.t") as batches:
                counted = sum(batch.num_rows for batch in batches)
            pipe.send((time.perf_counter() - began, counted))
    engine.close()


def peak_memory() -> int:
    """Return the most bytes that this process has held since the last call (Linux)."""
    [line] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    Path("/proc/self/clear_refs").write_text("5")
    return int(line) * 1024


def ask(pipe: Connection, question: str) -> Any:
    pipe.send(question)
    return pipe.recv()


def download(url: str, form: str, rows: int) -> float:
    data = {"QUERY": "SELECT * FROM bench.t", "FORMAT": form, "MAXREC": str(rows)}
    began = time.perf_counter()
    headers = {"Accept-Encoding": "identity"}
    with httpx.stream("POST", url, data=data, headers=headers, timeout=600, verify=False) as response:
        response.raise_for_status()
        for _ in response.iter_raw(1 << 20):
            pass
    return time.perf_counter() - began


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = context.Pipe()
        service = context.Process(target=serve, args=(folder, rows, theirs))
        service.start()
        try:
            measure(ours, rows)
        finally:
            ours.send("end")
            service.join()


def measure(service: Connection, rows: int) -> None:
    url = service.recv()
    print(f"{rows} rows through HTTP")
    for form in sys.argv[2:] or FORMATS:
        ask(service, "memory")
        download(url, form, rows // 20)
        few = ask(service, "memory")
        rounds = []
        for _ in range(ROUNDS):
            alone, counted = ask(service, "arrow")
            assert counted == rows
            ask(service, "memory")
            seconds = download(url, form, rows)
            rounds.append((alone / seconds, rows / seconds, ask(service, "memory")))
        ratio, rate, all_rows = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(
            f"{form:11} {rate / 1e3:7.0f} krows/s, {ratio:.2f} of the Arrow stream; the service held "
            f"{few / 1e6:.0f} MB for {rows // 20} rows, {all_rows / 1e6:.0f} MB for {rows}",
            flush=True,
        )


if __name__ == "__main__":
    main()
