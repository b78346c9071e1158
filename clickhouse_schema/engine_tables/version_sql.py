"""SQL that the logs of changes share: the next version, and the rows of one table."""

from __future__ import annotations

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_string

#: Nanoseconds since 1970; greater than the last version even if the clock was set back
_NEXT_VERSION_SQL = "greatest(toUInt64(toUnixTimestamp64Nano(now64(9))), max(version) + 1)"

#: The logs of changes of tables whose versions ``table_versions`` compares
TABLE_LOGS = ("skyhouse.catalogue", "skyhouse.appends")


def fetch_next_version(engine: Engine, *logs: str) -> int:
    """Return the version of the next change that is written to one of ``logs``, names of tables."""
    last = " UNION ALL ".join(f"SELECT max(version) AS version FROM {log}" for log in logs)
    return int(engine.fetch_table(f"SELECT {_NEXT_VERSION_SQL} AS version FROM ({last})").column(0)[0].as_py())


def is_table_sql(schema_name: str, table_name: str) -> str:
    """Return the condition that selects the rows of one table."""
    return f"schema_name = {quote_string(schema_name)} AND table_name = {quote_string(table_name)}"
