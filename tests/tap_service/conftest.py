"""Fixtures: a real server on a free port over the tests' engine, with small tables of known content."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.application import create_app
from tap_service.config import Config
from tap_service.http_server.http_protocol import SERVER
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server
from tests.tap_service.storage.redis_server import redis_server
from tests.tap_service.users import remove_user_tables, write_accounts
from tests.tap_service.worker_processes import Workers

#: rows of svc.numbers: n from 0, half = n / 2, word = 'row n'
NUMBERS = 1_000_000

_SCHEMA = {
    "name": "svc",
    "description": "Tables of the service's tests",
    "skyhouse:citation": "2000A&A...355L..27H",
    "skyhouse:licence": "CC BY 4.0",
    "tables": [
        {
            "name": "stars",
            "description": "Stars on a grid of one degree",
            "columns": [
                {"name": "id", "datatype": "long", "nullable": False, "ivoa:ucd": "meta.id;meta.main"},
                {"name": "ra", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.ra;meta.main"},
                {"name": "dec", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.dec;meta.main"},
                {"name": "mag", "datatype": "float", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag"},
                {"name": "name", "datatype": "unicode", "length": 20},
            ],
            "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]},
        },
        {
            "name": "numbers",
            "columns": [
                {"name": "n", "datatype": "long", "nullable": False},
                {"name": "half", "datatype": "double"},
                {"name": "word", "datatype": "unicode", "length": 20},
            ],
        },
    ],
}

_ROWS = {
    "stars": "SELECT number, number % 360, intDiv(number, 360) - 89, number % 20, concat('Stérn ', toString(number))"
    " FROM numbers(360 * 179)",
    "numbers": f"SELECT number, number / 2, concat('row ', toString(number)) FROM numbers({NUMBERS})",
}


class Served:
    """A running server."""

    def __init__(self, server: uvicorn.Server, url: str) -> None:
        self.server = server
        self.url = url
        self.tap = f"{url}/tap"
        self.sync = f"{url}/tap/sync"

    @property
    def engine(self) -> Engine:
        """The engine that it asks."""
        found: Engine = self.server.config.app.state.services.engine
        return found

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def ask(self, query: str, **parameters: Any) -> httpx.Response:
        data = {"LANG": "ADQL", "QUERY": query, **parameters}
        return httpx.post(self.sync, data=data, timeout=60, verify=False)  # certificates take 20 ms to read

    def raw(self, request: bytes) -> bytes:
        """Send raw bytes; return the bytes received until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            received = b""
            while piece := connection.recv(65536):
                received += piece
            return received

    def refresh(self) -> None:
        """Read the catalogue now; the service does so every second."""
        self.server.config.app.state.services.catalogue_cache.refresh()

    def set_time_limit(self, seconds: float) -> None:
        """Change the time limit of the requests to /sync that wait or work now: 0 is over at once."""
        for answer in tuple(self.server.config.app.state.services.queries.answers):
            answer._seconds = seconds

    def metric(self, name: str, **labels: str) -> float:
        value = self.server.config.app.state.services.metrics.registry.get_sample_value(name, labels)
        return 0.0 if value is None else value


@contextmanager
def served(config: Config, engine: Engine, grace_seconds: int = 5, portal: Path | None = None) -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(config, engine, portal, are_helpers_kept_ready=False)  # each takes half a second to start
    options = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=grace_seconds, **SERVER)
    server = uvicorn.Server(options)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield Served(server, f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="session")
def svc_engine(engine: EmbeddedEngine) -> EmbeddedEngine:
    """The tests' engine with the tables svc.stars and svc.numbers in it."""
    _create_tables(engine)
    return engine


def _create_tables(engine: Engine) -> None:
    prepare_engine(engine)
    schema = Schema.model_validate_json(json.dumps(_SCHEMA))
    engine.execute("CREATE DATABASE svc")
    for table in schema.tables:
        columns = ", ".join(f"`{column.name}`" for column in table.columns)
        engine.execute(create_table_sql(table, f"`svc`.`{table.name}`"))
        engine.execute(f"INSERT INTO svc.{table.name} ({columns}) {_ROWS[table.name]}")
        register_table(engine, schema, table)


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """The one real server of a test process, with the tables of ``svc_engine``."""
    with running_server(tmp_path_factory.mktemp("clickhouse")) as server:
        engine = ClickHouseEngine(server.url)
        _create_tables(engine)
        engine.close()
        yield server


@pytest.fixture(scope="module")
def serve(svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Start a server with these settings for the tests of one file."""
    with ExitStack() as stack:
        stack.callback(remove_user_tables, svc_engine)

        def start(**settings: Any) -> Served:
            config = Config(**{"query_log": "", "jobs_path": tmp_path_factory.mktemp("jobs"), **settings})
            return stack.enter_context(served(config, svc_engine))

        yield start


@pytest.fixture(scope="session")
def cluster_settings(
    clickhouse: ClickHouseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., dict[str, Any]]]:
    """Return the settings of a new cluster, with its own database in the one Redis server of the tests."""
    with redis_server(tmp_path_factory.mktemp("redis")) as jobs:

        def new(**settings: Any) -> dict[str, Any]:
            results = tmp_path_factory.mktemp("results")
            places = {"redis_url": jobs.new_url(), "clickhouse_url": clickhouse.url, "results_url": str(results)}
            return {"query_log": "", "concurrent_jobs": 2, **places, **settings}

        yield new


@pytest.fixture(scope="module")
def serve_cluster(
    cluster_settings: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Served]]:
    """Like ``serve``, with jobs in Redis and separate workers."""
    with ExitStack() as stack:
        started: list[Workers] = []

        def start(**settings: Any) -> Served:
            whole = cluster_settings(**settings)
            started.append(Workers(whole, tmp_path_factory.mktemp("workers") / "output"))
            engine = ClickHouseEngine(whole["clickhouse_url"])
            stack.callback(engine.close)
            stack.callback(remove_user_tables, engine)
            return stack.enter_context(served(Config(**whole), engine))

        yield start
        for workers in started:
            workers.stop()
        for workers in started:
            workers.wait()


@pytest.fixture(scope="session")
def start_server() -> Callable[..., AbstractContextManager[Served]]:
    """Return ``served``, for tests that stop their server themselves."""
    return served


@pytest.fixture(scope="module")
def service(serve: Callable[..., Served]) -> Served:
    """The service with its default settings."""
    return serve()


@pytest.fixture(scope="session")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the users of ``users.USERS``."""
    return write_accounts(tmp_path_factory.mktemp("accounts") / "accounts.sqlite")


@pytest.fixture(scope="module")
def own(serve: Callable[..., Served], accounts: Path) -> Served:
    """A service whose users may have five tables of one megabyte in total."""
    return serve(accounts=accounts, user_table_bytes=1_000_000, user_tables=5, user_table_file=20_000_000)


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait until a condition holds; the time limit of the test ends a futile wait."""

    def wait(condition: Callable[[], bool]) -> None:
        began = time.monotonic()
        while not condition():  # seldom when it takes long: most conditions are requests to a service
            time.sleep(min(0.2, 0.02 + (time.monotonic() - began) / 20))

    return wait


@pytest.fixture(scope="session")
def heavy() -> str:
    """A query that runs for minutes without returning a row."""
    return "SELECT COUNT(*) AS n FROM svc.numbers AS a JOIN svc.numbers AS b ON a.n < b.n"
