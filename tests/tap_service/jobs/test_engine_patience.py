"""Jobs wait for an unavailable ClickHouse server, without Redis and with workers; the server is real, and killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobError
from tap_service.models.work_class import EngineWait
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.storage.engine.engine import (
    EngineError,
    EngineSilent,
    EngineUnavailable,
    EngineUnreachable,
    EngineValueError,
    QueryCancelled,
    ResourceLimit,
    ShardLost,
    ShardUnavailable,
    TablesApart,
)
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server
from tests.support.ports import closed_port
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import UWS, create_job
from tests.tap_service.async_client import Job as UwsJob
from tests.tap_service.storage.redis_server import RedisServer, redis_server
from tests.tap_service.worker_processes import Workers

SHORT = "SELECT TOP 3 table_name FROM TAP_SCHEMA.tables ORDER BY table_name"
LONG = "SELECT a.column_name FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")
ROWS = 3_000_000
AWAY = "the engine does not answer. The job runs as soon as it can, and fails if it cannot until 20"

EARLIER = add_seconds(now(), -7200)
WAITS = {
    "new": None,
    "long": EngineWait("away", EARLIER),
    "tried": EngineWait("away", EARLIER, add_seconds(EARLIER, 15)),
}

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        engine = open_remote_engine(Config(clickhouse_url=server.url))
        prepare_engine(engine)
        engine.close()
        yield server


@pytest.fixture
def server(_server: ClickHouseServer) -> Iterator[ClickHouseServer]:
    yield _server
    if not _server.is_running:
        _server.start()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as jobs:
        yield jobs


class Deployment:
    """A service without Redis, or with Redis and workers, over one server."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._settings = {"query_log": "", "concurrent_jobs": 1, "worker_silence": 2, **settings}
        self._folder = folder

    @contextmanager
    def running(self, **settings: Any) -> Iterator[RunningService]:
        whole = self._settings | settings
        config = Config(**whole)
        engine = open_remote_engine(config)
        with ExitStack() as stack:
            stack.callback(engine.close)
            if config.redis_url:
                stack.callback(Workers(whole, self._folder / "output").kill)
            yield stack.enter_context(running_service(config, engine))


@pytest.fixture(params=["without Redis", "with Redis"])
def deployment(request: pytest.FixtureRequest, server: ClickHouseServer, tmp_path: Path) -> Deployment:
    if request.param == "without Redis":
        return Deployment({"clickhouse_url": server.url, "jobs_path": tmp_path / "jobs"}, tmp_path)
    jobs = request.getfixturevalue("redis")
    settings = {"redis_url": jobs.new_url(), "results_url": str(tmp_path / "results")}
    return Deployment({"clickhouse_url": server.url, **settings}, tmp_path)


