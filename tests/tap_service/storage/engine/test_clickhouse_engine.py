"""The remote engine: servers that refuse, fail late, disappear, are silent or restart."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.engine import EngineError, EngineUnavailable, EngineValueError, QueryCancelled
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_server
from tests.support.ports import closed_port
from tests.tap_service.storage.failing_proxy import FailingProxy, Failures, failing_proxy

MILLION = "SELECT number FROM numbers(1000000)"
LATE_ERROR = "SELECT intDiv(1, number - 900000) AS n FROM numbers(1000000)"
ONE_THREAD = {"max_threads": 1}
USERS = """<clickhouse>
<users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile></default>
<tap><password>se:cret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile></tap>
</users>
<profiles><default/></profiles><quotas><default/></quotas>
</clickhouse>
"""
LONG_SUM = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"

#: a process that reads the answer of a query, and is killed before the answer arrives
READER = """
import sys
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
url, sql = sys.argv[1:]
with ClickHouseEngine(url, "tap", "se:cret").stream_batches(sql, query_id="deserted") as batches:
    list(batches)
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """A server with the user tap, who has a password."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "users.xml").write_text(USERS)
    with running_server(folder / "server", users=folder / "users.xml") as server:
        yield server


@pytest.fixture
def server(guarded: ClickHouseServer) -> Iterator[FailingProxy]:
    with failing_proxy(guarded.port) as proxy:
        yield proxy


@pytest.fixture
def remote(server: FailingProxy) -> Iterator[ClickHouseEngine]:
    engine = ClickHouseEngine(server.url, "tap", "se:cret")
    yield engine
    engine.close()


def rows(engine: ClickHouseEngine, sql: str, settings: dict | None = None) -> int:
    with engine.stream_batches(sql, settings=settings) as batches:
        return sum(batch.num_rows for batch in batches)


def test_no_server() -> None:
    message = "^the engine does not answer$"
    with closed_port() as port, pytest.raises(EngineUnavailable, match=message) as caught:
        ClickHouseEngine(f"http://127.0.0.1:{port}")
    assert re.match(rf"cannot use the engine at http://127.0.0.1:{port}: .*refused", caught.value.detail)


def test_a_wrong_password(server: FailingProxy) -> None:
    with pytest.raises(EngineUnavailable, match=r"^the engine refuses the service's user$") as caught:
        ClickHouseEngine(server.url, "tap", "guess")
    assert caught.value.code == 516
    assert "Authentication failed" in caught.value.detail
    assert "guess" not in caught.value.detail


@pytest.mark.parametrize("untagged", [False, True])
def test_an_error_after_the_first_rows(server: FailingProxy, remote: ClickHouseEngine, untagged: bool) -> None:
    server.failures = Failures(untagged=untagged)
    seen = []
    with (
        pytest.raises(EngineValueError, match=r"^Division by zero$") as caught,
        remote.stream_batches(LATE_ERROR) as batches,
    ):
        seen.extend(batch.num_rows for batch in batches)
    assert 0 < sum(seen) <= 900_000
    assert caught.value.code == 153
    with pytest.raises(EngineValueError, match=r"^Division by zero$"):
        remote.fetch_table(LATE_ERROR)


@pytest.mark.parametrize(
    "cut", [Failures(cut_after=0), Failures(cut_after=30), Failures(end_after=0), Failures(end_after=30)]
)
def test_a_truncated_result_is_an_error(server: FailingProxy, remote: ClickHouseEngine, cut: Failures) -> None:
    server.failures = cut
    with pytest.raises(EngineUnavailable):
        rows(remote, MILLION)
    with pytest.raises(EngineUnavailable):
        remote.fetch_table(MILLION)


def test_the_tag_of_another_response_is_data(remote: ClickHouseEngine) -> None:
    text = "\\r\\n__exception__\\r\\nabcdefgh\\r\\nCode: 153. DB::Exception: x\\n30 abcdefgh\\r\\n__exception__\\r\\n"
    assert remote.fetch_table(f"SELECT '{text}' AS t").column(0)[0].as_py() == text.encode().decode("unicode_escape")


def test_an_error_after_the_status_line(server: FailingProxy, remote: ClickHouseEngine) -> None:
    server.failures = Failures(early_status=True)
    with pytest.raises(EngineValueError, match="Division by zero"):
        remote.fetch_table("SELECT intDiv(1, 0)")
    with pytest.raises(EngineError, match="nowhere"):
        remote.execute("DROP TABLE nowhere.nothing")


@pytest.mark.parametrize("status", [500, 502, 503, 401])
def test_an_error_of_a_proxy(server: FailingProxy, remote: ClickHouseEngine, status: int) -> None:
    server.failures = Failures(status=status)
    for ask in (remote.ping, lambda: rows(remote, MILLION), lambda: remote.execute("DROP TABLE t")):
        with pytest.raises(EngineUnavailable):
            ask()


def test_a_silent_server(server: FailingProxy) -> None:
    impatient = ClickHouseEngine(server.url, "tap", "se:cret", silence_seconds=1)
    server.failures = Failures("one_thousand", silent=threading.Event())
    try:
        with pytest.raises(EngineUnavailable):
            rows(impatient, "SELECT number AS one_thousand FROM numbers(1000)")
    finally:
        server.failures.silent.set()
    assert server.statements[-1].startswith("KILL QUERY WHERE query_id = ")
    impatient.close()


def test_leaving_a_stream_kills_its_query(server: FailingProxy, remote: ClickHouseEngine) -> None:
    with remote.stream_batches("SELECT number FROM numbers(1000000000000)", query_id="left") as batches:
        next(batches)
    assert server.statements[-1] == "KILL QUERY WHERE query_id = 'left' ASYNC"
    rows(remote, MILLION)
    with pytest.raises(EngineValueError):
        rows(remote, LATE_ERROR)
    assert "KILL" not in "".join(server.statements[-2:])


def test_a_query_replaces_a_running_one_with_its_id(server: FailingProxy, remote: ClickHouseEngine) -> None:
    ended: list[Exception] = []

    def first() -> None:
        with pytest.raises(QueryCancelled) as caught, remote.stream_batches(LONG_SUM, query_id="job-1") as batches:
            list(batches)
        ended.append(caught.value)

    thread = threading.Thread(target=first)
    thread.start()
    while not remote.read_progress(["job-1"]):
        pass
    with remote.stream_batches(MILLION, query_id="job-1") as batches:
        assert sum(batch.num_rows for batch in batches) == 1_000_000
    thread.join()
    assert len(ended) == 1


def test_a_closed_engine(server: FailingProxy) -> None:
    engine = ClickHouseEngine(server.url, "tap", "se:cret")
    engine.close()
    engine.close()
    with pytest.raises(EngineUnavailable, match="shut down"):
        engine.ping()


def test_max_memory_bounds_each_query(server: FailingProxy) -> None:
    engine = ClickHouseEngine(server.url, "tap", "se:cret", max_memory=50_000_000)
    with pytest.raises(EngineError, match="memory limit"):
        engine.fetch_table("SELECT length(groupArray(number)) FROM numbers(100000000)")
    engine.close()


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[ClickHouseServer]:
    server = ClickHouseServer(tmp_path)
    yield server
    server.kill()


def test_a_server_killed_during_a_query_and_restarted(apart: ClickHouseServer) -> None:
    engine = ClickHouseEngine(apart.url)
    engine.execute("CREATE TABLE default.t (a Int64) ENGINE = MergeTree ORDER BY a")
    engine.insert_batches("default.t", [pa.RecordBatch.from_pydict({"a": list(range(10))})])
    with (  # noqa: PT012
        pytest.raises(EngineUnavailable),
        engine.stream_batches("SELECT number FROM numbers(1000000000000)") as batches,
    ):
        next(batches)
        apart.kill()
        for _ in batches:
            pass
    with pytest.raises(EngineUnavailable):
        engine.ping()
    apart.start()
    assert engine.fetch_table("SELECT count() AS n FROM default.t").to_pylist() == [{"n": 10}]
    engine.close()


def test_cancelling_releases_the_reader_of_a_hanging_server(
    apart: ClickHouseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.storage.engine.clickhouse_engine._SHORT_SECONDS", 1)
    engine = ClickHouseEngine(apart.url)
    reading = threading.Event()
    ended: list[Exception] = []

    def read() -> None:
        sql = "SELECT number FROM numbers(1000000000000)"
        with pytest.raises(EngineUnavailable) as caught, engine.stream_batches(sql, query_id="hanging") as batches:  # noqa: PT012
            for _ in batches:
                reading.set()
        ended.append(caught.value)

    thread = threading.Thread(target=read)
    thread.start()
    reading.wait()
    apart.stall()
    with pytest.raises(EngineUnavailable):
        engine.cancel_query("hanging")
    thread.join()
    apart.resume()
    assert len(ended) == 1
    engine.close()


@pytest.mark.parametrize("flaw", [lambda: OSError("the file broke off"), lambda: KeyError("an error of the reader")])
def test_errors_of_the_reader_pass_through(remote: ClickHouseEngine, flaw: Callable[[], Exception]) -> None:
    error = flaw()
    with pytest.raises(type(error)) as caught, remote.stream_batches(MILLION) as batches:  # noqa: PT012
        next(batches)
        raise error
    assert caught.value is error


def test_the_query_of_a_killed_process_is_stopped(
    guarded: ClickHouseServer, remote: ClickHouseEngine, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    reader = subprocess.Popen([sys.executable, "-c", READER, guarded.url, LONG_SUM])
    eventually(lambda: remote.list_running_ids("deserted") == ["deserted"])
    reader.kill()
    reader.wait()
    eventually(lambda: remote.list_running_ids("deserted") == [])
