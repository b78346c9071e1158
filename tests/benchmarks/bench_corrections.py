"""Compare corrections, deletions and versions with a load of the same rows; run with ``make bench``.

    python -m tests.benchmarks.bench_corrections [ROWS]

A table of sources with 36 columns is loaded; a quarter of its rows (1 M of 4 M) are corrected, then moved, then
deleted. Objects with 28 columns get four visits of 67,000 versions. For reads before and after, it prints the median
processor time and the number of rows that a look-up reads.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adql.translation import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine

ROWS = 4_000_000
VISIT = 67_000
FLOATS = 24


def make_columns(kind: str, random: np.random.Generator, ids: np.ndarray, mjd: np.ndarray) -> dict[str, Any]:
    size = len(ids)
    columns: dict[str, Any] = {
        kind: ids,
        "ra": random.uniform(10, 20, size),
        "dec": random.uniform(-5, 5, size),
        "mjd": mjd,
        **{f"value{number}": random.normal(size=size).astype("f4") for number in range(FLOATS)},
    }
    if kind == "source":
        columns |= {f"flag{number}": random.integers(0, 2, size).astype(bool) for number in range(6)}
        columns |= {"object": random.integers(0, size // 40 + 1, size), "withdrawn": pa.nulls(size, pa.float64())}
    return columns


def describe_tables(columns: dict[str, dict[str, Any]]) -> str:
    """Return the YAML of both tables."""
    kinds = {"bool": "boolean", "float32": "float", "int64": "long"}
    layouts = {
        "source": "{position: [ra, dec], id: [source], time: mjd, indexes: [object]}",
        "object": "{position: [ra, dec], id: [object, mjd], versions: {key: [object], by: mjd}}",
    }
    text = "name: bench\ntables:\n"
    for name, given in columns.items():
        text += f"- name: {name}\n  skyhouse:layout: {layouts[name]}\n  columns:\n"
        for column, values in given.items():
            kind = kinds.get(str(getattr(values, "dtype", "")), "double")
            text += f"  - {{name: {column}, datatype: {kind}, nullable: {str(column != 'object').lower()}}}\n"
    return text


class Bench:
    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._reporter = ConsoleReporter()

    def time_work(self, name: str, work: Callable[[], None]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        work()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(f"{name:<60}{wall:8.2f} s {processor:8.2f} s of the processor", flush=True)

    def write(self, columns: dict[str, Any]) -> Path:
        file = self._folder / f"{len([*self._folder.iterdir()])}.parquet"
        pq.write_table(pa.table(columns), file)
        return file

    def load(self, name: str, table: str, columns: dict[str, Any], mode: Mode = "create") -> None:
        schema = self._folder / "bench.yaml" if mode == "create" else None
        request = LoadRequest(
            files=(self.write(columns),),
            table=f"bench.{table}",
            rejects=self._folder / "rejects",
            schema_file=schema,
            mode=mode,
        )
        self.time_work(name, lambda: load_files(self._engine, request, self._reporter))

    def correct(self, name: str, kind: Literal["update", "delete"], table: str, columns: dict[str, Any]) -> None:
        request = CorrectionRequest(
            command=kind, files=(self.write(columns),), table=f"bench.{table}", rejects=self._folder / "rejects"
        )
        self.time_work(name, lambda: correct_rows(self._engine, request, self._reporter))

    def read(self, table: str, ids: np.ndarray) -> None:
        """Print the rows that look-ups and cones read, and their processor milliseconds."""
        assert isinstance(self._engine, EmbeddedEngine)
        catalogue = read_catalogue(self._engine)
        chance = random.Random(1)
        key = table.removesuffix("_last")
        queries: dict[str, Callable[[], str]] = {
            "id": lambda: f"{key} = {chance.choice(ids)}",
            "cone of 0.05": lambda: f"1 = CONTAINS(POINT(ra, dec), CIRCLE({chance.uniform(11, 19)}, 0, 0.05))",
        }
        described = []
        for name, make in queries.items():
            times, rows = [], []
            for _ in range(15):
                translation = translate(f"SELECT * FROM bench.{table} WHERE {make()}", catalogue)
                settings = translation.settings | {"max_threads": 1}
                before = time.process_time()
                self._engine.fetch_table(translation.sql, settings)
                times.append(time.process_time() - before)
                plan = self._engine.explain_query(translation.sql, settings)
                rows.append(max(map(int, re.findall(r" Rows: (\d+)", plan)), default=0))
            found = f", {statistics.median(rows):,.0f} rows of the index" if any(rows) else ""
            described.append(f"{name} {statistics.median(times) * 1000:.1f} ms{found}")
        print(f"    reads of {table}: {', '.join(described)}", flush=True)

    def verify(self, table: str) -> None:
        verify_table(self._engine, f"bench.{table}", self._reporter)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    numbers = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name, open_engine(Path(name) / "data") as engine:
        folder = Path(name) / "files"
        folder.mkdir()
        ids = numbers.permutation(rows)
        sources = make_columns("source", numbers, ids, numbers.uniform(60000, 60365, rows))
        objects = make_columns("object", numbers, ids[: rows * 3 // 4], np.full(rows * 3 // 4, 60000.0))
        (folder / "bench.yaml").write_text(describe_tables({"source": sources, "object": objects}))
        bench = Bench(engine, folder)
        bench.load(f"load of {rows:,} sources", "source", sources)
        bench.read("source", ids)
        part = ids[: rows // 4]
        times = numbers.uniform(60000, 60365, len(part))
        new_objects = numbers.integers(0, rows // 40 + 1, len(part))
        described = f"{len(part):,} of {rows:,} sources"
        bench.correct(f"withdrawn of {described}", "update", "source", {"source": part, "withdrawn": times})
        both = {"source": part, "object": new_objects, "withdrawn": times}
        bench.correct(f"object and withdrawn of {described}", "update", "source", both)
        bench.read("source", ids)
        bench.correct(
            f"positions of {described}", "update", "source", {"source": part, "ra": numbers.uniform(10, 20, len(part))}
        )
        bench.correct(f"deletion of {described}", "delete", "source", {"source": part})
        bench.read("source", ids[rows // 4 :])
        bench.verify("source")
        bench.load(f"load of {rows * 3 // 4:,} objects, and their latest versions", "object", objects)
        bench.read("object_last", objects["object"])
        for visit in range(4):
            chosen = numbers.choice(objects["object"], min(VISIT, rows // 8), replace=False)
            versions = make_columns("object", numbers, chosen, np.full(len(chosen), 60001.0 + visit))
            bench.load(f"append of {len(chosen):,} versions", "object", versions, "append")
        bench.read("object_last", objects["object"])
        bench.verify("object")


if __name__ == "__main__":
    main()
