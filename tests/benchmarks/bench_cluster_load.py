"""Load clusters of real servers: the same rows per shard on 1, 2 and 4 servers, and one server without a cluster.

    python -m tests.benchmarks.bench_cluster_load [rows a shard [servers ...]]

The rows have 12 columns (``bench_load``) and an overlap of 0.1 degrees, and are loaded by ``skyhouse load``;
``skyhouse verify`` then counts every row and every copy. The largest load is repeated while first the loader and then
one of the servers is killed (SIGKILL); the same command continues each time. All servers and the loader run on this
machine, so the processor time per row says more than the rows per second.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from loaders.cli.console_reporter import ConsoleReporter
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.benchmarks.bench_load import write_file
from tests.benchmarks.process_tree import read_processor_seconds
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import prepared_engine, running_cluster, running_server, urls_of

ROWS = 2_000_000
SERVERS = (1, 2, 4)

COLUMNS = [
    ("source_id", "long"),
    ("ra", "double"),
    ("dec", "double"),
    *((f"value{number}", "float") for number in range(6)),
    ("count", "int"),
    ("name", "unicode"),
    ("parallax", "double"),
]
SCHEMA = "\n".join(
    [
        "name: bench",
        "tables:",
        "- name: stars",
        "  columns:",
        *(f"  - {{name: {name}, datatype: {datatype}}}" for name, datatype in COLUMNS),
        "  skyhouse:layout: {position: [ra, dec], id: [source_id], overlap_radius: 0.1}",
    ]
)

#: rows stored by a load that has not finished on a server
_STORED = (
    "SELECT sum(rows) AS n FROM system.parts WHERE active AND database = 'bench' AND endsWith(table, '__local')"
    " AND table IN (SELECT table FROM system.columns WHERE database = 'bench' AND name = '__chunk')"
)


@dataclass
class Work:
    """Wall seconds, processor seconds of the command, and processor seconds of all servers."""

    wall: float
    command: float
    servers: float


def start_command(servers: Sequence[ClickHouseServer], *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "SKYHOUSE_CLICKHOUSE_URL": urls_of(servers)}
    return subprocess.Popen(
        [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()", *arguments], env=environment
    )


def run_command(servers: Sequence[ClickHouseServer], *arguments: str) -> Work:
    began, ours, theirs = time.perf_counter(), _read_children_seconds(), _read_servers_seconds(servers)
    process = start_command(servers, *arguments)
    if process.wait():
        raise RuntimeError(f"exit code {process.returncode}: {process.args!r}")
    wall = time.perf_counter() - began
    return Work(wall, _read_children_seconds() - ours, _read_servers_seconds(servers) - theirs)


def _read_children_seconds() -> float:
    """Return the processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_servers_seconds(servers: Sequence[ClickHouseServer]) -> float:
    return sum(read_processor_seconds(server.pid) for server in servers)


def wait_for_rows(process: subprocess.Popen[bytes], servers: Sequence[ClickHouseServer], rows: int) -> int:
    """Wait until a load has stored at least ``count`` rows; return the number of rows at that time."""
    engines = [ClickHouseEngine(server.url) for server in servers]
    try:
        while (there := sum(engine.fetch_table(_STORED)["n"][0].as_py() for engine in engines)) < rows:
            if process.poll() is not None:
                raise RuntimeError(f"the load has ended before {rows:,} rows were stored")
            time.sleep(0.1)
    finally:
        for engine in engines:
            engine.close()
    return there


def disturb(servers: Sequence[ClickHouseServer], load: Sequence[str], rows: int, reporter: ConsoleReporter) -> None:
    process = start_command(servers, *load)
    reporter.output(f"loader killed with {wait_for_rows(process, servers, rows // 3):,} rows stored")
    process.kill()
    process.wait()
    process = start_command(servers, *load)
    reporter.output(f"a server killed with {wait_for_rows(process, servers, 2 * rows // 3):,} rows stored")
    servers[-1].kill()
    began = time.perf_counter()
    reporter.output(f"the loader ended with exit code {process.wait()} after {time.perf_counter() - began:.1f} s")
    servers[-1].start()
    reporter.output(f"the rest in {run_command(servers, *load).wall:.1f} s")
    run_command(servers, "verify", "bench.stars")


def main(rows: int = ROWS, *chosen: int) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter:
        folder = Path(name)
        (folder / "bench.yaml").write_text(SCHEMA)
        arguments = ("--table", "bench.stars", "--schema", str(folder / "bench.yaml"))
        largest = max(chosen or SERVERS)
        for shards in (0, *(chosen or SERVERS), -largest):
            count = max(1, abs(shards)) * rows
            stars = folder / f"stars{count}.parquet"
            if not stars.exists():
                write_file(stars, count)
            load = ("load", str(stars), "--rejects", str(folder / "rejects.csv"), *arguments)
            with ExitStack() as stack:
                cluster_folder = folder / f"of{shards}"
                servers = (
                    stack.enter_context(running_cluster(cluster_folder, abs(shards)))
                    if shards
                    else [stack.enter_context(running_server(cluster_folder))]
                )
                with prepared_engine(servers):
                    pass
                if shards < 0:
                    disturb(servers, load, count, reporter)
                    continue
                loaded, verified = run_command(servers, *load), run_command(servers, "verify", "bench.stars")
            label = f"{shards} shards" if shards else "one server"
            reporter.output(
                f"{label}: {count:,} rows, {count / loaded.wall:,.0f} rows/s; processor time of a million rows: loader"
                f" {loaded.command / count * 1e6:.2f} s, servers {loaded.servers / count * 1e6:.2f} s;"
                f" verified in {verified.wall:.1f} s"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
