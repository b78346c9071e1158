"""For any error of the engine, no message to users names its address, users or paths; the log does."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Column, Schema, Table
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import create_job

USER, FOLDER = "asterix", "idefix"
_USERS = f"""<clickhouse>
<users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile></default>
<{USER}><password>latraviata</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>limited</quota>
<grants>{
    "".join(
        f"<query>GRANT {right}</query>"
        for right in (
            "ALL ON skyhouse.*",
            "ALL ON skyhouse_users.*",
            "SELECT ON `TAP_SCHEMA`.*",
            "SELECT ON system.*",
            "SELECT ON own.plain",
            "SELECT ON own.large",
            "SELECT ON own.gone",
            "SELECT ON own.broken",
            "KILL QUERY ON *.*",
        )
    )
}</grants>
</{USER}>
</users>
<profiles><default/></profiles>
<quotas><default/><limited><interval><duration>86400</duration><read_rows>2000000</read_rows></interval></limited></quotas>
</clickhouse>
"""
_TABLES = ("plain", "large", "denied", "gone", "broken")
PLAIN = "SELECT COUNT(*) AS n FROM own.plain WHERE n > 3"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    folder = tmp_path_factory.mktemp("secret")
    (folder / "users.xml").write_text(_USERS)
    with running_server(folder / FOLDER, users=folder / "users.xml") as server:
        engine = ClickHouseEngine(server.url)
        prepare_engine(engine)
        engine.execute("CREATE DATABASE own")
        for name in _TABLES:
            table = Table(name=name, columns=(Column(name="n", datatype="long", nullable=False),))
            rows = 3_000_000 if name == "large" else 1000
            engine.execute(
                f"CREATE TABLE own.{name} ENGINE = MergeTree ORDER BY n AS SELECT toInt64(number) AS n FROM"
                f" numbers({rows})"
            )
            register_table(engine, Schema(name="own", tables=(table,)), table)
        engine.execute("DROP TABLE own.gone SYNC")
        [stored] = engine.fetch_table("SELECT path FROM system.parts WHERE table = 'broken' AND active")["path"]
        next(Path(stored.as_py()).glob("*.bin")).unlink()
        engine.execute("SYSTEM DROP MARK CACHE")
        engine.close()
        yield server


@pytest.fixture(scope="module")
def service(
    server: ClickHouseServer, accounts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    config = Config(
        query_log="",
        clickhouse_url=server.url,
        clickhouse_user=USER,
        clickhouse_password="latraviata",
        query_memory=20_000_000,
        jobs_path=tmp_path_factory.mktemp("jobs"),
        engine_patience=0,
        accounts=accounts,
    )
    engine = open_remote_engine(config)
    with running_service(config, engine) as service:
        yield service
    engine.close()


@pytest.fixture
def check(server: ClickHouseServer, service: RunningService) -> Callable[[httpx.Response, str], None]:
    def check(answer: httpx.Response, said: str) -> None:
        text = answer.text.replace(service.url, "").replace("&apos;", "'").replace("&#39;", "'")
        assert re.search(said, text), text
        for secret in ("127.0.0.1", str(server.port), str(server.tcp_port), USER, FOLDER, "/data/"):
            assert secret not in text

    return check


QUERIES = [
    ("SELECT CAST('x' AS INTEGER) AS n FROM own.plain", 400, "the text 'x' is no"),
    ("SELECT n FROM own.denied", 500, "an internal error; the operator can find the cause in the log, at"),
    ("SELECT n FROM own.gone", 503, "a table of this query was replaced or dropped just now"),
    ("SELECT n FROM own.broken", 500, "an internal error; the operator can find the cause in the log, at"),
]


@pytest.mark.parametrize(("query", "status", "said"), QUERIES)
def test_queries_that_fail(
    service: RunningService, check: Callable[[httpx.Response, str], None], query: str, status: int, said: str
) -> None:
    answer = service.ask(query)
    assert answer.status_code == status, answer.text
    check(answer, said)
    job = create_job(service.tap, query, PHASE="RUN")
    assert job.wait_for_end() == "ERROR"
    check(job.get(), said)
    check(job.get("/error"), said)


def test_limits_of_the_engine(service: RunningService, check: Callable[[httpx.Response, str], None]) -> None:
    """The quota of the service's user is used up by the last query."""
    check(service.ask("SELECT DISTINCT n, n + 1 AS m FROM own.large ORDER BY m"), "quota|needs more than this service")
    while (answer := service.ask("SELECT SUM(SIN(n)) AS s FROM own.large")).status_code == 200:
        pass
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    check(answer, "the engine stopped this query: the engine's quota for this service is used up")
    job = create_job(service.tap, "SELECT SUM(SIN(n)) AS s FROM own.large", PHASE="RUN")
    assert job.wait_for_end() == "ERROR"
    check(job.get("/error"), "the engine's quota for this service is used up")


def test_a_server_that_is_away(
    server: ClickHouseServer,
    service: RunningService,
    check: Callable[[httpx.Response, str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.kill()
    away = "the engine does not answer|the connection to the engine broke"
    with caplog.at_level(logging.WARNING, "skyhouse"):
        answer = service.ask(PLAIN)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    check(answer, away)
    assert f"port={server.port}" in caplog.text
    check(httpx.get(f"{service.tap}/availability"), f"the engine is unavailable: {away}")
    job = create_job(service.tap, PLAIN, PHASE="RUN")
    assert job.wait_for_end() == "ERROR"
    check(job.get("/error"), "the engine does not answer|the engine stopped this query")
    alice = ("alice", "correct-horse")
    uploaded = httpx.post(
        service.sync,
        data={"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f"},
        files={"f": ("f.csv", b"a\n1\n")},
    )
    assert uploaded.status_code == 503
    check(uploaded, "cannot accept an uploaded table now")
    for method, path, more in (
        ("GET", "/tables", {}),
        ("GET", "/mydb", {}),
        ("PUT", "/tables/mydb.new", {"content": b"<vosi:table/>", "headers": {"Content-Type": "text/xml"}}),
        ("POST", "/load/mydb.new", {"content": b"a\n1\n", "headers": {"Content-Type": "text/csv"}}),
        ("DELETE", "/tables/mydb.new", {}),
        ("POST", "/estimate", {"data": {"LANG": "ADQL", "QUERY": PLAIN}}),
        ("GET", "/tables/own.plain/density", {}),
        ("GET", "", {}),
    ):
        told = httpx.request(method, service.tap + path, auth=alice, **more)
        assert told.status_code in (200, 400, 404, 503), (method, path, told.text)
        check(told, "")
