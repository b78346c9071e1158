"""CREATE TABLE from the model. Pure.

A table with positions is ordered by ``hpx29``, which ClickHouse computes on insert (``MATERIALIZED``: no loader can get
it wrong, and ``SELECT *`` hides it); a table without positions is ordered by its parent or its id. The id and each
index by values have a projection of row numbers, so a look-up reads a few granules; a text index is two skip indexes.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from clickhouse_schema.cluster_topology import NEW_TABLE, ONE_SERVER, ReplicatedTable, Topology
from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.object_names import names_index
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.row_store import ROW_STORE_GRANULE, find_row_layout, row_value_sql
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.shape_cover import (
    EVERYWHERE,
    cover_column,
    cover_sql,
    has_cover,
    shape_column,
    shape_type,
)
from clickhouse_schema.shard_map import SHARD_COLUMN
from clickhouse_schema.text_index_sql import text_index_sql

HPX29 = "hpx29"

_WHOLE_NUMBERS = "T64, LZ4"

_GRANULE_ROWS = 2048

_MAX_INDEX_NAME_BYTES = 200

#: A look-up reads one granule of each column and decompresses one block of it: both are small. It does so in each part,
#: so parts of similar size are merged early (2 parts, not 5). If rows are masked (tables of latest versions), the
#: projections are rebuilt without them
_SETTINGS = (
    "allow_nullable_key = 1",
    "min_compress_block_size = 4096",
    "lightweight_mutation_projection_mode = 'rebuild'",
)

#: When ClickHouse merges parts. The parts of a partition to which nothing was added for an hour become one part, unless
#: they are larger than the limit of background merges (150 GB): reading a year as one part takes two thirds of the time
MERGE_SETTINGS = {
    "merge_selector_base": 2,
    "min_age_to_force_merge_seconds": 3600,
    "min_age_to_force_merge_on_partition_only": 1,
    "enable_max_bytes_limit_for_min_age_to_force_merge": 1,
}


def create_table_sql(
    table: Table,
    storage: str,
    topology: Topology = ONE_SERVER,
    *,
    is_sharded: bool = False,
    others: ReplicatedTable = NEW_TABLE,
    if_missing: bool = False,
) -> str:
    """Return the statement that creates a table.

    Parameters
    ----------
    table : Table
        The model of the table.
    storage : str
        The quoted name of the table in ClickHouse.
    topology : Topology
        How the servers are set up.
    is_sharded : bool
        Create a part of a sharded table, whose rows have ``SHARD_COLUMN``.
    others : ReplicatedTable
        The table on other servers, for a new replica of it.
    if_missing : bool
        Do nothing if the table exists.

    Returns
    -------
    str
        CREATE TABLE with all columns and indexes.
    """
    indexes = (
        f"{kind} {quote_identifier(name)} {definition}"
        for kind, definitions in index_definitions(table).items()
        for name, definition in definitions.items()
    )
    body = ",\n    ".join([*column_definitions(table, is_sharded), *indexes])
    engine = topology.engine_clause(is_sharded=is_sharded)
    name = storage + topology.uuid_clause(others)
    granule = others.granularity or (ROW_STORE_GRANULE if table.layout.row_store else _GRANULE_ROWS)
    merges = (f"{name} = {value}" for name, value in MERGE_SETTINGS.items())
    settings = topology.settings_clause(f"index_granularity = {granule}", *_SETTINGS, *merges)
    key = f"ORDER BY {sort_key_sql(table)}"
    if table.layout.years:
        key = f"PARTITION BY {_year_sql(table.get_column(table.layout.time))} {key}"
    create = "CREATE TABLE IF NOT EXISTS" if if_missing else "CREATE TABLE"
    return f"{create} {name} (\n    {body}\n) ENGINE = {engine} {key}{settings}"


class StoredColumn(NamedTuple):
    """A column in ClickHouse: its type, and the rest of its definition."""

    type: str
    rest: str


def stored_columns(table: Table, is_sharded: bool = False) -> dict[str, StoredColumn]:
    """Return all columns of a table in ClickHouse, including the columns that the storage adds and ClickHouse computes.

    Parameters
    ----------
    table : Table
        The model of the table.
    is_sharded : bool, optional
        Whether the rows have ``SHARD_COLUMN``.

    Returns
    -------
    dict of str to StoredColumn
        Definitions by name (not quoted), the columns of the model first.
    """
    found = {column.name: _define_column(column) for column in table.columns}
    if is_sharded:
        found[SHARD_COLUMN] = StoredColumn("UInt16", "CODEC(LZ4)")
    if table.layout.position:
        lon, lat = (quote_identifier(name) for name in table.layout.position)
        index = index_sql(lon, lat, names=f"__{HPX29}_")
        found[HPX29] = StoredColumn("UInt64", f"MATERIALIZED {index} CODEC({_WHOLE_NUMBERS})")
    for column in table.columns:
        if has_cover(column.type):
            found |= _define_hidden_columns(column)
    if (layout := find_row_layout(table)) is not None:
        found[layout.column] = StoredColumn("String", f"MATERIALIZED {row_value_sql(layout)} CODEC(LZ4)")
    return found


def column_definitions(table: Table, is_sharded: bool = False) -> list[str]:
    """Return the definitions of all columns.

    Parameters
    ----------
    table : Table
        The model of the table.
    is_sharded : bool, optional
        Whether the rows have ``SHARD_COLUMN``.

    Returns
    -------
    list of str
        SQL of each column (``stored_columns``): quoted name, type, and the rest of the definition.
    """
    stored = stored_columns(table, is_sharded)
    return [f"{quote_identifier(name)} {column.type} {column.rest}" for name, column in stored.items()]


def index_definitions(table: Table) -> dict[str, dict[str, str]]:
    """Return the definitions of the indexes by ClickHouse's kind and by name, in the same order for all replicas."""
    return {"INDEX": _text_index_definitions(table) | names_index(table), "PROJECTION": projection_definitions(table)}


