"""The version of a table's data: the last change of its entry in the catalogue, or the last append to it.

Both logs are in a backup, so the version of a table that was restored is that of before.
"""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME


def read_table_versions(engine: Engine, tables: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the nanoseconds since 1970 at which tables last changed, by (schema, table); gone ones are left out.

    Every load, append, correction and new description of a table changes its version. That of the tables of TAP_SCHEMA
    changes with the whole catalogue.
    """
    wanted = sorted(set(tables))
    own = [key for key in wanted if key[0] == TAP_SCHEMA_NAME]
    names = ", ".join(f"({quote_string(schema)}, {quote_string(table)})" for schema, table in wanted) or "('', '')"
    is_wanted = f"(schema_name, table_name) IN ({names})"
    found = engine.fetch_table(
        "SELECT c.schema_name AS schema, c.table_name AS name, greatest(c.changed, a.added) AS version"
        " FROM (SELECT schema_name, table_name, max(version) AS changed FROM skyhouse.catalogue"
        f" WHERE {is_wanted} GROUP BY schema_name, table_name HAVING argMax(document, version) != '') AS c"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS added FROM skyhouse.appends"
        f" WHERE {is_wanted} GROUP BY schema_name, table_name) AS a"
        " ON c.schema_name = a.schema_name AND c.table_name = a.table_name"
    ).to_pylist()
    versions = {(row["schema"], row["name"]): int(row["version"]) for row in found}
    if own:
        whole = engine.fetch_table("SELECT max(version) AS version FROM skyhouse.catalogue").column(0)[0].as_py()
        versions |= dict.fromkeys(own, int(whole))
    return versions
