"""What Skyhouse keeps for itself in the engine, created or brought up to date when a process starts."""

from __future__ import annotations

import time

from clickhouse_schema.cluster_topology import ClusterError, Topology, read_topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.append_record import create_append_record
from clickhouse_schema.engine_tables.catalogue_log import (
    catalogue_lock,
    create_catalogue_log,
    read_catalogue,
    read_sharding,
    write_first_sharding,
)
from clickhouse_schema.engine_tables.density_table import create_density_table
from clickhouse_schema.engine_tables.tap_schema_tables import create_tap_schema, write_tap_schema
from clickhouse_schema.engine_tables.user_table_record import create_user_tables
from clickhouse_schema.replicated_tables import create_database
from clickhouse_schema.shard_map import CLUSTER_NAME
from clickhouse_schema.tap_schema import TAP_SCHEMA

#: How long a server that joined later may take to copy the catalogue.
_MAX_REPLICA_SECONDS = 60


def prepare_engine(engine: Engine) -> None:
    """Create the tables of Skyhouse's own and rewrite TAP_SCHEMA from the catalogue. May be repeated.

    The first shard map of a cluster gives each shard the same share of the sky.

    Raises
    ------
    ClusterError
        The tables belong to another configuration of servers, or a replica does not copy them.
    """
    topology = read_topology(engine)
    _refuse_other_topology(engine, topology)
    with catalogue_lock:
        create_database(engine, topology, "skyhouse")
        create_catalogue_log(engine, topology)
        _wait_for_replica(engine, topology, "catalogue")
        create_density_table(engine, topology)
        create_append_record(engine, topology)
        _wait_for_replica(engine, topology, "appends")
        create_database(engine, topology, TAP_SCHEMA.name)
        if topology.is_cluster and read_sharding(engine) is None:
            write_first_sharding(engine, topology.shards)
        create_tap_schema(engine, topology)
        write_tap_schema(engine, read_catalogue(engine))
        create_user_tables(engine, topology)


def _refuse_other_topology(engine: Engine, topology: Topology) -> None:
    """Raise ``ClusterError`` if the existing tables were created for another configuration of servers."""
    sql = "SELECT engine FROM system.tables WHERE database = 'skyhouse' AND name = 'catalogue'"
    found = engine.fetch_table(sql).to_pylist()
    if not found:
        return
    has_sharding = read_sharding(engine) is not None
    if has_sharding and not topology.is_cluster:
        raise ClusterError(
            f"the tables are those of a cluster, but remote_servers of the ClickHouse server has no cluster"
            f" {CLUSTER_NAME}: put it there again"
        )
    is_replicated = found[0]["engine"].startswith("Replicated")
    has_other_engine = is_replicated == topology.is_one_server
    if topology.is_cluster and (has_other_engine or not (has_sharding or _is_catalogue_empty(engine))):
        raise ClusterError(
            f"the tables were made before the cluster {CLUSTER_NAME} was: load them into new servers, or take the"
            " cluster out of remote_servers"
        )


def _is_catalogue_empty(engine: Engine) -> bool:
    return not engine.fetch_table("SELECT 1 AS one FROM skyhouse.catalogue LIMIT 1").num_rows


def _wait_for_replica(engine: Engine, topology: Topology, name: str) -> None:
    """Wait until the connected server has the newest version of a table that any server has."""
    sql = f"SELECT max(version) AS version FROM {topology.all_servers_sql(f'skyhouse.{name}')}"
    newest = engine.fetch_table(sql).column(0)[0].as_py()
    deadline = time.monotonic() + _MAX_REPLICA_SECONDS
    own_sql = f"SELECT max(version) AS version FROM skyhouse.{name}"
    while engine.fetch_table(own_sql).column(0)[0].as_py() < newest:
        if time.monotonic() > deadline:
            raise ClusterError(f"the ClickHouse server does not get {name} from its replicas: see its log")
        time.sleep(0.05)
