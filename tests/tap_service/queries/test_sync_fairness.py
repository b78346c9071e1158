"""/sync between clients: turns and limits, large results and slow readers, and queries that become jobs."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.tap_service.async_client import Job
from tests.tap_service.users import User

LIGHT = "SELECT n FROM svc.numbers WHERE n < 3 ORDER BY n"
Eventually = Callable[[Callable[[], bool]], None]


def ask_from(service: Any, client: str, query: str, **parameters: str) -> httpx.Response:
    """Ask as a client behind a trusted proxy."""
    data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, **parameters}
    return httpx.post(service.sync, data=data, headers={"X-Forwarded-For": client}, timeout=100, verify=False)


def open_request(service: Any, parameters: dict[str, str], client: str = "192.0.2.99") -> socket.socket:
    """Send a request; the answer waits to be read, with little room in the socket."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", service.port))
    body = urlencode({"LANG": "ADQL", **parameters})
    kind = "Content-Type: application/x-www-form-urlencoded"
    head = f"POST /tap/sync HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n{kind}\r\nContent-Length: {len(body)}"
    connection.sendall(f"{head}\r\n\r\n{body}".encode())
    return connection


def count_requests(service: Any, lane: str, state: str) -> float:
    return service.metric("skyhouse_lane_requests", lane=lane, state=state)


@pytest.fixture
def crowd() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(100) as threads:
        yield threads


class TestClients:
    def test_one_client_with_heavy_queries(self, serve: Callable[..., Any], heavy: str, eventually: Eventually) -> None:
        """It gets its turns and 429 beyond its limit; light queries of others, and of its own, are answered."""
        service = serve(concurrent_queries=2, client_waiting_queries=5, sync_seconds=60)
        asked = [open_request(service, {"QUERY": heavy}, "192.0.2.1") for _ in range(10)]
        try:
            eventually(lambda: len(select.select(asked, [], [], 0)[0]) == 4)
            assert count_requests(service, "heavy", "waiting") == 5
            others = [ask_from(service, f"192.0.2.{number}", LIGHT) for number in range(1, 5)]
            assert [answer.text.split() for answer in others] == [["n", "0", "1", "2"]] * 4
            assert count_requests(service, "heavy", "waiting") == 5
            for refused in select.select(asked, [], [], 0)[0]:
                answer = refused.recv(1 << 16).decode().lower()
                assert answer.startswith("http/1.1 429")
                assert "retry-after: " in answer
        finally:
            for each in asked:
                each.close()
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)

    def test_another_clients_heavy_query_is_next(
        self, serve: Callable[..., Any], crowd: ThreadPoolExecutor, heavy: str, tmp_path: Path, eventually: Eventually
    ) -> None:
        log = tmp_path / "queries.log"
        service = serve(concurrent_queries=1, sync_seconds=1.5, query_log=str(log))
        asked = [crowd.submit(ask_from, service, "192.0.2.1", heavy) for _ in range(4)]
        eventually(lambda: count_requests(service, "heavy", "waiting") == 3)
        asked.append(crowd.submit(ask_from, service, "192.0.2.2", heavy))
        for future in asked:
            assert future.result().status_code == 400
        eventually(lambda: log.read_text().count("\n") == 5)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["client"] for line in lines].index("192.0.2.2") in (1, 2)  # 4 without turns
        assert {line["lane"] for line in lines} == {"heavy"}
        assert lines[-1]["milliseconds"]["wait"] > lines[0]["milliseconds"]["wait"]

    def test_limits_of_users(
        self, serve: Callable[..., Any], accounts: Path, heavy: str, eventually: Eventually
    ) -> None:
        service = serve(accounts=accounts, client_limits="@users=1/0, bob=1/5", sync_seconds=1)
        alice, bob = User(service, "alice"), User(service, "bob")
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(alice.ask, heavy)
            eventually(lambda: count_requests(service, "heavy", "running") == 1)
            assert alice.ask(heavy).status_code == 429
            assert bob.ask(LIGHT).status_code == 200
            assert first.result().status_code == 400
        for user in (alice, bob):
            user.session.close()


