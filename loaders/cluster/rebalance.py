"""``skyhouse shards``: reports the sizes of the shards, and moves the rows of all tables to a new shard map.

Each map has separate tables, whose names contain its generation (``clickhouse_schema.shard_map``):

    tables of generation g+1 on all servers -> rows from their old shards to their new ones, parents before children
      -> copies into the overlaps -> every row and copy checked -> the map in the catalogue, by one INSERT
      -> DROP of the tables of generation g

The service runs meanwhile. Readers see all rows of one generation, because a query keeps the names to which it was
translated. A move that was killed before the INSERT has changed nothing; after it, the move is complete and the next
move drops the old tables. The rows exist twice during the move: each server needs as much free space as its rows
take. Nothing may be loaded until the move is finished; if something was loaded, the move ends without a change.
"""

from __future__ import annotations

import time

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.schema_drift import create_missing_sql
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_balance import sum_moved_weight, sum_shard_weights
from clickhouse_schema.tap_schema import TAP_SCHEMA
from loaders.cluster.cluster_publication import LINGER_SECONDS
from loaders.cluster.running_statements import end_statements
from loaders.cluster.shard_plan import ShardPlan
from loaders.cluster.sharded_storage import drop_other_generations, read_load_versions, refuse_unfinished_loads
from loaders.cluster.table_mover import MOVE_PREFIX, TableMover
from loaders.cluster.whole_table_copies import copy_whole_table
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.storage.replica_sync import wait_for_replicas
from tap_service.storage.engine.engine import Engine


def report_shards(engine: Engine, shard_count: int, reporter: Reporter) -> None:
    """Report the rows and bytes of each shard, now and after ``move_shards``.

    Parameters
    ----------
    engine : Engine
        The connected server.
    shard_count : int
        Number of shards to use; 0 for all.
    reporter : Reporter
        Receives the report.

    Raises
    ------
    LoadError
        This is not a cluster, or it has fewer shards.
    """
    plan = ShardPlan(engine, shard_count)
    rows, sizes = plan.sum_weights("rows"), plan.sum_weights("bytes")
    maps = (plan.current.map, plan.wanted.map)
    columns = [sum_shard_weights(weights, shard_map) for shard_map in maps for weights in (rows, sizes)]
    for shard in range(max(shard_map.shard_count for shard_map in maps)):
        now_rows, now_size, new_rows, new_size = (
            float(column[shard]) if shard < len(column) else 0.0 for column in columns
        )
        now = f"{now_rows:,.0f} rows, {now_size / 1e6:,.1f} MB"
        reporter.output(f"shard {shard}: {now}; balanced: {new_rows:,.0f} rows, {new_size / 1e6:,.1f} MB")
    moved = sum_moved_weight(rows, *maps)
    reporter.output(f"{moved:,.0f} of {rows.sum():,.0f} rows would be on another shard: skyhouse shards move")


def prepare_servers(engine: Engine, reporter: Reporter) -> None:
    """Create the tables on servers that lack them, such as the new server through which this is called.

    Queries read whole tables on their own server, so the new server gets the rows before it is queried.

    Parameters
    ----------
    engine : Engine
        The connected server.
    reporter : Reporter
        Receives the names of tables.

    Raises
    ------
    LoadError
        No server has all rows of a table.
    """
    servers = Servers(engine)
    _create_missing_tables(servers, reporter)
    entries = _list_stored(catalogue_log.read_catalogue(engine))
    whole_tables = [entry for entry in entries if not entry.is_sharded]
    for entry in whole_tables:
        reporter.check()
        copy_whole_table(servers, entry, reporter)
    wait_for_replicas(servers, [entry.storage_sql for entry in whole_tables])
    reporter.output("all servers have all tables")


def _list_stored(catalogue: Catalogue) -> list[TableEntry]:
    """Return the tables that were loaded; ``prepare_engine`` has created the tables of TAP_SCHEMA."""
    return [entry for entry in catalogue.entries if entry.attached is None and entry.schema.name != TAP_SCHEMA.name]


def _create_missing_tables(servers: Servers[Engine], reporter: Reporter) -> None:
    engine, topology, catalogue = servers.engine, servers.topology, catalogue_log.read_catalogue(servers.engine)
    for entry in _list_stored(catalogue):
        statements = create_missing_sql(engine, topology, entry.schema.name, entry.table, entry.engine_table[1])
        if statements:
            reporter.output(f"creating {entry.qualified_name}")
        for statement in statements:
            servers.execute_statement(statement)


def move_shards(engine: Engine, shard_count: int, reporter: Reporter) -> None:
    """Move the rows of all tables to a balanced map.

    Parameters
    ----------
    engine : Engine
        The connected server.
    shard_count : int
        Number of shards to use; 0 for all.
    reporter : Reporter
        Receives the names of tables; may stop the move.

    Raises
    ------
    LoadError
        The move is impossible or failed; nothing has changed.
    """
    plan = ShardPlan(engine, shard_count)
    end_statements(engine, plan.topology, MOVE_PREFIX)
    if catalogue_log.is_move_announced(engine):
        catalogue_log.announce_move(engine, False)
    drop_other_generations(plan, plan.current)
    if plan.wanted == plan.current:
        reporter.output("the shards are balanced")
        return
    refuse_unfinished_loads(plan)
    _create_missing_tables(plan.servers, reporter)
    before = read_load_versions(plan)
    try:
        _move_tables(plan, reporter)
        _publish_sharding(plan, before)
    except LoadError:
        drop_other_generations(plan, plan.current)
        raise
    reporter.output(f"{len(plan.entries)} tables have balanced shards")
    time.sleep(LINGER_SECONDS)
    drop_other_generations(plan, plan.wanted)


def _move_tables(plan: ShardPlan, reporter: Reporter) -> None:
    """Fill and check the tables of the next generation."""
    for entry in plan.entries:
        reporter.check()
        reporter.message(f"moving {entry.qualified_name}")
        mover = TableMover(plan, entry)
        mover.create_tables()
        mover.copy_rows()
        mover.check_rows()


def _publish_sharding(plan: ShardPlan, before: tuple[int, int]) -> None:
    """Publish the new map, unless something was loaded since ``before`` (``read_load_versions``).

    A load that ends now finds the announcement and publishes nothing, or its new version is found here.
    """
    catalogue_log.announce_move(plan.engine, True)
    try:
        if read_load_versions(plan) != before:
            raise LoadError(
                "something was loaded during the move, so nothing was moved: start the same shards move again"
            )
        refuse_unfinished_loads(plan)
        catalogue_log.write_sharding(plan.engine, plan.wanted)
    finally:
        catalogue_log.announce_move(plan.engine, False)
