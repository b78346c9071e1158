"""The small tables in DuckDB, whose answers are compared with the answers of the engine."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from tests.support.small_tables import CONTENT


def _without_zones(content: pa.Table) -> pa.Table:
    """Instants as plain ones: DuckDB would reckon with the time zone of the machine."""
    plain = [pa.field(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type) for f in content.schema]
    return content.cast(pa.schema(plain))


def independent_engine() -> duckdb.DuckDBPyConnection:
    """A DuckDB with the same small tables."""
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute("PRAGMA disable_optimizer")  # what is compared with is the plain meaning of the SQL
    connection.execute("CREATE SCHEMA small")
    for table, batch in CONTENT:
        content = _without_zones(pa.Table.from_batches([batch]))
        connection.register("content", content)
        connection.execute(f"CREATE TABLE small.{table.name} AS SELECT * FROM content")
        connection.unregister("content")
    return connection
