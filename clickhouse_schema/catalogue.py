"""The schemas and tables that can be queried at one moment, found by ADQL's rules for upper and lower case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from clickhouse_schema.datatypes import ICRS, Field
from clickhouse_schema.hats.attachment import AttachedRows, Attachment, to_ranges
from clickhouse_schema.quoting import quote_table
from clickhouse_schema.row_store import RowLayout, find_row_layout
from clickhouse_schema.schema_model import Column, ForeignKey, Schema, Table
from clickhouse_schema.shard_map import LOCAL, Sharding

#: Rows per square degree assumed for a table that is not counted: as in a deep survey, because an estimate that is
#: too low costs more than one that is too high
UNKNOWN_DENSITY = 10_000.0

_SHAPES = ("point", "circle", "range", "polygon", "shape", "multishape", "moc")

#: UCDs of proper motions begin with this
_MOTION = "pos.pm"


def find_column_indexes(fields: Sequence[Field]) -> dict[str, tuple[int, ...]]:
    """Return the indexes of the columns of each name.

    Parameters
    ----------
    fields : sequence of Field
        The columns in order.

    Returns
    -------
    dict of str to tuple of int
        Ascending indexes, from 0, by name in lower case.
    """
    found: dict[str, tuple[int, ...]] = {}
    for index, described in enumerate(fields):
        name = described.name.lower()
        found[name] = (*found.get(name, ()), index)
    return found


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One table that can be queried.

    Attributes
    ----------
    rows
        Approximate row count; None if unknown.
    local_density
        Rows per square degree around a typical row; None if unknown.
    stored_sql
        Quoted name in ClickHouse if it differs from the published name, or a query in parentheses.
    is_sharded
        The rows are distributed over the shards of a cluster.
    number
        Number of the table's storage on a cluster; each replacement gets the next number.
    base_name
        Name of that storage (``Sharding.base_name``).
    stray_radius
        Degrees by which a row may be outside the cells of its shard, because it is stored with its parent.
    fields
        Descriptions of the columns, in order.
    column_indexes
        Name in lower case -> indexes of the columns.
    row_layout
        The layout of its row store; None if it has none.
    hidden_keys
        Names of foreign keys to tables that are not in this catalogue.
    is_shared
        Whether it is another user's table. Queries must name its schema, so sharing changes no query of its readers.
    attached
        The files of an attached table, whose rows ClickHouse does not store; None for other tables.
    matches
        Up-to-date kept matches whose left table it is.
    """

    schema: Schema
    table: Table
    rows: int | None = field(default=None, compare=False)
    local_density: float | None = field(default=None, compare=False)
    stored_sql: str = field(default="", compare=False)
    is_sharded: bool = field(default=False, compare=False)
    number: int = field(default=0, compare=False)
    base_name: str = field(default="", compare=False)
    stray_radius: float = field(default=0.0, compare=False)
    hidden_keys: frozenset[str] = field(default=frozenset(), compare=False)
    is_shared: bool = field(default=False, compare=False)
    attached: AttachedRows | None = field(default=None, compare=False, repr=False)
    matches: tuple[TableEntry, ...] = field(default=(), compare=False, repr=False)
    fields: tuple[Field, ...] = field(init=False, compare=False, repr=False)
    column_indexes: dict[str, tuple[int, ...]] = field(init=False, compare=False, repr=False)
    row_layout: RowLayout | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        fields = tuple(self._build_field(column) for column in self.table.columns)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "column_indexes", find_column_indexes(fields))
        object.__setattr__(self, "row_layout", find_row_layout(self.table))

    def __hash__(self) -> int:
        return hash((self.schema.name, self.table.name))  # the hash of a whole schema takes milliseconds

    def _build_field(self, column: Column) -> Field:
        """Describe a column; positions, shapes and proper motions are in the table's coordinate system."""
        known = self.table.coordinates
        celestial = column.name in (self.table.layout.position or ()) or column.type.xtype in _SHAPES
        if column.coordinates or not (celestial or (known and column.ucd.lower().startswith(_MOTION))):
            return column.field
        return replace(column.field, coordinate_system=known.coordinate_system if known else ICRS)

    @property
    def qualified_name(self) -> str:
        """``schema.table`` as published."""
        return f"{self.schema.name}.{self.table.name}"

    @property
    def published_keys(self) -> tuple[ForeignKey, ...]:
        """The foreign keys to tables of the same catalogue."""
        return tuple(key for key in self.table.keys if key.name not in self.hidden_keys)

    @property
    def engine_table(self) -> tuple[str, str]:
        """Database and table in ClickHouse from which the table is read; not quoted."""
        database, dot, table = self.stored_sql.replace("`", "").partition(".")
        if dot and self.stored_sql[0] == "`":
            return database, table
        return self.schema.name, self.base_name or self.table.name

    @property
    def density_key(self) -> tuple[str, str]:
        """Schema and table in the density table; independent of ``number``."""
        return self.engine_table if self.stored_sql else (self.schema.name, self.table.name)

    @property
    def part_tables(self) -> tuple[str, tuple[str, ...]]:
        """Database and tables in ClickHouse that may hold its rows; not quoted."""
        database, table = self.engine_table
        return database, (table + LOCAL,) if self.is_sharded else (table,)

    @property
    def storage_sql(self) -> str:
        """What ClickHouse reads the table from: its quoted name, or a query in parentheses."""
        if self.attached is not None:
            return self.attached.sql
        return self.stored_sql or quote_table(self.schema.name, self.base_name or self.table.name)

    def storage_sql_of(self, cells: Iterable[tuple[int, int]]) -> str:
        """Return ``storage_sql`` without the files of an attached table that have no rows in some cells.

        Parameters
        ----------
        cells : iterable of tuple of int
            Half-open ranges of cells of order 29, ascending.

        Returns
        -------
        str
            A quoted name, or a query in parentheses.
        """
        return self.storage_sql if self.attached is None else self.attached.choose_files(to_ranges(cells)).sql

    @property
    def storage_key(self) -> str:
        """A text that is the same for the same rows, whichever files of an attached table are read."""
        return self.storage_sql if self.attached is None else self.attached.root

    @property
    def is_computed(self) -> bool:
        """Whether the rows come from a query instead of a stored table."""
        return self.attached is not None or self.stored_sql.startswith("(")

    def read_attached(self, rows: AttachedRows) -> TableEntry:
        """Return the entry of an attached table that reads only some of its rows.

        Parameters
        ----------
        rows : AttachedRows
            The files to read.

        Returns
        -------
        TableEntry
            A shallow copy.
        """
        other = copy(self)
        object.__setattr__(other, "attached", rows)
        return other

    def part_sql(self, suffix: str) -> str:
        """Return the quoted name in ClickHouse of a part of a sharded table.

        Parameters
        ----------
        suffix : str
            ``LOCAL``, ``OVERLAP`` or ``MARGIN`` of ``clickhouse_schema.shard_map``.

        Returns
        -------
        str
            ``database.table``, quoted.
        """
        return quote_table(self.schema.name, self.base_name or self.table.name, suffix)


