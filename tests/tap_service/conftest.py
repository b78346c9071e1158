"""Fixtures: a real server on a free port over the tests' engine, with small tables of known content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.density_table import count_density, delete_density
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server
from tests.support.running_service import RunningService, running_service
from tests.support.service_tables import create_service_tables
from tests.tap_service.storage.redis_server import redis_server
from tests.tap_service.users import remove_user_tables, write_accounts
from tests.tap_service.worker_processes import Workers


@pytest.fixture(scope="session")
def svc_engine(engine: EmbeddedEngine) -> EmbeddedEngine:
    """The tests' engine with the tables svc.stars and svc.numbers in it."""
    create_service_tables(engine)
    return engine


@pytest.fixture(scope="module")
def counted_stars(svc_engine: EmbeddedEngine) -> Iterator[None]:
    """Give svc.stars counts in cells, as after a load."""
    entry = read_catalogue(svc_engine).find_entry("svc", "stars")
    assert entry is not None
    count_density(svc_engine, "svc", entry.table)
    yield
    delete_density(svc_engine, "svc", "stars")


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """The one real server of a test process, with the tables of ``svc_engine``."""
    with running_server(tmp_path_factory.mktemp("clickhouse")) as server:
        engine = ClickHouseEngine(server.url)
        create_service_tables(engine)
        engine.close()
        yield server


@pytest.fixture(scope="module")
def serve(
    svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., RunningService]]:
    """Start a server with these settings for the tests of one file."""
    with ExitStack() as stack:
        stack.callback(remove_user_tables, svc_engine)

        def start(**settings: Any) -> RunningService:
            config = Config(**{"query_log": "", "jobs_path": tmp_path_factory.mktemp("jobs"), **settings})
            return stack.enter_context(running_service(config, svc_engine))

        yield start


@pytest.fixture(scope="session")
def cluster_settings(
    clickhouse: ClickHouseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., dict[str, Any]]]:
    """Return the settings of a new cluster, with its own database in the one Redis server of the tests."""
    with redis_server(tmp_path_factory.mktemp("redis")) as jobs:

        def new(**settings: Any) -> dict[str, Any]:
            results = tmp_path_factory.mktemp("results")
            locations = {"redis_url": jobs.new_url(), "clickhouse_url": clickhouse.url, "results_url": str(results)}
            return {"query_log": "", "concurrent_jobs": 2, **locations, **settings}

        yield new


@pytest.fixture(scope="module")
def serve_cluster(
    cluster_settings: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., RunningService]]:
    """Like ``serve``, with jobs in Redis and separate workers."""
    with ExitStack() as stack:
        started: list[Workers] = []

        def start(**settings: Any) -> RunningService:
            whole = cluster_settings(**settings)
            started.append(Workers(whole, tmp_path_factory.mktemp("workers") / "output"))
            engine = ClickHouseEngine(whole["clickhouse_url"])
            stack.callback(engine.close)
            stack.callback(remove_user_tables, engine)
            return stack.enter_context(running_service(Config(**whole), engine))

        yield start
        for workers in started:
            workers.stop()
        for workers in started:
            workers.wait()


@pytest.fixture(scope="session")
def start_server() -> Callable[..., AbstractContextManager[RunningService]]:
    """Return ``served``, for tests that stop their server themselves."""
    return running_service


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService]) -> RunningService:
    """The service with its default settings."""
    return serve()


@pytest.fixture(scope="session")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the users of ``users.USERS``."""
    return write_accounts(tmp_path_factory.mktemp("accounts") / "accounts.sqlite")


@pytest.fixture(scope="module")
def own(serve: Callable[..., RunningService], accounts: Path) -> RunningService:
    """A service whose users may have five tables of one megabyte in total."""
    return serve(accounts=accounts, user_table_bytes=1_000_000, user_tables=5, user_table_file=20_000_000)


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait until a condition holds; the time limit of the test ends a wait that never succeeds."""

    def wait(condition: Callable[[], bool]) -> None:
        began = time.monotonic()
        while not condition():  # sleep longer between later attempts, because most conditions are requests to a service
            time.sleep(min(0.2, 0.02 + (time.monotonic() - began) / 20))

    return wait


@pytest.fixture(scope="session")
def heavy() -> str:
    """A query that runs for minutes without returning a row."""
    return "SELECT COUNT(*) AS n FROM svc.numbers AS a JOIN svc.numbers AS b ON a.n < b.n"
