"""A cluster of several shards in one process: chDB with ClickHouse's real Distributed engine, behind the stand-in.

All shards of the cluster ``skyhouse`` are the server itself (``clickhouse_schema.topology``), so no rows go over a
network, but each query is cut up for the shards and put together as on a cluster. A process holds one data path, so each
cluster has its own process, which ends with the one that started it.

In its own process: ``python -m tests.cluster.in_process FOLDER SHARDS TCP_PORT``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chdb

from clickhouse_schema import apply
from tap_service.storage.clickhouse import ClickHouseEngine
from tests.tap_service.storage.clickhouse_server import ROOT, free_port
from tests.tap_service.storage.stand_in import StandIn

_REPLICA = "<shard><replica><host>{host}</host><port>{port}</port></replica></shard>"

_CONFIGURATION = """<clickhouse>
<tcp_port>{port}</tcp_port>
<listen_host>127.0.0.1</listen_host>
<remote_servers>{cluster}</remote_servers>
</clickhouse>
"""


@contextmanager
def in_process_cluster(folder: Path, shards: int) -> Iterator[ClickHouseEngine]:
    """The engine of a new cluster with its data in ``folder``, initialised; its map is uniform."""
    with served_cluster(folder, shards) as url:
        engine = ClickHouseEngine(url)
        try:
            apply.initialise(engine)
            yield engine
        finally:
            engine.close()


@contextmanager
def served_cluster(folder: Path, shards: int, *elsewhere: str) -> Iterator[str]:
    """The address of a cluster over HTTP; a folder that one was in before has its tables. Without shards: one server.

    ``elsewhere`` are addresses of servers that are further shards, and that nobody needs to answer at.
    """
    command = [sys.executable, "-m", "tests.cluster.in_process", str(folder), str(shards), str(free_port()), *elsewhere]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout as said:
        url = said.readline().decode().strip()
        if not url:
            raise RuntimeError(f"the cluster did not start: exit code {process.wait()}")
        try:
            yield url
        finally:
            process.kill()
            process.wait()


def main(folder: str, shards: str, port: str, *elsewhere: str) -> None:
    """Serve until standard input ends, as it does when the process that holds its other end is gone."""
    configuration = Path(folder) / "cluster.xml"
    hosts = ["127.0.0.1"] * int(shards) + [*elsewhere]
    replicas = "".join(_REPLICA.format(host=host, port=port) for host in hosts)
    cluster = f"<skyhouse>{replicas}</skyhouse>" if replicas else ""
    configuration.write_text(_CONFIGURATION.format(port=port, cluster=cluster))
    path = f"{folder}/clickhouse?config-file={configuration}"
    root = chdb.connect(path)
    server = StandIn(path)
    print(server.url, flush=True)
    sys.stdin.read()
    server.close()
    root.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
