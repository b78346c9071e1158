"""The version of a table's data: the last change of its entry in the catalogue, or the last append to it.

A backup contains both logs, so a restored table has its earlier version.
"""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME

_Key = tuple[str, str]


def read_table_versions(engine: Engine, tables: Iterable[_Key]) -> dict[_Key, int]:
    """Return the nanoseconds since 1970 at which existing tables last changed, by (schema, table).

    Every load, append, correction and new description of a table changes its version. The version of a table of latest
    versions is the version of the table that it is made from, or later; any change of the catalogue changes the
    versions of the tables of TAP_SCHEMA.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    tables : iterable of tuple of str
        Schema and table of each table.

    Returns
    -------
    dict of tuple of str to int
        Nanoseconds by (schema, table), ascending with every change even if the clock was set back; without tables that
        do not exist.
    """
    wanted = set(tables)
    versioned = _find_versioned_tables(engine, wanted)
    versions = _read_versions(engine, wanted | set(versioned.values()))
    own = {key for key in wanted if key[0] == TAP_SCHEMA_NAME}
    if own:
        whole = engine.fetch_table("SELECT max(version) AS version FROM skyhouse.catalogue").column(0)[0].as_py()
        versions |= dict.fromkeys(own, int(whole))
    made_of = {key: versions.get(versioned.get(key, key), 0) for key in wanted}
    return {key: max(version, made_of[key]) for key, version in versions.items() if key in wanted}


def _find_versioned_tables(engine: Engine, tables: Iterable[_Key]) -> dict[_Key, _Key]:
    """Return the tables that tables of latest versions are made from, by table of latest versions."""
    schemas = ", ".join(sorted({quote_string(schema) for schema, _ in tables})) or "''"
    found = engine.fetch_table(
        "SELECT argMax(document, version) AS document FROM skyhouse.catalogue"
        f" WHERE schema_name IN ({schemas}) AND schema_name != '' GROUP BY schema_name, table_name"
        """ HAVING position(document, '"versions":{') > 0"""
    )
    described = (Schema.model_validate_json(document) for document in found["document"].to_pylist())
    pairs = ((schema.name, table) for schema in described for table in schema.tables)
    return {(name, latest.name): (name, table.name) for name, table in pairs if (latest := build_latest_table(table))}


def _read_versions(engine: Engine, tables: Iterable[_Key]) -> dict[_Key, int]:
    """Return the versions that the logs have for tables; TAP_SCHEMA is not in the logs."""
    names = (
        ", ".join(f"({quote_string(schema)}, {quote_string(table)})" for schema, table in sorted(tables)) or "('', '')"
    )
    is_wanted = f"(schema_name, table_name) IN ({names})"
    found = engine.fetch_table(
        "SELECT c.schema_name AS schema, c.table_name AS name, greatest(c.changed, a.added) AS version"
        " FROM (SELECT schema_name, table_name, max(version) AS changed FROM skyhouse.catalogue"
        f" WHERE {is_wanted} GROUP BY schema_name, table_name HAVING argMax(document, version) != '') AS c"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS added FROM skyhouse.appends"
        f" WHERE {is_wanted} GROUP BY schema_name, table_name) AS a"
        " ON c.schema_name = a.schema_name AND c.table_name = a.table_name"
    ).to_pylist()
    return {(row["schema"], row["name"]): int(row["version"]) for row in found}
