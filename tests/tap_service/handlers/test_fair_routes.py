"""No route delays others' requests: reading the engine or the catalogue takes a turn of the client."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.queries.name_resolver import NameResolver
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.registry_file import write_registry_file
from tests.support.running_service import RunningService
from tests.tap_service.readable_sockets import find_readable
from tests.tap_service.route_requests import list_operations
from tests.tap_service.users import temporary_user

QUERY = "SELECT TOP 3 id FROM svc.stars"
#: threads that serve all clients: the event loop, and the threads of ``run_in_threadpool``
SHARED = ("Thread-", "AnyIO worker")
#: routes that read the engine there, each at most once in an interval for all clients together
CACHED: set[str] = set()
#: more than all threads of ``run_in_threadpool``
REQUESTS = 50


@pytest.fixture
def shared_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what is read on threads that all clients share, from now on."""
    found: list[str] = []

    def watch(owner: type, name: str) -> None:
        read = getattr(owner, name)

        def watched(*arguments: Any, **named: Any) -> Any:
            if threading.current_thread().name.startswith(SHARED):
                found.append(f"{owner.__name__}.{name}")
            return read(*arguments, **named)

        monkeypatch.setattr(owner, name, watched)

    for name in ("execute", "fetch_table", "stream_batches", "insert_batches", "explain_query", "ping"):
        watch(EmbeddedEngine, name)
    for name in ("catalogue_for", "snapshot_for"):
        watch(CatalogueCache, name)
    return found


@pytest.fixture
def everything(
    serve: Callable[..., RunningService],
    accounts: Path,
    tmp_path: Path,
    eventually: Callable[[Callable[[], bool]], None],
) -> Iterator[tuple[RunningService, dict[str, str]]]:
    """A service with all of its routes, and the values of their path parameters."""
    registry = {
        "registry": write_registry_file(tmp_path / "registry.yaml"),
        "registry_state": tmp_path / "registry.sqlite",
    }
    service = serve(accounts=accounts, mcp=True, public_url="https://example.org", **registry)
    with temporary_user(service, "alice") as alice:
        alice.create_empty_table("mydb.mine")
        query = {"LANG": "ADQL", "QUERY": QUERY, "PHASE": "RUN", "CHECKSUM": "true"}
        job_id = alice.http("POST", "async", data=query).headers["location"].rpartition("/")[2]
        eventually(lambda: alice.http("GET", f"async/{job_id}/phase").text == "COMPLETED")
        share = alice.http("POST", "shares", data={"JOB": job_id}).json()["id"]
        yield service, {"job_id": job_id, "name": "mydb.mine", "table": "svc.stars", "share_id": share}
        alice.http("DELETE", f"shares/{share}")


def test_every_route_reads_in_turn(everything: tuple[RunningService, dict[str, str]], shared_reads: list[str]) -> None:
    service, path_values = everything
    outside: dict[str, list[str]] = {}
    statuses: dict[str, int] = {}
    with httpx.Client(base_url=service.url, auth=("alice", "correct-horse"), timeout=60) as client:
        operations = list_operations(client.get("/tap/openapi.json").json(), path_values)
        for operation in sorted(operations, key=lambda each: each.method == "DELETE"):
            shared_reads.clear()
            statuses[operation.route] = client.send(operation.build(client)).status_code
            if shared_reads:
                outside[operation.route] = list(shared_reads)
    assert outside.keys() <= CACHED, {route: reads for route, reads in outside.items() if route not in CACHED}
    assert sum(status < 400 for status in statuses.values()) > 50, statuses


def test_one_clients_requests_leave_threads_for_others(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While none of these requests is answered, others are, on every kind of route."""
    ended = threading.Event()

    def complete(*_: object) -> list[object]:
        ended.wait(60)
        return []

    monkeypatch.setattr(NameResolver, "complete_name", complete)
    with ExitStack() as stack:
        stack.callback(ended.set)
        asked = []
        for _ in range(REQUESTS):
            asked.append(stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=60)))
            asked[-1].sendall(b"GET /tap/names?prefix=a HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
        others = {"X-Forwarded-For": "192.0.2.2"}
        upload = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f"}
        files = {"f": ("t.csv", "a\n1\n", "text/csv")}
        paths = (
            "tables",
            "capabilities",
            "tables/svc.stars/density",
            "names?position=83,22&radius=5",
            "async",
        )
        answers = [
            httpx.post(service.sync, data=upload, files=files, headers=others, timeout=60),
            *(httpx.get(f"{service.tap}/{path}", headers=others, timeout=60) for path in paths),
        ]
        assert [answer.status_code for answer in answers] == [200] * len(answers)
        assert not find_readable(asked)
        ended.set()
        assert all(b"HTTP/1.1 200 " in connection.recv(100) for connection in asked)


def test_what_a_client_that_has_gone_waited_for_is_not_read(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """It does not delay the client's next requests either."""
    ended, read = threading.Event(), []

    def complete(*_: object) -> list[object]:
        read.append(1)
        ended.wait(60)
        return []

    monkeypatch.setattr(NameResolver, "complete_name", complete)
    asked = [socket.create_connection(("127.0.0.1", service.port), timeout=60) for _ in range(20)]
    try:
        for connection in asked:
            connection.sendall(b"GET /tap/names?prefix=a HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.3\r\n\r\n")
        eventually(lambda: service.metric("skyhouse_lane_requests", lane="reading", state="waiting") == 18)
        for connection in asked:
            connection.close()
        eventually(lambda: not service.server.server_state.tasks)
    finally:
        ended.set()
    assert httpx.get(f"{service.tap}/tables", headers={"X-Forwarded-For": "192.0.2.3"}, timeout=60).status_code == 200
    assert len(read) == 2
