"""Jobs and queries over two ClickHouse servers, one of which is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import create_job
from tests.tap_service.storage.redis_server import redis_server
from tests.tap_service.worker_processes import Workers

SHORT = "SELECT TOP 3 table_name FROM TAP_SCHEMA.tables ORDER BY table_name"
LONG = "SELECT a.column_name FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")
ROWS = 8_000_000

Eventually = Callable[[Callable[[], bool]], None]


@dataclass(frozen=True)
class Cluster:
    """Two servers; the first answers queries on TAP_SCHEMA while it is alive."""

    servers: tuple[ClickHouseServer, ClickHouseServer]
    settings: dict[str, Any]
    folder: Path
    service: RunningService

    def workers(self) -> Workers:
        return Workers(self.settings, self.folder / "output")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        jobs = stack.enter_context(redis_server(folder / "redis"))
        servers = ClickHouseServer(folder / "first"), ClickHouseServer(folder / "second")
        for server in servers:
            stack.callback(server.kill)
            alone = ClickHouseEngine(server.url)
            prepare_engine(alone)
            alone.close()
        settings = {
            "query_log": "",
            "redis_url": jobs.url,
            "clickhouse_url": ",".join(server.url for server in servers),
            "results_url": str(folder / "results"),
            "worker_silence": 2,
            "concurrent_jobs": 1,
            "user_running_jobs": 2,
        }
        config = Config(**settings)
        engine = open_remote_engine(config)
        stack.callback(engine.close)
        service = stack.enter_context(running_service(config, engine))
        yield Cluster(servers, settings, folder, service)


def test_a_job_and_queries_outlive_their_server(cluster: Cluster, eventually: Eventually) -> None:
    workers = cluster.workers()
    try:
        job = create_job(cluster.service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC=str(ROWS))
        eventually(lambda: int(job.info.get("bytesWritten") or 0) > 0)
        assert job.phase == "EXECUTING"
        cluster.servers[0].kill()
        assert cluster.service.ask(SHORT, FORMAT="csv").status_code == 200
        assert job.wait_for_end() == "COMPLETED", job.summary
        assert job.get("/results/result").text.count("\n") == ROWS + 1
        assert create_job(cluster.service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"
    finally:
        workers.kill()
        cluster.servers[0].start()
