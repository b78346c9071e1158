"""Keeps copies of the rows that a load adds to a watched table, for the watches (``engine_tables.addition_record``).

    rows into the table of the addition -> the watched table has them (published) -> record of the addition

A load that was killed after the table had its rows is recorded by the next load of the table, or by the next start of
the process that holds the data directory. The load determines the id of its addition, so repeating a step has no
effect.
"""

from __future__ import annotations

from clickhouse_schema.cluster_topology import NEW_TABLE, Statement
from clickhouse_schema.engine_tables import addition_record
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import create_table_sql, given_columns
from loaders.load_error import LoadError
from loaders.storage.load_state import FinishedLoad, TableState
from loaders.storage.replica_sync import wait_for_replicas
from loaders.storage.stored_table import CHUNK_COLUMN, COPY_SETTINGS
from tap_service.storage.engine.engine import Engine


class KeptAdditions:
    """The additions to the table with a state."""

    def __init__(self, engine: Engine, state: TableState) -> None:
        self._engine = engine
        self._schema = state.entry
        self._table = state.entry.tables[0]
        self._origin = state.origin

    def keep_rows(self, load: FinishedLoad, rows_sql: str) -> None:
        """Keep the rows of a load, ``rows_sql``, if the table is watched. May be repeated. Raises ``LoadError``."""
        if not load.rows or (self._schema.name, self._table.name) not in addition_record.read_watched(self._engine):
            return
        addition_id = self._make_id(load)
        kept = addition_record.count_kept_rows(self._engine, addition_id)
        if kept == load.rows or addition_record.is_recorded(self._engine, addition_id):
            return
        self._copy_rows(addition_id, rows_sql)
        kept = addition_record.count_kept_rows(self._engine, addition_id)
        if kept != load.rows:
            raise LoadError(
                f"{kept:,} rows instead of {load.rows:,} are kept for the watches of {self._schema.name}."
                f"{self._table.name}: something else has changed them. Start the load again"
            )

    def keep_chunks(self, load: FinishedLoad, staging_sql: str) -> None:
        """Keep the rows of a verified staging table that the live table does not have. May be repeated."""
        columns = ", ".join(map(quote_identifier, given_columns(self._table)))
        self.keep_rows(load, f"(SELECT {columns} FROM {staging_sql} WHERE {CHUNK_COLUMN} > 0)")

    def record_load(self, load: FinishedLoad) -> None:
        """Record the addition of a published load if its rows are kept. May be repeated."""
        addition_id = self._make_id(load)
        kept = addition_record.count_kept_rows(self._engine, addition_id)
        if kept == load.rows and not addition_record.is_recorded(self._engine, addition_id):
            addition_record.record_addition(self._engine, addition_id, self._schema, load.rows)

    def record_all(self, state: TableState) -> None:
        """Record the additions of loads that were killed before they recorded them."""
        if addition_record.find_unrecorded(self._engine, 0):
            for load in state.find_loads("load"):
                self.record_load(load)

    def _make_id(self, load: FinishedLoad) -> str:
        return addition_record.make_addition_id(self._schema.name, self._table.name, self._origin, load.fingerprint)

    def _copy_rows(self, addition_id: str, rows_sql: str) -> None:
        servers = Servers(self._engine)
        storage = addition_record.quote_rows(addition_id)
        addition_record.drop_rows(self._engine, [addition_id])
        create = create_table_sql(self._table, storage, servers.topology, others=NEW_TABLE)
        servers.execute_everywhere(create, point=Failpoint.ADDITION_CREATE)
        columns = ", ".join(map(quote_identifier, given_columns(self._table)))
        insert = f"INSERT INTO {storage} ({columns}) SELECT {columns} FROM {rows_sql}"
        target = servers.topology.choose_rows_target(is_sharded=False)
        servers.execute_statement(Statement(insert, target), COPY_SETTINGS, point=Failpoint.ADDITION_INSERT)
        wait_for_replicas(servers, [storage])
