"""The density table: rows and bytes of each table per coarse cell of the sky, as its last load counted them.

The newest version of a table's counts is valid. An append adds counts to it, so a cell may have several.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.version_sql import fetch_next_version, is_table_sql
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.quoting import quote_string, quote_table
from clickhouse_schema.schema_model import Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL
from clickhouse_schema.table_ddl import HPX29
from clickhouse_schema.whole_tables import create_whole_table, delete_rows_later

_COLUMNS = "schema_name String, table_name String, version UInt64, cell UInt32, rows UInt64, bytes UInt64"
_SORT_KEY = "(schema_name, table_name, version, cell)"

_SQUARE_DEGREES = 41252.96125


def create_density_table(servers: Servers[Engine]) -> None:
    create_whole_table(servers, "skyhouse", "density", _COLUMNS, _SORT_KEY)


def update_density(engine: Engine, schema_name: str, table: Table, base_name: str = "") -> None:
    """Count the rows and bytes of a table per cell of its ``healpix_order``, and drop the earlier counts.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table.
    base_name : str, optional
        The table's name in ClickHouse if it differs (``Sharding.base_name``).
    """
    _forget_counts_before(engine, schema_name, table, count_density(engine, schema_name, table, base_name))


def count_density(engine: Engine, schema_name: str, table: Table, base_name: str = "") -> int:
    """Count rows and bytes per cell; rows without a position count in cell ``12 * 4**order``.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table.
    base_name : str, optional
        The table's name in ClickHouse if it differs (``Sharding.base_name``).

    Returns
    -------
    int
        Version of the counts.
    """
    base_name = base_name or table.name
    servers = Servers(engine)
    version = fetch_next_version(engine, "skyhouse.density")
    row_bytes = _row_bytes_sql(servers, schema_name, table, base_name)
    _insert_counts(servers, schema_name, table, str(version), row_bytes, quote_table(schema_name, base_name))
    return version


def write_density(engine: Engine, schema_name: str, table: Table, counts: Mapping[int, int], row_bytes: float) -> None:
    """Write row counts by cell that are known without reading the table, and drop the earlier counts.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table.
    counts : mapping of int to int
        Number of rows by NESTED cell of its ``healpix_order``; cell 12 * 4^order for rows without a position.
    row_bytes : float
        Mean size of a row in bytes.
    """
    version = fetch_next_version(engine, "skyhouse.density")
    batch = pa.record_batch(
        {
            "schema_name": [schema_name] * len(counts),
            "table_name": [table.name] * len(counts),
            "version": pa.array([version] * len(counts), pa.uint64()),
            "cell": pa.array(counts, pa.uint32()),
            "rows": pa.array(counts.values(), pa.uint64()),
            "bytes": pa.array([round(rows * row_bytes) for rows in counts.values()], pa.uint64()),
        }
    )
    Servers(engine).insert_batches("skyhouse.density", [batch], point=Failpoint.DENSITY_WRITE)
    _forget_counts_before(engine, schema_name, table, version)


def _forget_counts_before(engine: Engine, schema_name: str, table: Table, version: int) -> None:
    condition = f"{is_table_sql(schema_name, table.name)} AND version < {version}"
    delete_rows_later(Servers(engine), "skyhouse.density", condition)


def _insert_counts(
    servers: Servers[Engine], schema_name: str, table: Table, version: str, row_bytes: str, rows_sql: str
) -> None:
    """Insert the rows of ``rows_sql`` by cell; ``version`` and ``row_bytes`` are SQL of single values."""
    counted = servers.engine.fetch_table(
        f"SELECT {quote_string(schema_name)} AS schema_name, {quote_string(table.name)} AS table_name,"
        f" toUInt64({version}) AS version, toUInt32({_cell_sql(table)}) AS cell, count() AS rows,"
        f" toUInt64(count() * {row_bytes}) AS bytes FROM {rows_sql} GROUP BY cell ORDER BY cell"
    )
    servers.insert_batches("skyhouse.density", counted.to_batches(), point=Failpoint.DENSITY_WRITE)


def _row_bytes_sql(servers: Servers[Engine], schema_name: str, table: Table, base_name: str) -> str:
    """Return the SQL of the mean size of a row on disk, in bytes."""
    names = ", ".join(quote_string(base_name + suffix) for suffix in ("", LOCAL))
    where = f"database = {quote_string(schema_name)} AND table IN ({names}) AND active"
    parts = servers.topology.all_servers_sql("system.parts") if table.is_sharded else "system.parts"
    return f"(SELECT sum(bytes_on_disk) / greatest(sum(rows), 1) FROM {parts} WHERE {where})"


def _cell_sql(table: Table) -> str:
    """Return the SQL of the cell in which a row is counted."""
    order = table.layout.healpix_order
    return f"intDiv({HPX29}, {4 ** (ORDER - order)})" if table.layout.position else str(12 * 4**order)


def add_density(engine: Engine, schema_name: str, table: Table, rows_sql: str) -> None:
    """Add rows to the newest counts of a table.

    Their bytes are estimated by the mean size of the rows that were counted earlier.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table, which has been counted.
    rows_sql : str
        Quoted name of a table, or a query in parentheses; with the column ``hpx29`` if the table has a position.
    """
    is_table = is_table_sql(schema_name, table.name)
    newest_version = f"(SELECT max(version) FROM skyhouse.density WHERE {is_table})"
    newest = f"FROM skyhouse.density WHERE {is_table} AND version = {newest_version}"
    row_bytes = f"(SELECT sum(bytes) / greatest(sum(rows), 1) {newest})"
    version = f"(SELECT max(version) {newest})"
    _insert_counts(Servers(engine), schema_name, table, version, row_bytes, rows_sql)


def delete_density(engine: Engine, schema_name: str, table_name: str) -> None:
    delete_rows_later(Servers(engine), "skyhouse.density", is_table_sql(schema_name, table_name))


def read_density(engine: Engine, schema_name: str, table_name: str) -> pa.Table:
    """Return the counts of a table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names, as they were counted.

    Returns
    -------
    pyarrow.Table
        Columns cell (NESTED, of its ``healpix_order``; 12 * 4^order for rows without a position), rows and bytes,
        ordered by cell; empty if the table has not been counted.
    """
    where = is_table_sql(schema_name, table_name)
    newest = f"(SELECT max(version) FROM skyhouse.density WHERE {where})"
    return engine.fetch_table(
        "SELECT cell, sum(rows) AS rows, sum(bytes) AS bytes FROM"
        f" (SELECT cell, rows, bytes FROM skyhouse.density WHERE {where} AND version = {newest})"
        " GROUP BY cell ORDER BY cell"
    )


def read_density_stamp(engine: Engine, schema_name: str, table_name: str) -> str:
    """Return a text that changes whenever the counts of a table change.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names, as they were counted.

    Returns
    -------
    str
        '' if the table has not been counted.
    """
    where = is_table_sql(schema_name, table_name)
    sql = f"SELECT version, count() AS lines FROM skyhouse.density WHERE {where} GROUP BY version"
    found = engine.fetch_table(f"{sql} ORDER BY version DESC LIMIT 1").to_pylist()
    return f"{found[0]['version']} {found[0]['lines']}" if found else ""


def read_row_counts(engine: Engine) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], float]]:
    """Return the numbers of rows of all counted tables.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Returns
    -------
    tuple of (dict of tuple of str to int, dict of tuple of str to float)
        The number of rows, and the number of rows in the cell of a typical row (the mean over the rows); both by
        (schema, table), the second without empty tables.
    """
    counted = engine.fetch_table(
        "SELECT schema_name, table_name, sum(counted) AS total, sum(pow(counted, 2)) / sum(counted) AS occupancy FROM"
        " (SELECT schema_name, table_name, cell, sum(rows) AS counted"
        " FROM skyhouse.density WHERE (schema_name, table_name, version) IN"
        " (SELECT schema_name, table_name, max(version) FROM skyhouse.density GROUP BY schema_name, table_name)"
        " GROUP BY schema_name, table_name, cell) GROUP BY schema_name, table_name"
    ).to_pylist()
    by_key = {(row["schema_name"], row["table_name"]): row for row in counted}
    counts = {key: int(row["total"]) for key, row in by_key.items()}
    return counts, {key: float(row["occupancy"]) for key, row in by_key.items() if row["total"]}


def rows_per_square_degree(rows: float, order: int) -> float:
    """Convert rows per cell of ``order`` to rows per square degree."""
    cells: int = 12 * 4**order
    return rows * cells / _SQUARE_DEGREES
