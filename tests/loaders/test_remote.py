"""The commands with a ClickHouse server, each in a separate process: no process uses a data directory."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.environment import make_environment
from tests.support.ports import closed_port, free_port
from tests.tap_service.async_client import create_job
from tests.tap_service.storage.redis_server import redis_server
from tests.tap_service.worker_processes import Workers

ROWS = 5000


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The configuration of a cluster with a server for rows and one for jobs."""
    clickhouse = ClickHouseServer(tmp_path / "clickhouse")
    with redis_server(tmp_path / "redis") as jobs:
        yield {"clickhouse_url": clickhouse.url, "redis_url": jobs.url, "results_url": str(tmp_path / "results")}
    clickhouse.kill()


class Skyhouse:
    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self._environment = make_environment(folder / "data", query_log="", **settings)
        self._folder = folder

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()", *arguments]
        return subprocess.Popen(
            command, cwd=self._folder, env=self._environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __call__(self, *arguments: str) -> str:
        """Return its output; it must succeed."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        return out


def test_from_load_to_drop(tmp_path: Path, settings: dict[str, str]) -> None:
    skyhouse = Skyhouse(tmp_path, settings)
    lines = (f"{n},{n % 360},{n % 179 - 89},{'' if n % 7 == 0 else n / 2}" for n in range(ROWS))
    (tmp_path / "stars.csv").write_text("id,ra,dec,mag\n" + "\n".join(lines) + "\n")
    skyhouse("load", "stars.csv", "--table", "far.stars")
    assert "far.stars" in skyhouse("verify", "far.stars") + skyhouse("tables")
    port = free_port()
    service = skyhouse.start("serve", "--port", str(port))
    workers = Workers(settings | {"query_log": ""}, tmp_path / "workers")
    try:
        assert service.stdout is not None
        while "/tap" not in service.stdout.readline():
            assert service.poll() is None
        tap = f"http://127.0.0.1:{port}/tap"
        counted = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT COUNT(*) AS n, COUNT(mag) AS m FROM far.stars"}
        assert httpx.post(f"{tap}/sync", data=counted).text.split() == ["n,m", f"{ROWS},{ROWS - ROWS // 7 - 1}"]
        near = "SELECT id FROM far.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, -88, 0.1)) ORDER BY id"
        job = create_job(tap, near, FORMAT="csv", PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows().split() == ["id", "1", "359"]  # 2 degrees of ra are 0.07 there
        (tmp_path / "more.csv").write_text("id,ra,dec,mag\n7777,10,10,5.5\n")
        skyhouse("load", "more.csv", "--table", "far.stars", "--append")  # while the service runs
        assert httpx.post(f"{tap}/sync", data=counted).text.split()[1].startswith(f"{ROWS + 1},")
        skyhouse("drop", "far.stars")
    finally:
        for process in (service, workers.process):
            process.terminate()
        _, said = service.communicate(timeout=60)
        workers.wait()
    assert said == "stopped\n"


def test_a_server_that_does_not_exist(tmp_path: Path) -> None:
    with closed_port() as port:
        skyhouse = Skyhouse(tmp_path, {"clickhouse_url": f"http://127.0.0.1:{port}"})
        for arguments in (("tables",), ("serve", "--port", str(free_port()))):
            process = skyhouse.start(*arguments)
            _, said = process.communicate(timeout=60)
            assert process.returncode == 1
            assert re.fullmatch(f"error: cannot use the engine at http://127.0.0.1:{port}: .*refused.*\n", said), said
