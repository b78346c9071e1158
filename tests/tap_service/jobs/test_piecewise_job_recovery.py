"""A job in pieces whose process is killed resumes at its first unfinished piece: with real processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.support.running_service import running_service
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.jobs.test_job_recovery import SERVICE, Process
from tests.tap_service.piecewise_tables import STARS, cut_tables
from tests.tap_service.worker_processes import Workers

#: with the tables, which the first one makes; jobs estimated above 140 microseconds run in pieces, about twenty
PIECEWISE = SERVICE.replace(
    "config = Config(",
    "from tests.tap_service.piecewise_tables import create_tables\n"
    'if not engine.fetch_table("EXISTS DATABASE cut").column(0)[0].as_py(): create_tables(engine)\n'
    "config = Config(piece_seconds=1.4e-4, ",
)
MATCH = (
    "SELECT a.id, b.id FROM cut.stars AS a LEFT JOIN cut.others AS b"
    " ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.01"
)
EVERYTHING = {"FORMAT": "csv", "MAXREC": "1000000"}

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path / "data", PIECEWISE)
    yield process
    process.stop(signal.SIGKILL)


def done(job: Job) -> int:
    return int(job.info.get("piecesDone") or 0)


def attempts(names: list[str]) -> dict[int, int]:
    """Return, by piece number, the last attempt that has stored a part of it."""
    found = [name.rpartition("-")[2].split("x") for name in names if "x" in name.rpartition("-")[2] and "." not in name]
    return {number: attempt for attempt, number in sorted((int(attempt), int(number)) for attempt, number in found)}


def reported(parts: dict[int, int]) -> list[int]:
    """Return the pieces that the killed process has certainly reported: all but the last one written."""
    return sorted(parts)[:-1]


def check(job: Job) -> None:
    assert job.wait_for_end() == "COMPLETED", job.message
    ids = [line.split(",")[0] for line in job.rows().splitlines()[1:]]
    assert len(ids) >= STARS
    assert {int(i) for i in ids} == set(range(STARS))
    assert len(set(job.rows().splitlines())) == len(ids) + 1
    assert done(job) == int(job.info["pieces"] or 0) > 10


def test_a_service_is_killed(process: Process, eventually: Eventually) -> None:
    process.start()
    job = create_job(process.tap, MATCH, PHASE="RUN", **EVERYTHING)
    eventually(lambda: done(job) > 2)
    process.stop(signal.SIGKILL)
    before = attempts(process.results())
    assert len(before) > 2

    process.start()
    eventually(lambda: done(job) > len(before))
    after = attempts(process.results())
    assert {after[number] for number in reported(before)} == {1}
    assert set(after.values()) == {1, 2}
    process.stop(signal.SIGTERM)
    assert attempts(process.results()).items() >= after.items()

    process.start()
    check(job)
    eventually(lambda: len(process.results()) == 2)


@pytest.mark.parametrize("is_lost", [False, True], ids=["parts kept", "a part lost"])
def test_a_worker_is_killed(
    cluster_settings: Callable[..., dict[str, Any]],
    tmp_path: Path,
    eventually: Eventually,
    is_lost: bool,
) -> None:
    settings = cluster_settings(piece_seconds=1.4e-4, worker_silence=2)
    results = Path(settings["results_url"])
    workers = Workers(settings, tmp_path / "output")
    engine = ClickHouseEngine(settings["clickhouse_url"])
    with cut_tables(engine), running_service(Config(**settings), engine) as service:
        job = create_job(service.tap, MATCH, PHASE="RUN", **EVERYTHING)
        eventually(lambda: done(job) > 2)
        workers.kill()
        before = attempts(os.listdir(results))
        assert len(before) > 2
        assert set(before.values()) == {1}
        if is_lost:
            next(results.glob("*-1x0")).unlink()
        workers.start()
        eventually(lambda: done(job) > len(before) and max(attempts(os.listdir(results)).values()) > 1)
        after = attempts(os.listdir(results))
        assert {after[number] > 1 for number in reported(before)} == {is_lost}
        check(job)
        eventually(lambda: attempts(os.listdir(results)) == {})
    workers.kill()
    engine.close()
