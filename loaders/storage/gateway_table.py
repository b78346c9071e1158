"""The gateway table of a load: holds the rows of one chunk on the connected server, before they go to their shards.

The engine computes ``hpx29`` there, which determines the shard of a row. Rows of a table with ``Layout.parent`` go to
the shard of their parent row, which the gateway looks up.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_topology import NEW_TABLE, Statement
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.healpix import NO_POSITION
from clickhouse_schema.quoting import quote_identifier, quote_table
from clickhouse_schema.row_store import leave_row_store_out
from clickhouse_schema.schema_model import ForeignKey, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import SHARD_COLUMN
from clickhouse_schema.table_ddl import HPX29, column_definitions, given_columns
from clickhouse_schema.working_tables import HOMES_SUFFIX
from loaders.storage.replica_sync import wait_for_replicas
from loaders.storage.stored_table import find_nulls
from tap_service.storage.engine.engine import Engine

#: Suffix of the gateway table of an append.
APPEND_SUFFIX = "__append"

#: The index of a row in its chunk, from 0.
_ROW_COLUMN = "__row"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A row of a chunk, by its index from 0, without a usable parent row: its ``column`` has ``value``."""

    row: int
    column: str
    value: str
    reason: str


class Gateway:
    """The gateway table ``name`` for rows of ``table``.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    schema_name, name : str
        Names of the gateway, not quoted.
    table : Table
        The table whose rows it holds.
    parent : TableEntry, optional
        The table's parent table.
    is_kept : bool
        Whether the gateway exists on all servers and survives restarts, so that any server can continue the append.
    """

    def __init__(
        self,
        servers: Servers[Engine],
        schema_name: str,
        name: str,
        table: Table,
        parent: TableEntry | None = None,
        *,
        is_kept: bool,
    ) -> None:
        self._servers = servers
        self._engine = servers.engine
        self._table = table
        self._parent = parent
        self._is_kept = is_kept
        self._name = (schema_name, name)
        self._storage_sql = quote_table(schema_name, name)
        self._homes_sql = quote_table(schema_name, name, HOMES_SUFFIX)

    @property
    def columns_sql(self) -> str:
        """The SQL of the columns that inserted rows have."""
        return ", ".join(quote_identifier(name) for name in given_columns(self._table))

    @property
    def rows_sql(self) -> str:
        """The SQL of all rows except orphans, with ``hpx29``, and with the shard if the parent determines it."""
        if self._parent is None:
            return self._storage_sql
        index = f", {HPX29}" if self._table.layout.position else ""
        radius = self._table.layout.overlap_radius
        joined = f"{self._storage_sql} INNER JOIN {self._homes_sql} USING ({_ROW_COLUMN})"
        columns = f"{self.columns_sql}{index}, {SHARD_COLUMN}"
        return f"(SELECT {columns} FROM {joined} WHERE separation <= {radius!r})"

    def fill_table(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Create the gateway again, with these rows, and look up their parents.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            Rows with the columns that inserted rows have (``given_columns``); all are in memory.

        Raises
        ------
        EngineError
            A value does not fit, or a server does not answer.
        """
        self._recreate_table()
        if self._is_kept:
            self._servers.insert_batches(self._storage_sql, _number_rows(batches), point=Failpoint.GATEWAY_FILL)
        else:
            self._engine.insert_batches(self._storage_sql, _number_rows(batches))
            reach(Failpoint.GATEWAY_FILL)
        self._find_homes()

    def fill_from_query(self, sql: str) -> None:
        """Create the gateway again, with the rows of a query, and look up their parents.

        Parameters
        ----------
        sql : str
            SELECT of the columns that inserted rows have, in the order of ``columns_sql``.

        Raises
        ------
        EngineError
            The query fails, or a value does not fit.
        """
        self._recreate_table()
        columns = self.columns_sql
        numbered = f"SELECT {columns}, toUInt32(rowNumberInAllBlocks()) FROM ({sql})"
        self._engine.execute(
            f"INSERT INTO {self._storage_sql} ({columns}, {_ROW_COLUMN}) {numbered}", {"insert_null_as_default": 0}
        )
        reach(Failpoint.GATEWAY_FILL)
        self._find_homes()

    def _recreate_table(self) -> None:
        self.drop_tables()
        columns = column_definitions(leave_row_store_out(self._table))
        self._create_table(self._storage_sql, [*columns, f"{_ROW_COLUMN} UInt32"])

    def _find_homes(self) -> None:
        """Look up the parents of the rows, if they determine the shards."""
        if self._parent is not None:
            columns = [f"{_ROW_COLUMN} UInt32", f"{SHARD_COLUMN} UInt16", "separation Float64"]
            self._create_table(self._homes_sql, columns)
            self._fill_homes(f"INSERT INTO {self._homes_sql} {self._find_homes_sql(self._parent)}")

    def _fill_homes(self, sql: str) -> None:
        if self._is_kept:
            self._servers.execute_statement(Statement(sql, self._servers.topology.choose_rows_target(is_sharded=False)))
        else:
            self._engine.execute(sql)

    def wait_for_replicas(self) -> None:
        """Wait until all servers have the rows of a kept gateway: another server may continue the append."""
        tables = [self._storage_sql] if self._parent is None else [self._storage_sql, self._homes_sql]
        wait_for_replicas(self._servers, tables)

    def find_nulls(self, columns: Collection[str]) -> set[str]:
        """Return the columns that have NULL in at least one row.

        Parameters
        ----------
        columns : collection of str
            Names of the columns to check, not quoted.

        Returns
        -------
        set of str
            A subset of ``columns``.
        """
        return find_nulls(self._engine, self._storage_sql, columns)

    def find_orphans(self) -> list[Orphan]:
        """Return the rows without a usable parent, in order."""
        if self._parent is None:
            return []
        radius = self._table.layout.overlap_radius
        key = _get_parent_key(self._table)
        values = ", ".join(f"toString({quote_identifier(name)})" for name in key.columns)
        found = self._engine.fetch_table(
            f"SELECT {_ROW_COLUMN} AS row, arrayStringConcat([{values}], ', ') AS value, separation"
            f" FROM {self._storage_sql} LEFT JOIN {self._homes_sql} USING ({_ROW_COLUMN})"
            f" WHERE separation IS NULL OR NOT separation <= {radius!r} ORDER BY row",
            {"join_use_nulls": 1},
        )
        column = ", ".join(key.columns)
        return [
            Orphan(row["row"], column, row["value"] or "", self._explain_orphan(key, row["separation"]))
            for row in found.to_pylist()
        ]

    def drop_tables(self) -> None:
        if self._is_kept:
            drop_gateway(self._servers, *self._name)
            return
        for statement in _drop_gateway_sql(*self._name):
            self._engine.execute(statement)
            reach(Failpoint.GATEWAY_DROP)

    def _create_table(self, storage_sql: str, columns: list[str]) -> None:
        definition = f"({', '.join(columns)})"
        if not self._is_kept:
            self._engine.execute(f"CREATE TABLE {storage_sql} {definition} ENGINE = Memory")
            reach(Failpoint.GATEWAY_CREATE)
            return
        topology = self._servers.topology
        storage = f"ENGINE = {topology.engine_clause()} ORDER BY {_ROW_COLUMN}"
        self._servers.execute_everywhere(
            f"CREATE TABLE {storage_sql}{topology.uuid_clause(NEW_TABLE)} {definition} {storage}",
            point=Failpoint.GATEWAY_CREATE,
        )

    def _find_homes_sql(self, parent: TableEntry) -> str:
        """Return the SELECT of row index, parent's shard and separation in degrees for each row with a parent.

        The separation is infinite if the parent has no position, and NaN if the id occurs on several shards.
        """
        key = _get_parent_key(self._table)
        own_key = ", ".join(quote_identifier(name) for name in key.columns)
        parent_key = ", ".join(quote_identifier(name) for name in key.referenced_columns)
        home, shard, separation = self._home_sql(parent)
        is_parent = " AND ".join(
            f"g.{quote_identifier(name)} = p.{quote_identifier(other)}"
            for name, other in zip(key.columns, key.referenced_columns, strict=True)
        )
        parents = (
            f"SELECT {parent_key}, {home} AS home, min({SHARD_COLUMN}) != max({SHARD_COLUMN}) AS is_torn"
            f" FROM {parent.storage_sql} WHERE ({parent_key}) GLOBAL IN (SELECT {own_key} FROM {self._storage_sql})"
            f" GROUP BY {parent_key}"
        )
        return (
            f"SELECT g.{_ROW_COLUMN}, {shard}, if(p.is_torn, nan, {separation}) FROM {self._storage_sql} AS g"
            f" INNER JOIN ({parents}) AS p ON {is_parent}"
        )

    def _home_sql(self, parent: TableEntry) -> tuple[str, str, str]:
        """Return the SQL of what is read of a parent, of the shard in it, and of its separation from the child."""
        own_position, parent_position = self._table.layout.position, parent.table.layout.position
        if not (own_position and parent_position):
            return f"min({SHARD_COLUMN})", "p.home", "0"
        lon, lat = (quote_identifier(name) for name in parent_position)
        home = f"argMin(({SHARD_COLUMN}, {lon}, {lat}, {HPX29}), {HPX29})"
        own = [f"g.{quote_identifier(name)}" for name in own_position]
        separation = f"assumeNotNull({_separation_sql(own, ['p.home.2', 'p.home.3'])})"
        separation = f"multiIf(g.{HPX29} = {NO_POSITION}, 0, p.home.4 = {NO_POSITION}, inf, {separation})"
        return home, "p.home.1", separation

    def _explain_orphan(self, key: ForeignKey, separation: float | None) -> str:
        if separation is None:
            return f"no {', '.join(key.referenced_columns)} of {key.referenced_table}"
        if math.isnan(separation):
            return f"several rows of {key.referenced_table} have this id, on several shards"
        if math.isinf(separation):
            return f"its row of {key.referenced_table} has no position"
        radius = self._table.layout.overlap_radius
        return f"{separation:.6g} degrees from its row of {key.referenced_table}, beyond overlap_radius ({radius:g})"


def drop_gateway(servers: Servers[Engine], schema_name: str, name: str) -> None:
    """Drop a kept gateway on all servers, if it exists.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    schema_name, name : str
        Names of the gateway, not quoted.
    """
    servers.execute_everywhere(*_drop_gateway_sql(schema_name, name), point=Failpoint.GATEWAY_DROP)


def _drop_gateway_sql(schema_name: str, name: str) -> list[str]:
    return [f"DROP TABLE IF EXISTS {quote_table(schema_name, name, suffix)} SYNC" for suffix in ("", HOMES_SUFFIX)]


def _get_parent_key(table: Table) -> ForeignKey:
    assert table.parent_key is not None  # noqa: S101  called for child tables only
    return table.parent_key


def _number_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in batches:
        numbers = np.arange(first, first + batch.num_rows, dtype=np.uint32)
        yield batch.append_column(_ROW_COLUMN, pa.array(numbers))
        first += batch.num_rows


def _separation_sql(one: list[str], other: list[str]) -> str:
    """Return the SQL of the separation of two positions, all in degrees, from the chord between their unit vectors."""
    pairs = zip(_vector_sql(*one), _vector_sql(*other), strict=True)
    squares = " + ".join(f"pow({a} - {b}, 2)" for a, b in pairs)
    return f"degrees(2 * asin(least(sqrt({squares}) / 2, 1)))"


def _vector_sql(lon: str, lat: str) -> tuple[str, str, str]:
    lon, lat = f"radians(toFloat64({lon}))", f"radians(toFloat64({lat}))"
    return f"cos({lat}) * cos({lon})", f"cos({lat}) * sin({lon})", f"sin({lat})"
