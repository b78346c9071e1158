"""The tables of TAP_SCHEMA in the engine. They are derived from the catalogue and can be rewritten at any time."""

from __future__ import annotations

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import Statement
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import column_type, create_table_sql
from clickhouse_schema.tap_schema import TAP_SCHEMA, build_tap_schema
from clickhouse_schema.whole_tables import find_replicated_table, read_columns

#: Suffix of the tables in which the next content is prepared.
_NEXT_SUFFIX = "__new"


def create_tap_schema(servers: Servers[Engine]) -> None:
    """Create each table, and one for its next content; recreate tables with columns of another version of Skyhouse."""
    present = read_columns(servers.engine, TAP_SCHEMA.name)
    for table in TAP_SCHEMA.tables:
        wanted = [(column.name, column_type(column)) for column in table.columns]
        for name in (table.name, table.name + _NEXT_SUFFIX):
            if present.get(name, wanted) != wanted:
                servers.execute_everywhere(f"DROP TABLE IF EXISTS {_quote_tap_schema_table(name)} SYNC")
            _create_table(servers, table, name)


def _create_table(servers: Servers[Engine], table: Table, name: str) -> None:
    topology = servers.topology
    others = find_replicated_table(servers.engine, topology, TAP_SCHEMA.name, name)
    servers.execute_everywhere(
        create_table_sql(table, _quote_tap_schema_table(name), topology, others=others, if_missing=True)
    )


def write_tap_schema(engine: Engine, catalogue: Catalogue) -> None:
    """Replace the content of each table that differs, in one step, so that no reader sees half of it.

    Exchanging the tables would leave one to drop, and DROP waits for its readers. No table is ever empty, because
    TAP_SCHEMA describes itself.
    """
    batches = build_tap_schema(catalogue)
    servers = Servers(engine)
    target = servers.topology.choose_rows_target(is_sharded=False)
    readers = servers.list_engines(target)
    for table in TAP_SCHEMA.tables:
        live = _quote_tap_schema_table(table.name)
        if all(_has_rows(each, live, batches[table.name]) for each in readers):
            continue
        following = _quote_tap_schema_table(table.name + _NEXT_SUFFIX)
        servers.execute_statement(Statement(f"TRUNCATE TABLE {following}", target))
        servers.insert_batches(following, [batches[table.name]], point=Failpoint.TAP_SCHEMA_FILL)
        replace = f"ALTER TABLE {live} REPLACE PARTITION tuple() FROM {following}"
        servers.execute_statement(Statement(replace, target), point=Failpoint.TAP_SCHEMA_REPLACE)


def _has_rows(engine: Engine, table: str, wanted: pa.RecordBatch) -> bool:
    """Whether a table has these rows, in any order."""
    names = wanted.schema.names
    found = engine.fetch_table(f"SELECT {', '.join(map(quote_identifier, names))} FROM {table}")
    order = [(name, "ascending") for name in names]
    return bool(
        found.num_rows == wanted.num_rows
        and found.cast(wanted.schema).sort_by(order).equals(pa.table(wanted).sort_by(order))
    )


def _quote_tap_schema_table(name: str) -> str:
    return f"{quote_identifier(TAP_SCHEMA.name)}.{quote_identifier(name)}"
