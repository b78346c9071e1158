"""The tables of a cluster with replicas, created with a real ZooKeeper by one engine for each of compose's four
servers.

The tables are read-only in such an engine: INSERT and ALTER of replicated tables have never been run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from clickhouse_schema.cluster_ddl import create_sharded_sql
from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.engine_tables import append_record, user_table_record
from clickhouse_schema.quoting import quote_table
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.shard_map import LOCAL, OVERLAP
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.tap_schema import TAP_SCHEMA
from tests.cluster.zookeeper import zookeeper
from tests.compose.serving import ENVIRONMENT, users_file
from tests.support.environment import ROOT

CLUSTER = Topology(2, is_replicated=True)
SERVERS = {"clickhouse-1a": "1", "clickhouse-1b": "1", "clickhouse-2a": "2", "clickhouse-2b": "2"}

_MAKE = """
import json, os, sys, chdb
connection = chdb.connect(sys.argv[1])
for statement in json.load(sys.stdin):
    connection.query(statement)
replicas = "SELECT database, table, zookeeper_path, replica_name, total_replicas FROM system.replicas"
print(connection.query(replicas, "JSONCompact").bytes().decode(), flush=True)
os._exit(0)  # the engine does not come to an end with replicated tables
"""


class _Listening:
    """Stands for servers without tables; records their statements."""

    topology = CLUSTER

    def __init__(self) -> None:
        self.engine = self
        self.statements: list[str] = []

    def execute_everywhere(self, *statements: str) -> None:
        self.statements += statements

    def fetch_table(self, sql: str, settings: Any = None) -> pa.Table:
        return pa.table({name: pa.array([], pa.string()) for name in ("uuid", "name", "type", "latest")})


def statements() -> list[str]:
    """Return all CREATE statements of a sharded table, of TAP_SCHEMA, and of the records of user tables."""
    listening: Any = _Listening()
    schema, _ = read_schema(ROOT / "loaders" / "demo" / "openngc.yaml")
    databases = ["skyhouse", TAP_SCHEMA.name, schema.name]
    listening.execute_everywhere(*create_sharded_sql(schema.tables[0], schema.name, schema.tables[0].name, CLUSTER))
    for table in TAP_SCHEMA.tables:
        listening.execute_everywhere(create_table_sql(table, quote_table(TAP_SCHEMA.name, table.name), CLUSTER))
    append_record.create_append_record(listening)
    user_table_record.create_user_tables(listening)
    made = [statement for statement in listening.statements if statement.startswith("CREATE")]
    return [*(f"CREATE DATABASE IF NOT EXISTS {name}" for name in databases), *made]


@dataclass(frozen=True)
class Made:
    """``replicas``: the rows of each server's system.replicas; ``paths``: all paths in ZooKeeper."""

    replicas: dict[str, list[dict[str, Any]]]
    paths: set[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("zookeeper")
    with zookeeper(folder) as keeper:
        configuration = _configuration(folder, keeper.port)
        replicas, sent = {}, json.dumps(statements())
        for server, shard in SERVERS.items():
            environment = {**os.environ, **ENVIRONMENT, "REPLICA": server, "SHARD": shard}
            path = f"{folder}/{server}?config-file={configuration}"
            command = [sys.executable, "-c", _MAKE, path]
            said = subprocess.run(command, input=sent, env=environment, capture_output=True, text=True, check=False)
            assert said.returncode == 0, said.stderr
            replicas[server] = _rows(said.stdout)
        return Made(replicas, set(keeper.paths("/clickhouse/tables")))


def _configuration(folder: Path, port: int) -> Path:
    """Return compose's configuration with this ZooKeeper instead of its keepers."""
    document = ElementTree.parse(ROOT / "compose" / "clickhouse" / "config.xml")
    root = document.getroot()
    root.extend(ElementTree.parse(ROOT / "compose" / "clickhouse" / "replicas.xml").getroot())
    keepers, logger = root.find("zookeeper"), root.find("logger")
    assert keepers is not None
    assert logger is not None
    keepers.clear()
    logger.clear()
    node = ElementTree.SubElement(keepers, "node")
    ElementTree.SubElement(node, "host").text, ElementTree.SubElement(node, "port").text = "127.0.0.1", str(port)
    ElementTree.SubElement(root, "users_config").text = str(users_file(folder))
    document.write(folder / "config.xml")
    return folder / "config.xml"


def _rows(text: str) -> list[dict[str, Any]]:
    answer = json.loads(text)
    names = [column["name"] for column in answer["meta"]]
    return [dict(zip(names, row, strict=True)) for row in answer["data"]]


def test_each_server_is_a_replica_of_all_its_tables(made: Made) -> None:
    tables = {server: {(row["database"], row["table"]) for row in rows} for server, rows in made.replicas.items()}
    everywhere = tables["clickhouse-1a"]
    assert all(found == everywhere for found in tables.values())
    assert {("openngc", f"objects{part}") for part in (LOCAL, OVERLAP)} <= everywhere
    assert {("TAP_SCHEMA", table.name) for table in TAP_SCHEMA.tables} <= everywhere
    assert {("skyhouse", "appends"), ("skyhouse", "user_tables"), ("skyhouse", "own_columns")} <= everywhere


def test_parts_have_a_path_for_each_shard_and_other_tables_have_one(made: Made) -> None:
    for server, shard in SERVERS.items():
        for row in made.replicas[server]:
            is_part = row["table"].endswith((LOCAL, OVERLAP))
            assert row["zookeeper_path"].rpartition("/")[2] == (shard if is_part else "whole")
            assert row["replica_name"] == (server if is_part else f"{shard}-{server}")
            others = {
                path.rpartition("/")[2] for path in made.paths if _parent(path) == f"{row['zookeeper_path']}/replicas"
            }
            same_shard = {name for name, number in SERVERS.items() if number == shard}
            assert others == (same_shard if is_part else {f"{number}-{name}" for name, number in SERVERS.items()})


def test_the_last_server_sees_all_others(made: Made) -> None:
    seen = {row["total_replicas"] for row in made.replicas["clickhouse-2b"] if row["table"].endswith((LOCAL, OVERLAP))}
    whole = {row["total_replicas"] for row in made.replicas["clickhouse-2b"] if row["database"] == "TAP_SCHEMA"}
    assert (seen, whole) == ({2}, {4})


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
