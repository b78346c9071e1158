"""A server of a cluster is killed while it works on a query: another replica answers, or the client gets an error."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import httpx
import pytest
from astropy.io import fits

from tap_service.config import Config
from tap_service.storage.engine.clickhouse_servers import ClickHouseServers
from tap_service.storage.engine.engine import Engine, ShardLost, ShardUnavailable
from tap_service.storage.open_storage import open_remote_engine
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import create_job
from tests.tap_service.replicas import ROWS, Replicas, slow_replicas

SLOW_SUM = "SELECT SUM(n) AS total, COUNT(*) AS number FROM far.slow"
SLOW_ROWS = "SELECT n, shard FROM far.slow"
QUICK_SUM = "SELECT SUM(n) AS total, COUNT(*) AS number FROM far.quick"
SUM = [str(ROWS * (ROWS - 1)), str(2 * ROWS)]
AWAY = "a server of the engine, which holds a part of the data, does not answer"
LOST = "a server of the engine became unreachable during the query"

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="module")
def _replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    with slow_replicas(tmp_path_factory.mktemp("replicas")) as replicas:
        yield replicas


@pytest.fixture
def replicas(_replicas: Replicas) -> Replicas:
    _replicas.start_again()
    return _replicas


@pytest.fixture(scope="module")
def engine(_replicas: Replicas) -> Iterator[Engine]:
    engine = open_remote_engine(Config(clickhouse_url=_replicas.asked.url))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def service(_replicas: Replicas, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    config = Config(query_log="", clickhouse_url=_replicas.asked.url, jobs_path=tmp_path_factory.mktemp("jobs"))
    with running_service(config, engine) as service:
        yield service


def read_rows(engine: Engine, sql: str) -> list[dict[str, Any]]:
    with engine.stream_batches(sql) as batches:
        return [row for batch in batches for row in batch.to_pylist()]


class TestEngine:
    def test_a_query_without_rows_so_far_is_asked_again(self, replicas: Replicas, engine: Engine) -> None:
        sql = "SELECT toString(sum(n)) AS total, toString(count()) AS number FROM far.slow"
        with ThreadPoolExecutor(1) as threads:
            for ask in (lambda: engine.fetch_table(sql).to_pylist(), lambda: read_rows(engine, sql)):
                answer = threads.submit(ask)
                replicas.kill_worker(rows=5)
                assert [list(row.values()) for row in answer.result()] == [SUM]
                replicas.start_again()

    def test_a_query_whose_rows_were_read_fails(self, replicas: Replicas, engine: Engine) -> None:
        seen = []
        with pytest.raises(ShardLost, match=f"^{LOST}$") as caught, engine.stream_batches(SLOW_ROWS) as batches:  # noqa: PT012
            for batch in batches:
                seen += batch.column(0).to_pylist()
                if len(seen) == 10:
                    replicas.kill_worker()
        assert 10 <= len(seen) < 2 * ROWS
        assert "while receiving packet from 127.0.0.1" in caught.value.detail

    def test_a_shard_without_a_server(self, replicas: Replicas, engine: Engine) -> None:
        for server in replicas.shards[1]:
            server.kill()
        with pytest.raises(ShardUnavailable, match=f"^{AWAY}$") as caught:
            engine.fetch_table("SELECT sum(n) FROM far.quick")
        assert "refused" in caught.value.detail
        assert isinstance(engine, ClickHouseServers)
        engine.ping()  # the server that is connected runs
        assert len(engine.list_servers()) == 1
        assert engine.fetch_table("SELECT sum(n) AS total FROM far.quick_rows").num_rows == 1

    def test_a_replica_that_hangs_is_passed_over(self, replicas: Replicas, engine: Engine) -> None:
        for server in replicas.shards[1]:
            server.stall()
            try:
                for _ in range(2):  # each replica is the first choice of one
                    found = engine.fetch_table("SELECT toString(sum(n)), toString(count()) FROM far.quick").to_pylist()
                    assert [list(row.values()) for row in found] == [SUM]
            finally:
                server.resume()


class TestService:
    def test_sync_without_rows_so_far(self, replicas: Replicas, service: RunningService) -> None:
        with ThreadPoolExecutor(1) as threads:
            answer = threads.submit(service.ask, SLOW_SUM, FORMAT="csv")
            replicas.kill_worker(rows=5)
            assert answer.result().text.split()[1].split(",") == SUM

    def test_sync_whose_client_has_read_nothing_begins_again(self, replicas: Replicas, service: RunningService) -> None:
        """A FITS file begins with the number of its rows, so that nothing is sent before the last one."""
        with ThreadPoolExecutor(1) as threads:
            answer = threads.submit(service.ask, SLOW_ROWS, FORMAT="fits")
            replicas.kill_worker(rows=12)
            with fits.open(BytesIO(answer.result().content)) as file:
                rows = sorted((int(n), int(shard)) for n, shard in file[1].data)
        assert rows == sorted((n, shard) for n in range(ROWS) for shard in (0, 1))

    def test_sync_whose_client_reads_is_told_in_the_document(self, replicas: Replicas, service: RunningService) -> None:
        with ThreadPoolExecutor(1) as threads:
            answer = threads.submit(service.ask, SLOW_ROWS)
            replicas.kill_worker(rows=12)
            document = answer.result().text
        assert 'name="QUERY_STATUS" value="ERROR"' in document
        assert f"the engine stopped this query: {LOST}. Try again later" in document
        assert "127.0.0.1" not in document.replace(service.url, "")
        assert document.count("<TR>") < 2 * ROWS

    def test_sync_in_a_format_that_cannot_contain_errors_is_cut(
        self, replicas: Replicas, service: RunningService
    ) -> None:
        began = threading.Event()

        def download() -> int:
            data = {"LANG": "ADQL", "QUERY": SLOW_ROWS, "FORMAT": "csv"}
            with httpx.stream("POST", service.sync, data=data, timeout=60) as response:
                size = 0
                for piece in response.iter_raw():
                    began.set()
                    size += len(piece)
                return size

        with ThreadPoolExecutor(1) as threads:
            answer = threads.submit(download)
            began.wait()
            replicas.kill_worker()
            with pytest.raises(httpx.RemoteProtocolError):
                answer.result()

    def test_a_job_runs_again(self, replicas: Replicas, service: RunningService, eventually: Eventually) -> None:
        job = create_job(service.tap, SLOW_ROWS, PHASE="RUN", FORMAT="csv")
        eventually(lambda: int(job.info.get("rowsWritten") or 0) > 5)
        replicas.kill_worker()
        assert job.wait_for_end() == "COMPLETED", job.message
        assert sorted(job.rows().split()[1:]) == sorted(f"{n},{shard}" for n in range(ROWS) for shard in (0, 1))

    def test_an_error_of_a_value_on_a_shard(self, replicas: Replicas, service: RunningService) -> None:
        """The text comes from another server, but it is still the user's error, and names no server."""
        query = "SELECT CAST('x' || CAST(n AS CHAR(5)) AS INTEGER) AS m FROM far.quick WHERE shard = 1"
        refused = service.ask(query)
        assert refused.status_code == 400
        assert re.search(r"the query fails on a value: the text .*x0.* is no INTEGER", refused.text)
        assert "127.0.0.1" not in refused.text

    def test_a_job_waits_for_a_shard(self, replicas: Replicas, service: RunningService, eventually: Eventually) -> None:
        for server in replicas.shards[1]:
            server.kill()
        job = create_job(service.tap, QUICK_SUM, PHASE="RUN", FORMAT="csv")
        eventually(lambda: (job.info.get("waiting") or "").startswith(AWAY))
        eventually(lambda: job.phase == "QUEUED")  # also after a retry
        replicas.start_again()
        assert job.wait_for_end() == "COMPLETED", job.message
        assert job.rows().split()[1].split(",") == SUM

    def test_a_shard_without_a_server(self, replicas: Replicas, service: RunningService) -> None:
        for server in replicas.shards[1]:
            server.kill()
        refused = service.ask(QUICK_SUM)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert f"the engine stopped this query: {AWAY}. Try again later" in refused.text
        assert "<vosi:available>true<" in httpx.get(f"{service.tap}/availability").text
        for server in replicas.shards[1]:
            server.start()
        assert service.ask(QUICK_SUM, FORMAT="csv").text.split()[1].split(",") == SUM
