"""The gateway of a load: rows of one chunk in a table on the server connected to, on their way to where they belong.

The engine computes there what a row does not come with, its index ``hpx29``. On a cluster it tells from that the shard
that a row belongs to; of a table whose rows are with their parents (``Layout.parent``) it looks the parents up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.healpix import NO_POSITION
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import ForeignKey, Table
from clickhouse_schema.shard_map import SHARD_COLUMN
from clickhouse_schema.table_ddl import HPX29, column_definitions, given_columns
from loaders.storage.replica_sync import settle
from tap_service.storage.engine.engine import Engine

#: Ending of the name of the gateway of rows that are added to a table
APPEND = "__append"

ONE_SERVER = Topology()

#: The place of a row in its chunk, from 0
_ROW = "__row"

_HOMES = "__homes"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A row of a chunk, from 0, that is not with a parent: ``column`` has ``value``."""

    row: int
    column: str
    value: str
    reason: str


class Gateway:
    """``name`` is that of the gateway's table, in the schema of ``table``; ``parent`` has the table's ``parent``."""

    def __init__(
        self,
        engine: Engine,
        schema_name: str,
        name: str,
        table: Table,
        topology: Topology = ONE_SERVER,
        parent: TableEntry | None = None,
    ) -> None:
        self._engine = engine
        self._table = table
        self._topology = topology
        self._parent = parent
        self._name = (schema_name, name)
        self.storage = f"{quote_identifier(schema_name)}.{quote_identifier(name)}"
        self._homes = f"{quote_identifier(schema_name)}.{quote_identifier(name + _HOMES)}"

    @property
    def names(self) -> str:
        """SQL of the columns that rows come with."""
        return ", ".join(quote_identifier(name) for name in given_columns(self._table))

    @property
    def rows(self) -> str:
        """SQL of a table of the rows that are in order: with ``hpx29``, and with ``SHARD`` if a parent tells it."""
        if self._parent is None:
            return self.storage
        index = f", {HPX29}" if self._table.layout.position else ""
        radius = self._table.layout.overlap_radius
        return (
            f"(SELECT {self.names}{index}, {SHARD_COLUMN} FROM {self.storage} INNER JOIN {self._homes} USING ({_ROW})"
            f" WHERE separation <= {radius!r})"
        )

    def fill(self, batches: Iterable[pa.RecordBatch], *, is_kept: bool) -> None:
        """Make the gateway anew, with these rows. ``is_kept``: on all servers, and also when they are started again."""
        self.drop()
        self._make(self.storage, ", ".join([*column_definitions(self._table), f"{_ROW} UInt32"]), is_kept)
        self._engine.insert_batches(self.storage, _numbered(batches))
        if self._parent is not None:
            self._make(self._homes, f"{_ROW} UInt32, {SHARD_COLUMN} UInt16, separation Float64", is_kept)
            self._engine.execute(f"INSERT INTO {self._homes} {self._find_homes(self._parent)}")

    def settle(self) -> None:
        """Until all servers have the rows, of a gateway that is kept: another one may have to go on with them."""
        tables = [self.storage] if self._parent is None else [self.storage, self._homes]
        settle(self._engine, self._topology, tables)

    def orphans(self) -> list[Orphan]:
        """The rows that are not with a parent, by their place."""
        if self._parent is None:
            return []
        radius = self._table.layout.overlap_radius
        key = _key(self._table)
        values = ", ".join(f"toString({quote_identifier(name)})" for name in key.columns)
        found = self._engine.fetch_table(
            f"SELECT {_ROW} AS row, arrayStringConcat([{values}], ', ') AS value, separation FROM {self.storage}"
            f" LEFT JOIN {self._homes} USING ({_ROW}) WHERE separation IS NULL OR NOT separation <= {radius!r}"
            " ORDER BY row",
            {"join_use_nulls": 1},
        ).to_pylist()
        return [
            Orphan(row["row"], ", ".join(key.columns), row["value"] or "", self._reason(key, row["separation"]))
            for row in found
        ]

    def drop(self) -> None:
        drop_gateway(self._engine, *self._name, self._topology)

    def _make(self, storage: str, lines: str, is_kept: bool) -> None:
        topology = self._topology if is_kept else ONE_SERVER
        engine = f"{topology.engine_clause()} ORDER BY {_ROW}" if is_kept else "Memory"
        self._engine.execute(f"CREATE TABLE {storage}{topology.on_cluster} ({lines}) ENGINE = {engine}")

    def _find_homes(self, parent: TableEntry) -> str:
        """SELECT of each row whose parent there is: its place, the parent's shard, degrees between the two.

        Infinitely many if the parent has no position; NaN if there are several, and no shard has them all.
        """
        key = _key(self._table)
        named = ", ".join(quote_identifier(name) for name in key.columns)
        theirs = ", ".join(quote_identifier(name) for name in key.referenced_columns)
        positions = (self._table.layout.position, parent.table.layout.position)
        kept, separation = f"min({SHARD_COLUMN})", "0"
        if positions[0] and positions[1]:
            lon, lat = (quote_identifier(name) for name in positions[1])
            kept = f"argMin(({SHARD_COLUMN}, {lon}, {lat}, {HPX29}), {HPX29})"
            here = [f"g.{quote_identifier(name)}" for name in positions[0]]
            apart = _separation(here, ["p.home.2", "p.home.3"])
            separation = f"multiIf(g.{HPX29} = {NO_POSITION}, 0, p.home.4 = {NO_POSITION}, inf, assumeNotNull({apart}))"
        separation = f"if(p.is_torn, nan, {separation})"
        shard = "p.home.1" if positions[0] and positions[1] else "p.home"
        equal = " AND ".join(
            f"g.{quote_identifier(name)} = p.{quote_identifier(other)}"
            for name, other in zip(key.columns, key.referenced_columns, strict=True)
        )
        return (
            f"SELECT g.{_ROW}, {shard}, {separation} FROM {self.storage} AS g"
            f" INNER JOIN (SELECT {theirs}, {kept} AS home, min({SHARD_COLUMN}) != max({SHARD_COLUMN}) AS is_torn"
            f" FROM {parent.storage_sql} WHERE ({theirs}) GLOBAL IN (SELECT {named} FROM {self.storage})"
            f" GROUP BY {theirs}) AS p ON {equal}"
        )

    def _reason(self, key: ForeignKey, separation: float | None) -> str:
        if separation is None:
            return f"no {', '.join(key.referenced_columns)} of {key.referenced_table}"
        if math.isnan(separation):
            return f"several rows of {key.referenced_table} have this id, on several shards"
        if math.isinf(separation):
            return f"its row of {key.referenced_table} has no position"
        radius = self._table.layout.overlap_radius
        return f"{separation:.6g} degrees from its row of {key.referenced_table}, beyond overlap_radius ({radius:g})"


