"""Jobs survive the failure of any part of a cluster: real workers, a real Redis and a server that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.environment import make_environment
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.storage.redis_server import SURVIVES_KILLS, RedisServer, redis_server
from tests.tap_service.storage.relay import relay
from tests.tap_service.worker_processes import Workers

Eventually = Callable[[Callable[[], bool]], None]

SHORT = "SELECT TOP 3 table_name FROM TAP_SCHEMA.tables ORDER BY table_name"
#: produces rows for minutes, one by one
LONG = "SELECT a.column_name FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")
ROWS = {"FORMAT": "csv", "MAXREC": "100000000"}

#: a worker whose Celery exits on its first start, as it does when it finds dead processes after an outage of Redis
GIVING_UP = """
import sys
from pathlib import Path
from workers import celery_app, worker_command
mark = Path(sys.argv.pop())
if not mark.exists():
    mark.touch()
    celery_app.app.worker_main = lambda argv: None
worker_command.main()
"""


class Cluster:
    """All parts of a cluster except the workers."""

    def __init__(self, directory: Path, jobs: RedisServer, clickhouse: ClickHouseServer) -> None:
        self.jobs = jobs
        self.clickhouse = clickhouse
        self._directory = directory
        self.engine = ClickHouseEngine(clickhouse.url)
        prepare_engine(self.engine)
        self.new()

    def new(self) -> None:
        """Return settings with a new job database and a new result store."""
        self.results = self._directory / self.jobs.new_url().rpartition("/")[2]
        self.settings = {
            "query_log": "",
            "redis_url": self.jobs.new_url(),
            "clickhouse_url": self.clickhouse.url,
            "results_url": str(self.results),
            "worker_silence": 2,
            "concurrent_jobs": 1,
            "user_running_jobs": 1,
        }

    @contextmanager
    def running_service(self, clickhouse_url: str = "") -> Iterator[RunningService]:
        """Start a service, whose connection to ClickHouse may use a relay."""
        url = clickhouse_url or self.clickhouse.url
        engine = ClickHouseEngine(url)
        with running_service(Config(**self.settings | {"clickhouse_url": url}), engine) as service:
            yield service
        engine.close()

    @contextmanager
    def workers(self, **settings: Any) -> Iterator[Workers]:
        workers = Workers(self.settings | settings, self._directory / "output")
        try:
            yield workers
        finally:
            workers.kill()  # reading the state directly is two seconds faster than a request; a test that stopped it has already waited

    def in_engine(self, job: Job) -> bool:
        """Return whether the job's query runs in the engine."""
        ident = job.url.rsplit("/", 1)[1]
        found = self.engine.fetch_table(
            f"SELECT 1 AS one FROM system.processes WHERE startsWith(Settings['log_comment'], 'async-{ident}')"
        )
        return found.num_rows > 0

    def stored(self) -> list[str]:
        return sorted(path.name for path in self.results.iterdir())


@pytest.fixture(scope="module")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("cluster")
    clickhouse = ClickHouseServer(directory / "clickhouse")
    with redis_server(directory / "redis", *SURVIVES_KILLS) as jobs:
        cluster = Cluster(directory, jobs, clickhouse)
        yield cluster
        cluster.engine.close()
    clickhouse.kill()


@pytest.fixture
def cluster(_cluster: Cluster) -> Cluster:
    _cluster.new()
    return _cluster


def executing(job: Job) -> bool:
    return job.phase == "EXECUTING"


def writing(job: Job) -> bool:
    return job.phase == "EXECUTING" and int(job.info.get("bytesWritten") or 0) > 0