def projection_definitions(table: Table) -> dict[str, str]:
    """Return the definitions of the indexes by values, by name."""
    covers = [cover_column(column.name) for column in table.columns if has_cover(column.type)]
    keys: dict[str, tuple[str, ...]] = {_name_index("by", name): (name,) for name in covers}
    keys |= {name_projection(table, columns): columns for columns in table.layout.sorted_columns}
    return {name: f"(SELECT _part_offset ORDER BY {_names_sql(key)})" for name, key in sorted(keys.items())}


def name_projection(table: Table, columns: tuple[str, ...]) -> str:
    """Return the name of the projection of an index by values.

    Parameters
    ----------
    table : Table
        The model of the table.
    columns : tuple of str
        One of ``Layout.sorted_columns``.

    Returns
    -------
    str
        Name, not quoted; unique in the table.
    """
    if columns == table.layout.id:
        return "by_id"
    return _name_index("by_columns_" if columns[1:] else "by_index_", *columns)


def _text_index_definitions(table: Table) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in sorted(table.layout.text_columns):
        pieces, words = text_index_sql(quote_identifier(name))
        found |= {_name_index("pieces_", name): pieces, _name_index("words_", name): words}
    return found


def _name_index(prefix: str, *columns: str) -> str:
    """Name an index after its columns, or after a hash if this is too long for a folder or not unique."""
    name = "__".join(columns)
    is_unique = len(columns) == 1 or not any("__" in f"_{column}_" for column in columns)
    if "/" in name or len(name.encode()) > _MAX_INDEX_NAME_BYTES or not is_unique:
        name = hashlib.sha256("/".join(column.replace("/", "//") for column in columns).encode()).hexdigest()[:32]
    return prefix + name


