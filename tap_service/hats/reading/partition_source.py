"""The file of a partition as a source of rows, like other table files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clickhouse_schema.datatypes import Field
from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.catalogue_columns import CatalogueColumns
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_BLOCK_BYTES, MAX_BLOCK_ROWS, RowBlock, number_rows_from


@dataclass(frozen=True, slots=True)
class PartitionSource:
    """The rows of ``file`` in the columns of a table. See ``tap_service.readers.table_source.Source``."""

    file: PartitionFile
    columns: CatalogueColumns
    unit: str = "row"
    form: str = ""
    nan_is_null: bool = False
    options: ReadOptions = AS_DETECTED

    @property
    def path(self) -> str:
        return self.file.name

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.columns.fields

    @property
    def unusable(self) -> dict[str, str]:
        return self.columns.unusable

    @property
    def description(self) -> str:
        return self.columns.description

    @property
    def notes(self) -> tuple[str, ...]:
        return self.columns.notes

    @property
    def rows(self) -> int:
        return self.file.rows

    def list_blocks(self) -> Iterator[tuple[int, float]]:
        """Yield, for each block of ``read_blocks``, its rows and its approximate bytes."""
        return self.file.list_batches(MAX_BLOCK_BYTES, MAX_BLOCK_ROWS)

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        first = 1
        needed = self.columns.parts.list_file_columns(columns)
        try:
            for batch in self.file.read_batches(needed, MAX_BLOCK_BYTES, MAX_BLOCK_ROWS):
                done = first + batch.num_rows
                yield RowBlock(
                    self.columns.parts.take_columns(batch, columns), number_rows_from(first), (done - 1) / self.rows
                )
                first = done
        except HatsError as error:
            raise ReadError(str(error)) from error
