"""What commands import: help texts and commands that a service runs do not import code that works with data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.cli.skyhouse_command import COMMANDS
from loaders.control.control_server import ControlServer
from tap_service.storage.engine.data_path import lock_data_path
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

#: Libraries and packages that take a tenth of a second or more
HEAVY = {
    "adql", "astropy", "asyncio", "celery", "chdb", "clickhouse_connect", "fastapi", "fsspec", "numpy", "pyarrow",
    "pandas", "redis", "starlette", "uvicorn", "workers", "yaml",
}  # fmt: skip

#: Modules of a command that opens the embedded engine itself
NEEDED_BY_ENGINE = {"chdb", "numpy", "pyarrow"}

#: Runs commands one after the other, and prints their exit codes and what has been imported after each
RUN = """
import contextlib, io, json, sys
from loaders.cli.skyhouse_command import main
done = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            sys.argv = ["skyhouse", *words]
            main()
        except SystemExit as end:
            done.append([end.code, list(sys.modules)])
print(json.dumps(done))
"""


def run_commands(commands: list[list[str]], data: Path) -> list[tuple[int, set[str]]]:
    """Run commands in one new process; return the exit codes, and the modules that are imported after each."""
    environment = {**os.environ, "SKYHOUSE_DATA": str(data), "PYTHONPATH": os.getcwd()}
    line = [sys.executable, "-c", RUN, json.dumps(commands)]
    done = subprocess.run(line, env=environment, cwd=data.parent, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return [(code, set(modules)) for code, modules in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def held_data(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory that this process uses, and whose commands it runs."""
    prepare_engine(engine)
    data = tmp_path_factory.mktemp("held") / "data"
    with lock_data_path(data):
        control = ControlServer(engine, data, lambda: None)
        control.start()
        yield data
        control.close()


def test_each_line_of_the_table_is_a_command() -> None:
    assert all(callable(resolve_name(function)) for function in COMMANDS.values())


def test_version_and_help_import_little(tmp_path: Path) -> None:
    commands = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
    for words, (code, modules) in zip(commands, run_commands(commands, tmp_path), strict=True):
        assert (words, code, modules & HEAVY) == (words, 0, set())


def test_a_command_that_is_handed_over_imports_little(held_data: Path) -> None:
    table = held_data.parent / "few.csv"
    table.write_text("id,ra,dec\n1,10.5,20.5\n")
    name = "handed_over.few"
    commands = [
        ["tables"],
        ["load", str(table), "--table", name],
        ["verify", name],
        ["export", f"SELECT id FROM {name}", str(held_data.parent / "few.parquet"), "--format", "parquet"],
        ["adql", f"SELECT id FROM {name}"],
        ["grants"],
        ["drop", name],
    ]
    for words, (code, modules) in zip(commands, run_commands(commands, held_data), strict=True):
        assert (words, code, modules & HEAVY) == (words, 0, set())


@pytest.mark.parametrize("words", [["tables"], ["grants"], ["jobs", "list"]])
def test_a_command_with_an_engine_of_its_own_imports_the_engine(tmp_path: Path, words: list[str]) -> None:
    ((code, modules),) = run_commands([words], tmp_path / "data")
    assert code in (0, None)
    assert "loaders.pipeline.load_table" not in modules
    assert "tap_service.application" not in modules
    assert modules & HEAVY - {"adql"} == NEEDED_BY_ENGINE
