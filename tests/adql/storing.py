"""The tests' tables in the engine, sharded if the engine is a cluster.

``pytest tests/adql --shards 3`` runs the tests on a cluster of three servers, which must give the same answers. The map
scatters its cells, so that there are borders everywhere. Tables without a position are sharded too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_ddl import create_sharded_sql
from clickhouse_schema.cluster_topology import Topology, read_topology
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import (
    CLUSTER_NAME,
    LOCAL,
    MAP_ORDER,
    OVERLAP,
    SHARD_COLUMN,
    Sharding,
    ShardMap,
)
from clickhouse_schema.stored_nulls import list_changeable, store_plainly
from clickhouse_schema.table_ddl import create_table_sql, given_columns
from clickhouse_schema.whole_tables import create_database
from tap_service.storage.engine.engine import Engine

#: Overlap radius in degrees of tables with a position: matches of larger radii need rows of other shards
OVERLAP_RADIUS = 1.0


def store(engine: Engine, schema_name: str, table: Table, batches: Iterable[pa.RecordBatch]) -> None:
    """Create the table with these rows, and replace the table if another test module of this process has created it.

    As in a load, columns without NULLs are not Nullable.
    """
    batches = list(batches)
    plain = {name for name in list_changeable(table) if not any(batch.column(name).null_count for batch in batches)}
    topology = read_topology(engine)
    name = f"{quote_identifier(schema_name)}.{quote_identifier(table.name)}"
    if not topology.is_cluster:
        engine.execute(f"DROP TABLE IF EXISTS {name} SYNC")
        engine.execute(create_table_sql(store_plainly(table, plain), name))
        engine.insert_batches(name, batches)
        return
    sharded = _make_sharded(table)
    staged = f"{quote_identifier(schema_name)}.{quote_identifier(table.name + '_staged')}"
    servers = Servers(engine)
    create_database(servers, schema_name)
    servers.execute_everywhere(*create_sharded_sql(store_plainly(sharded, plain), schema_name, table.name, topology))
    servers.engine.execute(create_table_sql(table, staged))
    engine.insert_batches(staged, batches)
    _distribute(engine, sharded, schema_name, staged, topology)


def catalogue_of(engine: Engine, *schemas: Schema, counts: Mapping[tuple[str, str], int] | None = None) -> Catalogue:
    """Return the catalogue of stored tables."""
    topology = read_topology(engine)
    if not topology.is_cluster:
        return Catalogue(schemas, counts or {})
    sharded = (schema.model_copy(update={"tables": tuple(map(_make_sharded, schema.tables))}) for schema in schemas)
    return Catalogue(tuple(sharded), counts or {}, sharding=placement_of(topology))


def placement_of(topology: Topology) -> Sharding:
    """Return a map with each block of sixteen cells, 15 degrees wide, on a random shard."""
    blocks = np.random.default_rng(4).integers(0, topology.shards, 12 * 4**MAP_ORDER // 16)
    return Sharding(CLUSTER_NAME, ShardMap(MAP_ORDER, (*np.repeat(blocks, 16).tolist(), 0)))


def _make_sharded(table: Table) -> Table:
    """Return the table with a layout by which a cluster shards it."""
    changes = {"overlap_radius": OVERLAP_RADIUS} if table.layout.position else {"parent": "anything"}
    return table.model_copy(update={"layout": table.layout.model_copy(update=changes)})


def _distribute(engine: Engine, table: Table, schema_name: str, staged: str, topology: Topology) -> None:
    names = ", ".join(quote_identifier(name) for name in given_columns(table))
    placed = placement_of(topology).map
    position = table.layout.position
    if position is None:
        shard = f"toUInt16(rowNumberInAllBlocks() % {topology.shards})"
    else:
        shard = placed.shard_sql(index_sql(*(quote_identifier(name) for name in position)))
    local = topology.insert_target_sql(schema_name, table.name, LOCAL)
    engine.execute(f"INSERT INTO {local} ({names}, {SHARD_COLUMN}) SELECT {names}, {shard} FROM {staged}")
    if position is not None:
        overlap = topology.insert_target_sql(schema_name, table.name, OVERLAP)
        copies = f"arrayJoin({Overlap(placed, OVERLAP_RADIUS).copy_shards_sql('hpx29', shard)})"
        engine.execute(f"INSERT INTO {overlap} ({names}, {SHARD_COLUMN}) SELECT {names}, {copies} FROM {staged}")