@dataclass(frozen=True)
class Catalogue:
    """All tables that can be queried. Immutable.

    Attributes
    ----------
    counts
        Rows by (schema, table), where known.
    local_densities
        Rows per square degree around a typical row, by (schema, table), where known.
    sharding
        How sharded tables are distributed; None on a single server.
    numbers
        ``TableEntry.number`` by (schema, table), where it is not 0.
    grants
        Which groups of users see schemas and tables that are not public (``visible_tables``).
    attachments
        The files of attached tables by (schema, table).
    current_matches
        The kept matches (schema.table) that are up to date with both of their tables.
    """

    schemas: tuple[Schema, ...]
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict, compare=False, repr=False)
    local_densities: Mapping[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)
    sharding: Sharding | None = None
    numbers: Mapping[tuple[str, str], int] = field(default_factory=dict, repr=False)
    grants: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)
    attachments: Mapping[tuple[str, str], Attachment] = field(default_factory=dict, repr=False)
    current_matches: frozenset[str] = field(default=frozenset(), repr=False)
    entries: tuple[TableEntry, ...] = field(init=False)
    _by_lower_name: dict[str, tuple[TableEntry, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = {f"{schema.name}.{table.name}": table for schema in self.schemas for table in schema.tables}
        entries = tuple(
            TableEntry(
                schema,
                table,
                self.counts.get(key),
                self.local_densities.get(key),
                is_sharded=self.sharding is not None and table.is_sharded and attachment is None,
                number=self.numbers.get(key, 0),
                base_name="" if attachment else self._base_name(table, self.numbers.get(key, 0)),
                stray_radius=_sum_stray_radius(table, tables),
                attached=AttachedRows(attachment) if attachment else None,
            )
            for schema in self.schemas
            for table in schema.tables
            for key in [(schema.name, table.name)]
            for attachment in [self.attachments.get(key)]
        )
        self._set_entries(entries)

    def _set_entries(self, entries: tuple[TableEntry, ...]) -> None:
        entries = self._add_matches(entries)
        by_fold: dict[str, tuple[TableEntry, ...]] = {}
        for entry in entries:
            key = entry.table.name.lower()
            by_fold[key] = (*by_fold.get(key, ()), entry)
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "_by_lower_name", by_fold)

    def _add_matches(self, entries: tuple[TableEntry, ...]) -> tuple[TableEntry, ...]:
        """Return the entries with the current matches among them."""
        found: dict[str, tuple[TableEntry, ...]] = {}
        for entry in entries:
            if entry.table.match is not None and entry.qualified_name in self.current_matches:
                key = entry.table.find_key(entry.table.match.left)
                if key is not None:
                    found[key.referenced_table] = (*found.get(key.referenced_table, ()), entry)
        if not found and not any(entry.matches for entry in entries):
            return entries
        return tuple(replace(entry, matches=found.get(entry.qualified_name, ())) for entry in entries)

    def _base_name(self, table: Table, number: int) -> str:
        if self.sharding is None:
            return ""
        return self.sharding.base_name(table.name, number, is_sharded=table.is_sharded)

    def add_entries(self, entries: tuple[TableEntry, ...]) -> Catalogue:
        """Return a catalogue with more tables, for one client or one query.

        Parameters
        ----------
        entries : tuple of TableEntry
            Tables, such as user tables and uploads.

        Returns
        -------
        Catalogue
            A copy that has them after its own tables; its ``schemas`` stay the same.
        """
        by_fold = dict(self._by_lower_name)
        for entry in entries:
            key = entry.table.name.lower()
            by_fold[key] = (*by_fold.get(key, ()), entry)
        more = copy(self)
        object.__setattr__(more, "entries", (*self.entries, *entries))
        object.__setattr__(more, "_by_lower_name", by_fold)
        return more

    def replace_entries(self, entries: tuple[TableEntry, ...]) -> Catalogue:
        """Return a catalogue in which some entries are replaced.

        Parameters
        ----------
        entries : tuple of TableEntry
            Replacements for the entries of the same qualified names, all of which occur.

        Returns
        -------
        Catalogue
            A copy with the tables in the same order; its ``schemas`` stay the same.
        """
        by_name = {entry.qualified_name: entry for entry in entries}
        by_fold = dict(self._by_lower_name)
        for key in {entry.table.name.lower() for entry in entries}:
            by_fold[key] = tuple(by_name.get(entry.qualified_name, entry) for entry in by_fold[key])
        more = copy(self)
        object.__setattr__(more, "entries", tuple(by_name.get(entry.qualified_name, entry) for entry in self.entries))
        object.__setattr__(more, "_by_lower_name", by_fold)
        return more

    def select_entries(self, schemas: tuple[Schema, ...], entries: tuple[TableEntry, ...]) -> Catalogue:
        """Return a catalogue that has only these schemas and tables."""
        known = {(entry.schema.name, entry.table.name) for entry in entries}
        fewer = copy(self)
        for name in ("counts", "local_densities", "numbers", "attachments"):
            kept = {key: value for key, value in getattr(self, name).items() if key in known}
            object.__setattr__(fewer, name, kept)
        object.__setattr__(fewer, "schemas", schemas)
        object.__setattr__(fewer, "grants", {})
        fewer._set_entries(entries)
        return fewer

    def find_tables(
        self, name: str, delimited: bool, schema: str | None = None, schema_delimited: bool = False
    ) -> tuple[TableEntry, ...]:
        """Return the tables with a name.

        Delimited names are compared exactly, regular names without regard to case (ADQL 2.1, section 2.1.3).

        Parameters
        ----------
        name : str
            Name of the table.
        delimited : bool
            Whether the name was in quotes.
        schema : str, optional
            Name of its schema. Without it, tables of other users are not found.
        schema_delimited : bool
            Whether the schema's name was in quotes.

        Returns
        -------
        tuple of TableEntry
            More than one if names differ only in case or if several schemas have such a table.
        """
        return tuple(
            entry
            for entry in self._by_lower_name.get(name.lower(), ())
            if (not delimited or entry.table.name == name)
            and (not entry.is_shared if schema is None else _is_same_name(entry.schema.name, schema, schema_delimited))
        )

    def find_entry(self, schema: str, name: str) -> TableEntry | None:
        """Return the table with exactly this name.

        Parameters
        ----------
        schema : str
            Name of the schema, with case.
        name : str
            Name of the table, with case.

        Returns
        -------
        TableEntry or None
            None if there is no such table.
        """
        return next(iter(self.find_tables(name, True, schema, True)), None)


def _sum_stray_radius(table: Table, tables: Mapping[str, Table]) -> float:
    """Return the sum of the overlap radii of a table and its ancestors: each limits the distance of rows to parents."""
    if not table.layout.parent:
        return 0.0
    parent = tables.get(table.parent_key.referenced_table) if table.parent_key else None
    if parent is None or parent is table or not parent.layout.position:
        return math.inf  # the distance of a row from its shard is unbounded
    above = {name: other for name, other in tables.items() if other is not table}
    return table.layout.overlap_radius + _sum_stray_radius(parent, above)


def _is_same_name(name: str, written: str, delimited: bool) -> bool:
    return name == written if delimited else name.lower() == written.lower()
