"""A load's staging table ``T__loading``: what makes a load resumable, and visible all at once or not at all.

Everything about a load is kept with its table, so that nothing can disagree after a crash at any point:

* each chunk of the input is one INSERT of one block, so it is there whole or not at all, and carries its number in the
  column ``__chunk``, which only staging tables have: the chunks that are done are read from the table itself;
* the table's comment is a ``TableState``: which input it is made from, and the catalogue's entry for it.

    CREATE T__loading, comment "loading" -> chunks -> counts checked, comment "verified" -> DROP COLUMN __chunk
      -> EXCHANGE with T (or RENAME to T): now it is visible -> catalogue, density -> DROP of what T was

A load started again compares the fingerprint of its input with the comments of T and T__loading and goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import pyarrow as pa

from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from loaders.load_error import LoadError
from loaders.pipeline.chunk_reader import Chunk
from loaders.storage.gateway_table import APPEND, Gateway, Orphan, drop_gateway
from loaders.storage.load_state import TableState, read_state
from tap_service.storage.engine.engine import SINGLE_BLOCK_SETTINGS, Engine

SUFFIX = "__loading"
CHUNK = "__chunk"

#: How long a change of a table may fail again and again until a load that waits for it gives up
_FAILING_SECONDS = 60

#: Whether a change of structure is done in every part when its statement ends.
WAIT = {"mutations_sync": 2, "alter_sync": 2}
DO_NOT_WAIT = {"mutations_sync": 0, "alter_sync": 0}


class Storage:
    """The tables in the engine that belong to one table of the catalogue, on one server."""

    is_cluster = False

    def __init__(self, engine: Engine, schema_name: str, table_name: str) -> None:
        self.engine = engine
        self.schema_name = schema_name
        self.table_name = table_name
        self.live = f"{quote_identifier(schema_name)}.{quote_identifier(table_name)}"
        self.staging = f"{quote_identifier(schema_name)}.{quote_identifier(table_name + SUFFIX)}"

    @property
    def live_name(self) -> str:
        """Of the table whose comment tells of what is read."""
        return self.table_name

    def live_state(self) -> TableState | None:
        """The description is the catalogue's, once that knows of the load: it may have been changed since."""
        state = state_of(self.engine, self.schema_name, self.live_name)
        if state is None:
            return None
        version, schema = catalogue_log.read_registered(self.engine, self.schema_name, self.table_name)
        return state if schema is None or version <= state.catalogue else state.model_copy(update={"entry": schema})

    @property
    def staging_name(self) -> str:
        """Of the table whose comment tells of what is filled."""
        return self.table_name + SUFFIX

    def staging_state(self) -> TableState | None:
        return state_of(self.engine, self.schema_name, self.staging_name)

    def live_exists(self) -> bool:
        return exists(self.engine, self.schema_name, self.table_name)

    # --- a load -------------------------------------------------------------------------------------------------------

    def begin(self, schema: Schema, table: Table, state: TableState, *, onto_live: bool) -> None:
        """A staging table for the load of ``state``: empty, or with the live table's parts in it (``onto_live``)."""
        self.drop_staging()
        self.engine.execute(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(schema.name)}")
        self.engine.execute(create_table_sql(table, self.staging))
        if onto_live:
            wait_for_mutations(self.engine, "system.mutations", self.schema_name, self.table_name)
            for year in partitions(self.engine, "system.parts", self.schema_name, self.table_name):
                self.engine.execute(f"ALTER TABLE {self.staging} ATTACH PARTITION ID {year} FROM {self.live}")
        change = f"ADD COLUMN {CHUNK} UInt32, MODIFY COMMENT {comment(state)}"
        self.engine.execute(f"ALTER TABLE {self.staging} {change}", WAIT)

    def chunks(self) -> dict[int, int]:
        """Rows in the staging table by number of chunk; 0 are those of the live table that it was begun onto."""
        sql = f"SELECT {CHUNK} AS chunk, count() AS rows FROM {self.staging} GROUP BY {CHUNK}"
        return {row["chunk"]: row["rows"] for row in self.engine.fetch_table(sql).to_pylist()}

    def insert(self, chunk: Chunk) -> list[Orphan]:
        """A chunk, whole or not at all. No row is without a parent: a row of one server is with all others."""
        number = pa.array([chunk.number], pa.uint32())
        numbered = (batch.append_column(CHUNK, number.take(pa.repeat(0, batch.num_rows))) for batch in chunk.batches)
        self.engine.insert_batches(self.staging, numbered)
        return []

    def mark_verified(self, state: TableState) -> None:
        self._set_comment(state)

    def faults(self) -> list[str]:
        """What else than the number of its rows is wrong with a staging table all of whose chunks are done."""
        return []

    def refuse_moved(self) -> None:
        """Raises ``LoadError`` if the shards were moved since this was made. Those of one server never are."""

    def publish(self) -> None:
        """Make the verified staging table the live one, in one step for all who read; what was live goes."""
        # Nobody sees the column any more; its files go later, after the merges that run now.
        self.engine.execute(f"ALTER TABLE {self.staging} DROP COLUMN IF EXISTS {CHUNK}", DO_NOT_WAIT)
        if self.live_exists():
            self.engine.execute(f"EXCHANGE TABLES {self.staging} AND {self.live}")
        else:
            self.engine.execute(f"RENAME TABLE {self.staging} TO {self.live}")
        self.finish()

    def finish(self) -> None:
        """Bring catalogue and density up to the live table, then drop what it replaced. May be repeated."""
        state = self.unknown()
        if state is not None:
            table = state.entry.tables[0]
            density_table.update_density(self.engine, state.entry.name, table)
            catalogue_log.register_table(
                self.engine, state.entry, table
            )  # the last: who sees the new catalogue sees the new counts
        self.drop_staging()

    def unknown(self) -> TableState | None:
        """What the live table is if the catalogue has not been told; it may have been told other things since."""
        state = state_of(self.engine, self.schema_name, self.table_name)
        if state is None:
            return None
        version, schema = catalogue_log.read_registered(self.engine, self.schema_name, self.table_name)
        if state.catalogue < 0:
            return None if schema is not None and schema.tables[0] == state.entry.tables[0] else state
        return None if version > state.catalogue else state

    # --- what is read -------------------------------------------------------------------------------------------------

    @property
    def reading(self) -> str:
        """SQL of a table of all rows that are read."""
        return self.live

    @property
    def is_here(self) -> bool:
        """Whether that is one table of the server connected to: rows come from it in the order of its parts."""
        return True

    @property
    def checked(self) -> list[str]:
        """The tables that have rows; on a cluster each server has its own under these names."""
        return [self.live]

    def placed(self) -> tuple[list[str], list[str]]:
        """Of each shard of a cluster what it has, and what of that is not where it belongs."""
        return [], []

    # --- an addition: see ``appends`` ---------------------------------------------------------------------------------

    def gateway(self, table: Table) -> Gateway:
        """The way of rows that are added into the table."""
        return Gateway(self.engine, self.schema_name, self.table_name + APPEND, table)

    def sizes(self) -> dict[str, int]:
        """Rows of each part of the live table; on one server there is one."""
        return {"": int(self.engine.fetch_table(f"SELECT count() AS rows FROM {self.live}").column(0)[0].as_py())}

    def own_rows(self, sizes: Mapping[str, int]) -> int:
        """The rows of ``sizes`` without copies."""
        return sum(sizes.values())

    def take(self, gateway: Gateway, parts: Collection[str]) -> None:
        """The gateway's rows into these parts of the live table, into each of them whole or not at all."""
        if parts:
            sql = f"INSERT INTO {self.live} ({gateway.names}) SELECT {gateway.names} FROM {gateway.rows}"
            self.engine.execute(sql, SINGLE_BLOCK_SETTINGS)

    # --- the end ------------------------------------------------------------------------------------------------------

    def drop_staging(self) -> None:
        self.engine.execute(f"DROP TABLE IF EXISTS {self.staging} SYNC")

    def drop_live(self) -> None:
        """With what was being added to it."""
        drop_gateway(self.engine, self.schema_name, self.table_name + APPEND)
        self.engine.execute(f"DROP TABLE IF EXISTS {self.live} SYNC")

    def _set_comment(self, state: TableState) -> None:
        self.engine.execute(f"ALTER TABLE {self.staging} MODIFY COMMENT {comment(state)}", WAIT)


