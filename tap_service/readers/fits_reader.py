"""Reader of FITS tables (FITS standard 4.0, sections 7.2 and 7.3), of one HDU of a file.

FITS marks undefined values by NaN, which becomes NULL.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_ascii_columns import AsciiColumn, parse_ascii_columns
from tap_service.readers.fits_column_reader import FitsColumn, Heap, parse_fits_columns
from tap_service.readers.fits_hdus import HeaderIntegers
from tap_service.readers.fits_table_choice import choose_table
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


class FitsSource:
    unit = "row"
    nan_is_null = True

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        choice = choose_table(path, options.hdu)
        self._hdu = choice.hdu
        numbers = HeaderIntegers(self._hdu.header, path)
        self._row_bytes = numbers.read_integer("NAXIS1", high=MAX_ROW_BYTES)
        self.rows: int | None = numbers.read_integer("NAXIS2")
        self._heap_start = numbers.read_integer("THEAP", self._row_bytes * self.rows)
        numbers.read_integer("TFIELDS", high=MAX_FILE_COLUMNS)
        self.description = ""
        columns = self._parse_columns()
        names, notes = name_columns([column.name for column in columns], case_matters=options.case_matters)
        self.notes = (*choice.notes, *notes)
        named = list(zip(names, columns, strict=True))
        self.unusable = {name: column.unusable for name, column in named if column.unusable}
        self._columns: dict[str, _Column] = {name: column for name, column in named if not column.unusable}
        self.fields = tuple(replace(column.field, name=name) for name, column in self._columns.items())

    @property
    def form(self) -> str:
        """The HDU, for messages."""
        return f"HDU {self._hdu.number}" + (f" {self._hdu.name}" if self._hdu.name else "")

    def _parse_columns(self) -> list[_Column]:
        try:
            parse = parse_ascii_columns if self._hdu.kind == "TABLE" else parse_fits_columns
            return [*parse(self._hdu.header)]
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise ReadError(f"{self.path}: the header of its table is invalid: {error}") from error

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
                rows = np.frombuffer(block, layout)
                arrays = [column.read_values(rows[name], heap) for name, column in zip(columns, wanted, strict=True)]
                batch = pa.RecordBatch.from_arrays(arrays, list(columns))
                first += count
                yield RowBlock(batch, number_rows_from(first - count), (first - 1) / total)

    @contextmanager
    def _open_heap(self) -> Iterator[Heap]:
        """Open the heap for random access, in the file itself or, if that is compressed, in a copy on disk."""
        start = self._hdu.start + self._heap_start
        with ByteStream(self.path) as stream:
            if stream.compression is None:
                with self.path.open("rb") as file:
                    yield Heap(file, start, self.path)
                return
            with tempfile.TemporaryFile() as unpacked:
                while block := stream.read(1 << 20):
                    unpacked.write(block)
                unpacked.flush()
                yield Heap(unpacked, start, self.path)