class TestUpdate:
    """Return waits in a store, with an available server and an unavailable one."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteJobStore]:
        store = SqliteJobStore(tmp_path)
        for name, wait in WAITS.items():
            store.create_queued_job(Job(name, None, now(), add_seconds(now(), 9000), 100), None, 0, None)
            store.set_wait(name, wait)
        yield store
        store.close()

    def update(self, store: SqliteJobStore, url: str, minutes: float) -> bool:
        config = Config(clickhouse_url=url, engine_patience=minutes)
        engine = open_remote_engine(config, is_required=False)
        try:
            return EnginePatience(config, engine, store).update_waits()
        finally:
            engine.close()

    def test_the_server_answers(self, store: SqliteJobStore, clickhouse: ClickHouseServer) -> None:
        """Jobs may have waited for any time, for example while the service itself was stopped."""
        assert self.update(store, clickhouse.url, 60)
        found = {name: store.get_job(name) for name in WAITS}
        assert {job.phase for job in found.values()} == {ExecutionPhase.QUEUED}
        waits = {name: job.wait for name, job in found.items()}
        assert waits == {**dict.fromkeys(WAITS), "tried": WAITS["tried"]}

    @pytest.mark.parametrize(("minutes", "failed"), [(60, {"long", "tried"}), (600, set()), (0, set(WAITS))])
    def test_no_server_answers(self, store: SqliteJobStore, minutes: float, failed: set[str]) -> None:
        with closed_port() as port:
            assert not self.update(store, f"http://127.0.0.1:{port}", minutes)
        found = {name: store.get_job(name) for name in WAITS}
        assert {name for name, job in found.items() if job.phase is ExecutionPhase.ERROR} == failed
        for name, job in found.items():
            if name in failed:
                assert job.error == JobError("the engine does not answer. Run the job again later", transient=True)
            else:
                assert job.wait is not None
                assert (job.wait == WAITS[name]) == (WAITS[name] is not None)


class TestRetry:
    """Return the errors of the engine that make a job wait."""

    @pytest.fixture
    def patience(self, clickhouse: ClickHouseServer, tmp_path: Path) -> Iterator[EnginePatience]:
        config = Config(clickhouse_url=clickhouse.url)
        engine, store = open_remote_engine(config), SqliteJobStore(tmp_path)
        yield EnginePatience(config, engine, store)
        engine.close()
        store.close()

    @pytest.mark.parametrize(
        ("error", "has_died"),
        [
            (EngineUnreachable("no connection"), False),
            (EngineUnavailable("broken"), True),
            (EngineUnavailable("it works on too many queries", 202), False),
            (ShardUnavailable("no replica", 279), False),
            (ShardUnavailable("the server of your table"), False),
            (ShardLost("a replica", 32), True),
        ],
    )
    def test_a_job_that_waits(self, patience: EnginePatience, error: EngineError, has_died: bool) -> None:
        """A wait continues as long as the query cannot start."""
        before = WAITS["long"]
        for wait, since in ((None, None), (before, None if has_died else EARLIER)):
            job = Job("one", None, EARLIER, add_seconds(now(), 9000), 100, wait=wait)
            planned = patience.plan_retry(job, error)
            if since is not None:  # two hours exceed the patience
                assert planned is None
                continue
            assert planned is not None
            found, died = planned
            assert died is has_died
            assert found.retry == add_seconds(found.since, 1)
            assert found.reason.startswith(f"{error}. The job runs as soon as it can")

    def test_the_pause_grows_with_the_wait(self, patience: EnginePatience) -> None:
        for seconds, pause in ((0, 1), (100, 10), (1000, 15)):
            since = add_seconds(now(), -seconds)
            job = Job("one", None, since, add_seconds(now(), 9000), 100, wait=EngineWait("away", since))
            planned = patience.plan_retry(job, ShardUnavailable("no replica", 279))
            assert planned is not None
            assert planned[0].retry is not None
            assert planned[0].since == since
            assert round((planned[0].retry - now()).total_seconds()) == pause

    @pytest.mark.parametrize(
        "error",
        [
            EngineSilent("nothing"),
            TablesApart("two servers", 60),
            QueryCancelled("by an operator", 394),
            EngineValueError("zero", 153),
            ResourceLimit("memory", 241),
            OSError("the disk"),
            None,
        ],
    )
    def test_a_job_that_fails(self, patience: EnginePatience, error: Exception | None) -> None:
        job = Job("one", None, now(), add_seconds(now(), 9000), 100)
        assert patience.plan_retry(job, error) is None


def error_type(job: UwsJob) -> str:
    found = job.summary.find(UWS + "errorSummary")
    assert found is not None
    return found.get("type", "")


def test_a_job_waits_for_the_server(deployment: Deployment, server: ClickHouseServer, eventually: Eventually) -> None:
    with deployment.running() as service:
        server.kill()
        job, aborted = (create_job(service.tap, SHORT, PHASE="RUN", FORMAT="csv") for _ in range(2))
        eventually(lambda: (job.info.get("waiting") or "").startswith(AWAY))
        eventually(lambda: (aborted.info.get("waiting") or "").startswith(AWAY))
        aborted.post("/phase", PHASE="ABORT")
        assert (job.phase, aborted.phase) == ("QUEUED", "ABORTED")
        server.start()
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows().count("\r\n") == 4
        assert "waiting" not in job.info
        assert aborted.phase == "ABORTED"


def is_asked(server: ClickHouseServer) -> bool:
    """Return whether a job's query runs. On a busy machine, the job's progress may arrive after its end."""
    sql = "SELECT count() FROM system.processes WHERE startsWith(Settings['log_comment'], 'async')"
    return httpx.get(server.url, params={"query": sql}).text != "0\n"


def test_a_job_whose_server_is_killed_runs_again(
    deployment: Deployment, server: ClickHouseServer, eventually: Eventually
) -> None:
    with deployment.running() as service:
        job = create_job(service.tap, LONG, PHASE="RUN", FORMAT="csv", MAXREC=str(ROWS))
        eventually(lambda: is_asked(server))
        server.kill()
        eventually(lambda: job.phase == "QUEUED" and "waiting" in job.info)
        assert any(
            reason in (job.info["waiting"] or "")
            for reason in ("does not answer", "broke", "the engine's answer ends early")
        )
        server.start()
        assert job.wait_for_end() == "COMPLETED", job.message
        assert job.rows().count("\r\n") == ROWS + 1


def test_the_wait_is_limited(deployment: Deployment, server: ClickHouseServer) -> None:
    with deployment.running(engine_patience=0.03) as service:
        server.kill()
        job = create_job(service.tap, SHORT, PHASE="RUN")
        assert job.wait_for_end() == "ERROR"
        assert job.message == "the engine does not answer. Run the job again later"
        assert error_type(job) == "transient"


def test_the_wait_outlives_the_service(
    deployment: Deployment, server: ClickHouseServer, eventually: Eventually
) -> None:
    with deployment.running() as service:
        server.kill()
        job = create_job(service.tap, SHORT, PHASE="RUN", FORMAT="csv")
        eventually(lambda: "waiting" in job.info)
    server.start()
    path = job.url.removeprefix(service.url)
    with deployment.running() as service:
        again = UwsJob(service.url + path)
        assert again.wait_for_end() == "COMPLETED"
        assert again.rows().count("\r\n") == 4


def test_workers_are_started_while_the_server_is_away(
    server: ClickHouseServer, redis: RedisServer, tmp_path: Path, eventually: Eventually
) -> None:
    settings = {
        "query_log": "",
        "clickhouse_url": server.url,
        "redis_url": redis.new_url(),
        "results_url": str(tmp_path / "results"),
        "concurrent_jobs": 1,
    }
    engine = open_remote_engine(Config(**settings))
    with running_service(Config(**settings), engine) as service:
        server.kill()
        workers = Workers(settings, tmp_path / "output")
        try:
            job = create_job(service.tap, SHORT, PHASE="RUN", FORMAT="csv")
            eventually(lambda: "waiting" in job.info)
            server.start()
            assert job.wait_for_end() == "COMPLETED"
        finally:
            workers.kill()
    engine.close()