def comment(state: TableState) -> str:
    """SQL of a state as a table's comment."""
    return quote_string(state.model_dump_json(by_alias=True, exclude_defaults=True))


def state_of(engine: Engine, database: str, name: str) -> TableState | None:
    """What the comment of a table tells; None if there is none, or no such table."""
    return read_state(comment_of(engine, database, name))


def comment_of(engine: Engine, database: str, name: str) -> str:
    """The comment of a table, '' if there is no such table."""
    found = engine.fetch_table(f"SELECT comment FROM system.tables WHERE {is_named(database, name)}").to_pylist()
    return str(found[0]["comment"]) if found else ""


def wait_for_mutations(engine: Engine, mutations: str, database: str, name: str) -> None:
    """Until the parts of a table have no column any more that it has not. ``mutations``: SQL of system.mutations.

    Raises ``LoadError`` if one of these changes has failed for long: the engine tries it for ever.
    """
    until = time.monotonic() + _FAILING_SECONDS
    sql = f"SELECT max(latest_fail_reason) AS reason FROM {mutations} WHERE NOT is_done"
    sql += f" AND {is_named(database, name, 'table')} HAVING count() > 0"
    while waiting := engine.fetch_table(sql).column(0).to_pylist():
        if waiting[0] and time.monotonic() > until:
            raise LoadError(
                f"ClickHouse cannot finish an earlier change of {database}.{name}: {waiting[0][:300]}."
                " Mend that, or stop the change with KILL MUTATION, and start the same load again"
            )
        time.sleep(0.05)


def partitions(engine: Engine, parts: str, database: str, name: str) -> list[str]:
    """SQL of the ids of a table's partitions, as ``parts`` (system.parts) has them: one, or those of its years."""
    sql = f"SELECT DISTINCT partition_id AS id FROM {parts} WHERE active AND {is_named(database, name, 'table')}"
    return [quote_string(row["id"]) for row in engine.fetch_table(f"{sql} ORDER BY id").to_pylist()]


def exists(engine: Engine, database: str, name: str) -> bool:
    return bool(engine.fetch_table(f"SELECT 1 AS one FROM system.tables WHERE {is_named(database, name)}").num_rows)


def is_named(database: str, name: str, key: str = "name") -> str:
    return f"database = {quote_string(database)} AND {key} = {quote_string(name)}"
