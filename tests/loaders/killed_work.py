"""The work of processes that tests kill: commands on a data directory, until a failpoint."""

from __future__ import annotations

import sys
from pathlib import Path

from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.data_commands import run_command
from loaders.control.engine_opener import open_engine
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tests.cluster.dying import die_at
from tests.loaders.built_request import build_request


def load_stars(data: Path, file: Path, point: str, delay: float) -> None:
    """Load with small chunks into ``kill.stars``; the process kills itself at a failpoint, or some seconds later."""
    chunk_reader.CHUNK_ROWS = 10_000
    table = "kill.stars"
    with open_engine(data) as engine, ConsoleReporter() as reporter:
        if point:
            die_at(point, 1, delay)
        load_files(engine, LoadRequest(files=(file,), table=table, rejects=data / "rejects.csv"), reporter)
        verify_table(engine, table, reporter)
        sql = f"SELECT count() AS n, sum(cityHash64(tuple(*, hpx29))) AS s, uniqExact(id) AS u FROM {table}"
        print("content", engine.fetch_table(sql).to_pylist())


def run_commands(folder: Path, commands: str, point: str, delay: float) -> None:
    """Run commands on ``kill.stars``; the process kills itself at a failpoint, or some seconds later."""
    with open_engine(folder / "data") as engine, ConsoleReporter() as reporter:
        if point:
            die_at(point, 1, delay)
        for command in commands.split():
            own = {"schema_file": str(folder / "kill.yaml"), "mode": "create"} if command == "load" else {}
            file = folder / f"{command}.parquet"
            files = {"files": [str(file)], "rejects": str(folder / "rejects.csv")} if file.exists() else {}
            request = build_request(command, {"table": "kill.stars"} | files | own)
            if run_command(engine, request, reporter):
                sys.exit(1)
        sql = "SELECT count() AS n, sum(cityHash64(tuple(*, hpx29))) AS s FROM kill.stars"
        print("content", engine.fetch_table(sql).to_pylist())
        is_of_table = "database = 'kill' OR startsWith(name, 'correction_')"
        found = engine.fetch_table(f"SELECT name FROM system.tables WHERE {is_of_table} ORDER BY name")
        print("tables", found.column(0).to_pylist())
