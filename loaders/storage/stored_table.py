"""Queries about one table in the engine, and the state in its comment."""

from __future__ import annotations

import time
from collections.abc import Collection

from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.stored_nulls import allow_nulls_sql
from loaders.load_error import LoadError
from loaders.storage.load_state import TableState, parse_state
from tap_service.storage.engine.engine import Engine, StorageFull
from tap_service.storage.engine.engine_errors import translate_error

#: The column of a staging table with the number of a row's chunk
CHUNK_COLUMN = "__chunk"

#: Settings that wait until every part has a change of columns, and settings that do not wait
WAIT_SETTINGS = {"mutations_sync": 2, "alter_sync": 2}
NO_WAIT_SETTINGS = {"mutations_sync": 0, "alter_sync": 0}

#: Settings for an INSERT of the rows of another table: few and large parts
COPY_SETTINGS = {
    "max_insert_threads": 1,
    "min_insert_block_size_rows": 4 << 20,
    "min_insert_block_size_bytes": 256 << 20,
    "max_partitions_per_insert_block": 0,
    "insert_null_as_default": 0,
}

#: Minimum of disk space that ClickHouse reserves before it writes
_LEAST_ROOM = 1 << 20

#: Maximum time for which a change of rows may wait for disk space
_MAX_IDLE_SECONDS = 3

#: Maximum time for which a load waits for a change of a table that fails repeatedly
_MAX_FAILING_SECONDS = 60


def has_table(engine: Engine, database: str, name: str) -> bool:
    """Whether the connected server has a table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    database, name : str
        Exact names, not quoted.
    """
    sql = f"SELECT 1 AS one FROM system.tables WHERE {_is_table_sql(database, name)}"
    return bool(engine.fetch_table(sql).num_rows)


def read_comment(engine: Engine, database: str, name: str) -> str:
    """Return the comment of a table; '' if the table does not exist."""
    found = engine.fetch_table(f"SELECT comment FROM system.tables WHERE {_is_table_sql(database, name)}").to_pylist()
    return str(found[0]["comment"]) if found else ""


def read_table_state(engine: Engine, database: str, name: str) -> TableState | None:
    """Return the state in the comment of a table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    database, name : str
        Exact names, not quoted.

    Returns
    -------
    TableState or None
        None if there is no such table, or if its comment is not a state.
    """
    return parse_state(read_comment(engine, database, name))


def state_to_sql(state: TableState) -> str:
    """Return a state as the SQL of a table's comment."""
    return quote_string(state.model_dump_json(by_alias=True, exclude_defaults=True))


def list_partitions_sql(engine: Engine, parts_sql: str, database: str, name: str) -> list[str]:
    """Return the SQL of the ids of a table's partitions: one, or one for each year.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    parts_sql : str
        SQL of ``system.parts`` of this server or of all servers.
    database, name : str
        Exact names, not quoted.

    Returns
    -------
    list of str
        Quoted ids, sorted as texts; [] if the table has no rows.
    """
    where = f"active AND {_is_table_sql(database, name, 'table')}"
    sql = f"SELECT DISTINCT partition_id AS id FROM {parts_sql} WHERE {where} ORDER BY id"
    return [quote_string(row["id"]) for row in engine.fetch_table(sql).to_pylist()]


def find_nulls(engine: Engine, rows_sql: str, columns: Collection[str]) -> set[str]:
    """Return the columns that have NULL in at least one row.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    rows_sql : str
        Quoted name of a table, or a query in parentheses.
    columns : collection of str
        Names of the columns to check, not quoted.

    Returns
    -------
    set of str
        A subset of ``columns``; nothing is read if there are none.
    """
    if not columns:
        return set()
    counts = ", ".join(f"countIf({quote_identifier(name)} IS NULL) AS __nulls_{i}" for i, name in enumerate(columns))
    [found] = engine.fetch_table(f"SELECT {counts} FROM {rows_sql}").to_pylist()
    return {name for name, count in zip(columns, found.values(), strict=True) if count}


def allow_nulls(engine: Engine, table: Table, storage_sql: str, columns: Collection[str]) -> None:
    """Make columns Nullable in a table and all its parts."""
    engine.execute(f"ALTER TABLE {storage_sql} {allow_nulls_sql(table, columns)}", WAIT_SETTINGS)


def wait_for_mutations(engine: Engine, mutations_sql: str, database: str, name: str) -> None:
    """Wait until all changes of a table's columns are done in its parts.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    mutations_sql : str
        SQL of ``system.mutations`` of this server or of all servers.
    database, name : str
        Exact names, not quoted.

    Raises
    ------
    LoadError
        A change keeps failing for ``_MAX_FAILING_SECONDS``; ClickHouse retries it forever.
    """
    deadline = time.monotonic() + _MAX_FAILING_SECONDS
    where = f"NOT is_done AND {_is_table_sql(database, name, 'table')}"
    sql = f"SELECT max(latest_fail_reason) AS reason FROM {mutations_sql} WHERE {where} HAVING count() > 0"
    while reasons := engine.fetch_table(sql).column(0).to_pylist():
        if reasons[0] and time.monotonic() > deadline:
            raise LoadError(
                f"ClickHouse cannot finish an earlier change of {database}.{name}: {reasons[0][:300]}."
                " Fix the cause, or stop the change with KILL MUTATION, and start the same load again"
            )
        time.sleep(0.05)


def wait_for_changed_rows(engine: Engine, database: str, name: str) -> None:
    """Wait on one server until the rows of a staging table are changed.

    ClickHouse starts to rewrite a part when 1.1 times its bytes and ``_LEAST_ROOM`` are free, and waits for them
    without an error.

    Parameters
    ----------
    engine : Engine
        Connection to the server.
    database, name : str
        Exact names, not quoted.

    Raises
    ------
    StorageFull
        The change has waited for disk space for more than ``_MAX_IDLE_SECONDS``.
    EngineError
        The change fails.
    """
    is_table = _is_table_sql(database, name, "table")
    mutations = f"FROM system.mutations WHERE NOT is_done AND {is_table}"
    running = f"SELECT count() AS n FROM system.merges WHERE {is_table}"
    lacking = (
        f"SELECT max(p.bytes_on_disk) * 1.1 + {_LEAST_ROOM} AS needed, min(d.unreserved_space) AS free"
        f" FROM (SELECT * FROM system.parts WHERE active AND {is_table}"
        f" AND name IN (SELECT arrayJoin(parts_to_do_names) {mutations})) AS p"
        f" INNER JOIN system.disks AS d ON p.disk_name = d.name WHERE ({running}) = 0 HAVING needed > free"
    )
    began = looked = last_work = time.monotonic()
    reasons = f"SELECT max(latest_fail_reason) AS reason {mutations} HAVING count() > 0"
    while found := engine.fetch_table(reasons).column(0).to_pylist():
        if found[0]:
            raise translate_error(found[0])
        now = time.monotonic()
        if now - looked > 1:
            looked = now
            sizes = engine.fetch_table(lacking).to_pylist()
            last_work = last_work if sizes else now
            if now - last_work > _MAX_IDLE_SECONDS:
                needed, free = (f"{sizes[0][key] / 1e6:,.1f} MB" for key in ("needed", "free"))
                raise StorageFull(f"rewriting a part of {database}.{name} takes {needed}, and {free} are free")
        time.sleep(min(0.5, 0.02 + (now - began) / 20))


def _is_table_sql(database: str, name: str, name_column: str = "name") -> str:
    return f"database = {quote_string(database)} AND {name_column} = {quote_string(name)}"
