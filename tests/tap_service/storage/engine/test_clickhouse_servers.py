"""Several servers as one engine: distribution, retries and local tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest

from tap_service.storage.engine import server_endpoints
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.clickhouse_servers import ClickHouseServers
from tap_service.storage.engine.engine import (
    EngineError,
    EngineSilent,
    EngineUnavailable,
    EngineValueError,
    QueryCancelled,
)
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.ports import closed_port
from tests.tap_service.storage.failing_proxy import FailingProxy, Failures, failing_proxy

MILLION = "SELECT number AS million FROM numbers(1000000)"
LONG_SUM = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"
OUT_OF_ORDER = Failures(status=502)

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_endpoints, "_MIN_RETRY_SECONDS", 0.01)


@pytest.fixture
def three(clickhouse: ClickHouseServer) -> Iterator[list[FailingProxy]]:
    """Three addresses of one server, which the engine takes for servers with the same tables."""
    with ExitStack() as stack:
        yield [stack.enter_context(failing_proxy(clickhouse.port)) for _ in range(3)]


@pytest.fixture
def servers(three: list[FailingProxy]) -> Iterator[ClickHouseServers]:
    engine = over(*(server.url for server in three))
    yield engine
    engine.close()


def over(*urls: str, silence_seconds: int = 60) -> ClickHouseServers:
    return ClickHouseServers(urls, lambda url: ClickHouseEngine(url, silence_seconds=silence_seconds))


def rows(engine: ClickHouseServers, sql: str, query_id: str = "") -> int:
    with engine.stream_batches(sql, query_id=query_id) as batches:
        return sum(batch.num_rows for batch in batches)


def asked(three: list[FailingProxy], word: str) -> list[int]:
    """Return how many statements with this word each server received."""
    return [sum(word in statement for statement in server.statements) for server in three]


class TestReads:
    def test_only_users_queries_are_spread(self, servers: ClickHouseServers, three: list[FailingProxy]) -> None:
        for _ in range(6):
            assert rows(servers, MILLION) == 1_000_000
            servers.fetch_table("SELECT 1 AS single")
            assert rows(servers, "SELECT 1 AS own FROM (SELECT 'skyhouse.catalogue')") == 1
        assert asked(three, "million") == [2, 2, 2]
        assert asked(three, "single") == [6, 0, 0]
        assert asked(three, "own") == [6, 0, 0]

    def test_a_read_that_fails_before_the_first_row_is_retried(
        self, servers: ClickHouseServers, three: list[FailingProxy]
    ) -> None:
        three[0].failures = OUT_OF_ORDER
        assert servers.fetch_table("SELECT 1 AS a").to_pylist() == [{"a": 1}]
        assert [rows(servers, MILLION) for _ in range(3)] == [1_000_000] * 3
        assert "ReadFromSystemNumbers" in servers.explain_query("SELECT number FROM numbers(3)")
        servers.ping()

    def test_a_read_that_fails_after_the_first_row_is_not_retried(
        self, servers: ClickHouseServers, three: list[FailingProxy]
    ) -> None:
        for server in three:
            server.failures = Failures("million", cut_after=30)
        with pytest.raises(EngineUnavailable):
            rows(servers, MILLION)
        assert sum(asked(three, "million")) == 1

    def test_a_query_that_killed_two_servers_is_not_retried(
        self, servers: ClickHouseServers, three: list[FailingProxy]
    ) -> None:
        for server in three:
            server.failures = Failures("million", cut_after=0)
        with pytest.raises(EngineUnavailable):
            rows(servers, MILLION)
        assert sum(asked(three, "million")) == 2

    def test_a_silent_server_is_not_retried(self, three: list[FailingProxy]) -> None:
        servers = over(*(server.url for server in three), silence_seconds=1)
        waiting = threading.Event()
        for server in three:
            server.failures = Failures("million", silent=waiting)
        with pytest.raises(EngineSilent):
            rows(servers, MILLION)
        waiting.set()
        assert sum(asked(three, "million")) == 1
        servers.close()

    def test_errors_of_the_query_are_not_retried(self, servers: ClickHouseServers, three: list[FailingProxy]) -> None:
        with pytest.raises(EngineValueError):
            servers.fetch_table("SELECT intDiv(1, 0) AS wrong")
        with pytest.raises(EngineValueError):
            rows(servers, "SELECT intDiv(1, number - 900000) AS wrong FROM numbers(1000000)")
        assert sum(asked(three, "wrong")) == 2

    def test_no_server_answers(
        self, servers: ClickHouseServers, three: list[FailingProxy], eventually: Eventually
    ) -> None:
        for server in three:
            server.failures = OUT_OF_ORDER
        for ask in (servers.ping, lambda: rows(servers, MILLION), lambda: servers.list_running_ids("a")):
            with pytest.raises(EngineUnavailable):
                ask()
        three[1].failures = Failures()
        assert servers.fetch_table("SELECT 1 AS a").num_rows == 1
        eventually(lambda: len(servers.list_servers()) == 1)


class TestWrites:
    def test_writes_go_to_the_first_server(self, servers: ClickHouseServers, three: list[FailingProxy]) -> None:
        for number in range(3):
            servers.execute(f"CREATE TABLE default.written_{number} (a Int64) ENGINE = Memory")
            servers.insert_batches(f"default.written_{number}", iter([pa.record_batch({"a": [1]})]))
            servers.execute(f"DROP TABLE default.written_{number}")
        assert asked(three, "written") == [9, 0, 0]

    @pytest.mark.parametrize(
        "write",
        [
            lambda engine: engine.execute("INSERT INTO default.written SELECT 1"),
            lambda engine: engine.insert_batches("default.written", [pa.record_batch({"a": [1]})]),
        ],
    )
    def test_a_write_that_was_sent_is_not_retried(
        self, servers: ClickHouseServers, three: list[FailingProxy], write: Callable[[ClickHouseServers], None]
    ) -> None:
        three[0].failures = Failures("written", status=502)
        with pytest.raises(EngineUnavailable):
            write(servers)
        assert asked(three, "written") == [1, 0, 0]

    def test_a_write_that_was_not_sent_goes_to_the_next_server(self, three: list[FailingProxy]) -> None:
        with closed_port() as port:
            servers = over(f"http://127.0.0.1:{port}", three[1].url)
            servers.execute("CREATE TABLE default.moved (a Int64) ENGINE = Memory")
            servers.insert_batches("default.moved", iter([pa.record_batch({"a": [1, 2]})]))
        assert servers.fetch_table("SELECT count() AS n FROM default.moved").to_pylist() == [{"n": 2}]
        servers.execute("DROP TABLE default.moved")
        servers.close()


class TestWhereItRuns:
    def test_a_query_is_cancelled_and_observed_where_it_runs(
        self, servers: ClickHouseServers, three: list[FailingProxy]
    ) -> None:
        ended: list[EngineError] = []

        def read() -> None:
            with pytest.raises(QueryCancelled) as caught:
                rows(servers, LONG_SUM, "async-here-1")
            ended.append(caught.value)

        rows(servers, MILLION)  # the next one goes to the second
        thread = threading.Thread(target=read)
        thread.start()
        while not asked(three, "sipHash64")[1] or not servers.read_progress(["async-here-1"]):
            time.sleep(0.001)
        assert asked(three, "is_initial_query")[2] == 0
        assert servers.list_running_ids("async-here") == ["async-here-1"]
        servers.cancel_query("async-here-1")
        thread.join()
        assert len(ended) == 1
        assert asked(three, "KILL QUERY") == [0, 1, 0]

    def test_the_query_of_another_process_is_cancelled_everywhere(
        self, servers: ClickHouseServers, three: list[FailingProxy]
    ) -> None:
        three[2].failures = Failures("async-elsewhere-1", status=502)
        servers.cancel_query("async-elsewhere-1")
        assert asked(three, "KILL QUERY") == [1, 1, 1]
        assert servers.read_progress(["async-elsewhere-1"]) == {}

    def test_an_abandoned_query_is_cancelled_when_its_server_answers_again(
        self, servers: ClickHouseServers, three: list[FailingProxy], eventually: Eventually
    ) -> None:
        three[1].failures = OUT_OF_ORDER
        rows(servers, MILLION)  # the next one goes to the second
        assert rows(servers, MILLION, "sync-left") == 1_000_000
        assert len(servers.list_servers()) == 2
        tried = asked(three, "KILL QUERY")[1]
        three[1].failures = Failures()
        eventually(lambda: len(servers.list_servers()) == 3)
        assert asked(three, "KILL QUERY WHERE query_id = 'sync-left'") == [0, tried + 1, 0]

    def test_a_cancelled_query_is_not_retried(self, servers: ClickHouseServers, three: list[FailingProxy]) -> None:
        waiting = threading.Event()
        three[0].failures = Failures("million", silent=waiting, status=502)
        ended: list[EngineError] = []

        def read() -> None:
            with pytest.raises(EngineUnavailable) as caught:
                rows(servers, MILLION, "sync-stopped")
            ended.append(caught.value)

        thread = threading.Thread(target=read)
        thread.start()
        while not asked(three, "million")[0]:
            time.sleep(0.001)
        servers.cancel_query("sync-stopped")
        waiting.set()
        thread.join()
        assert len(ended) == 1
        assert asked(three, "million")[1:] == [0, 0]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ClickHouseServer]]:
    found = [ClickHouseServer(tmp_path_factory.mktemp("server")) for _ in range(2)]
    for server in found:
        alone = ClickHouseEngine(server.url)
        for database in ("skyhouse", "skyhouse_users"):
            alone.execute(f"CREATE DATABASE {database}")
        alone.close()
    yield found
    for server in found:
        server.kill()


@pytest.fixture
def both(two: list[ClickHouseServer]) -> Iterator[ClickHouseServers]:
    engine = over(*(server.url for server in two))
    yield engine
    engine.close()


class TestTablesOfOneServer:
    """Uploads and user tables of two servers with separate data."""

    def test_queries_find_local_tables(self, two: list[ClickHouseServer], both: ClickHouseServers) -> None:
        first, second = "`skyhouse`.`upload_sync_1_0`", f"`skyhouse_users`.`t_{'1' * 24}`"
        make(both, first)
        later = over(two[1].url, two[0].url)
        make(later, second)
        for engine in (both, later, both):
            assert rows(engine, f"SELECT a FROM {first}") == 1
            assert rows(engine, f"SELECT a FROM {second}") == 1
            size = engine.fetch_table(f"SELECT sum(rows) AS n FROM system.parts WHERE table = 't_{'1' * 24}'")
            assert size.to_pylist() == [{"n": 1}]
        with pytest.raises(EngineUnavailable, match="tables of different servers"):
            rows(both, f"SELECT a FROM {first} UNION ALL SELECT a FROM {second}")
        later.execute(f"DROP TABLE IF EXISTS {first} SYNC")
        both.execute(f"RENAME TABLE {second} TO `skyhouse_users`.`t_{'2' * 24}`")
        assert rows(later, f"SELECT a FROM `skyhouse_users`.`t_{'2' * 24}`") == 1
        third = f"`skyhouse_users`.`t_{'3' * 24}`"
        make(both, third, comment=f"/* next to `skyhouse_users`.`t_{'2' * 24}` */")
        later.execute(f"INSERT INTO {third} SELECT a FROM `skyhouse_users`.`t_{'2' * 24}`")
        assert rows(later, f"SELECT a FROM {third}") == 2
        later.close()

    def test_local_tables_are_created_on_the_reachable_server(
        self, two: list[ClickHouseServer], both: ClickHouseServers, eventually: Eventually
    ) -> None:
        before, meanwhile = "`skyhouse`.`groups_before`", "`skyhouse`.`upload_async_2_1_0`"
        make(both, before)
        both.execute("CREATE TABLE default.everywhere (a Int64) ENGINE = Memory")
        two[0].kill()
        make(both, meanwhile)
        assert rows(both, f"SELECT a FROM {meanwhile}") == 1
        with pytest.raises(EngineUnavailable):
            rows(both, f"SELECT a FROM {before}")
        stranger = over(*(server.url for server in two))
        with pytest.raises(EngineUnavailable, match="does not answer"):
            rows(stranger, f"SELECT a FROM {before}")
        two[0].start()
        eventually(lambda: len(both.list_servers()) == len(stranger.list_servers()) == 2)
        for engine in (both, stranger):
            assert rows(engine, f"SELECT a FROM {before}") == 1
            assert rows(engine, f"SELECT a FROM {meanwhile}") == 1
        stranger.close()


def make(engine: ClickHouseServers, table: str, comment: str = "") -> None:
    engine.execute(f"DROP TABLE IF EXISTS {table} SYNC")
    engine.execute(f"CREATE TABLE {table} (a Int64) ENGINE = MergeTree ORDER BY a {comment}")
    engine.insert_batches(table, [pa.record_batch({"a": [7]})])


def test_no_server_at_the_start() -> None:
    with closed_port() as first, closed_port() as second, pytest.raises(EngineUnavailable) as caught:
        over(*(f"http://127.0.0.1:{port}" for port in (first, second)))
    assert str(caught.value) == "the engine does not answer"
    assert all(str(port) in caught.value.detail for port in (first, second))


def test_closed(servers: ClickHouseServers) -> None:
    servers.close()
    servers.close()
    with pytest.raises(EngineUnavailable, match="shut down"):
        servers.fetch_table("SELECT 1")
