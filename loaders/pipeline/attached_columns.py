"""The columns of an attached table: what ClickHouse reads from the files without changing a value.

Loaded rows are converted and checked one by one. The rows of an attached table are read as they are in the files, so
the types must be the types of the files, and options that need a load are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clickhouse_schema.datatypes import ColumnType, arrow_to_column_type
from clickhouse_schema.hats.attachment import AttachedColumn
from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.table_ddl import column_type
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.hats_catalogue import HatsCatalogue
from tap_service.hats.reading.parquet_file import open_parquet
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.readers.conform_rows import find_matching_name

_LOAD_IT = "load the catalogue instead (skyhouse load), or leave the column out of the schema file"

#: What needs stored rows
_STORED_LAYOUT = ("id", "time", "years", "overlap_radius", "indexes", "parent", "everywhere", "row_store", "versions")


def fit_table(table: Table, catalogue: HatsCatalogue, reporter: Reporter, *, is_described: bool) -> Table:
    """Return the table as it can be attached.

    Parameters
    ----------
    table : Table
        The table of the schema.
    catalogue : HatsCatalogue
        The HATS catalogue.
    reporter : Reporter
        Receives a note on keys of the layout that have no effect.
    is_described : bool
        Whether a schema file describes the table.

    Raises
    ------
    LoadError
        A column differs in type from the files, or needs a load; or the catalogue is partitioned by another position.
    """
    if table.names:
        raise LoadError("skyhouse:names is for loaded tables: names are looked up in an index")
    properties = catalogue.properties
    partitioned = properties.ra_column, properties.dec_column
    position = table.layout.position
    missing = [key for key, name in zip(("hats_col_ra", "hats_col_dec"), partitioned, strict=True) if name is None]
    if position is not None and missing:
        raise LoadError(
            f"the properties of the catalogue have no {' and no '.join(missing)}, so it is not known by which position"
            " it is partitioned: add them, load the catalogue, or leave the position out of skyhouse:layout"
        )
    if position is not None and tuple(find_matching_name(name, catalogue.schema.names) for name in position) != (
        partitioned
    ):
        raise LoadError(
            f"the position of skyhouse:layout is {', '.join(position)}, but the catalogue is partitioned by"
            f" {', '.join(map(str, partitioned))}: give that position, or load the catalogue"
        )
    lost = [name for name in _STORED_LAYOUT if getattr(table.layout, name) != getattr(Layout(), name)]
    if lost and is_described:
        reporter.message(f"without stored rows these keys of skyhouse:layout have no effect: {', '.join(lost)}")
    layout = Layout(position=position, healpix_order=table.layout.healpix_order)
    columns = tuple(_fit_column(column, catalogue, reporter) for column in table.columns)
    return table.model_copy(update={"layout": layout, "columns": columns})


def _fit_column(column: Column, catalogue: HatsCatalogue, reporter: Reporter) -> Column:
    field = _find_field(column, catalogue)
    reason = _find_obstacle(column, field.type)
    if reason:
        raise LoadError(f"the column {column.name} cannot be attached: {reason}; {_LOAD_IT}")
    if column.nullable or not field.nullable:
        return column
    reporter.message(f"{column.name} may be NULL in the files, so it is nullable")
    return column.model_copy(update={"nullable": True})


def _find_field(column: Column, catalogue: HatsCatalogue) -> pa.Field:
    name = find_matching_name(column.name, catalogue.schema.names)
    if name is None:
        raise LoadError(f"{catalogue.address} has no column {column.name}; {_LOAD_IT}")
    return catalogue.schema.field(name)


def _find_obstacle(column: Column, given: pa.DataType) -> str:
    """Return why a column of the files cannot be read as the type of the table; '' if it can."""
    if has_cover(column.type):
        return "shapes have covers that are computed when they are loaded"
    if column.values or column.null is not None:
        return "skyhouse:values and skyhouse:null are applied when rows are loaded"
    if column.if_missing:
        return "skyhouse:if_missing applies to loaded rows"
    try:
        implied = arrow_to_column_type(given)
    except KeyError:
        return f"its type in the files, {given}, has no equivalent"
    if _plain(implied) != _plain(column.type):
        return f"it is {implied.adql} in the files and {column.type.adql} in the schema file"
    return ""


def _plain(kind: ColumnType) -> tuple[str, bool, bool]:
    """Return the properties that two types must share to hold the same values."""
    word = "text" if kind.is_text else "timestamp" if kind.is_timestamp else kind.datatype
    return word, kind.is_array, kind.is_text and bool(kind.string_length)


def read_columns(table: Table, catalogue: HatsCatalogue, files: Sequence[PartitionFile]) -> tuple[AttachedColumn, ...]:
    """Return the columns as ClickHouse reads them. Raises HatsError if the largest file cannot be read."""
    largest = max(files, key=lambda file: file.rows)
    widths = _measure_widths(largest)
    found = []
    for column in table.columns:
        field = _find_field(column, catalogue)
        kind = column_type(column)
        width = widths.get(field.name, 0.0)
        found.append(AttachedColumn(column.name, field.name, kind, _choose_read_type(kind, field.type), width))
    return tuple(found)


def _choose_read_type(kind: str, given: pa.DataType) -> str:
    """Return the type in which ClickHouse reads all values unchanged; some become errors, or NaN, later."""
    if pa.types.is_uint64(given):
        return kind.replace("Int64", "UInt64")
    if kind.startswith("Array(") and not kind.startswith("Array(Nullable("):
        return f"Array(Nullable({kind.removeprefix('Array(')})"
    return kind


def _measure_widths(file: PartitionFile) -> dict[str, float]:
    """Return the mean uncompressed bytes of a value of each column."""
    metadata = open_parquet(file.catalogue.folder, file.path, file.version).metadata
    sizes: dict[str, float] = {}
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            name = column.path_in_schema.split(".")[0]
            sizes[name] = sizes.get(name, 0.0) + column.total_uncompressed_size
    return {name: size / max(metadata.num_rows, 1) for name, size in sizes.items()}
