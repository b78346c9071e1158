"""Tables that every server has whole, without a Keeper that copies them: servers that are new get the rows."""

from __future__ import annotations

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import CLUSTER_NAME
from clickhouse_schema.table_ddl import given_columns
from loaders.cluster.verify_shards import row_hash_sql
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_COPY_SETTINGS = {"max_partitions_per_insert_block": 0}


def copy_whole_table(servers: Servers[Engine], entry: TableEntry, reporter: Reporter) -> None:
    """Give each server the rows of the connected one where it has others. Raises ``LoadError``."""
    if servers.topology.is_replicated or not servers.topology.is_cluster:
        return
    source = servers.engine
    wanted = _fetch_sums(source, entry)
    columns = ", ".join(quote_identifier(name) for name in given_columns(entry.table))
    database, name = entry.engine_table
    everywhere = ", ".join(map(quote_string, (CLUSTER_NAME, database, name)))
    for engine in servers.list_engines():
        if engine is source or _fetch_sums(engine, entry) == wanted:
            continue
        reporter.output(f"copying {entry.qualified_name}")
        engine.execute(f"TRUNCATE TABLE {entry.storage_sql}")
        engine.execute(
            f"INSERT INTO {entry.storage_sql} ({columns}) SELECT {columns} FROM cluster({everywhere})"
            f" WHERE _shard_num = {servers.connected_shard + 1}",
            _COPY_SETTINGS,
        )
        if _fetch_sums(engine, entry) != wanted:
            raise LoadError(f"{entry.qualified_name} was changed while it was copied: start the same command again")


def _fetch_sums(engine: Engine, entry: TableEntry) -> dict[str, int]:
    sums = f"count() AS rows, sum({row_hash_sql(entry.table)}) AS hashes"
    [found] = engine.fetch_table(f"SELECT {sums} FROM {entry.storage_sql}").to_pylist()
    return dict(found)
