"""The statements that make the tables of one sharded table: see ``placement``. Pure: text out.

Each may be repeated, and none changes what is there. Names are ``base`` and an ending; ``base`` is that of
``Placement.base``, or of a table that is being filled.
"""

from __future__ import annotations

from clickhouse_schema.cover import cover_column, has_cover, is_read, shape_column
from clickhouse_schema.ddl import HPX29, columns, create_table
from clickhouse_schema.model import Table
from clickhouse_schema.placement import CLUSTER, LOCAL, MARGIN, OVERLAP, SHARD, stored
from clickhouse_schema.quoting import identifier, string
from clickhouse_schema.topology import Topology


def create_sharded(table: Table, schema_name: str, base: str, topology: Topology) -> list[str]:
    """What makes all of ``table`` that is not there, for all servers, in this order."""
    return [
        *(_create_rows(table, schema_name, base + topology.rows(part), topology) for part in (LOCAL, OVERLAP)),
        *create_views(table, schema_name, base, topology),
        _create_distributed(table, schema_name, base, topology),
    ]


def create_views(table: Table, schema_name: str, base: str, topology: Topology) -> list[str]:
    """What makes the views of the rows, in place of those that are there: they have the columns of ``table``."""
    names = ", ".join(identifier(name) for name in stored_columns(table))
    views = {}
    if topology.views_rows:
        for part in (LOCAL, OVERLAP):
            rows = stored(schema_name, base, topology.rows(part))
            views[part] = f"SELECT {names} FROM {rows} WHERE {SHARD} = shardNum() - 1"
    views[MARGIN] = " UNION ALL ".join(
        f"SELECT {names} FROM {stored(schema_name, base, part)}" for part in (LOCAL, OVERLAP)
    )
    return [
        f"CREATE OR REPLACE VIEW {stored(schema_name, base, part)}{topology.on_cluster} AS {query}"
        for part, query in views.items()
    ]


def drop_sharded(schema_name: str, base: str, topology: Topology) -> list[str]:
    """What drops all of it; that of which some is there is dropped too."""
    views = [LOCAL, OVERLAP] if topology.views_rows else []
    names = ["", MARGIN, *views, *(topology.rows(part) for part in (LOCAL, OVERLAP))]
    return [f"DROP TABLE IF EXISTS {stored(schema_name, base, name)}{topology.on_cluster} SYNC" for name in names]


def stored_columns(table: Table) -> list[str]:
    """The names of all columns of a part, those that the engine computes and the storage adds among them."""
    names = [column.name for column in table.columns]
    names += [SHARD, *([HPX29] if table.layout.position else [])]
    for column in table.columns:
        if has_cover(column.type):
            names += [shape_column(column.name)] if is_read(column.type) else []
            names.append(cover_column(column.name))
    return names


def _create_rows(table: Table, schema_name: str, name: str, topology: Topology) -> str:
    statement = create_table(table, stored(schema_name, name), topology, is_sharded=True)
    return statement.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)


def _create_distributed(table: Table, schema_name: str, base: str, topology: Topology) -> str:
    body = ",\n    ".join(columns(table, is_sharded=True))
    target = ", ".join(string(text) for text in (CLUSTER, schema_name, base + LOCAL))
    return (
        f"CREATE TABLE IF NOT EXISTS {stored(schema_name, base)}{topology.on_cluster} (\n    {body}\n)"
        f" ENGINE = Distributed({target}, {SHARD})"
    )
