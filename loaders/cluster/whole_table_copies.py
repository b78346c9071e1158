"""Copies of whole tables for new servers, without a Keeper that makes them."""

from __future__ import annotations

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import CLUSTER_NAME
from clickhouse_schema.table_ddl import given_columns
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.storage.row_sums import fetch_row_sums
from tap_service.storage.engine.engine import Engine

_COPY_SETTINGS = {"parallel_distributed_insert_select": 0, "max_partitions_per_insert_block": 0}


def copy_whole_table(servers: Servers[Engine], entry: TableEntry, reporter: Reporter) -> None:
    """Copy the rows of a complete server to each server that differs.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the cluster.
    entry : TableEntry
        A whole table.
    reporter : Reporter
        Receives the name of the table if it is copied.

    Raises
    ------
    LoadError
        No server has all rows, or the table was changed meanwhile.
    """
    if servers.topology.is_replicated or servers.topology.shards < 2:
        return
    sums = [(engine, fetch_row_sums(engine, entry.table, entry.storage_sql)) for engine in servers.list_engines()]
    complete = [(engine, found) for engine, found in sums if found.rows == (entry.rows or 0)]
    if not complete:
        raise LoadError(f"no server has all rows of {entry.qualified_name}: load it again with --replace")
    source, wanted = complete[-1]
    for engine, found in sums:
        if found != wanted:
            reporter.output(f"copying {entry.qualified_name}")
            _copy_rows(servers, source, engine, entry)
            if fetch_row_sums(engine, entry.table, entry.storage_sql) != wanted:
                raise LoadError(f"{entry.qualified_name} was changed while it was copied: start the same command again")


def _copy_rows(servers: Servers[Engine], source: Engine, target: Engine, entry: TableEntry) -> None:
    columns = ", ".join(quote_identifier(name) for name in given_columns(entry.table))
    everywhere = ", ".join(map(quote_string, (CLUSTER_NAME, *entry.engine_table)))
    target.execute(f"TRUNCATE TABLE {entry.storage_sql}")
    target.execute(
        f"INSERT INTO {entry.storage_sql} ({columns}) SELECT {columns} FROM cluster({everywhere})"
        f" WHERE _shard_num = {servers.get_shard(source) + 1}",
        _COPY_SETTINGS,
    )