def given_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of inserted rows: all columns except the computed columns.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    tuple of str
        Names, not quoted: the columns of the model, then the stored shapes and covers that the loader computes.
    """
    read = [column.name for column in table.columns if column.type.has_stored_shapes]
    hidden = (name for column in read for name in (shape_column(column), cover_column(column)))
    return (*(column.name for column in table.columns), *hidden)


def column_type(column: Column) -> str:
    """Return the ClickHouse type of a column. Arrays cannot be Nullable; an empty array stands for NULL."""
    kind = column.type
    return f"Nullable({kind.clickhouse})" if column.nullable and not kind.is_array else kind.clickhouse


def _define_column(column: Column) -> StoredColumn:
    comment = f" COMMENT {quote_string(column.description)}" if column.description else ""
    return StoredColumn(column_type(column), f"CODEC({_choose_codec(column.type)}){comment}")


def _define_hidden_columns(column: Column) -> dict[str, StoredColumn]:
    """Return the columns that are stored in addition to a column of shapes (``clickhouse_schema.shape_cover``)."""
    codec = f"CODEC({_WHOLE_NUMBERS})"
    cover = cover_column(column.name)
    if not column.type.has_stored_shapes:
        return {cover: StoredColumn("UInt64", f"MATERIALIZED {cover_sql(column.name, column.type)} {codec}")}
    shape = StoredColumn(shape_type(column.type), "CODEC(ZSTD(1))")
    return {shape_column(column.name): shape, cover: StoredColumn("UInt64", f"DEFAULT {EVERYWHERE} {codec}")}


def _choose_codec(kind: ColumnType) -> str:
    """Choose the codec by the time to read values and by the size of values (``docs/decisions/storage-layout.md``).

    Texts are rarely searched and take half the space with ZSTD.
    """
    if kind.is_integer and kind.datatype != "unsignedByte":
        return _WHOLE_NUMBERS
    return "ZSTD(3)" if kind.is_text else "LZ4"


def sort_key_sql(table: Table) -> str:
    """Return the expression of ORDER BY.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    str
        Expression in parentheses for several columns; ``tuple()`` for a table without position, parent, shapes and id.
    """
    if table.layout.position:
        return f"({HPX29}, {quote_identifier(table.layout.time)})" if table.layout.time else HPX29
    parent = table.parent_key
    if parent is not None:
        return f"({_names_sql((*parent.columns, *([table.layout.time] if table.layout.time else [])))})"
    covered = next((column.name for column in table.columns if has_cover(column.type)), None)
    if covered is not None:
        return quote_identifier(cover_column(covered))
    return f"({_names_sql(table.layout.id)})" if table.layout.id else "tuple()"


def list_placing_columns(table: Table) -> set[str]:
    """Return the columns that determine where a row is stored: by the sort key, the partition or the shard.

    ClickHouse cannot change their values.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    set of str
        Names of columns of the model.
    """
    layout = table.layout
    parents = set(table.parent_key.columns) if table.parent_key is not None else set()
    times = {layout.time} if layout.time and (layout.position or parents or layout.years) else set()
    if layout.position:
        return {*layout.position, *times, *(parents if table.is_sharded else ())}
    if parents:
        return parents | times
    covered = next((column.name for column in table.columns if has_cover(column.type)), None)
    return times | ({covered} if covered is not None else set(layout.id))


def _year_sql(column: Column) -> str:
    """Return the SQL of an integer for each year, 0 without a time. ClickHouse knows the time range of each part.

    Measured with 10 M rows of ten years, 40 per object: milliseconds for cones of 0.05, 0.5 and 1.75 degrees, and
    bytes per row, without partitions, with yearly partitions and with monthly partitions:

        all times       6  24  23       24  20  33       90  83 143
        last year       7   9  19        8   8  10       26  26  27
        last month      9   8  20        9   5   6       19   7   8
        bytes           32              40               43

    Without partitions, the time for the cone of 1.75 degrees grows by 2 ms per year for any time range. With yearly
    partitions, queries of the last year stay equally fast, and light curves of all years in a small cone take four
    times as long.
    """
    name = quote_identifier(column.name)
    if column.type.is_timestamp:
        return f"ifNull(toYear({name}), 0)"
    number = f"ifNull({name}, 0)"
    return f"toInt32(floor(if(isFinite({number}), {number}, 0) / 365.25))"


def _names_sql(names: tuple[str, ...]) -> str:
    return ", ".join(quote_identifier(name) for name in names)
