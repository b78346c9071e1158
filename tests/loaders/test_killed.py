"""A load that is killed with SIGKILL at any point and started again gives the same table as an undisturbed load."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.failpoints import Failpoint
from tests.loaders.forked import Ended, run_forked
from tests.loaders.killed_work import load_stars

ROWS = 40_000

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


def run(data: Path, file: Path, point: str = "", delay: float = 0) -> Ended:
    return run_forked(load_stars, data, file, point, delay)


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
