"""The small tables in DuckDB, for comparison with the engine's answers."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from tests.support.small_tables import CONTENT


def _remove_time_zones(content: pa.Table) -> pa.Table:
    """Return the table without time zones: DuckDB would convert timestamps to the machine's time zone."""
    plain = [pa.field(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type) for f in content.schema]
    return content.cast(pa.schema(plain))


def independent_engine() -> duckdb.DuckDBPyConnection:
    """Return a DuckDB with the same small tables."""
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute("PRAGMA disable_optimizer")  # the reference is the plain meaning of the SQL
    connection.execute("CREATE SCHEMA small")
    for table, batch in CONTENT:
        content = _remove_time_zones(pa.Table.from_batches([batch]))
        connection.register("content", content)
        connection.execute(f"CREATE TABLE small.{table.name} AS SELECT * FROM content")
        connection.unregister("content")
    return connection
