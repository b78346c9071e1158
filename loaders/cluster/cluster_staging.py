"""The staging tables of a load on a cluster: rows go directly to their shards, and their copies to the overlaps.

    tables of number n+1 on all servers, comment "loading" -> chunks -> counts and overlaps checked, comment "verified"

A chunk goes into a gateway table on the connected server, from there into the overlaps and then to the shards. The
engine splits the chunk, and each shard gets its rows as one block. The progress of a killed load is read by chunk and
shard: a chunk is finished when the shards have all its rows, because its copies were inserted before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.quoting import quote_string, quote_table
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.shard_map import LOCAL, OVERLAP
from clickhouse_schema.stored_nulls import list_changeable, store_plainly
from clickhouse_schema.whole_tables import create_database
from loaders.cluster import verify_shards
from loaders.cluster.cluster_tables import ClusterTables
from loaders.cluster.orphan_tables import drop_orphan_tables
from loaders.cluster.row_sender import RowSender
from loaders.storage.gateway_table import Gateway, Orphan
from loaders.storage.load_state import TableState
from loaders.storage.stored_table import (
    CHUNK_COLUMN,
    NO_WAIT_SETTINGS,
    WAIT_SETTINGS,
    list_partitions_sql,
    read_table_state,
    state_to_sql,
    wait_for_changed_rows,
    wait_for_mutations,
)

#: Separates the base name and the number of a chunk in the name of the chunk's gateway table
_CHUNK_INFIX = "__in"

#: Every replica changes its rows by itself, from its own correction table.
_EACH_REPLICA = {"allow_nondeterministic_mutations": 1}


class ClusterStagingTable:
    """The ``StagingTable`` of a cluster."""

    def __init__(self, tables: ClusterTables, sender: RowSender) -> None:
        self._tables = tables
        self._sender = sender
        self._engine = tables.engine
        #: The shards that have their rows, by part and chunk
        self._finished: dict[tuple[str, int], set[int]] = {}

    @property
    def name(self) -> str:
        return self._tables.get_state_name(self._tables.next_base)

    @property
    def rows_sql(self) -> str:
        tables = self._tables
        if not tables.table.is_sharded:
            return tables.quote_rows_table(tables.next_base, "")
        return tables.all_rows_sql(LOCAL, tables.next_base)

    def read_state(self) -> TableState | None:
        return read_table_state(self._engine, self._tables.schema_name, self.name)

    def create_table(
        self, schema: Schema, table: Table, state: TableState, *, onto_live: bool, has_chunks: bool = True
    ) -> None:
        tables = self._tables
        _ = tables.parent  # raises before anything is created
        self.drop_table()
        if tables.live_number is None:
            drop_orphan_tables(tables.servers, tables.schema_name, tables.table.name)
        create_database(tables.servers, schema.name)
        plain = tables.find_plain_columns(table, tables.live_base) if onto_live else list_changeable(table)
        tables.create_tables(store_plainly(table, plain))
        if onto_live:
            self._sender.wait_for_rows(tables.live_base)  # a server attaches only the parts that it has
        for part in tables.parts:
            if onto_live:
                self._attach_live_parts(part)
            if has_chunks:
                added = f"ADD COLUMN {CHUNK_COLUMN} UInt32"
                tables.alter_rows(tables.next_base + part, added, WAIT_SETTINGS, point=Failpoint.STAGING_ADD_CHUNKS)
        tables.write_comment(self.name, state_to_sql(state), point=Failpoint.STAGING_DESCRIBE)

    def _attach_live_parts(self, part: str) -> None:
        """Attach the partitions of the live table, as links without copying."""
        tables = self._tables
        name = tables.live_base + part
        wait_for_mutations(self._engine, tables.all_servers_sql("mutations"), tables.schema_name, name)
        parts = tables.all_servers_sql("parts")
        for partition in list_partitions_sql(self._engine, parts, tables.schema_name, name):
            change = f"ATTACH PARTITION ID {partition} FROM {quote_table(tables.schema_name, name)}"
            tables.alter_rows(tables.next_base + part, change, WAIT_SETTINGS, point=Failpoint.STAGING_ATTACH)

    def find_plain_columns(self, table: Table) -> set[str]:
        return self._tables.find_plain_columns(table, self._tables.next_base)

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        self._tables.allow_nulls(table, self._tables.next_base, columns)

    def count_chunk_rows(self) -> dict[int, int]:
        tables = self._tables
        self._sender.wait_for_rows(tables.next_base)
        self._drop_gateways()
        counts: dict[int, list[int]] = {}
        self._finished = {}
        for part in tables.parts:
            keys = f"{CHUNK_COLUMN} AS chunk, {tables.shard_number_sql} AS shard"
            rows = tables.all_rows_sql(part, tables.next_base)
            counted = self._engine.fetch_table(f"SELECT {keys}, count() AS rows FROM {rows} GROUP BY chunk, shard")
            for row in counted.to_pylist():
                self._finished.setdefault((part, row["chunk"]), set()).add(row["shard"])
                if part != OVERLAP:
                    counts.setdefault(row["chunk"], []).append(row["rows"])
        if tables.table.is_sharded:
            return {chunk: sum(found) for chunk, found in counts.items()}
        return {chunk: min(found) for chunk, found in counts.items() if len(found) == len(tables.shards)}

    def insert_chunk(self, number: int, batches: Sequence[pa.RecordBatch]) -> list[Orphan]:
        """Send a chunk's rows to the shards that do not have them yet."""
        tables = self._tables
        name = f"{tables.next_base}{_CHUNK_INFIX}{number}"
        gateway = Gateway(tables.servers, tables.schema_name, name, tables.table, tables.parent, is_kept=False)
        gateway.fill_table(batches)
        reach(Failpoint.STAGING_INSERT_BEGIN)
        try:
            for part in tables.parts:
                finished = self._finished.get((part, number), set())
                shards = [shard for shard in tables.shards if shard not in finished]
                self._sender.send_rows(gateway, part, tables.next_base, shards, number)
            reach(Failpoint.STAGING_INSERT)
            return gateway.find_orphans()
        finally:
            gateway.drop_tables()

    def delete_chunks(self, numbers: range) -> None:
        self.change_rows(f"DELETE WHERE {CHUNK_COLUMN} >= {numbers.start} AND {CHUNK_COLUMN} < {numbers.stop}")

    def change_rows(self, change: str) -> None:
        tables = self._tables
        # a replica may learn of the change only after it was asked, so the engine waits for replicas
        waiting = WAIT_SETTINGS if tables.topology.is_replicated else NO_WAIT_SETTINGS
        reach(Failpoint.STAGING_CHANGE_BEGIN)
        for part in tables.parts:
            name, settings = tables.next_base + part, waiting | _EACH_REPLICA
            tables.alter_rows(name, change, settings, point=Failpoint.STAGING_CHANGE)
            for server in tables.servers.list_engines():
                wait_for_changed_rows(server, tables.schema_name, tables.next_base + part)

    def open_gateway(self, table: Table) -> Gateway:
        tables = self._tables
        name = f"{tables.next_base}{_CHUNK_INFIX}0"
        return Gateway(tables.servers, tables.schema_name, name, table, tables.parent, is_kept=False)

    def insert_gateway(self, gateway: Gateway) -> None:
        for part in self._tables.parts:
            self._sender.send_rows(gateway, part, self._tables.next_base, [*self._tables.shards])
        reach(Failpoint.STAGING_INSERT_GATEWAY)

    def find_problems(self) -> list[str]:
        tables = self._tables
        schema = Schema(name=tables.schema_name, tables=(tables.table,))
        filled = TableEntry(schema, tables.table, is_sharded=tables.table.is_sharded, base_name=tables.next_base)
        errors = verify_shards.find_separated_children(self._engine, tables.catalogue, filled, tables.sharding)
        if not tables.table.is_sharded:
            errors += verify_shards.find_unequal_servers(
                self._engine,
                tables.table,
                tables.all_rows_sql("", tables.next_base),
                tables.shard_number_sql,
                tables.shards,
            )
        if not tables.has_overlap:
            return errors
        local, copies = (tables.all_rows_sql(part, tables.next_base) for part in (LOCAL, OVERLAP))
        return errors + verify_shards.find_overlap_problems(self._engine, tables.table, tables.overlap, local, copies)

    def mark_verified(self, state: TableState) -> None:
        self._tables.write_comment(self.name, state_to_sql(state), point=Failpoint.STAGING_VERIFY)

    def drop_table(self) -> None:
        self._sender.end_statements()
        self._drop_gateways()
        self._tables.drop_base(self._tables.next_base)

    def _drop_gateways(self) -> None:
        """Drop the gateway tables of killed processes on all servers: any of them may have been the connected one."""
        tables = self._tables
        prefix = quote_string(tables.next_base + _CHUNK_INFIX)
        where = f"database = {quote_string(tables.schema_name)} AND startsWith(name, {prefix})"
        found = self._engine.fetch_table(f"SELECT DISTINCT name FROM {tables.all_servers_sql('tables')} WHERE {where}")
        for name in found.column(0).to_pylist():
            storage_sql = quote_table(tables.schema_name, name)
            tables.servers.execute_everywhere(f"DROP TABLE IF EXISTS {storage_sql} SYNC")
