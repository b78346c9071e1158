"""Differences between the tables in the engine and the model, and the statements that remove them. Changes nothing.

Tables, columns, indexes and comments are added while queries run: first in the tables with rows, then in the tables
that read them. Differences that require rewriting the rows are obstacles: another type, another order of the rows, a
stored column that the model lacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clickhouse_schema.cluster_ddl import create_margin_sql, create_sharded_sql
from clickhouse_schema.cluster_topology import Statement, Topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string, quote_table
from clickhouse_schema.row_store import is_row_column
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.shard_map import LOCAL, MARGIN, OVERLAP
from clickhouse_schema.stored_nulls import allow_nulls_sql, list_changeable, store_plainly
from clickhouse_schema.table_ddl import (
    MERGE_SETTINGS,
    create_table_sql,
    index_definitions,
    sort_key_sql,
    stored_columns,
)
from clickhouse_schema.whole_tables import find_replicated_table, find_table_comment

#: What to do about an obstacle
RELOAD_HINT = "load the table again with --replace"


@dataclass(frozen=True, slots=True)
class Step:
    """A difference, and the statements that remove it."""

    description: str
    sql: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """``obstacles``: differences that no statement removes."""

    steps: tuple[Step, ...] = ()
    obstacles: tuple[str, ...] = ()


#: Where ClickHouse lists its indexes, by kind
_INDEX_TABLES = {"INDEX": "system.data_skipping_indices", "PROJECTION": "system.projections"}


@dataclass(slots=True)
class _Found:
    """A table on one server: ``columns`` has types and comments by name, ``indexes`` names by ClickHouse's kind.

    ``storage`` is the engine with its clauses, from ENGINE to SETTINGS.
    """

    sorting_key: str
    has_years: bool
    storage: str
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    indexes: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in _INDEX_TABLES})


def find_drift(engine: Engine, topology: Topology, schema_name: str, table: Table, base: str) -> Drift:
    """Find the differences of one table on all servers.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    topology : Topology
        How the servers are set up.
    schema_name : str
        Name of the table's schema.
    table : Table
        The model of the table.
    base : str
        Its name in the engine (``Sharding.base_name``).

    Returns
    -------
    Drift
        The differences, and the statements that remove them.
    """
    return _Comparison(engine, topology, schema_name, table, base).find_drift()


def create_missing_sql(
    engine: Engine, topology: Topology, schema_name: str, table: Table, base: str
) -> list[Statement]:
    """Return the statements that create a table on servers that lack it.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    topology : Topology
        How the servers are set up.
    schema_name : str
        Name of the table's schema.
    table : Table
        The model of the table.
    base : str
        Its name in the engine (``Sharding.base_name``).

    Returns
    -------
    list of Statement
        Repeatable statements, including the database; [] if every server has all parts of the table.
    """
    return _Comparison(engine, topology, schema_name, table, base).create_missing_sql()


class _Comparison:
    def __init__(self, engine: Engine, topology: Topology, schema_name: str, table: Table, base: str) -> None:
        self._engine = engine
        self._topology = topology
        self._schema_name = schema_name
        self._table = table
        self._base = base
        self._is_sharded = topology.is_cluster and table.is_sharded
        self._stored = table
        self._columns = stored_columns(table, self._is_sharded)
        self._rows = [base + part for part in (LOCAL, OVERLAP)] if self._is_sharded else [base]
        self._readers = [base + MARGIN, base] if self._is_sharded else []

    def create_missing_sql(self) -> list[Statement]:
        servers = self._read_servers()
        self._adopt_nulls(servers)
        return [] if len(self._find_complete_servers(servers)) == len(servers) else [*self._create_sql()]

    def find_drift(self) -> Drift:
        servers = self._read_servers()
        self._adopt_nulls(servers)
        having = self._find_complete_servers(servers)
        steps = []
        if len(having) < len(servers):
            where = " on some servers" if having else ""
            steps.append(Step(f"the table {self._table_name} is missing{where}", tuple(self._create_sql())))
        rows = [(name, found[name]) for found in servers for name in self._rows if name in found]
        obstacles = [obstacle for _, found in rows for obstacle in self._find_obstacles(found)]
        steps += self._find_column_steps(servers)
        steps += self._find_old_row_stores(servers)
        steps += self._find_null_steps(servers)
        steps += self._find_order_steps(rows)
        steps += self._find_comment_steps(rows)
        steps += self._find_index_steps(rows)
        steps += self._find_merge_steps(rows)
        return Drift(tuple(steps), tuple(dict.fromkeys(obstacles)))

    @property
    def _table_name(self) -> str:
        return f"{self._schema_name}.{self._table.name}"

    # --- reading ------------------------------------------------------------------------------------------------------

    def _find_complete_servers(self, servers: list[dict[str, _Found]]) -> list[dict[str, _Found]]:
        """Return the servers that have all parts of the table."""
        return [found for found in servers if all(name in found for name in (*self._rows, *self._readers))]

    def _read_servers(self) -> list[dict[str, _Found]]:
        """Read the parts of the table on each server, by name."""
        servers: dict[str, dict[str, _Found]] = {
            row["server"]: {} for row in self._query_servers("view(SELECT 1)", "1")
        }
        given = ", ".join(quote_string(name) for name in (*self._rows, *self._readers))
        of_tables = f"database = {quote_string(self._schema_name)} AND {{}} IN ({given})"
        read = "name, sorting_key, partition_key, engine_full"
        for row in self._query_servers("system.tables", of_tables.format("name"), read):
            found = _Found(row["sorting_key"], bool(row["partition_key"]), row["engine_full"])
            servers[row["server"]][row["name"]] = found
        in_order = of_tables.format("table") + " ORDER BY position"
        for row in self._query_servers("system.columns", in_order, "table, name, type, comment"):
            servers[row["server"]][row["table"]].columns[row["name"]] = (row["type"], row["comment"])
        for kind, listed in _INDEX_TABLES.items():
            for row in self._query_servers(listed, of_tables.format("table"), "table, name"):
                servers[row["server"]][row["table"]].indexes[kind].add(row["name"])
        return [*servers.values()]

    def _query_servers(self, table: str, where: str, columns: str = "1") -> list[dict[str, str]]:
        server = "concat(hostName(), ' ', toString(tcpPort()))" if self._topology.is_cluster else "''"
        source = self._topology.all_servers_sql(table)
        found = self._engine.fetch_table(f"SELECT {server} AS server, {columns} FROM {source} WHERE {where}")
        return [*found.to_pylist()]

    def _adopt_nulls(self, servers: list[dict[str, _Found]]) -> None:
        """Expect columns without NULLs as they are stored, or as a load would store them if there is no table."""
        types = [found.columns for server in servers for found in server.values()]
        plain = {
            name
            for name in list_changeable(self._table)
            if not any(columns.get(name, ("",))[0].startswith("Nullable(") for columns in types)
            and (not types or any(name in columns for columns in types))
        }
        self._stored = store_plainly(self._table, plain)
        self._columns = stored_columns(self._stored, self._is_sharded)

    # --- differences --------------------------------------------------------------------------------------------------

    def _create_sql(self) -> Iterator[Statement]:
        yield Statement(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(self._schema_name)}")
        others = {
            name: find_replicated_table(self._engine, self._topology, self._schema_name, name) for name in self._rows
        }
        if self._is_sharded:
            created = create_sharded_sql(self._stored, self._schema_name, self._base, self._topology, others)
            yield from map(Statement, created)
        else:
            name = quote_table(self._schema_name, self._base)
            created_sql = create_table_sql(
                self._stored, name, self._topology, others=others[self._base], if_missing=True
            )
            yield Statement(created_sql)
        if self._topology.is_cluster:
            yield from self._comments_sql()

    def _comments_sql(self) -> Iterator[Statement]:
        """Copy the comments of tables, which record loads and are not replicated."""
        for name in self._rows:
            if text := find_table_comment(self._engine, self._topology, self._schema_name, name):
                yield self._define(name, f"MODIFY COMMENT {quote_string(text)}")

    def _find_obstacles(self, found: _Found) -> Iterator[str]:
        for name, (kind, _) in found.columns.items():
            if is_row_column(name):
                continue  # it can be added and dropped
            if name not in self._columns:
                yield f"{self._table_name} has a column {name}, which the file lacks: add it there, or {RELOAD_HINT}"
            elif kind != self._columns[name].type and f"Nullable({kind})" != self._columns[name].type:
                wanted = self._columns[name].type
                yield f"{self._table_name}.{name} is stored as {kind}, but the file needs {wanted}: {RELOAD_HINT}"
        for column in self._table.columns:
            if column.name in found.columns:
                continue
            if not column.nullable:
                yield (
                    f"the column {column.name} is not nullable, but rows of {self._table_name} have no value:"
                    f" {RELOAD_HINT}"
                )
            elif has_cover(column.type):
                shapes = f"shapes ({column.type.xtype})"
                yield f"the column {column.name} holds {shapes}, whose covers only a load computes: {RELOAD_HINT}"
        order, wanted = _bare_key_names(found.sorting_key), _bare_key_names(sort_key_sql(self._table))
        if order != wanted:
            orders = f"{order or 'loading'}, not of {wanted or 'loading'}"
            yield f"{self._table_name} is in the order of {orders}: {RELOAD_HINT}"
        if found.has_years != self._table.layout.years:
            partitions = "a partition for each year" if found.has_years else "one partition for all years"
            yield f"{self._table_name} has {partitions}: {RELOAD_HINT}"

    def _find_column_steps(self, servers: list[dict[str, _Found]]) -> Iterator[Step]:
        names = [*self._columns]
        for number, name in enumerate(names):
            lacking = [
                table
                for table in (*self._rows, *self._readers)
                if any(table in found and name not in found[table].columns for found in servers)
            ]
            if lacking:
                after = f"AFTER {quote_identifier(names[number - 1])}" if number else "FIRST"
                change = f"ADD COLUMN IF NOT EXISTS {quote_identifier(name)} {self._column_definition(name)} {after}"
                changes = [change, *self._fill_changes(name)]
                rows = [self._alter_rows(table, c) for table in lacking if table not in self._readers for c in changes]
                what = "row store" if is_row_column(name) else f"column {name}"
                yield Step(
                    f"the {what} of {self._table_name} is missing",
                    (*rows, *self._extend_readers(lacking, change)),
                )

    def _fill_changes(self, name: str) -> tuple[str, ...]:
        """Return the change that stores a new column for existing rows; until then ClickHouse computes its values."""
        return (f"MATERIALIZE COLUMN {quote_identifier(name)}",) if is_row_column(name) else ()

    def _find_old_row_stores(self, servers: list[dict[str, _Found]]) -> Iterator[Step]:
        """Drop row stores that the model does not have, or that have other columns: first where they are read."""
        stored = (name for found in servers for table in found.values() for name in table.columns)
        for name in sorted({name for name in stored if is_row_column(name)} - self._columns.keys()):
            tables = [
                table
                for table in (*self._rows, *self._readers)
                if any(name in found[table].columns for found in servers if table in found)
            ]
            change = f"DROP COLUMN IF EXISTS {quote_identifier(name)}"
            rows = [self._alter_rows(table, change) for table in tables if table not in self._readers]
            yield Step(
                f"{self._table_name} has a row store that does not match the file",
                (*self._extend_readers(tables, change), *rows),
            )

    def _find_null_steps(self, servers: list[dict[str, _Found]]) -> Iterator[Step]:
        """Make columns Nullable in all tables if they are so in some: a load was killed while it made them Nullable."""
        for name in sorted(list_changeable(self._table)):
            wanted = self._columns[name].type
            others = [
                table
                for table in (*self._rows, *self._readers)
                if any(found[table].columns.get(name, (wanted,))[0] != wanted for found in servers if table in found)
            ]
            if others:
                change = allow_nulls_sql(self._stored, [name])
                rows = [self._alter_rows(table, change) for table in others if table not in self._readers]
                yield Step(
                    f"the column {name} of {self._table_name} can be NULL in some tables only",
                    (*rows, *self._extend_readers(others, change)),
                )

    def _find_order_steps(self, rows: list[tuple[str, _Found]]) -> Iterator[Step]:
        """Put columns into the order of the model: a new replica is accepted only with the same order as the others."""
        names = [*self._columns]
        others = []
        for table, found in rows:
            if [n for n in found.columns if n in names] != [n for n in names if n in found.columns]:
                others.append(table)
        if others:
            positions = ["FIRST", *(f"AFTER {quote_identifier(name)}" for name in names)]
            moves = (
                f"MODIFY COLUMN {quote_identifier(name)} {self._columns[name].type} {position}"
                for name, position in zip(names, positions, strict=False)
            )
            change = ", ".join(moves)
            sql = tuple(self._alter_rows(name, change) for name in dict.fromkeys(others))
            yield Step(f"the columns of {self._table_name} are in another order", sql)

    def _extend_readers(self, lacking: list[str], change: str) -> Iterator[Statement]:
        """Return the statements that change the columns in the same way in the tables that read the rows."""
        if self._base + MARGIN in lacking:
            yield Statement(create_margin_sql(self._table, self._schema_name, self._base))
        if self._base in self._readers and self._base in lacking:
            yield self._define(self._base, change)

    def _find_comment_steps(self, rows: list[tuple[str, _Found]]) -> Iterator[Step]:
        for column in self._table.columns:
            others = [
                n for n, f in rows if f.columns.get(column.name, ("", column.description))[1] != column.description
            ]
            change = f"COMMENT COLUMN IF EXISTS {quote_identifier(column.name)} {quote_string(column.description)}"
            if others:
                sql = (self._define(name, change) for name in dict.fromkeys(others))
                yield Step(f"the comment on {self._table_name}.{column.name} differs", tuple(sql))

    def _find_index_steps(self, rows: list[tuple[str, _Found]]) -> Iterator[Step]:
        for kind, wanted in index_definitions(self._table).items():
            names = [*wanted]
            for position, (name, definition) in enumerate(wanted.items()):
                lacking = [table for table, found in rows if name not in found.indexes[kind]]
                after = f"AFTER {quote_identifier(names[position - 1])}" if position else "FIRST"
                add = f"ADD {kind} IF NOT EXISTS {quote_identifier(name)} {definition} {after}"
                if lacking:
                    changes = (add, f"MATERIALIZE {kind} {quote_identifier(name)}")
                    sql = (self._alter_rows(table, change) for table in dict.fromkeys(lacking) for change in changes)
                    yield Step(f"the index {name} of {self._table_name} is missing", tuple(sql))
            unwanted = (name for _, found in rows for name in sorted(found.indexes[kind] - wanted.keys()))
            for name in dict.fromkeys(unwanted):
                drop = f"DROP {kind} IF EXISTS {quote_identifier(name)}"
                sql = (self._alter_rows(table, drop) for table in self._rows)
                yield Step(f"the index {name} of {self._table_name} is not in the file", tuple(sql))

    def _find_merge_steps(self, rows: list[tuple[str, _Found]]) -> Iterator[Step]:
        """Add the settings that a table of an older version lacks; values that an operator has set stay."""
        for table in dict.fromkeys(name for name, _ in rows):
            stored = [found.storage for name, found in rows if name == table]
            lacking = [name for name in MERGE_SETTINGS if any(f" {name} = " not in storage for storage in stored)]
            if lacking:
                change = f"MODIFY SETTING {', '.join(f'{name} = {MERGE_SETTINGS[name]}' for name in lacking)}"
                what = f"{self._table_name} lacks settings for merges: {', '.join(lacking)}"
                yield Step(what, (self._define(table, change),))

    def _column_definition(self, name: str) -> str:
        return f"{self._columns[name].type} {self._columns[name].rest}"

    def _alter_rows(self, name: str, change: str) -> Statement:
        """Return a change of rows, columns or indexes, which replicas copy."""
        target = self._topology.choose_rows_target(is_sharded=self._is_sharded)
        return Statement(f"ALTER TABLE {quote_table(self._schema_name, name)} {change}", target)

    def _define(self, name: str, change: str) -> Statement:
        """Return a change of something that is not replicated."""
        return Statement(f"ALTER TABLE {quote_table(self._schema_name, name)} {change}")


def _bare_key_names(sort_key: str) -> str:
    """Return the names in a sort key without quotes and parentheses."""
    return sort_key.replace("`", "").removeprefix("tuple").removeprefix("(").removesuffix(")")
