"""The storage of a table on one server: the live table ``T``, and the staging table ``T__loading``.

The state of a load is stored with its table, so a crash at any point leaves no contradiction:

* each chunk of the input is one INSERT of one block, all or nothing; its number is in the column ``__chunk``, which
  only staging tables have, so the finished chunks are read from the table itself;
* the table's comment is a ``TableState``: the input and its catalogue entry.

    CREATE T__loading, comment "loading" -> chunks -> counts checked, comment "verified" -> DROP COLUMN __chunk
      -> EXCHANGE with T (or RENAME to T): now it is visible -> density, catalogue -> DROP of the old T

A load that is started again compares the fingerprint of its input with the comments of T and T__loading and continues.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.quoting import quote_table
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.stored_nulls import find_plain_columns, list_changeable, store_plainly
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.whole_tables import create_database
from clickhouse_schema.working_tables import MOVED_SUFFIX, STAGING_SUFFIX
from loaders.storage import stored_table
from loaders.storage.gateway_table import APPEND_SUFFIX, Gateway, Orphan, drop_gateway
from loaders.storage.load_state import TableState
from loaders.storage.storage_protocol import TableStorage
from loaders.storage.stored_table import CHUNK_COLUMN, NO_WAIT_SETTINGS, WAIT_SETTINGS, read_table_state
from tap_service.storage.engine.engine import SINGLE_BLOCK_SETTINGS, Engine


def open_server_storage(engine: Engine, schema_name: str, table_name: str) -> TableStorage:
    """Return the storage of a table on one server; nothing is read or changed.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names; the table need not exist.

    Returns
    -------
    TableStorage
        The storage.
    """
    live = ServerLiveTable(engine, schema_name, table_name)
    staging = ServerStagingTable(live)
    return TableStorage(
        engine=engine,
        schema_name=schema_name,
        table_name=table_name,
        is_cluster=False,
        live=live,
        staging=staging,
        appends=ServerAppendTarget(live),
        publication=ServerPublication(live, staging),
    )


class ServerLiveTable:
    """The ``LiveTable`` of one server."""

    is_one_table = True

    def __init__(self, engine: Engine, schema_name: str, table_name: str) -> None:
        self.engine = engine
        self.schema_name = schema_name
        self.name = table_name
        self.rows_sql = quote_table(schema_name, table_name)

    @property
    def storage_names(self) -> list[str]:
        return [self.rows_sql]

    def has_table(self) -> bool:
        return stored_table.has_table(self.engine, self.schema_name, self.name)

    def read_state(self) -> TableState | None:
        state = read_table_state(self.engine, self.schema_name, self.name)
        if state is None:
            return None
        version, schema = catalogue_log.read_registered(self.engine, self.schema_name, self.name)
        if schema is None or version <= state.catalogue:
            return state
        return state.model_copy(update={"entry": schema})

    def read_unregistered_state(self) -> TableState | None:
        """Return the state if the catalogue does not know the load yet; None if it does or was changed later."""
        state = read_table_state(self.engine, self.schema_name, self.name)
        if state is None:
            return None
        version, schema = catalogue_log.read_registered(self.engine, self.schema_name, self.name)
        if state.catalogue < 0:
            return None if schema is not None and schema.tables[0] == state.entry.tables[0] else state
        return None if version > state.catalogue else state

    def find_plain_columns(self, table: Table) -> set[str]:
        return find_plain_columns(self.engine, table, self.schema_name, [self.name])

    def check_shards(self) -> tuple[list[str], list[str]]:
        return [], []

    def drop_table(self) -> None:
        drop_gateway(Servers(self.engine), self.schema_name, self.name + APPEND_SUFFIX)
        self.engine.execute(f"DROP TABLE IF EXISTS {self.rows_sql} SYNC")
        reach(Failpoint.TABLE_DROP)


class ServerStagingTable:
    """The ``StagingTable`` of one server."""

    def __init__(self, live: ServerLiveTable) -> None:
        self._live = live
        self._engine = live.engine
        self.name = live.name + STAGING_SUFFIX
        self.storage_sql = quote_table(live.schema_name, self.name)

    @property
    def rows_sql(self) -> str:
        return self.storage_sql

    def read_state(self) -> TableState | None:
        return read_table_state(self._engine, self._live.schema_name, self.name)

    def create_table(
        self, schema: Schema, table: Table, state: TableState, *, onto_live: bool, has_chunks: bool = True
    ) -> None:
        self.drop_table()
        create_database(Servers(self._engine), schema.name)
        plain = self._live.find_plain_columns(table) if onto_live else list_changeable(table)
        self._engine.execute(create_table_sql(store_plainly(table, plain), self.storage_sql))
        reach(Failpoint.STAGING_CREATE)
        if onto_live:
            self._attach_live_parts()
        chunks = f"ADD COLUMN {CHUNK_COLUMN} UInt32, " if has_chunks else ""
        change = f"{chunks}MODIFY COMMENT {stored_table.state_to_sql(state)}"
        self._engine.execute(f"ALTER TABLE {self.storage_sql} {change}", WAIT_SETTINGS)
        reach(Failpoint.STAGING_DESCRIBE)

    def _attach_live_parts(self) -> None:
        live_name = (self._live.schema_name, self._live.name)
        stored_table.wait_for_mutations(self._engine, "system.mutations", *live_name)
        for partition in stored_table.list_partitions_sql(self._engine, "system.parts", *live_name):
            change = f"ATTACH PARTITION ID {partition} FROM {self._live.rows_sql}"
            self._engine.execute(f"ALTER TABLE {self.storage_sql} {change}")
            reach(Failpoint.STAGING_ATTACH)

    def find_plain_columns(self, table: Table) -> set[str]:
        return find_plain_columns(self._engine, table, self._live.schema_name, [self.name])

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        stored_table.allow_nulls(self._engine, table, self.storage_sql, columns)

    def count_chunk_rows(self) -> dict[int, int]:
        sql = f"SELECT {CHUNK_COLUMN} AS chunk, count() AS rows FROM {self.storage_sql} GROUP BY {CHUNK_COLUMN}"
        return {row["chunk"]: row["rows"] for row in self._engine.fetch_table(sql).to_pylist()}

    def insert_chunk(self, number: int, batches: Sequence[pa.RecordBatch]) -> list[Orphan]:
        value = pa.array([number], pa.uint32())
        numbered = (batch.append_column(CHUNK_COLUMN, value.take(pa.repeat(0, batch.num_rows))) for batch in batches)
        reach(Failpoint.STAGING_INSERT_BEGIN)
        self._engine.insert_batches(self.storage_sql, numbered)
        reach(Failpoint.STAGING_INSERT)
        return []

    def delete_chunks(self, numbers: range) -> None:
        self.change_rows(f"DELETE WHERE {CHUNK_COLUMN} >= {numbers.start} AND {CHUNK_COLUMN} < {numbers.stop}")

    def change_rows(self, change: str) -> None:
        reach(Failpoint.STAGING_CHANGE_BEGIN)
        self._engine.execute(f"ALTER TABLE {self.storage_sql} {change}", NO_WAIT_SETTINGS)
        reach(Failpoint.STAGING_CHANGE)
        stored_table.wait_for_changed_rows(self._engine, self._live.schema_name, self.name)

    def open_gateway(self, table: Table) -> Gateway:
        name = self._live.name + MOVED_SUFFIX
        return Gateway(Servers(self._engine), self._live.schema_name, name, table, is_kept=False)

    def insert_gateway(self, gateway: Gateway) -> None:
        columns = gateway.columns_sql
        sql = f"INSERT INTO {self.storage_sql} ({columns}) SELECT {columns} FROM {gateway.rows_sql}"
        self._engine.execute(sql, SINGLE_BLOCK_SETTINGS)
        reach(Failpoint.STAGING_INSERT_GATEWAY)

    def find_problems(self) -> list[str]:
        return []

    def mark_verified(self, state: TableState) -> None:
        change = f"MODIFY COMMENT {stored_table.state_to_sql(state)}"
        self._engine.execute(f"ALTER TABLE {self.storage_sql} {change}", WAIT_SETTINGS)
        reach(Failpoint.STAGING_VERIFY)

    def drop_table(self) -> None:
        self._engine.execute(f"DROP TABLE IF EXISTS {self.storage_sql} SYNC")


class ServerAppendTarget:
    """The ``AppendTarget`` of one server."""

    def __init__(self, live: ServerLiveTable) -> None:
        self._live = live
        self._engine = live.engine

    def open_gateway(self, table: Table) -> Gateway:
        name = self._live.name + APPEND_SUFFIX
        return Gateway(Servers(self._engine), self._live.schema_name, name, table, is_kept=True)

    def count_part_rows(self) -> dict[str, int]:
        counted = self._engine.fetch_table(f"SELECT count() AS rows FROM {self._live.rows_sql}")
        return {"": int(counted.column(0)[0].as_py())}

    def sum_own_rows(self, part_rows: Mapping[str, int]) -> int:
        return sum(part_rows.values())

    def find_plain_columns(self, table: Table) -> set[str]:
        return self._live.find_plain_columns(table)

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        stored_table.allow_nulls(self._engine, table, self._live.rows_sql, columns)

    def insert_rows(self, gateway: Gateway, parts: Collection[str]) -> None:
        if parts:
            columns = gateway.columns_sql
            sql = f"INSERT INTO {self._live.rows_sql} ({columns}) SELECT {columns} FROM {gateway.rows_sql}"
            self._engine.execute(sql, SINGLE_BLOCK_SETTINGS)
            reach(Failpoint.APPEND_INSERT)

    def refuse_moved_shards(self) -> None:
        """Do nothing: one server has no shards."""


class ServerPublication:
    """The ``Publication`` of one server."""

    def __init__(self, live: ServerLiveTable, staging: ServerStagingTable) -> None:
        self._live = live
        self._staging = staging
        self._engine = live.engine

    def publish_staging(self) -> None:
        staging, live = self._staging.storage_sql, self._live.rows_sql
        # a killed load may have started this: ClickHouse refuses to drop a column that is being dropped
        stored_table.wait_for_mutations(self._engine, "system.mutations", self._live.schema_name, self._staging.name)
        # the column is invisible at once; ClickHouse deletes its files later, after running merges
        self._engine.execute(f"ALTER TABLE {staging} DROP COLUMN IF EXISTS {CHUNK_COLUMN}", NO_WAIT_SETTINGS)
        reach(Failpoint.PUBLISH_DROP_CHUNKS)
        if self._live.has_table():
            self._engine.execute(f"EXCHANGE TABLES {staging} AND {live}")
            reach(Failpoint.PUBLISH_EXCHANGE)
        else:
            self._engine.execute(f"RENAME TABLE {staging} TO {live}")
            reach(Failpoint.PUBLISH_RENAME)
        self.finish_publishing()

    def finish_publishing(self) -> None:
        state = self._live.read_unregistered_state()
        if state is not None:
            table = state.entry.tables[0]
            # the catalogue comes last: readers of its new version see the new counts
            update_density(self._engine, state.entry.name, table)
            catalogue_log.register_table(self._engine, state.entry, table)
        self._staging.drop_table()