class TestLargeResults:
    def test_they_wait_for_each_other_only(
        self, serve: Callable[..., Any], tmp_path: Path, eventually: Eventually
    ) -> None:
        log = tmp_path / "queries.log"
        service = serve(query_log=str(log))
        for query in ("SELECT n, half, word FROM svc.numbers", "SELECT TOP 5 n, half, word FROM svc.numbers", LIGHT):
            assert service.ask(query, MAXREC="1000000", FORMAT="csv").status_code == 200
        eventually(lambda: log.read_text().count("\n") == 3)
        assert [json.loads(line)["lane"] for line in log.read_text().splitlines()] == ["bulk", "light", "light"]

    def test_64_slow_readers_hold_nothing(
        self, serve: Callable[..., Any], svc_engine: Any, eventually: Eventually
    ) -> None:
        """The engine writes their results into the spool and is free; light queries of all are answered meanwhile."""
        service = serve(client_waiting_queries=100)
        query = "SELECT n, half FROM svc.numbers WHERE n < 500000"
        readers = [open_request(service, {"QUERY": query, "MAXREC": "500000"}) for _ in range(64)]
        try:
            assert [service.ask(LIGHT, FORMAT="csv").status_code for _ in range(10)] == [200] * 10
            eventually(lambda: not any(count_requests(service, lane, state) for lane in LANES for state in STATES))
            assert service.metric("skyhouse_queries_in_flight") == 64
            assert svc_engine.list_running_ids("sync-") == []
            assert [service.ask(LIGHT, FORMAT="csv").status_code for _ in range(10)] == [200] * 10
        finally:
            for reader in readers:
                reader.close()
        eventually(lambda: service.metric("skyhouse_spool_bytes", where="disk") == 0)


LANES = ("light", "heavy", "bulk", "fetching")
STATES = ("running", "waiting")


class TestTimeLimit:
    QUERY = "SELECT COUNT(*) AS c FROM svc.numbers AS a JOIN svc.numbers AS b ON a.n < b.n WHERE a.n < 3000"

    def test_the_query_becomes_a_job_on_request(self, serve: Callable[..., Any]) -> None:
        service = serve(sync_seconds=0.05)
        response = service.ask(self.QUERY, ON_TIMEOUT="job", FORMAT="csv")
        assert response.status_code == 400
        job = Job(response.headers["skyhouse-job"])
        assert job.url.startswith(service.tap + "/async/")
        assert f"It starts again as a job, which goes on without you: {job.url}" in response.text
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows() == f"c\r\n{sum(999_999 - n for n in range(3000))}\r\n"

    def test_in_a_result_that_has_begun(self, serve: Callable[..., Any]) -> None:
        service = serve(sync_seconds=1)
        query = "SELECT a.n, b.half FROM svc.numbers AS a, svc.numbers AS b"
        response = service.ask(query, MAXREC="10000000", ON_TIMEOUT="job", FORMAT="votable")
        assert response.status_code == 200
        url = response.text.rpartition("goes on without you: ")[2].partition("<")[0]
        assert Job(url).delete().status_code == 303

    def test_the_operator_decides(self, serve: Callable[..., Any], heavy: str) -> None:
        never, always = (serve(sync_seconds=0.3, sync_timeout_jobs=rule) for rule in ("never", "always"))
        assert "skyhouse-job" not in never.ask(heavy, ON_TIMEOUT="job").headers
        assert "skyhouse-job" not in always.ask(heavy, ON_TIMEOUT="error").headers
        assert Job(always.ask(heavy).headers["skyhouse-job"]).delete().status_code == 303

    def test_a_job_is_its_users_and_counts_as_such(self, serve: Callable[..., Any], accounts: Path, heavy: str) -> None:
        service = serve(sync_seconds=0.3, accounts=accounts, user_running_jobs=1, user_waiting_jobs=1)
        alice = User(service, "alice")
        answers = [alice.ask(heavy, ON_TIMEOUT="job") for _ in range(3)]
        jobs = [Job(answer.headers["skyhouse-job"], alice.auth) for answer in answers[:2]]
        assert httpx.get(jobs[0].url, verify=False).status_code == 403
        assert "No job could be started for it: 1 of your jobs wait already" in answers[2].text
        for job in jobs:
            assert job.delete().status_code == 303
        alice.session.close()

    def test_a_wrong_wish(self, service: Any) -> None:
        assert "give job or error" in service.ask(LIGHT, ON_TIMEOUT="wait").text
