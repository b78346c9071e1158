"""Statements that create the tables of one sharded table (``clickhouse_schema.shard_map``). Pure.

All statements may be repeated, and none changes existing tables. Names are a base name (``Sharding.base_name``) and a
suffix.
"""

from __future__ import annotations

from collections.abc import Mapping

from clickhouse_schema.cluster_topology import NEW_TABLE, ReplicatedTable, Topology
from clickhouse_schema.quoting import quote_identifier, quote_string, quote_table
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shard_map import CLUSTER_NAME, LOCAL, MARGIN, OVERLAP, SHARD_COLUMN
from clickhouse_schema.table_ddl import column_definitions, create_table_sql, stored_columns

#: For tables that no other server has
_NEW_TABLES: Mapping[str, ReplicatedTable] = {}


def create_sharded_sql(
    table: Table,
    schema_name: str,
    base: str,
    topology: Topology,
    others: Mapping[str, ReplicatedTable] = _NEW_TABLES,
) -> list[str]:
    """Return the statements that create the missing parts of a sharded table, for every server.

    Parameters
    ----------
    table : Table
        The table.
    schema_name : str
        Name of its schema.
    base : str
        Base name of its parts.
    topology : Topology
        How the servers are set up.
    others : mapping of str to ReplicatedTable, optional
        The parts with rows that other servers have, by name.

    Returns
    -------
    list of str
        Statements that leave existing tables unchanged.
    """
    return [
        *(
            _create_rows_sql(table, schema_name, name, topology, others.get(name, NEW_TABLE))
            for name in (base + LOCAL, base + OVERLAP)
        ),
        create_margin_sql(table, schema_name, base),
        _create_distributed_sql(table, schema_name, base),
    ]


def create_margin_sql(table: Table, schema_name: str, base: str) -> str:
    """Return the statement that creates or replaces the view of a shard's rows and copies.

    Parameters
    ----------
    table : Table
        The table, whose stored columns the view has.
    schema_name : str
        Name of its schema.
    base : str
        Base name of its parts.

    Returns
    -------
    str
        CREATE OR REPLACE VIEW of ``base`` with the suffix ``MARGIN``; the parts with rows must exist.
    """
    names = ", ".join(quote_identifier(name) for name in stored_columns(table, is_sharded=True))
    query = " UNION ALL ".join(
        f"SELECT {names} FROM {quote_table(schema_name, base, part)}" for part in (LOCAL, OVERLAP)
    )
    return f"CREATE OR REPLACE VIEW {quote_table(schema_name, base, MARGIN)} AS {query}"


def drop_sharded_sql(schema_name: str, base: str, topology: Topology) -> list[str]:
    """Return the statements that drop the existing parts of a sharded table.

    Parameters
    ----------
    schema_name : str
        Name of its schema.
    base : str
        Base name of its parts.
    topology : Topology
        How the servers are set up.

    Returns
    -------
    list of str
        Statements for every server, in this order: the rows last, so that an interrupted drop can be repeated.
    """
    # the rows last: other code looks for them to find out whether the table exists
    names = ("", MARGIN, OVERLAP, LOCAL)
    return [f"DROP TABLE IF EXISTS {quote_table(schema_name, base, name)}{topology.drop_clause}" for name in names]


def _create_rows_sql(table: Table, schema_name: str, name: str, topology: Topology, others: ReplicatedTable) -> str:
    return create_table_sql(
        table, quote_table(schema_name, name), topology, is_sharded=True, others=others, if_missing=True
    )


def _create_distributed_sql(table: Table, schema_name: str, base: str) -> str:
    body = ",\n    ".join(column_definitions(table, is_sharded=True))
    target = ", ".join(quote_string(text) for text in (CLUSTER_NAME, schema_name, base + LOCAL))
    return (
        f"CREATE TABLE IF NOT EXISTS {quote_table(schema_name, base)} (\n    {body}\n)"
        f" ENGINE = Distributed({target}, {SHARD_COLUMN})"
    )
