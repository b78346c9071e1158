"""A job in pieces whose worker is killed: another goes on at the first piece that is not done."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

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
