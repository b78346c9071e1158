"""Two shards with two replicas each, which return rows so slowly that a server can be killed between two rows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Schema
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_replicas

#: rows of a shard in far.slow, each after a pause: 1.6 seconds in total
ROWS = 40

#: the longest wait for a query
_WORKING_SECONDS = 30.0

_CLUSTER = "replicas"
_TABLES = Schema.model_validate_json(
    json.dumps(
        {
            "name": "far",
            "tables": [
                {
                    "name": name,
                    "columns": [{"name": column, "datatype": "long", "nullable": False} for column in ("n", "shard")],
                }
                for name in ("slow", "quick")
            ],
        }
    )
)
_SLOW = f"SELECT toInt64(number) AS n, toInt64({{shard}}) AS shard FROM numbers({ROWS}) WHERE sleepEachRow(0.04) = 0"


@dataclass(frozen=True)
class Replicas:
    """``shards``: the servers of each shard; the service connects to the first one."""

    shards: list[list[ClickHouseServer]]

    @property
    def asked(self) -> ClickHouseServer:
        return self.shards[0][0]

    def find_worker(self, rows: int = 0) -> ClickHouseServer:
        """Wait until a replica of the second shard works on a query and has read ``rows``; return it."""
        until = time.monotonic() + _WORKING_SECONDS
        with httpx.Client() as client:
            while time.monotonic() < until:
                for server in self.shards[1]:
                    if _has_query(client, server, rows):
                        return server
                time.sleep(0.01)
        raise AssertionError(f"no replica of the second shard has read {rows} rows of a query")

    def kill_worker(self, rows: int = 0) -> ClickHouseServer:
        server = self.find_worker(rows)
        server.kill()
        return server

    def start_again(self) -> None:
        for server in self.shards[1]:
            if not server.is_running:
                server.start()


@contextmanager
def slow_replicas(folder: Path) -> Iterator[Replicas]:
    with running_replicas(folder, _CLUSTER, 2, _fill) as shards:
        yield Replicas(shards)


def _fill(server: ClickHouseServer, shard: int) -> None:
    engine = ClickHouseEngine(server.url)
    prepare_engine(engine)
    engine.execute("CREATE DATABASE far")
    engine.execute(f"CREATE VIEW far.slow_rows AS {_SLOW.format(shard=shard)} SETTINGS max_block_size = 1")
    engine.execute(
        f"CREATE TABLE far.quick_rows ENGINE = MergeTree ORDER BY n AS SELECT toInt64(number) AS n, toInt64({shard})"
        f" AS shard FROM numbers({ROWS})"
    )
    for table in _TABLES.tables:
        engine.execute(
            f"CREATE TABLE far.{table.name} (n Int64, shard Int64) ENGINE = Distributed({_CLUSTER}, far,"
            f" {table.name}_rows)"
        )
        register_table(engine, _TABLES, table)
    engine.close()


def _has_query(client: httpx.Client, server: ClickHouseServer, rows: int) -> bool:
    sql = f"SELECT 1 FROM system.processes WHERE NOT is_initial_query AND read_rows >= {rows}"
    try:
        return bool(client.post(server.url, content=sql).text.strip())
    except httpx.TransportError:
        return False
