"""Parquet by row groups, with the metadata that VOParquet keeps in its footer.

VOParquet (IVOA Note, "VOTable metadata in Parquet"): the key ``IVOA.VOTable-Parquet.content`` holds a VOTable document
without data whose FIELDs describe the columns of the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import DOUBLE, UNICODE, Field, from_arrow
from tap_service.readers.errors import ReadError
from tap_service.readers.source import Piece, numbered_from, piece_rows
from tap_service.readers.votable import read_metadata

_VOTABLE_KEY = b"IVOA.VOTable-Parquet.content"


class ParquetSource:
    unit = "row"
    nan_is_null = False

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise ReadError(f"{path} is not readable as Parquet: {error}") from error
        self.rows: int | None = self._file.metadata.num_rows
        self.unusable: dict[str, str] = {}
        self.description = ""
        self.fields = self._described(tuple(self._plain_fields()))

    def pieces(self, columns: tuple[str, ...]) -> Iterator[Piece]:
        total = self.rows or 1
        first = 1
        for group in range(self._file.num_row_groups):
            metadata = self._file.metadata.row_group(group)
            size = piece_rows(metadata.total_byte_size / max(metadata.num_rows, 1))
            try:
                for batch in self._file.iter_batches(size, [group], list(columns)):
                    done = first + batch.num_rows
                    yield Piece(batch, numbered_from(first), (done - 1) / total)
                    first = done
            except (pa.ArrowException, OSError) as error:
                raise ReadError(f"{self.path} is broken in or after row {first}: {error}") from error

    def _plain_fields(self) -> Iterator[Field]:
        for column in self._file.schema_arrow:
            described = (column.metadata or {}).get(b"description", b"").decode()
            if pa.types.is_decimal(column.type):
                type_ = DOUBLE
            elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
                type_ = UNICODE
            else:
                try:
                    type_ = from_arrow(column.type)
                except KeyError:
                    self.unusable[column.name] = f"the type {column.type} has no counterpart in VOTable"
                    continue
            yield Field(column.name, type_, description=described, nullable=column.nullable)

    def _described(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        """The fields with what the footer's VOTable says of them; types stay those of the data, refined by an xtype."""
        document = (self._file.schema_arrow.metadata or {}).get(_VOTABLE_KEY)
        if document is None:
            return fields
        table = read_metadata(document, f"{self.path} ({_VOTABLE_KEY.decode()})")
        self.description = table.description
        said = {field.name: field for field in table.fields}
        return tuple(_merged(field, said[field.name]) if field.name in said else field for field in fields)


def _merged(field: Field, said: Field) -> Field:
    type_ = field.type
    same = type_.scalar.arrow == said.type.scalar.arrow and type_.is_array == said.type.is_array
    if same and not type_.is_timestamp:
        type_ = said.type
    return replace(said, name=field.name, type=type_, nullable=field.nullable)
