"""/sync between clients: turns and limits, large results and slow readers, and queries that become jobs."""

from __future__ import annotations

import base64
import json
import math
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tap_service.services.site.login_pauses import FREE_OF_ADDRESS
from tests.tap_service.async_client import LABORIOUS, Job
from tests.tap_service.readable_sockets import find_readable
from tests.tap_service.users import User

LIGHT = "SELECT n FROM svc.numbers WHERE n < 3 ORDER BY n"
Eventually = Callable[[Callable[[], bool]], None]


def ask_from(service: Any, client: str, query: str, **parameters: str) -> httpx.Response:
    """Send a query as a client behind a trusted proxy."""
    data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, **parameters}
    return httpx.post(service.sync, data=data, headers={"X-Forwarded-For": client}, timeout=100, verify=False)


def open_request(
    service: Any, parameters: dict[str, str], client: str = "192.0.2.99", headers: str = ""
) -> socket.socket:
    """Send a request; the answer waits to be read, with a small buffer in the socket."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", service.port))
    body = urlencode({"LANG": "ADQL", **parameters})
    kind = "Content-Type: application/x-www-form-urlencoded"
    head = f"POST /tap/sync HTTP/1.1\r\nHost: x\r\n{headers}X-Forwarded-For: {client}\r\n{kind}\r\nContent-Length: {len(body)}"
    connection.sendall(f"{head}\r\n\r\n{body}".encode())
    return connection


def read_answer(connection: socket.socket) -> bytes:
    """Read an answer in chunks to its end."""
    received = b""
    while not received.endswith(b"\r\n0\r\n\r\n") and (piece := connection.recv(1 << 16)):
        received += piece
    return received


def read_to_end(connection: socket.socket) -> bytes:
    """Read until the service closes the connection, and close it."""
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def count_requests(service: Any, lane: str, state: str) -> float:
    return service.metric("skyhouse_lane_requests", lane=lane, state=state)


@pytest.fixture
def crowd() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(100) as threads:
        yield threads


class TestClients:
    def test_one_client_with_heavy_queries(self, serve: Callable[..., Any], heavy: str, eventually: Eventually) -> None:
        """A client gets its turns, and 429 beyond its limit; light queries of this client and others are answered."""
        service = serve(concurrent_queries=2, client_waiting_queries=5, sync_seconds=60)
        asked = [open_request(service, {"QUERY": heavy}, "192.0.2.1") for _ in range(10)]
        try:
            eventually(lambda: len(find_readable(asked)) == 4)
            assert count_requests(service, "heavy", "waiting") == 5
            others = [ask_from(service, f"192.0.2.{number}", LIGHT) for number in range(1, 5)]
            assert [answer.text.split() for answer in others] == [["n", "0", "1", "2"]] * 4
            assert count_requests(service, "heavy", "waiting") == 5
            for refused in find_readable(asked):
                answer = refused.recv(1 << 16).decode().lower()
                assert answer.startswith("http/1.1 429")
                assert "retry-after: " in answer
        finally:
            for each in asked:
                each.close()
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)

    def test_a_flood_of_wrong_passwords(self, serve: Callable[..., Any], accounts: Path) -> None:
        """They wait for each other.

        Light queries of others, and another user's first query, are answered before them.
        """
        service = serve(accounts=accounts)
        guesses = (base64.b64encode(f"alice:guess {number}".encode()).decode() for number in range(60))
        headers = (f"Authorization: Basic {guess}\r\nConnection: close\r\n" for guess in guesses)
        asked = [open_request(service, {"QUERY": LIGHT}, "192.0.2.1", each) for each in headers]
        others = [ask_from(service, f"192.0.2.{number}", LIGHT) for number in range(2, 6)]
        assert [answer.text.split() for answer in others] == [["n", "0", "1", "2"]] * 4
        assert len(find_readable(asked)) < len(asked)
        assert User(service, "bob").ask(LIGHT).status_code == 200
        answers = [read_to_end(each) for each in asked]
        said = Counter(answer[9:12] for answer in answers)
        assert set(said) == {b"401", b"429"}
        assert said[b"401"] >= FREE_OF_ADDRESS
        for answer in answers:
            assert (b"retry-after: " in answer.lower()) == (answer[9:12] == b"429")

    def test_polygons_of_10_000_vertices(self, serve: Callable[..., Any], eventually: Eventually) -> None:
        """Their translations wait for each other; light queries are answered before them."""
        service = serve()
        corners = ", ".join(f"{100 + 3 * math.cos(n / 1600):.5f}, {3 * math.sin(n / 1600):.5f}" for n in range(10_000))
        query = f"SELECT COUNT(*) AS c FROM svc.stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON({corners}))"
        asked = [open_request(service, {"QUERY": query}, "192.0.2.1") for _ in range(12)]
        try:
            eventually(lambda: count_requests(service, "fetching", "running") >= 3)
            assert [ask_from(service, f"192.0.2.{n}", LIGHT).status_code for n in range(1, 5)] == [200] * 4
            assert len(find_readable(asked)) < len(asked)
        finally:
            for each in asked:
                each.close()
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)

    def test_another_clients_heavy_query_is_next(
        self, serve: Callable[..., Any], crowd: ThreadPoolExecutor, heavy: str, tmp_path: Path, eventually: Eventually
    ) -> None:
        log = tmp_path / "queries.log"
        service = serve(concurrent_queries=1, sync_seconds=1000, query_log=str(log))
        asked = [crowd.submit(ask_from, service, "192.0.2.1", heavy) for _ in range(4)]
        eventually(lambda: count_requests(service, "heavy", "waiting") == 3)
        asked.append(crowd.submit(ask_from, service, "192.0.2.2", heavy))
        eventually(lambda: count_requests(service, "heavy", "waiting") == 4)
        service.set_time_limit(0.1)
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
        service = serve(accounts=accounts, client_limits="@users=1/0, bob=1/5", sync_seconds=1000)
        alice, bob = User(service, "alice"), User(service, "bob")
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(alice.ask, heavy)
            eventually(lambda: count_requests(service, "heavy", "running") == 1)
            assert alice.ask(heavy).status_code == 429
            assert bob.ask(LIGHT).status_code == 200
            service.set_time_limit(0)
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


SYNC_ANSWER = "tap_service.services.queries.sync_answer"
LANES = ("light", "medium", "heavy", "bulk", "fetching")
STATES = ("running", "waiting")


class TestUnderestimated:
    """Joins on keys that the estimate takes to be many, but that are few."""

    JOIN = "FROM svc.numbers AS a JOIN svc.numbers AS b ON FLOOR(a.n / {0}) = FLOOR(b.n / {0})"
    ENDLESS = f"SELECT COUNT(*) AS c {JOIN.format(100_000)}"
    TRICKLE = f"SELECT a.n {JOIN.format(100_000)} WHERE MOD(a.n * b.n, 1009) = 7"

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, seconds in (("LIGHT_SECONDS", 0.4), ("WATCH_SECONDS", 0.1)):
            monkeypatch.setattr(f"{SYNC_ANSWER}.{name}", seconds)

    def test_they_begin_again_in_the_queue_of_heavy_ones(
        self, serve: Callable[..., Any], svc_engine: Any, eventually: Eventually
    ) -> None:
        """The sender does not matter; two stay in their lane, because nobody waits for their slots."""
        service = serve(concurrent_queries=2, sync_seconds=60)
        asked = [open_request(service, {"QUERY": self.ENDLESS}, f"192.0.2.{number}") for number in range(8)]
        try:
            eventually(lambda: count_requests(service, "heavy", "waiting") == 4)
            assert [count_requests(service, lane, "running") for lane in LANES] == [0, 2, 2, 0, 0]
            eventually(lambda: len(svc_engine.list_running_ids("sync-")) == 4)
            assert [ask_from(service, f"192.0.2.{n}", LIGHT).status_code for n in range(6, 10)] == [200] * 4
            assert not find_readable(asked)
        finally:
            for each in asked:
                each.close()
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)
        assert svc_engine.list_running_ids("sync-") == []

    def test_their_answer_is_whole(
        self,
        serve: Callable[..., Any],
        heavy: str,
        crowd: ThreadPoolExecutor,
        eventually: Eventually,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(f"{SYNC_ANSWER}.LIGHT_SECONDS", math.inf)
        service = serve(concurrent_queries=1, sync_seconds=1000)
        query = f"SELECT COUNT(*) AS c {self.JOIN.format(250)}"
        with open_request(service, {"QUERY": heavy}, "192.0.2.1"):
            eventually(lambda: count_requests(service, "heavy", "running") == 1)
            asked = crowd.submit(ask_from, service, "192.0.2.2", query)
            eventually(lambda: count_requests(service, "medium", "running") == 1)
            with open_request(service, {"QUERY": self.ENDLESS}, "192.0.2.3"):
                eventually(lambda: count_requests(service, "medium", "waiting") == 1)
                monkeypatch.setattr(f"{SYNC_ANSWER}.LIGHT_SECONDS", 0)
                eventually(lambda: count_requests(service, "heavy", "waiting") == 1)
        assert asked.result().text == "c\r\n250000000\r\n"

    def test_they_have_the_whole_time_when_they_begin_again(
        self,
        serve: Callable[..., Any],
        tmp_path: Path,
        heavy: str,
        crowd: ThreadPoolExecutor,
        eventually: Eventually,
    ) -> None:
        log = tmp_path / "queries.log"
        service = serve(concurrent_queries=1, sync_seconds=1000, query_log=str(log))
        with open_request(service, {"QUERY": heavy}, "192.0.2.1"):
            eventually(lambda: count_requests(service, "heavy", "running") == 1)
            asked = crowd.submit(ask_from, service, "192.0.2.2", self.ENDLESS)
            eventually(lambda: count_requests(service, "medium", "running") == 1)
            with open_request(service, {"QUERY": self.ENDLESS}, "192.0.2.3"):
                eventually(lambda: count_requests(service, "heavy", "waiting") == 1)
                service.set_time_limit(0.5)
                answer = asked.result()
        assert "the engine has worked for 0.5 seconds" in answer.text
        eventually(lambda: log.read_text().count("\n") == 3)
        line = next(line for line in map(json.loads, log.read_text().splitlines()) if line["client"] == "192.0.2.2")
        spent = line["milliseconds"]
        assert line["lane"] == "heavy"
        assert spent["engine"] >= 500
        assert spent["total"] >= spent["engine"] + spent["wait"] + 400

    def test_those_that_are_being_read_go_on_but_not_too_many(
        self, serve: Callable[..., Any], eventually: Eventually
    ) -> None:
        """One in the slot for heavy queries, and two in addition, which is the number of light slots."""
        service = serve(concurrent_queries=1, sync_seconds=1000, hard_maxrec=10**9)
        asked: list[socket.socket] = []
        try:
            for number, heavy in enumerate((1, 1, 2, 3, 3)):
                last = open_request(service, {"QUERY": self.TRICKLE, "MAXREC": "1000000000"}, f"192.0.2.{number}")
                asked += [last]
                eventually(lambda heavy=heavy: count_requests(service, "heavy", "running") == heavy)
                eventually(lambda last=last: last in find_readable([last]))
            crowded = b"the query takes longer than estimated, and too many long queries are running already"
            assert crowded in read_answer(asked[3])
            assert (count_requests(service, "heavy", "running"), count_requests(service, "medium", "running")) == (3, 1)
            assert ask_from(service, "192.0.2.9", LIGHT).status_code == 200
        finally:
            for each in asked:
                each.close()
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)


class TestTimeLimit:
    QUERY = "SELECT COUNT(*) AS c FROM svc.numbers AS a JOIN svc.numbers AS b ON a.n < b.n WHERE a.n < 1000"

    def test_the_query_becomes_a_job_on_request(self, serve: Callable[..., Any]) -> None:
        service = serve(sync_seconds=0.05)
        response = service.ask(self.QUERY, ON_TIMEOUT="job", FORMAT="csv")
        assert response.status_code == 400
        job = Job(response.headers["skyhouse-job"])
        assert job.url.startswith(service.tap + "/async/")
        assert f"It was restarted as a job, which continues after you disconnect: {job.url}" in response.text
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows() == f"c\r\n{sum(999_999 - n for n in range(1000))}\r\n"

    def test_in_a_result_that_has_begun(self, serve: Callable[..., Any]) -> None:
        service = serve(sync_seconds=1000, hard_maxrec=10**9)
        data = {"QUERY": LABORIOUS, "MAXREC": "1000000000", "ON_TIMEOUT": "job", "FORMAT": "votable"}
        with httpx.stream("POST", service.sync, data=data, timeout=100) as response:
            assert response.status_code == 200
            service.set_time_limit(0)
            text = "".join(response.iter_text())
        url = text.rpartition("continues after you disconnect: ")[2].partition("<")[0]
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

    def test_a_page_of_another_site_makes_no_job(self, serve: Callable[..., Any], accounts: Path) -> None:
        """For example, a browser adds the stored password to a picture's URL."""
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        for rule in ("on-request", "always", "never"):
            service = serve(sync_seconds=0.05, sync_timeout_jobs=rule, accounts=accounts)
            alice = User(service, "alice")
            for on_timeout in ("job", "error", None):
                parameters = {"QUERY": self.QUERY} | ({"ON_TIMEOUT": on_timeout} if on_timeout else {})
                answer = alice.http("GET", "sync", params=parameters, headers=elsewhere)
                is_refused = on_timeout == "job" and rule != "never"
                assert answer.status_code == (403 if is_refused else 400), (rule, on_timeout)
                assert "skyhouse-job" not in answer.headers
            assert alice.http("GET", "async", headers={"Accept": "application/json"}).json()["jobs"] == []
            alice.session.close()
        anonymous = httpx.get(service.sync, params={"QUERY": LIGHT, "ON_TIMEOUT": "job"}, headers=elsewhere)
        assert anonymous.status_code == 200

    def test_a_wrong_value_of_on_timeout(self, service: Any) -> None:
        assert "give job or error" in service.ask(LIGHT, ON_TIMEOUT="wait").text