def drop_gateway(engine: Engine, schema_name: str, name: str, topology: Topology = ONE_SERVER) -> None:
    for table in (name, name + _HOMES):
        storage = f"{quote_identifier(schema_name)}.{quote_identifier(table)}"
        engine.execute(f"DROP TABLE IF EXISTS {storage}{topology.on_cluster} SYNC")


def _key(table: Table) -> ForeignKey:
    assert table.parent_key is not None  # noqa: S101  asked of children alone
    return table.parent_key


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in batches:
        yield batch.append_column(_ROW, pa.array(np.arange(first, first + batch.num_rows, dtype=np.uint32)))
        first += batch.num_rows


def _separation(one: list[str], other: list[str]) -> str:
    """SQL of the degrees between two positions, SQL of degrees: by the chord between their unit vectors."""
    squares = " + ".join(f"pow({a} - {b}, 2)" for a, b in zip(_vector(*one), _vector(*other), strict=True))
    return f"degrees(2 * asin(least(sqrt({squares}) / 2, 1)))"


def _vector(lon: str, lat: str) -> tuple[str, str, str]:
    lon, lat = f"radians(toFloat64({lon}))", f"radians(toFloat64({lat}))"
    return f"cos({lat}) * cos({lon})", f"cos({lat}) * sin({lon})", f"sin({lat})"
