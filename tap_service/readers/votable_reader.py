"""Streaming reader of VOTable in all its serializations, which holds one row block in memory."""

from __future__ import annotations

import binascii
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.column_casts import NO_VALUE, replace_with_null
from tap_service.readers.fits_reader import FitsSource
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import (
    MAX_BLOCK_ROWS,
    MAX_HEADER_BYTES,
    MAX_ROW_BYTES,
    Fault,
    RowBlock,
    number_rows_from,
)
from tap_service.readers.votable_binary_reader import BinaryRows
from tap_service.readers.votable_xml_reader import VotableParser, VotableTable

_READ = 1 << 20


def read_metadata(document: bytes, name: str) -> VotableTable:
    """Return the first table of a VOTable document without data."""
    parser = VotableParser(name)
    parser.feed(document, last=True)
    return parser.table


class VotableSource:
    unit = "row"
    form = ""
    nan_is_null = True

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        self.notes: tuple[str, ...] = ()
        parser = VotableParser(str(path))
        length = 0
        with ByteStream(path) as stream:
            while not parser.table.serialization and not parser.data_ended:
                data = stream.read(_READ)
                parser.feed(data, last=not data)
                length += len(data)
                if length > MAX_HEADER_BYTES:
                    raise ReadError(f"{path} has more than {MAX_HEADER_BYTES} bytes before the rows of a table begin")
                if not data:
                    break
        self._table = parser.table
        if not self._table.columns:
            raise ReadError(f"{path} has no TABLE with FIELDs")
        self.fields = self._table.fields
        self.unusable = self._table.unusable
        self.description = self._table.description
        self.rows = self._table.rows

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        if self._table.serialization == "TABLEDATA":
            return self._read_tabledata(columns)
        if self._table.serialization == "FITS":
            return self._read_fits(columns)
        return self._read_binary(columns) if self._table.serialization else iter(())

    # --- TABLEDATA

    def _read_tabledata(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        rows: list[list[str | None]] = []
        parser = VotableParser(str(self.path), row=rows.append)
        first = 1
        with ByteStream(self.path) as stream:
            while data := stream.read(_READ):
                parser.feed(data)
                if rows:
                    yield self._build_block(rows, columns, first, stream.fraction_read)
                    first += len(rows)
                    rows.clear()
            parser.feed(b"", last=True)

    def _build_block(
        self, rows: list[list[str | None]], columns: tuple[str, ...], first: int, fraction: float
    ) -> RowBlock:
        declared = len(self._table.columns)
        good = {number: row for number, row in enumerate(rows, first) if len(row) == declared}
        faults = tuple(
            Fault(number, "", "", f"has {len(row)} cells for {declared} columns")
            for number, row in enumerate(rows, first)
            if len(row) != declared
        )
        by_column = list(zip(*good.values(), strict=True)) or [()] * declared
        arrays = []
        for name in columns:
            place = next(i for i, column in enumerate(self._table.columns) if column.field.name == name)
            column = self._table.columns[place]
            null = column.null.strip()
            cells = by_column[place]
            if null and column.field.type.is_array:
                cells = tuple(_mark_missing_elements(null, cell) for cell in cells)
                null = ""
            array = pa.array(cells, pa.string())
            if not (column.field.type.is_text or column.field.type.is_timestamp):
                array = pc.ascii_trim_whitespace(array)
            for missing in {"", null}:
                array = replace_with_null(array, missing)
            arrays.append(array)
        batch = pa.RecordBatch.from_arrays(arrays, list(columns))
        return RowBlock(batch, [*good].__getitem__, fraction, faults)

    # --- BINARY, BINARY2

    def _read_binary(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        reader = BinaryRows(self._table.columns, with_mask=self._table.serialization == "BINARY2")
        held = b""
        first = 1
        for data, fraction in self._decode_stream():
            held += data
            while True:
                rows, places, counts, used = reader.take_rows(held, MAX_BLOCK_ROWS)
                if not rows:
                    break
                arrays = reader.decode_columns(held[:used], places, counts, columns)
                yield RowBlock(pa.RecordBatch.from_arrays(arrays, list(columns)), number_rows_from(first), fraction)
                first += rows
                held = held[used:]
            if len(held) > MAX_ROW_BYTES:
                raise ReadError(f"{self.path}: row {first} takes more than {MAX_ROW_BYTES} bytes")
        if held:
            raise ReadError(f"{self.path} ends inside row {first}")

    def _decode_stream(self) -> Iterator[tuple[bytes, float]]:
        """Decode the STREAM: yield its bytes, and the fraction of the file that is read."""
        if self._table.encoding not in ("", "base64"):
            raise ReadError(f"{self.path}: the STREAM encoding {self._table.encoding!r} is not supported; use base64")
        texts: list[str] = []
        parser = VotableParser(str(self.path), stream=texts.append)
        rest = b""
        with ByteStream(self.path) as stream:
            while data := stream.read(_READ):
                parser.feed(data)
                rest += b"".join("".join(texts).encode("ascii", "replace").split())
                texts.clear()
                complete = len(rest) // 4 * 4
                yield self._decode_base64(rest[:complete]), stream.fraction_read
                rest = rest[complete:]
            parser.feed(b"", last=True)
        if rest:
            yield self._decode_base64(rest), 1.0

    def _decode_base64(self, text: bytes) -> bytes:
        try:
            return binascii.a2b_base64(text, strict_mode=bool(text))
        except binascii.Error as error:
            raise ReadError(f"{self.path}: the STREAM is not valid base64: {error}") from error

    # --- FITS

    def _read_fits(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        """Read the embedded FITS file from a copy on disk; its columns match the FIELDs in order."""
        with tempfile.TemporaryFile() as file:  # unnamed, so that a killed reader leaves no file
            for data, _ in self._decode_stream():
                file.write(data)
            file.flush()
            path = Path(f"/proc/self/fd/{file.fileno()}")
            try:
                inside = FitsSource(path)
                if len(inside.fields) != len(self.fields):
                    raise ReadError(f"{path} has different columns from the VOTable's FIELDs")
                names = {field.name: other.name for field, other in zip(self.fields, inside.fields, strict=True)}
                for block in inside.read_blocks(tuple(names[name] for name in columns)):
                    yield replace(block, batch=block.batch.rename_columns(list(columns)))
            except ReadError as error:
                raise ReadError(str(error).replace(str(path), f"{self.path}: the FITS file inside")) from error


def _mark_missing_elements(null: str, cell: str | None) -> str:
    """Replace the missing elements of an array, written as ``null``, by ``NO_VALUE``."""
    return " ".join(NO_VALUE if word == null else word for word in (cell or "").split())