def test_a_killed_worker_process_is_replaced(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service, cluster.workers() as workers:
        job = create_job(service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC="1000000")
        eventually(lambda: executing(job))
        [child], [caretaker] = workers.children(), workers.caretakers()
        os.kill(caretaker, signal.SIGKILL)  # a new one finds the job
        os.kill(child, signal.SIGKILL)
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows().count("\r\n") == 1_000_001
        assert {key.rstrip("f") for key in cluster.stored()} == {job.url.rsplit("/", 1)[1] + "-2"}


def test_another_worker_goes_on_when_one_is_killed(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service:
        with cluster.workers() as first:
            job = create_job(service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC="1000000")
            waiting = create_job(service.tap, SHORT, PHASE="RUN", FORMAT="csv")
            eventually(lambda: executing(job))
            first.kill()
        with cluster.workers():
            assert job.wait_for_end() == waiting.wait_for_end() == "COMPLETED"
            assert job.rows().count("\r\n") == 1_000_001


def test_a_job_that_kills_all_workers_is_an_error(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service, cluster.workers() as workers:
        job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)

        def is_over() -> bool:
            if executing(job):
                for child in workers.children():
                    with suppress(ProcessLookupError):  # it has just ended by itself
                        os.kill(child, signal.SIGKILL)
            return job.phase == "ERROR"

        eventually(is_over)
        assert "ended unexpectedly 3 times" in job.message
        eventually(lambda: cluster.stored() == [])


def test_a_worker_that_is_asked_to_stop_gives_its_job_back(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service:
        with cluster.workers() as workers:
            job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)
            eventually(lambda: writing(job))
            workers.stop()
            assert workers.wait() == 0
        assert job.phase == "QUEUED"
        with cluster.workers():
            eventually(lambda: writing(job))
            job.post("/phase", PHASE="ABORT")
            assert job.phase == "ABORTED"
            assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"


def test_redis_restarted_during_a_job(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service, cluster.workers():
        done = create_job(service.tap, SHORT, PHASE="RUN", FORMAT="csv")
        assert done.wait_for_end() == "COMPLETED"
        job = create_job(service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC="1000000")
        eventually(lambda: executing(job))
        cluster.jobs.kill()
        away = httpx.get(job.url)
        assert (away.status_code, away.headers["retry-after"]) == (503, "5")
        assert httpx.get(f"{service.tap}/availability").text.count("<vosi:available>false<") == 1
        cluster.jobs.start()
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows().count("\r\n") == 1_000_001
        assert done.rows().startswith("table_name")
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"


def test_a_worker_restarts_when_celery_gives_up(cluster: Cluster, tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "data", **cluster.settings)
    command = [sys.executable, "-W", "ignore", "-c", GIVING_UP, str(tmp_path / "has given up")]
    worker = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    with cluster.running_service() as service:
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"
    worker.terminate()
    _, said = worker.communicate(timeout=60)
    assert (worker.returncode, said.splitlines()[0]) == (0, "restarting the worker after a Celery error")


def test_redis_unreachable_when_a_task_is_acknowledged(cluster: Cluster, eventually: Eventually) -> None:
    """The worker acknowledges a task after its job has ended.

    At that time, or when the worker waits for the next task, Redis stops.
    """
    with cluster.running_service() as service, cluster.workers() as workers:
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"
        cluster.jobs.kill()
        eventually(lambda: workers.has_said("Couldn't ack") or workers.has_said("Connection to broker lost"))
        cluster.jobs.start()
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"


def test_the_service_restarted(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.workers():
        with cluster.running_service() as service:
            job = create_job(service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC="1000000")
            path = job.url.removeprefix(service.url)
            eventually(lambda: executing(job))
        with cluster.running_service() as service:
            again = Job(service.url + path)
            assert again.wait_for_end() == "COMPLETED"
            assert again.rows().count("\r\n") == 1_000_001


def test_clickhouse_killed_during_a_query(cluster: Cluster, eventually: Eventually) -> None:
    with cluster.running_service() as service, cluster.workers():
        job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)
        eventually(lambda: writing(job))
        cluster.clickhouse.kill()
        eventually(lambda: job.phase == "QUEUED")
        assert job.get("/results/result").status_code == 404
        assert cluster.stored() == []
        waiting = create_job(service.tap, SHORT, PHASE="RUN")
        eventually(lambda: "waiting" in waiting.info)
        cluster.clickhouse.start()
        eventually(lambda: writing(job))
        job.delete()
        assert waiting.wait_for_end() == "COMPLETED"


def test_the_network_to_clickhouse_breaks_during_a_query(cluster: Cluster, eventually: Eventually) -> None:
    """Running queries end, and their jobs wait with the new jobs until service and workers reach ClickHouse again."""
    with (
        relay(cluster.clickhouse.port) as network,
        cluster.running_service(network.url) as service,
        cluster.workers(clickhouse_url=network.url),
    ):
        job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)
        eventually(lambda: writing(job))
        network.cut()
        eventually(lambda: job.phase == "QUEUED")
        assert job.get("/results/result").status_code == 404
        assert cluster.stored() == []
        refused = service.ask(SHORT)
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        network.restore()
        assert service.ask(SHORT).status_code == 200
        job.delete()
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"
        eventually(lambda: not cluster.in_engine(job))


def test_a_service_that_is_cut_off_from_clickhouse(cluster: Cluster, eventually: Eventually) -> None:
    """A service without ClickHouse still queues and aborts jobs; the workers stop the queries."""
    with (
        relay(cluster.clickhouse.port) as network,
        cluster.running_service(network.url) as service,
        cluster.workers(),
    ):
        assert service.ask(SHORT).status_code == 200
        network.cut()
        assert service.ask(SHORT).status_code == 503
        job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)
        eventually(lambda: writing(job))
        job.post("/phase", PHASE="ABORT")
        assert job.phase == "ABORTED"
        eventually(lambda: not cluster.in_engine(job))
        assert create_job(service.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"


def test_workers_whose_network_to_clickhouse_swallows_everything(cluster: Cluster, eventually: Eventually) -> None:
    """The worker's packets vanish without an error."""
    with (
        relay(cluster.clickhouse.port) as network,
        cluster.running_service() as service,
        cluster.workers(clickhouse_url=network.url),
    ):
        job = create_job(service.tap, LONG, PHASE="RUN", **ROWS)
        eventually(lambda: writing(job))
        network.swallow()
        assert job.phase == "EXECUTING"
        job.post("/phase", PHASE="ABORT")
        assert job.phase == "ABORTED"
        eventually(lambda: not cluster.in_engine(job))
        waiting = create_job(service.tap, SHORT, PHASE="RUN")
        network.restore()
        assert waiting.wait_for_end() == "COMPLETED"
        eventually(lambda: not [key for key in cluster.stored() if key.startswith(job.url.rsplit("/", 1)[1])])
