"""``skyhouse serve --processes``: one port, several processes; a killed process is replaced without a failed request."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.loaders.test_remote import Skyhouse
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.ports import closed_port, free_port
from tests.tap_service.processes import children, said_by
from tests.tap_service.storage.redis_server import redis_server

COUNT = 2


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[dict[str, str]]:
    server = ClickHouseServer(tmp_path / "server")
    with redis_server(tmp_path / "redis") as jobs:
        yield {"clickhouse_url": server.url, "redis_url": jobs.new_url(), "results_url": str(tmp_path / "results")}
    server.kill()


def find_servers(parent: int) -> list[int]:
    """Return the serving processes; the other children watch over their semaphores, or read uploads."""
    return [child for child in children(parent) if b"spawn_main" in said_by(child, "cmdline")]


def test_a_killed_process_is_replaced(tmp_path: Path, settings: dict[str, str]) -> None:
    port = free_port()
    service = Skyhouse(tmp_path, settings).start("serve", "--port", str(port), "--processes", str(COUNT))
    try:
        assert service.stdout is not None
        while "/tap" not in service.stdout.readline():
            assert service.poll() is None
        first = find_servers(service.pid)
        assert len(first) == COUNT
        query = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT COUNT(*) AS n FROM TAP_SCHEMA.schemas"}
        victim = first[0]
        os.kill(victim, signal.SIGKILL)
        while len(now := find_servers(service.pid)) < COUNT or victim in now:
            assert httpx.post(f"http://127.0.0.1:{port}/tap/sync", data=query, timeout=60).status_code == 200
        assert first[1] in now
    finally:
        service.terminate()
        _, said = service.communicate(timeout=60)
    assert said == f"process {victim} was killed by signal 9 and is replaced\nstopped\n"
    assert not any(said_by(process, "stat") for process in now)


def test_the_processes_end_with_a_killed_parent(tmp_path: Path, settings: dict[str, str]) -> None:
    service = Skyhouse(tmp_path, settings).start("serve", "--port", str(free_port()), "--processes", str(COUNT))
    assert service.stdout is not None
    while "/tap" not in service.stdout.readline():
        assert service.poll() is None
    serving = find_servers(service.pid)
    service.kill()
    service.communicate(timeout=60)
    while any(said_by(process, "stat") for process in serving):
        time.sleep(0.05)


def read_metrics(port: int) -> dict[str, float]:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {series: float(value) for series, _, value in lines}


def test_metrics_and_hangups_of_all_processes(tmp_path: Path, settings: dict[str, str]) -> None:
    """Each process shows the metrics of both, and SIGHUP reaches both."""
    log, moved, port = tmp_path / "requests.jsonl", tmp_path / "requests.jsonl.1", free_port()
    settings = settings | {"request_log": str(log), "log_addresses": "hashed"}
    service = Skyhouse(tmp_path, settings).start("serve", "--port", str(port), "--processes", str(COUNT))
    try:
        while len(find_servers(service.pid)) < COUNT:
            time.sleep(0.01)
        os.kill(service.pid, signal.SIGHUP)  # while they start
        assert service.stdout is not None
        while "/tap" not in service.stdout.readline():
            assert service.poll() is None
        first, asked, by = find_servers(service.pid), 0, dict[str, float]()
        while len(by) < COUNT or 0.0 in by.values():
            assert httpx.get(f"http://127.0.0.1:{port}/tap/nothing").status_code == 404
            asked += 1
            route = 'route="none",status="404"'
            found = {series: value for series, value in read_metrics(port).items() if route in series}
            by = {series: value for series, value in found.items() if "http_requests_total" in series}
            assert sum(by.values()) == asked
        assert {f'skyhouse_process_up{{process="{number}"}}' for number in range(COUNT)} <= read_metrics(port).keys()
        clients = {json.loads(line)["client"] for line in log.read_text().splitlines()}
        assert len(clients) == 1  # both have the same key
        assert "127.0.0.1" not in clients
        log.rename(moved)
        os.kill(service.pid, signal.SIGHUP)
        while not log.exists():
            time.sleep(0.05)
        assert find_servers(service.pid) == first
        assert httpx.get(f"http://127.0.0.1:{port}/tap/availability", timeout=60).status_code == 200
    finally:
        service.terminate()
        _, said = service.communicate(timeout=60)
    assert said == "stopped\n"


@pytest.mark.parametrize("given", [{}, {"clickhouse_url": "http://127.0.0.1:1"}])
def test_several_processes_need_servers_and_redis(tmp_path: Path, given: dict[str, str]) -> None:
    process = Skyhouse(tmp_path, given).start("serve", "--port", str(free_port()), "--processes", "2")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    missing = "SKYHOUSE_REDIS_URL" if given else "SKYHOUSE_CLICKHOUSE_URL and SKYHOUSE_REDIS_URL"
    assert said.startswith(f"error: several processes need ClickHouse servers and jobs in Redis: set {missing}, or ")


def test_a_process_that_cannot_start_ends_all(tmp_path: Path, settings: dict[str, str]) -> None:
    with closed_port() as port:
        broken = settings | {"clickhouse_url": f"http://127.0.0.1:{port}"}
        process = Skyhouse(tmp_path, broken).start("serve", "--port", str(free_port()), "--processes", "2")
        _, said = process.communicate(timeout=100)
    assert process.returncode == 1
    assert said.startswith("error: cannot use the engine at http://127.0.0.1:")
