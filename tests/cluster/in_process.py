"""A cluster of several shards in one process: chDB with ClickHouse's real Distributed engine, behind the stand-in.

All shards of the cluster ``skyhouse`` are the server itself (``clickhouse_schema.cluster_topology``), so no rows go over a
network, but each query is cut up for the shards and put together as on a cluster. A process holds one data path, so each
cluster has its own process, which ends with the one that started it.

In its own process: ``python -m tests.cluster.in_process FOLDER SHARDS TCP_PORT``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clickhouse_schema.engine_tables import engine_setup
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.cluster.serving import process_of, serve
from tests.tap_service.storage.clickhouse_server import free_port

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
            engine_setup.prepare_engine(engine)
            yield engine
        finally:
            engine.close()


@contextmanager
def served_cluster(folder: Path, shards: int, *elsewhere: str) -> Iterator[str]:
    """The address of a cluster over HTTP; a folder that one was in before has its tables. Without shards: one server.

    ``elsewhere`` are addresses of servers that are further shards, and that nobody needs to answer at.
    """
    arguments = (str(folder), str(shards), str(free_port()), *elsewhere)
    with process_of("tests.cluster.in_process", *arguments) as url:
        yield url


def main(folder: str, shards: str, port: str, *elsewhere: str) -> None:
    hosts = ["127.0.0.1"] * int(shards) + [*elsewhere]
    replicas = "".join(_REPLICA.format(host=host, port=port) for host in hosts)
    cluster = f"<skyhouse>{replicas}</skyhouse>" if replicas else ""
    serve(Path(folder), _CONFIGURATION.format(port=port, cluster=cluster), "cluster")


if __name__ == "__main__":
    main(*sys.argv[1:])
