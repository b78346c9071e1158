"""Whole rows by id: PanDA's jobs, 100 columns, with and without a row store, through the engine and through
``/sync``.

    python -m tests.benchmarks.bench_rows [--rows 1000000] [--clients 1,10] [--seconds 6] [--keep FOLDER]

Through the engine, clients are threads of one process with SQL that was translated before; the answer is Arrow
columns. Through ``/sync``, they are threads of this process over connections that stay open. Both tables take turns,
as do single ids, ten ids in one query, and the seed's mix: 7 of 10 queries are look-ups of one id, the others of
words.

It prints median and p95 of the wall time, queries per second, and processor milliseconds of a query, including the
clients' where they share the process.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from tap_service.config import Config
from tap_service.factory.query_services import build_query_services
from tap_service.models.engine_share import choose_lane, choose_share
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.query_preparation import Costing, QueryPreparation
from tap_service.services.queries.query_run import list_engine_settings
from tap_service.services.queries.tap_parameters import read_tap_parameters
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.open_storage import open_job_stores
from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.seeds.panda_jobs import FIRST_ID, JOBS_SCHEMA, LABELS, SITES, make_jobs
from tests.benchmarks.service_process import ServiceProcess

#: Slices of each table, in turns; the first one warms up
_ROUNDS = 4
_FILE_ROWS = 250_000
_TABLES = ("jobs", "columns")
_SETTINGS = {"client_running_queries": 64, "client_waiting_queries": 1000}

MakeQuery = Callable[[random.Random, int, str], str]


def _one(draw: random.Random, rows: int, table: str) -> str:
    return f"SELECT * FROM panda.{table} WHERE pandaid = {FIRST_ID + draw.randrange(rows)}"


def _ten(draw: random.Random, rows: int, table: str) -> str:
    ids = ", ".join(str(FIRST_ID + draw.randrange(rows)) for _ in range(10))
    return f"SELECT * FROM panda.{table} WHERE pandaid IN ({ids})"


def _mix(draw: random.Random, rows: int, table: str) -> str:
    if draw.random() < 0.7:
        return _one(draw, rows, table)
    site, label = draw.choice(SITES), draw.choice([*LABELS])
    words = f"computingsite = '{site}' AND prodsourcelabel = '{label}' AND jobday = '2011-06-01'"
    return f"SELECT TOP 500 * FROM panda.{table} WHERE {words}"


QUERIES: dict[str, MakeQuery] = {"id": _one, "10 ids": _ten, "mix": _mix}


def _make_query(kind: str, rows: int, turn: int, table: str, client: int, number: int) -> str:
    return QUERIES[kind](random.Random(f"{turn} {client} {number} {table}"), rows, table)


def load_tables(folder: Path, rows: int) -> Path:
    """Make and load both tables, unless the folder has them."""
    data = folder / f"jobs{rows}" / "data"
    loaded = data.parent / "loaded"
    if loaded.exists():
        return data
    data.parent.mkdir(parents=True, exist_ok=True)
    files = []
    for first in range(0, rows, _FILE_ROWS):
        files.append(data.parent / f"{first}.parquet")
        pq.write_table(make_jobs(min(_FILE_ROWS, rows - first), first, 1), files[-1], compression="lz4")
    service = ServiceProcess(data)
    stored = JOBS_SCHEMA.replace("id: [pandaid]", "id: [pandaid], row_store: true")
    schemas = stored, JOBS_SCHEMA.replace("name: jobs\n", "name: columns\n")
    for table, schema in zip(_TABLES, schemas, strict=True):
        (data.parent / f"{table}.yaml").write_text(schema)
        began = time.perf_counter()
        arguments = ["--table", f"panda.{table}", "--schema", str(data.parent / f"{table}.yaml")]
        service.run_command(["load", *map(str, files), *arguments])
        print(f"panda.{table}: loaded in {time.perf_counter() - began:.1f} s", flush=True)
        service.run_command(["rebuild", f"panda.{table}"])
    for file in files:
        file.unlink()
    loaded.touch()
    return data


# --- the engine -------------------------------------------------------------------------------------------------------


@contextmanager
def open_preparation(data: Path) -> Iterator[tuple[EmbeddedEngine, QueryPreparation]]:
    config = Config(jobs_path=data / "jobs", query_log="", **_SETTINGS)
    engine = EmbeddedEngine(data)
    components = build_query_services(config, engine, open_job_stores(config).jobs, are_helpers_kept_ready=False)
    components.start()
    try:
        yield engine, components.preparation
    finally:
        components.close()
        engine.close()


def _prepare(preparation: QueryPreparation, query: str) -> PreparedQuery:
    parameters = read_tap_parameters([("QUERY", query), ("LANG", "ADQL")], 1 << 20)
    query_id = f"rows-{uuid.uuid4().hex}"
    return preparation.prepare_query(parameters, query_id, 1000, costing=Costing.UNLESS_SMALL)


def _ask_engine(queries: list[PreparedQuery], until: float) -> Answers:
    answers = Answers()
    for query in queries:
        began = time.perf_counter()
        if began > until:
            break
        lane = choose_lane(query.small_reading, query.estimate)
        settings = list_engine_settings(query, choose_share(lane, query.small_reading))
        with query.source.stream_batches(query.translation.sql, query_id=query.query_id, settings=settings) as batches:
            sum(batch.num_rows for batch in batches)
        answers.seconds.append(time.perf_counter() - began)
    return answers


def measure_engine(data: Path, rows: int, clients: list[int], seconds: float, kinds: list[str]) -> None:
    with open_preparation(data) as (engine, preparation):
        sizes = engine.fetch_table(
            "SELECT table, sum(bytes_on_disk) AS size FROM system.parts WHERE active AND database = 'panda' GROUP BY table"
        )
        for row in sizes.to_pylist():
            print(f"panda.{row['table']}: {row['size'] / rows:.0f} bytes a row")
        for kind in kinds:
            for count in clients:
                figures = {table: (Answers(), []) for table in _TABLES}
                for turn in range(_ROUNDS + 1):
                    for table in _TABLES if turn % 2 else reversed(_TABLES):
                        _measure_slice(preparation, kind, rows, table, count, turn, seconds / _ROUNDS, figures[table])
                for table, (answers, cpu) in figures.items():
                    _report("engine", kind, count, table, answers, sum(cpu) / max(1, len(answers.seconds)))


def _measure_slice(
    preparation: QueryPreparation,
    kind: str,
    rows: int,
    table: str,
    count: int,
    turn: int,
    seconds: float,
    into: tuple[Answers, list[float]],
) -> None:
    prepared = [
        [
            _prepare(preparation, _make_query(kind, rows, turn, table, client, number))
            for number in range(int(seconds * 1500 / count))
        ]
        for client in range(count)
    ]
    began, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(count) as pool:
        parts = list(pool.map(lambda executions: _ask_engine(executions, began + seconds), prepared))
    if turn:
        for part in parts:
            into[0].add(part)
        into[0].elapsed += time.perf_counter() - began
        into[1].append(time.process_time() - used)


# --- /sync ------------------------------------------------------------------------------------------------------------


def measure_sync(data: Path, rows: int, clients: list[int], seconds: float, kinds: list[str], form: str) -> None:
    service = ServiceProcess(data, **_SETTINGS)
    service.start()
    try:
        for kind in kinds:
            for count in clients:
                asking = LightClients(service.port, count, RESPONSEFORMAT=form)
                figures = {table: (Answers(), []) for table in _TABLES}
                for turn in range(_ROUNDS + 1):
                    for table in _TABLES if turn % 2 else reversed(_TABLES):
                        ask = partial(_make_query, kind, rows, turn, table)
                        used, own = service.read_processor_seconds(), time.process_time()
                        found = asking.run(seconds / _ROUNDS, ask)
                        assert not found.refused, found.statuses
                        if turn:
                            figures[table][0].add(found)
                            own = time.process_time() - own
                            figures[table][1].append(service.read_processor_seconds() - used + own)
                asking.close()
                for table, (answers, cpu) in figures.items():
                    _report(f"sync {form}", kind, count, table, answers, sum(cpu) / max(1, len(answers.seconds)))
    finally:
        service.stop()


def _report(way: str, kind: str, count: int, table: str, answers: Answers, cpu: float) -> None:
    print(
        f"{way:14} {kind:8} {count:3} clients  {table:8} median {answers.median_ms:7.1f}  p95 {answers.p95_ms:7.1f} ms"
        f"  {answers.rate:7.1f} queries/s  {cpu * 1000:6.2f} ms of processor",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--clients", default="1,10")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each query, number of clients and table")
    parser.add_argument("--only", default=",".join(QUERIES), help=f"some of {', '.join(QUERIES)}")
    parser.add_argument("--formats", default="votable,arrow")
    parser.add_argument("--ways", default="engine,sync")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the data stays, or lies already")
    options = parser.parse_args()
    clients, kinds = [int(count) for count in options.clients.split(",")], options.only.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        data = load_tables(options.keep or Path(scratch), options.rows)
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {options.rows} rows")
        if "engine" in options.ways:
            measure_engine(data, options.rows, clients, options.seconds, kinds)
        for form in options.formats.split(",") if "sync" in options.ways else ():
            measure_sync(data, options.rows, clients, options.seconds, kinds, form)


if __name__ == "__main__":
    main()
