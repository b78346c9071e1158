"""The tests' tables in the engine: as on a single server, or cut up among shards when the engine is a cluster.

``pytest tests/adql --shards 3`` runs the tests on a cluster of three servers: all answers have to be the same. The map scatters its cells, so that there are borders everywhere, and tables without a position are cut up too.
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

#: Degrees of the overlap of tables with a position: matches of more are not done by the shards alone
OVERLAP_RADIUS = 1.0


def store(engine: Engine, schema_name: str, table: Table, batches: Iterable[pa.RecordBatch]) -> None:
    """Make the table with these rows, anew where another file of tests in this process has made it.

    As a load does it, columns without NULLs are not Nullable.
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
    cut, came = _cut(table), f"{quote_identifier(schema_name)}.{quote_identifier(table.name + '_came')}"
    servers = Servers(engine)
    create_database(servers, schema_name)
    servers.execute_everywhere(*create_sharded_sql(store_plainly(cut, plain), schema_name, table.name, topology))
    servers.engine.execute(create_table_sql(table, came))
    engine.insert_batches(came, batches)
    _spread(engine, cut, schema_name, came, topology)


def catalogue_of(engine: Engine, *schemas: Schema, counts: Mapping[tuple[str, str], int] | None = None) -> Catalogue:
    """The catalogue of stored tables."""
    topology = read_topology(engine)
    if not topology.is_cluster:
        return Catalogue(schemas, counts or {})
    cut = (schema.model_copy(update={"tables": tuple(map(_cut, schema.tables))}) for schema in schemas)
    return Catalogue(tuple(cut), counts or {}, sharding=placement_of(topology))


def placement_of(topology: Topology) -> Sharding:
    """Each sixteen cells, of 15 degrees together, on any of the shards."""
    blocks = np.random.default_rng(4).integers(0, topology.shards, 12 * 4**MAP_ORDER // 16)
    return Sharding(CLUSTER_NAME, ShardMap(MAP_ORDER, (*np.repeat(blocks, 16).tolist(), 0)))


def _cut(table: Table) -> Table:
    """One that a cluster cuts up."""
    said = {"overlap_radius": OVERLAP_RADIUS} if table.layout.position else {"parent": "anything"}
    return table.model_copy(update={"layout": table.layout.model_copy(update=said)})


def _spread(engine: Engine, table: Table, schema_name: str, came: str, topology: Topology) -> None:
    names = ", ".join(quote_identifier(name) for name in given_columns(table))
    placed = placement_of(topology).map
    position = table.layout.position
    if position is None:
        shard = f"toUInt16(rowNumberInAllBlocks() % {topology.shards})"
    else:
        shard = placed.shard_sql(index_sql(*(quote_identifier(name) for name in position)))
    local = topology.insert_target_sql(schema_name, table.name, LOCAL)
    engine.execute(f"INSERT INTO {local} ({names}, {SHARD_COLUMN}) SELECT {names}, {shard} FROM {came}")
    if position is not None:
        overlap = topology.insert_target_sql(schema_name, table.name, OVERLAP)
        copies = f"arrayJoin({Overlap(placed, OVERLAP_RADIUS).copy_shards_sql('hpx29', shard)})"
        engine.execute(f"INSERT INTO {overlap} ({names}, {SHARD_COLUMN}) SELECT {names}, {copies} FROM {came}")
