"""SQL that the logs of changes share: the next version, and the rows of one table."""

from __future__ import annotations

from clickhouse_schema.quoting import quote_string

#: Nanoseconds since 1970; greater than the last version even if the clock was set back.
NEXT_VERSION_SQL = "greatest(toUInt64(toUnixTimestamp64Nano(now64(9))), max(version) + 1)"


def is_table_sql(schema_name: str, table_name: str) -> str:
    """Return the condition that selects the rows of one table."""
    return f"schema_name = {quote_string(schema_name)} AND table_name = {quote_string(table_name)}"
