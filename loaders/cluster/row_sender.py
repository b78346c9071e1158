"""Sends rows from a gateway table to their shards and to the overlaps, each by one INSERT SELECT."""

from __future__ import annotations

import hashlib
import uuid
from functools import cached_property

from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN
from clickhouse_schema.table_ddl import HPX29
from loaders.cluster.cluster_tables import ClusterTables
from loaders.cluster.running_statements import end_statements
from loaders.storage.gateway_table import Gateway
from loaders.storage.replica_sync import wait_for_replicas
from loaders.storage.stored_table import CHUNK_COLUMN
from tap_service.storage.engine.engine import SINGLE_BLOCK_SETTINGS

_HOME_COLUMN = "__home"


class RowSender:
    """Sends rows to the tables of ``tables``."""

    def __init__(self, tables: ClusterTables) -> None:
        self._tables = tables
        self._engine = tables.engine
        names = f"{tables.schema_name}\n{tables.table.name}"
        #: Prefix of the ids of the statements that send rows
        self._query_prefix = f"load {hashlib.sha256(names.encode()).hexdigest()[:16]} "

    def send_rows(
        self, gateway: Gateway, part: str, base_name: str, shards: list[int], chunk: int | None = None
    ) -> None:
        """Send the gateway's rows of a part to some shards, to each as one block.

        Parameters
        ----------
        gateway : Gateway
            Has the rows.
        part, base_name : str
            The suffix and the base name of the tables that receive them.
        shards : list of int
            The shards that lack their rows.
        chunk : int, optional
            The number of the chunk, if the tables have the chunk column.
        """
        if not shards or (part == OVERLAP and not self._tables.has_overlap):
            return
        # the engine splits the rows of a sharded table; a whole table gets all rows on each server
        for shard in shards[:1] if part else shards:
            self._insert_rows(gateway, part, self._tables.insert_target_sql(part, base_name, shard), shards, chunk)

    def _insert_rows(self, gateway: Gateway, part: str, target: str, shards: list[int], chunk: int | None) -> None:
        columns = gateway.columns_sql + (f", {SHARD_COLUMN}" if part else "")
        chunk_column = "" if chunk is None else f", {CHUNK_COLUMN}"
        chunk_value = "" if chunk is None else f", {chunk}"
        where = f" WHERE {SHARD_COLUMN} IN ({', '.join(map(str, shards))})" if part else ""
        sql = (
            f"INSERT INTO {target} ({columns}{chunk_column})"
            f" SELECT {columns}{chunk_value} FROM {self._assigned_rows_sql(gateway, part)}{where}"
        )
        self._engine.execute(sql, SINGLE_BLOCK_SETTINGS, query_id=f"{self._query_prefix}{uuid.uuid4().hex}")
        reach(Failpoint.SHARDS_SEND_COPIES if part == OVERLAP else Failpoint.SHARDS_SEND)

    def _assigned_rows_sql(self, gateway: Gateway, part: str) -> str:
        """Return the SQL of the gateway's rows with the number of the shard that gets them in this part."""
        if not part:
            return gateway.rows_sql
        columns = gateway.columns_sql
        has_home = self._tables.parent is not None
        home = SHARD_COLUMN if has_home else self._tables.sharding.map.shard_sql(HPX29)
        if part == LOCAL:
            return f"(SELECT {columns}, {home} AS {SHARD_COLUMN} FROM {gateway.rows_sql})"
        with_home = f"(SELECT {columns}, {HPX29}, {home} AS {_HOME_COLUMN} FROM {gateway.rows_sql})"
        return f"(SELECT {columns}, arrayJoin({self._holders_sql}) AS {SHARD_COLUMN} FROM {with_home})"

    @cached_property
    def _holders_sql(self) -> str:
        """The SQL of the shards that have copies of a row."""
        return self._tables.overlap.copy_shards_sql(HPX29, _HOME_COLUMN)

    # --- waiting ------------------------------------------------------------------------------------------------------

    def wait_for_rows(self, base_name: str) -> None:
        """Wait until all servers have all rows that were sent to these tables, including the rows of a killed load."""
        self.end_statements()
        self.wait_for_copies(base_name, *self._tables.parts)

    def wait_for_copies(self, base_name: str, *parts: str) -> None:
        names = [self._tables.quote_rows_table(base_name, part) for part in parts]
        wait_for_replicas(self._tables.servers, names)

    def end_statements(self) -> None:
        """Cancel the statements of a killed load, which may still add rows, and wait for their end."""
        end_statements(self._engine, self._tables.topology, self._query_prefix)
