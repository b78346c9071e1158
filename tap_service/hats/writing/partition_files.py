"""Parquet files of rows: the partitions of a catalogue and of its margin cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import Field
from clickhouse_schema.hats.hats_pixel import SPATIAL_INDEX, HatsPixel
from tap_service.hats.writing.catalogue_plan import CataloguePlan
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.serializers.parquet_groups import RowGroupWriter
from tap_service.storage.engine.engine import Engine, Settings

#: rows of a batch from the engine
_BATCH_ROWS = 65536

#: bytes that the engine sorts in memory; it sorts more on disk
DISK_SORT_SETTINGS = {"max_bytes_before_external_sort": 1 << 29, "max_bytes_ratio_before_external_sort": 0}

#: called with the number of rows after each batch; may raise to stop
RowCounter = Callable[[int], None]


def write_partition(
    engine: Engine,
    rows: HatsRows,
    plan: CataloguePlan,
    pixel: HatsPixel,
    path: Path,
    *,
    settings: Settings | None = None,
    on_rows: RowCounter = lambda _: None,
) -> pq.FileMetaData:
    """Write the rows of a pixel to a file, sorted by their cells of order 29.

    Memory holds one row group. To hide incomplete files, write to another path and rename the file.

    Parameters
    ----------
    engine, rows, plan
        The engine, the rows and their partitions.
    pixel : HatsPixel
        A pixel of ``plan.partitions``.
    path : Path
        The file.
    settings : Settings | None
        Settings of the engine for the query that reads the rows.
    on_rows : RowCounter
        Called with the number of rows after each batch; may raise to stop.

    Returns
    -------
    pyarrow.parquet.FileMetaData
        The footer of the file.

    Raises
    ------
    EngineError, SerializationError, OSError
        The rows cannot be read, or the file cannot be written.
    """
    sorting = _choose_sorting(plan.partitions[pixel], plan, settings)
    return _write_rows(engine, rows, rows.partition_sql(pixel), path, sorting, on_rows)


def write_margin(
    engine: Engine,
    rows: HatsRows,
    plan: CataloguePlan,
    pixel: HatsPixel,
    path: Path,
    *,
    settings: Settings | None = None,
    on_rows: RowCounter = lambda _: None,
) -> pq.FileMetaData:
    """Write the rows around a pixel to a file, as ``write_partition`` writes the rows in it.

    Parameters
    ----------
    engine, rows, plan
        The engine, the rows and their partitions.
    pixel : HatsPixel
        A pixel of ``plan.margins``.
    path, settings, on_rows
        As for ``write_partition``.

    Returns
    -------
    pyarrow.parquet.FileMetaData
        The footer of the file.

    Raises
    ------
    EngineError, SerializationError, OSError
        As for ``write_partition``.
    """
    sql = rows.margin_sql(pixel, plan.margin_order, plan.margin_cells[pixel].tolist())
    return _write_rows(engine, rows, sql, path, _choose_sorting(plan.margins[pixel], plan, settings), on_rows)


def _choose_sorting(count: int, plan: CataloguePlan, settings: Settings | None) -> Settings:
    """Return settings for a file of ``count`` rows.

    The engine reads rows in the order of their cells, and sorts the rows of one cell in memory. One cell may have more
    rows than the maximum of a partition.
    """
    crowded = {"optimize_read_in_order": 0, **DISK_SORT_SETTINGS} if count > plan.max_rows else {}
    return crowded | dict(settings or {})


def _write_rows(
    engine: Engine, rows: HatsRows, sql: str, path: Path, settings: Settings, on_rows: RowCounter
) -> pq.FileMetaData:
    with engine.stream_batches(sql, settings=settings, batch_rows=_BATCH_ROWS) as batches:
        return write_parquet(path, rows.fields, rows.schema, batches, sorted_by=SPATIAL_INDEX, on_rows=on_rows)


def write_parquet(
    path: Path,
    fields: Sequence[Field],
    schema: pa.Schema,
    batches: Any,
    *,
    sorted_by: str,
    on_rows: RowCounter = lambda _: None,
) -> pq.FileMetaData:
    """Write batches of the engine to a file of a catalogue.

    Numbers have the encodings that hats-import uses; each page has a checksum, and statistics in the page index.

    Parameters
    ----------
    path : Path
        The file.
    fields, schema
        The columns, and the Arrow schema of the file.
    batches : Any
        The batches.
    sorted_by : str
        The column by which the rows are sorted.
    on_rows : RowCounter
        Called with the number of rows after each batch; may raise to stop.

    Returns
    -------
    pyarrow.parquet.FileMetaData
        The footer of the file.
    """
    footers: list[pq.FileMetaData] = []
    writer = RowGroupWriter(
        path,
        fields,
        schema,
        column_encoding=_choose_encodings(schema, sorted_by),
        sorting_columns=[pq.SortingColumn(schema.get_field_index(sorted_by))],
        write_page_checksum=True,
        write_page_index=True,
        metadata_collector=footers,
    )
    try:
        for batch in batches:
            writer.write_batch(batch)
            on_rows(batch.num_rows)
    finally:
        writer.close()
    return footers[0]


def _choose_encodings(schema: pa.Schema, sorted_by: str) -> Mapping[str, str]:
    """Return the encodings of numbers; texts have dictionaries."""
    found = {}
    for field in schema:
        is_array = pa.types.is_list(field.type)
        if pa.types.is_floating(field.type.value_type if is_array else field.type):
            found[f"{field.name}.list.element" if is_array else field.name] = "BYTE_STREAM_SPLIT"
        elif field.name == sorted_by and pa.types.is_integer(field.type):
            found[field.name] = "DELTA_BINARY_PACKED"
    return found
