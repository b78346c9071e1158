"""Reader of FITS binary tables (FITS standard 4.0, section 7.3).

It reads the first BINTABLE of the file. FITS marks undefined values by NaN, which becomes NULL.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_column_reader import FitsColumn, Header, Heap, parse_fits_columns
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import (
    MAX_FILE_COLUMNS,
    MAX_HEADER_BYTES,
    MAX_ROW_BYTES,
    RowBlock,
    count_block_rows,
    number_rows_from,
)

_BLOCK_BYTES = 2880

#: HDUs searched for a binary table
_MAX_HDUS = 1000


class FitsSource:
    unit = "row"
    form = ""
    nan_is_null = True

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        self.notes: tuple[str, ...] = ()
        with ByteStream(path) as stream:
            header = _read_table_header(stream)
            numbers = _HeaderIntegers(header, path)
        self._row_bytes = numbers.read_integer("NAXIS1", high=MAX_ROW_BYTES)
        self.rows: int | None = numbers.read_integer("NAXIS2")
        self._heap_start = numbers.read_integer("THEAP", self._row_bytes * self.rows)
        numbers.read_integer("TFIELDS", high=MAX_FILE_COLUMNS)
        self.description = ""
        self.unusable: dict[str, str] = {}
        self._columns: dict[str, FitsColumn] = {}
        fields: list[Field] = []
        try:
            for column in parse_fits_columns(header):
                if column.unusable:
                    self.unusable[column.name] = column.unusable
                    continue
                self._columns[column.name] = column
                fields.append(column.field)
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise ReadError(f"{path}: the header of its table is invalid: {error}") from error
        self.fields = tuple(fields)

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        wanted = [self._columns[name] for name in columns]
        layout = np.dtype(
            {
                "names": [column.name for column in wanted],
                "formats": [column.stored for column in wanted],
                "offsets": [column.offset for column in wanted],
                "itemsize": self._row_bytes,
            }
        )
        needs_heap = any(column.is_variable for column in wanted)
        with ByteStream(self.path) as stream, self._open_heap() if needs_heap else nullcontext() as heap:
            _read_table_header(stream)
            first = 1
            total = self.rows or 0
            while first <= total:
                count = min(count_block_rows(self._row_bytes), total - first + 1)
                block = stream.read(count * self._row_bytes)
                if len(block) < count * self._row_bytes:
                    raise ReadError(f"{self.path} ends in row {first + len(block) // self._row_bytes} of {total}")
                rows = np.frombuffer(block, layout)
                arrays = [column.read_values(rows[column.name], heap) for column in wanted]
                batch = pa.RecordBatch.from_arrays(arrays, list(columns))
                first += count
                yield RowBlock(batch, number_rows_from(first - count), (first - 1) / total)

    @contextmanager
    def _open_heap(self) -> Iterator[Heap]:
        """Open the heap for random access, in the file itself or, if that is compressed, in a copy on disk."""
        with ByteStream(self.path) as stream:
            start = _find_table_start(stream) + self._heap_start
        if stream.compression is None:
            with self.path.open("rb") as file:
                yield Heap(file, start, self.path)
            return
        with ByteStream(self.path) as stream, tempfile.TemporaryFile() as unpacked:
            while block := stream.read(1 << 20):
                unpacked.write(block)
            unpacked.flush()
            yield Heap(unpacked, start, self.path)


def _read_table_header(stream: ByteStream) -> Header:
    """Return the header of the first binary table and advance the stream to its data."""
    return _find_table(stream)[0]


def _find_table_start(stream: ByteStream) -> int:
    return _find_table(stream)[1]


def _find_table(stream: ByteStream) -> tuple[Header, int]:
    """Return the header of the first binary table and the position of its data."""
    position = 0
    for _ in range(_MAX_HDUS):
        header, length = _read_header(stream)
        position += length
        if _read_text(header, "XTENSION") == "BINTABLE":
            if "T" in (_read_text(header, "ZIMAGE"), _read_text(header, "ZTABLE")):
                raise ReadError(f"{stream.path} holds a compressed image or table: unpack it with funpack first")
            return header, position
        size = _pad_to_block(_count_data_bytes(_HeaderIntegers(header, stream.path)))
        position += size
        while size > 0:
            block = stream.read(min(size, 1 << 20))
            if not block:
                raise ReadError(f"{stream.path} has no binary table")
            size -= len(block)
    raise ReadError(f"{stream.path} has no binary table among its first {_MAX_HDUS} HDUs")


def _read_header(stream: ByteStream) -> tuple[Header, int]:
    from astropy.io import fits  # deferred: a third of the start time of a reader

    cards = bytearray()
    while not any(cards[at : at + 8] == b"END     " for at in range(max(0, len(cards) - _BLOCK_BYTES), len(cards), 80)):
        block = stream.read(_BLOCK_BYTES)
        if len(block) < _BLOCK_BYTES:
            raise ReadError(f"{stream.path} has no binary table")
        cards += block
        if len(cards) > MAX_HEADER_BYTES:
            raise ReadError(f"{stream.path} has a header of more than {MAX_HEADER_BYTES} bytes")
    try:
        parsed = fits.Header.fromstring(cards.decode("ascii"))
        return {card.keyword: card.value for card in reversed(parsed.cards)}, len(cards)
    except (ValueError, fits.VerifyError) as error:
        raise ReadError(f"{stream.path} has a broken header: {error}") from error


def _read_text(header: Header, key: str) -> str:
    """Return the value as written in the file; '' if there is none."""
    value = header.get(key, "")
    return str(value).strip() if not isinstance(value, bool) else "FT"[value]


class _HeaderIntegers:
    """The integers of a header. Raises ``ReadError`` if one without a default is missing, or one is out of range."""

    def __init__(self, header: Header, path: Path) -> None:
        self._header = header
        self._path = path

    def read_integer(self, key: str, default: int | None = None, low: int = 0, high: int = 1 << 62) -> int:
        value = self._header.get(key, default)
        if type(value) is not int or not low <= value <= high:
            raise ReadError(f"{self._path} has a header whose {key} is not a number from {low} to {high}")
        return value


def _count_data_bytes(numbers: _HeaderIntegers) -> int:
    count = numbers.read_integer("NAXIS", 0, high=999)
    axes = [numbers.read_integer(f"NAXIS{number}") for number in range(1, count + 1)]
    if not axes:
        return 0
    groups, extra = numbers.read_integer("GCOUNT", 1), numbers.read_integer("PCOUNT", 0)
    item_bytes = abs(numbers.read_integer("BITPIX", low=-64, high=64)) // 8
    return item_bytes * groups * (extra + math.prod(axes))


def _pad_to_block(size: int) -> int:
    return -(-size // _BLOCK_BYTES) * _BLOCK_BYTES
