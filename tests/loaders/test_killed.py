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

from clickhouse_schema.failpoints import Failpoint

ROWS = 40_000

#: Loads with small chunks; kills itself at a failpoint, or so many seconds later.
CHILD = """
import sys
from pathlib import Path
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tests.cluster.dying import die_at

data, file, table, point, delay = sys.argv[1:]
chunk_reader.CHUNK_ROWS = 10_000
with open_engine(Path(data)) as engine, ConsoleReporter() as reporter:
    if point:
        die_at(point, 1, float(delay))
    load_files(engine, LoadRequest((Path(file),), table, Path(data) / "rejects.csv"), reporter)
    verify_table(engine, table, reporter)
    sql = "SELECT count() AS n, sum(cityHash64(tuple(*, hpx29))) AS s, uniqExact(id) AS u FROM "
    print("content", engine.fetch_table(sql + table).to_pylist())
"""

POINTS = [
    (Failpoint.STAGING_INSERT_BEGIN, 0.003),  # while the first chunk is inserted
    (Failpoint.PUBLISH_RENAME, 0),
    (Failpoint.CATALOGUE_WRITE, 0),
]


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(3)
    columns = {"id": np.arange(ROWS), "ra": random.uniform(0, 360, ROWS), "dec": random.uniform(-90, 90, ROWS)}
    columns["dec"][[7, ROWS // 2, ROWS - 1]] = 99  # bad rows in several chunks
    file = tmp_path_factory.mktemp("kill") / "stars.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=5000)
    return file


def run(data: Path, file: Path, point: str = "", delay: float = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, str(data), str(file), "kill.stars", point, str(delay)]
    return subprocess.run(command, check=False, text=True, capture_output=True, timeout=100)


@pytest.fixture(scope="module")
def undisturbed(stars: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run(tmp_path_factory.mktemp("undisturbed"), stars)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("point", "delay"), POINTS)
def test_killed_and_started_again(
    stars: Path, undisturbed: str, tmp_path: Path, point: Failpoint, delay: float
) -> None:
    killed = run(tmp_path, stars, point, delay)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = run(tmp_path, stars)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == undisturbed
    assert undisturbed.startswith("content [{'n': ")
