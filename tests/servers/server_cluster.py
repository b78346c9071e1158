"""Clusters of real ClickHouse servers on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.clickhouse_server import ClickHouseServer, free_port

_SECRET = "the servers of a test"


@contextmanager
def running_server(folder: Path, more: str = "") -> Iterator[ClickHouseServer]:
    server = ClickHouseServer(folder, more)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def running_cluster(folder: Path, shards: int, *further: str) -> Iterator[list[ClickHouseServer]]:
    """The servers of a cluster, one for each shard.

    ``further`` are hosts of more shards, which nobody needs to answer at.
    """
    ports = [free_port() for _ in range(shards)]
    hosts = [[("127.0.0.1", port)] for port in ports] + [[(host, 9000)] for host in further]
    more = remote_servers(hosts)
    with ExitStack() as stack:
        servers = []
        for number, port in enumerate(ports):
            server = ClickHouseServer(folder / str(number), more, tcp_port=port)
            stack.callback(server.kill)
            servers.append(server)
        yield servers


def remote_servers(shards: Sequence[Sequence[tuple[str, int]]]) -> str:
    """Return the configuration of the cluster skyhouse: host and port of each replica of each shard."""
    replicas = (
        "".join(f"<replica><host>{host}</host><port>{port}</port></replica>" for host, port in shard)
        for shard in shards
    )
    body = "".join(f"<shard><internal_replication>true</internal_replication>{each}</shard>" for each in replicas)
    return f"<remote_servers><skyhouse><secret>{_SECRET}</secret>{body}</skyhouse></remote_servers>"


def urls_of(servers: Sequence[ClickHouseServer]) -> str:
    return ",".join(server.url for server in servers)
