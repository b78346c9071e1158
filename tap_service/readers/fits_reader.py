"""Reader of FITS tables (FITS standard 4.0, sections 7.2 and 7.3), from one HDU of a file.

FITS marks undefined values by NaN, which becomes NULL.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.datatypes import Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.column_casts import replace_with_null
from tap_service.readers.fits_ascii_columns import AsciiColumn, parse_ascii_columns
from tap_service.readers.fits_column_reader import NO_VALUES, FitsColumn, parse_fits_columns
from tap_service.readers.fits_heap import MAX_HEAP_OFFSET, Heap
from tap_service.readers.fits_plus import describe_fields, read_described_table
from tap_service.readers.fits_table_choice import STORED_BY_COLUMNS, choose_table
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import (
    MAX_FILE_COLUMNS,
    MAX_ROW_BYTES,
    RowBlock,
    count_block_rows,
    number_rows_from,
)
from tap_service.readers.unique_names import name_columns

_Column = FitsColumn | AsciiColumn

_PIECE_BYTES = 1 << 20

#: maximum number of bytes of variable arrays in a row block of more than one row
_MAX_HEAP_PART = 32 << 20


class FitsSource:
    """The table in an HDU. See ``Source``."""

    unit = "row"
    nan_is_null = True

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        choice = choose_table(path, options.hdu)
        self._hdu = choice.hdu
        self._read_sizes()
        columns = self._parse_columns()
        described, rejects = read_described_table(path, choice.primary, self._hdu.number)
        self.description = described.description
        fields = [*describe_fields([column.field for column in columns], described)]
        names, changes = name_columns([field.name for field in fields], case_matters=options.case_matters)
        named = dict(zip(names, columns, strict=True))
        empty = tuple(f"column {name} is left out: {NO_VALUES}" for name in named if named[name].unusable == NO_VALUES)
        if len(empty) == len(named):
            raise ReadError(f"{path} has a table without columns in {self.form}")
        self.unusable = {name: each.unusable for name, each in named.items() if each.unusable not in ("", NO_VALUES)}
        self._columns: dict[str, _Column] = {name: column for name, column in named.items() if not column.unusable}
        pairs = zip(names, fields, strict=True)
        self.fields = tuple(replace(field, name=name) for name, field in pairs if name in self._columns)
        self._special_texts = {field.name for field in self.fields if field.type.xtype and not field.type.is_array}
        self.notes = (*choice.notes, *rejects, *changes, *empty)

    def _read_sizes(self) -> None:
        header = self._hdu.header
        self._row_bytes = header.read_integer("NAXIS1", high=MAX_ROW_BYTES)
        rows = header.read_integer("NAXIS2")
        self.rows: int | None = rows
        self._heap_start = self._row_bytes * rows
        if "THEAP" in header:
            self._heap_start = header.read_integer("THEAP", high=MAX_HEAP_OFFSET)
        self._heap_size = self._row_bytes * rows + header.read_integer("PCOUNT", 0) - self._heap_start

    @property
    def form(self) -> str:
        """The HDU, for messages."""
        return f"HDU {self._hdu.number}" + (f" {self._hdu.name}" if self._hdu.name else "")

    def _parse_columns(self) -> list[_Column]:
        self._hdu.header.read_integer("TFIELDS", high=MAX_FILE_COLUMNS)
        try:
            parse = parse_ascii_columns if self._hdu.is_ascii else parse_fits_columns
            columns: list[_Column] = [*parse(self._hdu.header)]
        except (ArithmeticError, ValueError) as error:
            raise ReadError(f"{self.path}: the header of its table is invalid: {error}") from error
        if self.rows == 1 and _has_whole_columns([column.field for column in columns]):
            raise ReadError(f"{self.path} {STORED_BY_COLUMNS}")
        return columns

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        wanted = [self._columns[name] for name in columns]
        layout = np.dtype(
            {
                "names": list(columns),
                "formats": [column.stored for column in wanted],
                "offsets": [column.offset for column in wanted],
                "itemsize": self._row_bytes,
            }
        )
        needs_heap = any(column.is_variable for column in wanted)
        with ByteStream(self.path) as stream, self._open_heap() if needs_heap else nullcontext() as heap:
            stream.skip(self._hdu.start)
            first = 1
            total = self.rows or 0
            while first <= total:
                count = min(count_block_rows(self._row_bytes), total - first + 1)
                block = stream.read(count * self._row_bytes)
                if len(block) < count * self._row_bytes:
                    raise ReadError(f"{self.path} ends in row {first + len(block) // self._row_bytes} of {total}")
                for rows in _split_rows(np.frombuffer(block, layout), dict(zip(columns, wanted, strict=True))):
                    values = zip(columns, wanted, strict=True)
                    arrays = [self._read_column(name, column, rows, heap) for name, column in values]
                    batch = pa.RecordBatch.from_arrays(arrays, list(columns))
                    first += len(rows)
                    yield RowBlock(batch, number_rows_from(first - len(rows)), (first - 1) / total)

    def _read_column(self, name: str, column: _Column, rows: NDArray[Any], heap: Heap | None) -> pa.Array:
        """Return the values of a column; a blank text of an xtype, such as timestamp, is NULL."""
        values = column.read_values(rows[name], heap)
        return replace_with_null(values, b"") if name in self._special_texts else values

    @contextmanager
    def _open_heap(self) -> Iterator[Heap]:
        """Open the heap for random access, in the file itself or, if the file is compressed, in a copy on disk."""
        start = self._hdu.start + self._heap_start
        with ByteStream(self.path) as stream:
            if stream.compression is None:
                with self.path.open("rb") as file:
                    yield Heap(file, start, self._heap_size, self.path)
                return
            stream.skip(start)
            left = self._hdu.start + self._hdu.size - start
            with tempfile.TemporaryFile() as unpacked:
                while left > 0 and (block := stream.read(min(left, _PIECE_BYTES))):
                    unpacked.write(block)
                    left -= len(block)
                unpacked.flush()
                yield Heap(unpacked, 0, self._heap_size, self.path)


def _has_whole_columns(fields: list[Field]) -> bool:
    """Return whether each value of the only row is a complete column, as in STIL's colfits.

    Its arrays have the same last axis; arrays of numbers have the shape (1, rows).
    """
    axes = [field.type.arraysize.split("x") for field in fields]
    return len({axis[-1] for axis in axes}) == 1 and all(len(axis) > 1 for axis in axes) and ["1", axes[0][-1]] in axes


def _split_rows(rows: NDArray[Any], columns: Mapping[str, _Column]) -> Iterator[NDArray[Any]]:
    """Split rows so that the variable arrays of a part take little memory."""
    sizes = np.zeros(len(rows), np.int64)
    for name, column in columns.items():
        if isinstance(column, FitsColumn) and column.is_variable:
            sizes += column.count_heap_bytes(rows[name])
    ends = np.cumsum(sizes)
    start = 0
    while start < len(rows):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _MAX_HEAP_PART, "right")))
        yield rows[start:stop]
        start = stop
