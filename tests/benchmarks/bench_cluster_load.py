"""A large load on a cluster whose loader is killed in the middle, then whose server is: what is there at the end, and when.

    python -m tests.benchmarks.bench_cluster_load [rows] [shards]

20 million rows of 12 columns (``bench_load``) go to four shards in one process by ``skyhouse load``: in one go, and
once more with two kills (SIGKILL), each followed by the same command. ``skyhouse verify`` then counts every
row and every copy in the overlaps, of 0.1 degrees. One server that takes the same file is measured beside them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clickhouse_schema.engine_tables import engine_setup
from loaders.cli.console_reporter import ConsoleReporter
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.benchmarks.bench_load import write_file
from tests.cluster.in_process import served_cluster

ROWS, SHARDS = 20_000_000, 4

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

#: Rows that a load has stored which is not done, of all shards
_STORED = (
    "SELECT sum(rows) AS n FROM system.parts WHERE active AND database = 'bench' AND endsWith(table, 'local_rows')"
    " AND table IN (SELECT table FROM system.columns WHERE database = 'bench' AND name = '__chunk')"
)


class Cluster:
    """One in ``folder``, whose server may be killed and started."""

    def __init__(self, folder: Path, shards: int) -> None:
        self.folder = folder
        self._shards = shards
        folder.mkdir()

    @contextmanager
    def served(self) -> Iterator[str]:
        with served_cluster(self.folder, self._shards) as url:
            engine = ClickHouseEngine(url)
            engine_setup.prepare_engine(engine)
            engine.close()
            yield url


def command(url: str, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "SKYHOUSE_CLICKHOUSE_URL": url}
    return subprocess.Popen(
        [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()", *arguments], env=environment
    )


def seconds(process: subprocess.Popen[bytes]) -> float:
    began = time.perf_counter()
    if process.wait():
        raise RuntimeError(f"exit code {process.returncode}: {process.args!r}")
    return time.perf_counter() - began


def killed_at(process: subprocess.Popen[bytes], url: str, rows: int) -> int:
    """Kills the loader when so many rows are stored; how many there are then."""
    engine = ClickHouseEngine(url)
    try:
        while (there := engine.fetch_table(_STORED).column(0)[0].as_py()) < rows:
            if process.poll() is not None:
                raise RuntimeError(f"the load has ended before {rows:,} rows were stored")
            time.sleep(0.2)
    finally:
        engine.close()
    return int(there)


def main(rows: int = ROWS, shards: int = SHARDS) -> None:
    with tempfile.TemporaryDirectory() as name, ConsoleReporter() as reporter:
        folder = Path(name)
        (folder / "bench.yaml").write_text(SCHEMA)
        write_file(folder / "stars.parquet", rows)
        arguments = ("--table", "bench.stars", "--schema", str(folder / "bench.yaml"))
        load = ("load", str(folder / "stars.parquet"), "--rejects", str(folder / "rejects.csv"), *arguments)
        with Cluster(folder / "alone", 0).served() as url:
            reporter.output(f"one server: {rows / seconds(command(url, *load)):,.0f} rows/s")
        with Cluster(folder / "cluster", shards).served() as url:
            reporter.output(f"{shards} shards: {rows / seconds(command(url, *load)):,.0f} rows/s")
            reporter.output(f"verified in {seconds(command(url, 'verify', 'bench.stars')):.1f} s")
        disturbed = Cluster(folder / "disturbed", shards)
        with disturbed.served() as url:
            process = command(url, *load)
            reporter.output(f"loader killed with {killed_at(process, url, rows // 3):,} rows stored")
            process.kill()
            process.wait()
            process = command(url, *load)
            reporter.output(f"server killed with {killed_at(process, url, 2 * rows // 3):,} rows stored")
        reporter.output(f"the loader ended with exit code {process.wait()}")
        with disturbed.served() as url:
            reporter.output(f"the rest in {seconds(command(url, *load)):.1f} s")
            reporter.output(f"verified in {seconds(command(url, 'verify', 'bench.stars')):.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
