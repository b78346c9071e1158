"""Jobs in pieces that are interrupted: by the death of their worker, by their user, by another table, by the row limit."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from astropy.io.votable import parse_single_table

from clickhouse_schema.apply import register, unregister, update_density
from clickhouse_schema.ddl import create_table
from clickhouse_schema.model import Schema
from tap_service.config import Config
from tap_service.models.pieces import PieceWork
from tap_service.storage.embedded import EmbeddedEngine
from tests.tap_service.asking import Job, create
from tests.tap_service.cluster import Workers
from tests.tap_service.conftest import Served, served

ROWS = 20_000
_COLUMNS = [
    {"name": "id", "datatype": "long", "nullable": False},
    {"name": "ra", "datatype": "double"},
    {"name": "dec", "datatype": "double"},
]
_LAYOUT = {"position": ["ra", "dec"], "id": ["id"]}
_TABLE = {"name": "stars", "columns": _COLUMNS, "skyhouse:layout": _LAYOUT}
SCHEMA = Schema.model_validate_json(json.dumps({"name": "killed", "tables": [_TABLE]}))
#: every hundredth has no position
SQL = (
    "SELECT number, if(number % 100 = 7, NULL, cityHash64(number) % 3600000 / 10000),"
    f" degrees(asin(cityHash64(number + 1) % 2000001 / 1000000 - 1)) FROM numbers({ROWS})"
)


@pytest.fixture(scope="module")
def stars(svc_engine: EmbeddedEngine) -> Iterator[EmbeddedEngine]:
    [table] = SCHEMA.tables
    svc_engine.execute("CREATE DATABASE killed")
    svc_engine.execute(create_table(table, "killed.stars"))
    svc_engine.execute(f"INSERT INTO killed.stars (id, ra, dec) {SQL}")
    update_density(svc_engine, "killed", table)
    register(svc_engine, SCHEMA, table)
    yield svc_engine
    unregister(svc_engine, "killed", "stars")
    svc_engine.execute("DROP DATABASE killed SYNC")


@pytest.mark.parametrize("is_lost", [False, True], ids=["parts kept", "a part lost"])
def test_another_worker_goes_on(
    stars: EmbeddedEngine,
    cluster_settings: Callable[..., dict[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
    eventually: Callable[[Callable[[], bool]], None],
    is_lost: bool,
) -> None:
    settings = cluster_settings(piece_seconds=6e-6, worker_silence=2, concurrent_jobs=1, user_running_jobs=1)
    workers = Workers(settings, tmp_path_factory.mktemp("workers") / "output")
    try:
        with served(Config(**settings), stars) as service:
            job = create(service.tap, "SELECT id, ra FROM killed.stars", PHASE="RUN", FORMAT="csv")
            eventually(lambda: len(work(service, job).parts) > 2)
            [child] = workers.children()
            os.kill(child, signal.SIGKILL)
            done = len(work(service, job).parts)
            if is_lost:
                results(service).delete(f"{name(job)}-1x0")
            assert job.ended() == "COMPLETED", job.message
            rows = list(csv.DictReader(io.StringIO(job.rows())))
            assert sorted(int(row["id"]) for row in rows) == list(range(ROWS))
            after = work(service, job)
            attempts = [part.attempt for part in after.parts]
            assert len(attempts) > done
            assert job.info["piecesDone"] == job.info["pieces"] == str(len(attempts))
            if is_lost:
                assert (after.changes, {*attempts}) == (1, {3})
            else:
                assert (after.changes, attempts) == (0, [1] * done + [2] * (len(attempts) - done))
            eventually(lambda: not any("x" in key.rpartition("-")[2] for key in stored(service, job)))
    finally:
        workers.kill()


@pytest.fixture(scope="module")
def slow(serve: Callable[..., Served], stars: EmbeddedEngine) -> Served:
    return serve(piece_seconds=1e-6)


def test_a_job_that_is_stopped_leaves_no_part(slow: Served, eventually: Callable[[Callable[[], bool]], None]) -> None:
    for is_deleted in (False, True):
        job = create(slow.tap, "SELECT id, ra FROM killed.stars", PHASE="RUN", FORMAT="csv")
        eventually(lambda job=job: len(work(slow, job).parts) > 2)
        assert any("x" in key.rpartition("-")[2] for key in stored(slow, job))
        if is_deleted:
            job.delete()
            assert job.get().status_code == 404
        else:
            job.post("/phase", PHASE="ABORT")
            assert job.phase == "ABORTED"
        eventually(lambda job=job: stored(slow, job) == [])


def test_the_row_limit_is_of_all_pieces(slow: Served) -> None:
    job = create(slow.tap, "SELECT id FROM killed.stars", PHASE="RUN", FORMAT="votable", MAXREC="3001")
    assert job.ended() == "COMPLETED", job.message
    document = job.get("/results/result").content
    assert document.count(b"</VOTABLE>") == document.count(b'value="OVERFLOW"') == 1
    ids = parse_single_table(io.BytesIO(document)).array["id"]
    assert len(ids) == len({*ids}) == 3001
    assert 0 < int(job.info["piecesDone"] or 0) < int(job.info["pieces"] or 0)


def test_a_table_that_changes_is_read_anew(
    slow: Served, stars: EmbeddedEngine, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    job = create(slow.tap, "SELECT id FROM killed.stars", PHASE="RUN", FORMAT="csv")
    eventually(lambda: len(work(slow, job).parts) > 2)
    stars.execute("INSERT INTO killed.stars (id, ra, dec) SELECT -1, 10, 20")
    register(stars, SCHEMA, SCHEMA.tables[0])
    try:
        assert job.ended() == "COMPLETED", job.message
        assert sorted(int(row["id"]) for row in csv.DictReader(io.StringIO(job.rows()))) == list(range(-1, ROWS))
        assert work(slow, job).changes == 1
    finally:
        stars.execute("ALTER TABLE killed.stars DELETE WHERE id = -1 SETTINGS mutations_sync = 1")


def name(job: Job) -> str:
    return job.url.rsplit("/", 1)[1]


def results(service: Served) -> Any:
    return service.server.config.app.state.services.stores.results


def stored(service: Served, job: Job) -> list[str]:
    return [key for key in results(service).keys(0) if key.startswith(name(job))]


def work(service: Served, job: Job) -> PieceWork:
    """What is done of a job, as its record tells."""
    found: PieceWork | None = service.server.config.app.state.services.stores.jobs.get(name(job)).pieces
    return found or PieceWork()
