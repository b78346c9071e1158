"""docs/cluster.md is followed word for word with three servers on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.compose.serving import PASSWORDS, configured_cluster
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.environment import ROOT, make_environment
from tests.support.ports import free_port

PAGE = ROOT / "docs" / "cluster.md"
SECTION = "## Several servers without replicas\n"
STARS = 6000

SCHEMA = """
name: survey
tables:
- name: stars
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 0.1}
- name: bands
  columns: [{name: band, datatype: string}]
"""


def read_blocks() -> list[str]:
    """Return the commands of a section, block by block."""
    section = PAGE.read_text().partition(SECTION)[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


@dataclass(frozen=True)
class Followed:
    """Yield the servers, the service's address, and the output of the commands."""

    servers: list[ClickHouseServer]
    tap: str
    output: str


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    folder = tmp_path_factory.mktemp("walkthrough")
    random = np.random.default_rng(8)
    columns = {"id": np.arange(STARS), "ra": random.uniform(0, 360, STARS), "dec": random.uniform(-90, 90, STARS)}
    pq.write_table(pa.table(columns), folder / "stars.parquet")
    (folder / "bands.csv").write_text("band\ng\nr\n")
    (folder / "survey.yaml").write_text(SCHEMA)
    with configured_cluster(folder / "servers") as servers:
        port = free_port()
        process = _start(folder, _as_here(read_blocks(), servers, port))
        try:
            output, _ = process.communicate(timeout=100)
            assert process.returncode == 0, output
            yield Followed(servers, f"http://127.0.0.1:{port}/tap", output)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # the service, which the last block leaves running


def _as_here(blocks: list[str], servers: list[ClickHouseServer], port: int) -> str:
    """Return the commands with this machine's addresses; the command after the start of the service waits for it."""
    here = {"http://127.0.0.1:8000": f"http://127.0.0.1:{port}", "--port 8000": f"--port {port}"}
    here |= {f"http://clickhouse-{number}:8123": server.url for number, server in enumerate(servers, 1)}
    here |= {"skyhouse serve": "skyhouse serve > serve.log 2>&1"}
    wait = "until curl --silent --output /dev/null http://127.0.0.1:8000/tap/availability; do sleep 0.1; done\n"
    text = "".join(block + (wait if "skyhouse serve" in block else "") for block in blocks)
    assert "skyhouse serve" in text
    # in one pass: a port may contain the digits of another port
    return "set -eux\n" + re.sub("|".join(map(re.escape, here)), lambda found: here[found[0]], text)


def _start(folder: Path, script: str) -> subprocess.Popen[str]:
    environment = make_environment(folder / "data")
    environment |= {"LOADER_PASSWORD": PASSWORDS["loader"], "SERVICE_PASSWORD": PASSWORDS["skyhouse"]}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    return subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ask(tap: str, query: str) -> httpx.Response:
    return httpx.get(f"{tap}/sync", params={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query}, timeout=60)


def test_every_command_did_what_the_page_says(followed: Followed) -> None:
    output = followed.output
    assert f"loaded {STARS:,} rows into survey.stars" in output
    assert "loaded 2 rows into survey.bands" in output
    assert f"survey.stars: {STARS:,} rows, {STARS:,} were loaded from 1 inputs" in output
    assert [line for line in ("shard 0:", "shard 1:", "shard 2:") if line not in output] == []
    assert output.replace("\r", "").endswith(f"n\n{STARS}\n")


def test_a_server_that_fails(followed: Followed) -> None:
    """Queries that need the shard get an error, others work, and all work again when it is back."""
    everything = "SELECT COUNT(*) AS n FROM survey.stars"
    *_, last = followed.servers
    # on the first shard of a uniform map, which has the first cells
    north = "SELECT COUNT(*) AS n FROM survey.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(45, 60, 5))"
    elsewhere = ask(followed.tap, north).text
    last.kill()
    try:
        answer = ask(followed.tap, everything)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert "127.0.0.1" not in answer.text
        assert ask(followed.tap, north).text == elsewhere
    finally:
        last.start()
    while (answer := ask(followed.tap, everything)).status_code == 503:
        time.sleep(0.1)
    assert answer.text.split() == ["n", str(STARS)]
