"""Queries of the rows of one shard are sent to its server; another server replaces it if it fails."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from clickhouse_schema.shard_map import ShardStatement
from tap_service.config import Config
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import remote_servers, running_cluster, running_server, urls_of


def _ask(engine: Engine, shard: int) -> tuple[str, int]:
    """Return which of the two statements was executed, and the port of the server that executed it."""
    statement = ShardStatement(shard, "SELECT 'of the shard' AS which, tcpPort() AS port")
    with engine.stream_batches("SELECT 'of the cluster' AS which, tcpPort() AS port", on_shard=statement) as batches:
        [row] = pa.Table.from_batches(batches).to_pylist()
    return row["which"], row["port"]


def _open(servers: list[ClickHouseServer]) -> Engine:
    return open_remote_engine(Config(clickhouse_url=urls_of(servers)))


def test_the_server_of_the_shard_is_queried_and_any_other_if_it_is_down(tmp_path: Path) -> None:
    with running_cluster(tmp_path, 3) as servers:
        engine = _open(servers)
        for _ in range(2):  # the servers take turns
            for shard, server in enumerate(servers):
                assert _ask(engine, shard) == ("of the shard", server.tcp_port)
        servers[1].kill()
        which, port = _ask(engine, 1)
        assert which == "of the cluster"
        assert port in (servers[0].tcp_port, servers[2].tcp_port)
        assert _ask(engine, 2) == ("of the shard", servers[2].tcp_port)
        engine.close()


def test_servers_that_do_not_know_their_shard_are_asked_for_all(tmp_path: Path) -> None:
    """A server without a cluster, and a server whose address in the cluster is another server's."""
    more = remote_servers([[("127.0.0.1", 9)]])
    with running_server(tmp_path / "alone") as alone, running_server(tmp_path / "strange", more) as strange:
        engine = _open([alone, strange])
        assert {_ask(engine, 0)[0] for _ in range(4)} == {"of the cluster"}
        engine.close()
