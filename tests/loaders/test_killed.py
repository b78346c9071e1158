"""A load killed with SIGKILL at any point and started again gives the table that an undisturbed load gives."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 40_000

#: Loads with small chunks; kills itself after (or during) the statement that contains the given text for the n-th time.
CHILD = """
import os, signal, sys, threading
from pathlib import Path
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

data, file, table, when, text, count = sys.argv[1:]
chunk_reader.CHUNK_ROWS = 10_000
left = [int(count)]
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)

def watched(method, before=""):
    def run(self, sql, *rest):
        is_meant = text and text in before + sql
        if is_meant:
            left[0] -= 1
            if left[0] == 0 and when == "during":
                threading.Timer(0.003, kill).start()
        method(self, sql, *rest)
        if is_meant and left[0] == 0:
            kill()
    return run

EmbeddedEngine.execute = watched(EmbeddedEngine.execute)
EmbeddedEngine.insert_batches = watched(EmbeddedEngine.insert_batches, "INSERT INTO ")
with open_engine(Path(data)) as engine, ConsoleReporter() as reporter:
    load_files(engine, LoadRequest((Path(file),), table, Path(data) / "rejects.csv"), reporter)
    verify_table(engine, table, reporter)
    sql = "SELECT count() AS n, sum(cityHash64(tuple(*, hpx29))) AS s, uniqExact(id) AS u FROM "
    print("content", engine.fetch_table(sql + table).to_pylist())
"""

POINTS = [
    ("during", "__loading", 4),
    ("after", "RENAME TABLE `kill`", 1),
    ("after", "INSERT INTO skyhouse.catalogue", 2),
]


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(3)
    columns = {"id": np.arange(ROWS), "ra": random.uniform(0, 360, ROWS), "dec": random.uniform(-90, 90, ROWS)}
    columns["dec"][[7, ROWS // 2, ROWS - 1]] = 99  # bad rows in several chunks
    file = tmp_path_factory.mktemp("kill") / "stars.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=5000)
    return file


def run(data: Path, file: Path, when: str = "", text: str = "", count: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, str(data), str(file), "kill.stars", when, text, str(count)]
    return subprocess.run(command, check=False, text=True, capture_output=True, timeout=100)


@pytest.fixture(scope="module")
def undisturbed(stars: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run(tmp_path_factory.mktemp("undisturbed"), stars)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("when", "text", "count"), POINTS)
def test_killed_and_started_again(
    stars: Path, undisturbed: str, tmp_path: Path, when: str, text: str, count: int
) -> None:
    killed = run(tmp_path, stars, when, text, count)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = run(tmp_path, stars)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == undisturbed
    assert undisturbed.startswith("content [{'n': ")
