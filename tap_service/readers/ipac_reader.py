"""Reader of IPAC tables (IRSA, NED, Spitzer, CatWISE): the ``|`` of the header mark the bytes of each column.

``int`` is INTEGER if all numbers of the column's width fit, else BIGINT. ``float`` and ``real`` are DOUBLE: their
numbers in files have more digits than REAL has. Dates stay texts. ``null`` means a missing number in all these tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from clickhouse_schema.datatypes import DOUBLE, INT, LONG, UNICODE, ColumnType, Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fixed_width_rows import FixedColumn, FixedLayout
from tap_service.readers.ipac_header import IpacColumn, find_ipac_type, parse_ipac_header
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RowBlock
from tap_service.readers.text_lines import read_line_blocks, read_text
from tap_service.readers.text_source import TextSource
from tap_service.readers.text_values import guess_type
from tap_service.readers.unique_names import name_columns

#: number of characters, including a sign, up to which each number is in the range of INTEGER
_INT_DIGITS = 9

#: the missing value of tables that name none
_NULL = "null"


class IpacSource(TextSource):
    """An IPAC table. See ``Source``."""

    form = "fixed widths"

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        super().__init__(path, options)
        with ByteStream(path) as stream:
            header = parse_ipac_header(path, read_text(stream))
        self.description = header.description
        self._start = header.rows
        names, notes = name_columns([column.name for column in header.columns], case_matters=options.case_matters)
        types = [_find_type(path, column) for column in header.columns]
        given = zip(header.columns, names, types, strict=True)
        layout = [_describe_bytes(column, name, type_, header.has_nulls) for column, name, type_ in given]
        self._layout = FixedLayout(layout, header.bars[-1] + 1, "the header", header.bars)
        if not header.has_types:
            types = self._guess_types(names)
            notes += ("the file has no types: they are guessed from its first rows",)
        self.notes = notes
        self.fields = tuple(
            Field(name, type_, unit=column.unit, description=column.description)
            for column, name, type_ in zip(header.columns, names, types, strict=True)
        )

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        with ByteStream(self.path) as stream:
            for block in read_line_blocks(stream, self._start):
                for rows in self._layout.split_block(block):
                    arrays = [rows.slice_column(self._layout.columns[name]) for name in columns]
                    schema = pa.schema([(name, pa.binary()) for name in columns])
                    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
                    yield RowBlock(batch, rows.find_line, block.fraction, rows.rejects)

    def _guess_types(self, names: tuple[str, ...]) -> list[ColumnType]:
        block = next(self.read_blocks(names), None)
        if block is None:
            return [UNICODE] * len(names)
        return [guess_type(column) for column in block.batch.columns]


def _find_type(path: Path, column: IpacColumn) -> ColumnType:
    found = find_ipac_type(column.type)
    if found is None:
        raise ReadError(
            f"{path}: the column {column.name} has the type {column.type!r:.60}; "
            "IPAC tables have int, long, float, double, real, char and date"
        )
    if found in ("double", "float", "real"):
        return DOUBLE
    if found in ("int", "integer"):
        return INT if column.end - column.start <= _INT_DIGITS else LONG
    return LONG if found == "long" else UNICODE


def _describe_bytes(column: IpacColumn, name: str, type_: ColumnType, has_nulls: bool) -> FixedColumn:
    """Return the bytes of a column; a number may be blank only if blanks mean a missing value."""
    is_number = type_.is_numeric
    nulls = {column.null} - {""} | ({_NULL} if is_number else set())
    is_required = is_number and has_nulls and column.null != ""
    return FixedColumn(name, column.start, column.end, tuple(sorted(nulls)), is_number, is_required)
