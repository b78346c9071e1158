"""Streaming reader of VOTable in all its serializations, which holds one row block in memory."""

from __future__ import annotations

import binascii
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_reader import FitsSource
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import (
    MAX_BLOCK_ROWS,
    MAX_HEADER_BYTES,
    MAX_ROW_BYTES,
    RejectedRow,
    RowBlock,
    number_rows_from,
)
from tap_service.readers.unique_names import name_columns
from tap_service.readers.votable_binary_reader import BinaryRows
from tap_service.readers.votable_link_reader import DeclaredLinks, read_declared_links
from tap_service.readers.votable_nulls import replace_null_cells, replace_null_values
from tap_service.readers.votable_tables import choose_table, list_other_tables, list_tables
from tap_service.readers.votable_xml_reader import VotableParser, VotableTable

_READ = 1 << 20


def read_metadata(document: bytes, name: str) -> VotableTable:
    """Return the first table of a VOTable document without data.

    Parameters
    ----------
    document : bytes
        The XML document.
    name : str
        The document in messages.

    Raises
    ------
    ReadError
        The document is broken or refused.
    """
    parser = VotableParser(name)
    parser.feed(document, last=True)
    return parser.table


class VotableSource:
    """A TABLE of a VOTable. See ``Source``."""

    unit = "row"
    nan_is_null = True

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        tables = list_tables(path)
        chosen = choose_table(tables, options.table, path) if tables else None
        self.form = f"TABLE {chosen}" if chosen and len(tables) > 1 else ""
        self._number = chosen.number if chosen else 1
        self._table = self._parse_header()
        if not self._table.columns:
            raise ReadError(f"{path} has no TABLE with FIELDs")
        notes = list_other_tables(tables, chosen) if chosen else ()
        self.notes: tuple[str, ...] = (*notes, *self._rename_columns())
        self.fields = self._table.fields
        self.unusable = self._table.unusable
        self.description = self._table.description
        self.rows = self._table.rows

    def read_links(self) -> DeclaredLinks:
        """Read the LINKs of the columns and the service descriptors. Raise ``ReadError``."""
        columns = [None if column.unusable else column.field for column in self._table.columns]
        return read_declared_links(self.path, self._number, columns)

    def _parse_header(self) -> VotableTable:
        """Read the document up to the data of the table, or to the end of a table without data."""
        parser = VotableParser(str(self.path), number=self._number)
        length = 0
        with ByteStream(self.path) as stream:
            while not parser.table.serialization and not parser.data_ended:
                data = stream.read(_READ)
                parser.feed(data, last=not data)
                length += 0 if parser.in_other_table else len(data)
                if length > MAX_HEADER_BYTES:
                    raise ReadError(
                        f"{self.path} has more than {MAX_HEADER_BYTES} bytes before the rows of a table start"
                    )
                if not data:
                    break
        return parser.table

    def _rename_columns(self) -> tuple[str, ...]:
        """Give the columns unique names; return notes on the changes."""
        columns = self._table.columns
        names, notes = name_columns([column.field.name for column in columns], case_matters=self.options.case_matters)
        self._table.columns = [
            replace(column, field=replace(column.field, name=name)) for column, name in zip(columns, names, strict=True)
        ]
        return notes

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        if self._table.serialization == "TABLEDATA":
            return self._read_tabledata(columns)
        if self._table.serialization == "FITS":
            return self._read_fits(columns)
        return self._read_binary(columns) if self._table.serialization else iter(())

    # --- TABLEDATA

    def _read_tabledata(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        rows: list[list[str | None]] = []
        parser = VotableParser(str(self.path), row=rows.append, number=self._number)
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
        rejects = tuple(
            RejectedRow(number, "", "", f"has {len(row)} cells for {declared} columns")
            for number, row in enumerate(rows, first)
            if len(row) != declared
        )
        by_column = list(zip(*good.values(), strict=True)) or [()] * declared
        arrays = []
        for name in columns:
            index = next(i for i, column in enumerate(self._table.columns) if column.field.name == name)
            column = self._table.columns[index]
            arrays.append(replace_null_cells(pa.array(by_column[index], pa.string()), column.null, column.field.type))
        batch = pa.RecordBatch.from_arrays(arrays, list(columns))
        return RowBlock(batch, [*good].__getitem__, fraction, rejects)

    # --- BINARY, BINARY2

    def _read_binary(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        reader = BinaryRows(self._table.columns, with_mask=self._table.serialization == "BINARY2")
        held = b""
        first = 1
        for data, fraction in self._decode_stream():
            held += data
            while True:
                rows, offsets, counts, used = reader.take_rows(held, MAX_BLOCK_ROWS)
                if not rows:
                    break
                arrays = reader.decode_columns(held[:used], offsets, counts, columns)
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
        parser = VotableParser(str(self.path), stream=texts.append, number=self._number)
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
                inside = FitsSource(path, ReadOptions(hdu=self._table.extnum, case_matters=True))
                if len(inside.fields) != len(self.fields):
                    raise ReadError(f"{path} has different columns from the VOTable's FIELDs")
                names = {field.name: other.name for field, other in zip(self.fields, inside.fields, strict=True)}
                nulls = {column.field.name: column.null for column in self._table.columns}
                for block in inside.read_blocks(tuple(names[name] for name in columns)):
                    arrays = [
                        replace_null_values(array, nulls[name])
                        for name, array in zip(columns, block.batch.columns, strict=True)
                    ]
                    yield replace(block, batch=pa.RecordBatch.from_arrays(arrays, list(columns)))
            except ReadError as error:
                raise ReadError(str(error).replace(str(path), f"{self.path}: the FITS file inside")) from error
