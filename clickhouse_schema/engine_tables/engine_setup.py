"""The tables of Skyhouse itself in the engine, which are created or upgraded when a process starts."""

from __future__ import annotations

import time

from clickhouse_schema.cluster_topology import ClusterError, Topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.addition_record import ADDITIONS, WATCHED, create_addition_record
from clickhouse_schema.engine_tables.append_record import create_append_record
from clickhouse_schema.engine_tables.catalogue_log import (
    catalogue_lock,
    create_catalogue_log,
    read_catalogue,
    read_sharding,
    upgrade_catalogue,
    write_first_sharding,
)
from clickhouse_schema.engine_tables.density_table import create_density_table
from clickhouse_schema.engine_tables.tap_schema_tables import create_tap_schema, write_tap_schema
from clickhouse_schema.engine_tables.user_table_record import create_user_tables, list_record_tables
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import CLUSTER_NAME
from clickhouse_schema.tap_schema import TAP_SCHEMA
from clickhouse_schema.whole_table_repair import copy_missing_rows
from clickhouse_schema.whole_tables import create_database

#: How long a new server may take to copy the catalogue
_MAX_REPLICA_SECONDS = 60

_LOGS = ("skyhouse.catalogue", "skyhouse.appends", "skyhouse.density", ADDITIONS, WATCHED)


def prepare_engine(engine: Engine) -> None:
    """Create the tables of Skyhouse itself, and rewrite TAP_SCHEMA from the catalogue. May be repeated.

    On a cluster without a Keeper this also finishes interrupted changes of these tables and copies the tables to new
    servers. The first shard map of a cluster gives each shard the same share of the sky.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Raises
    ------
    ClusterError
        If the servers cannot be used as they are configured, if the tables belong to another configuration of the
        servers, or if a replica does not copy them.
    LaterCatalogue
        If a later version of Skyhouse has written the catalogue.
    """
    servers = Servers(engine)
    _refuse_other_topology(engine, servers.topology)
    with catalogue_lock:
        create_database(servers, "skyhouse")
        create_catalogue_log(servers)
        _wait_for_replica(engine, servers.topology, "catalogue")
        create_density_table(servers)
        create_append_record(servers)
        _wait_for_replica(engine, servers.topology, "appends")
        create_addition_record(servers)
        copy_missing_rows(servers, _LOGS)
        upgrade_catalogue(engine)
        create_database(servers, TAP_SCHEMA.name)
        if servers.topology.is_cluster and read_sharding(engine) is None:
            write_first_sharding(engine, servers.topology.shards)
        create_tap_schema(servers)
        write_tap_schema(engine, read_catalogue(engine))
        create_user_tables(servers)
        copy_missing_rows(servers, list_record_tables())


def _refuse_other_topology(engine: Engine, topology: Topology) -> None:
    """Raise ``ClusterError`` if the existing tables were created for another configuration of servers."""
    sql = "SELECT engine FROM system.tables WHERE database = 'skyhouse' AND name = 'catalogue'"
    found = engine.fetch_table(sql).to_pylist()
    if not found:
        return
    has_sharding = read_sharding(engine) is not None
    if has_sharding and not topology.is_cluster:
        raise ClusterError(
            f"the tables were created on a cluster, but remote_servers of the ClickHouse server has no cluster"
            f" {CLUSTER_NAME}: add it again"
        )
    is_replicated = found[0]["engine"].startswith("Replicated")
    has_other_engine = is_replicated != topology.is_replicated
    if topology.is_cluster and (has_other_engine or not (has_sharding or _is_catalogue_empty(engine))):
        raise ClusterError(
            f"the tables were created before the cluster {CLUSTER_NAME}: load them into new servers, or remove the"
            " cluster from remote_servers"
        )


def _is_catalogue_empty(engine: Engine) -> bool:
    return not engine.fetch_table("SELECT 1 AS one FROM skyhouse.catalogue WHERE schema_name != '' LIMIT 1").num_rows


def _wait_for_replica(engine: Engine, topology: Topology, name: str) -> None:
    """Wait until the connected server has the newest version of a table that any server has."""
    if not topology.is_replicated:
        return
    sql = f"SELECT max(version) AS version FROM {topology.all_servers_sql(f'skyhouse.{name}')}"
    newest = engine.fetch_table(sql).column(0)[0].as_py()
    deadline = time.monotonic() + _MAX_REPLICA_SECONDS
    own_sql = f"SELECT max(version) AS version FROM skyhouse.{name}"
    while engine.fetch_table(own_sql).column(0)[0].as_py() < newest:
        if time.monotonic() > deadline:
            raise ClusterError(f"the ClickHouse server does not get {name} from its replicas: see its log")
        time.sleep(0.05)
