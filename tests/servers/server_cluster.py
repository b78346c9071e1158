"""Clusters of real ClickHouse servers on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.ports import free_port

_SECRET = "the servers of a test"


@contextmanager
def running_server(folder: Path, more: str = "", *, users: Path | None = None) -> Iterator[ClickHouseServer]:
    server = ClickHouseServer(folder, more, users=users)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def running_cluster(
    folder: Path, shards: int, ports: Sequence[int] | None = None, configure: Callable[[int], str] = lambda _: ""
) -> Iterator[list[ClickHouseServer]]:
    """Yield the servers of a cluster, one for each shard; a folder of an earlier cluster has its tables.

    ``ports`` are the ports of the native interface, for a cluster that grows; ``configure`` returns additional XML
    for a shard.
    """
    ports = (ports or [free_port() for _ in range(shards)])[:shards]
    more = remote_servers([[("127.0.0.1", port)] for port in ports])
    with ExitStack() as stack:
        servers = []
        for number, port in enumerate(ports):
            server = ClickHouseServer(folder / str(number), more + configure(number), tcp_port=port)
            stack.callback(server.kill)
            servers.append(server)
        yield servers


@contextmanager
def running_replicas(
    folder: Path, name: str, shards: int, fill: Callable[[ClickHouseServer, int], None]
) -> Iterator[list[list[ClickHouseServer]]]:
    """Yield the servers of the cluster ``name`` with two replicas of each shard, whose tables do not change.

    ``fill`` creates the tables of a shard on its first server; the second server gets a copy of its folder.
    """
    ports = [[free_port() for _ in range(2)] for _ in range(shards)]
    more = remote_servers([[("127.0.0.1", port) for port in pair] for pair in ports], name)
    with ExitStack() as stack:
        found: list[list[ClickHouseServer]] = []
        for number, (port, copied_port) in enumerate(ports):
            data_folder, copied_folder = (folder / f"{number}{letter}" for letter in "ab")
            first = ClickHouseServer(data_folder, more, tcp_port=port)
            stack.callback(first.kill)
            fill(first, number)
            first.kill()
            shutil.copytree(data_folder, copied_folder, symlinks=True)
            first.start()
            second = ClickHouseServer(copied_folder, more, tcp_port=copied_port)
            stack.callback(second.kill)
            found.append([first, second])
        yield found


def remote_servers(shards: Sequence[Sequence[tuple[str, int]]], name: str = "skyhouse") -> str:
    """Return the configuration of a cluster: host and port of each replica of each shard."""
    replicas = (
        "".join(f"<replica><host>{host}</host><port>{port}</port></replica>" for host, port in shard)
        for shard in shards
    )
    body = "".join(f"<shard><internal_replication>true</internal_replication>{each}</shard>" for each in replicas)
    return f"<remote_servers><{name}><secret>{_SECRET}</secret>{body}</{name}></remote_servers>"


def urls_of(servers: Sequence[ClickHouseServer]) -> str:
    return ",".join(server.url for server in servers)


@contextmanager
def prepared_engine(servers: Sequence[ClickHouseServer]) -> Iterator[Engine]:
    """Yield the engine of these servers, with Skyhouse's own tables."""
    engine = open_remote_engine(Config(clickhouse_url=urls_of(servers)))
    try:
        prepare_engine(engine)
        yield engine
    finally:
        engine.close()


def execute_everywhere(engine: Engine, sql: str, settings: Mapping[str, str | int | float] | None = None) -> None:
    """Execute a statement on each server."""
    for server in engine.require_servers():
        server.execute(sql, settings)


def fetch_everywhere(engine: Engine, sql: str) -> pa.Table:
    """Return the results of all servers, one after the other."""
    return pa.concat_tables([server.fetch_table(sql) for server in engine.require_servers()])
