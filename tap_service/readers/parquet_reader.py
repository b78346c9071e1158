"""Reader of Parquet by row groups, with the VOParquet metadata of its footer: see ``arrow_columns``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.arrow_columns import read_arrow_schema
from tap_service.readers.parquet_ranges import ParquetRanges
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RowBlock, count_block_rows, number_rows_from


class ParquetSource:
    """The table in a Parquet file. See ``Source``."""

    unit = "row"
    form = ""
    nan_is_null = False

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        try:
            self._file = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
            schema = self._file.schema_arrow
        except UnicodeDecodeError as error:
            raise ReadError(f"{path} has column names that are not UTF-8") from error
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise ReadError(f"{path} cannot be read as Parquet: {error}") from error
        self.rows: int | None = self._file.metadata.num_rows
        # metadata that were added when the file was closed are in the footer, but not in the Arrow schema in it
        columns = read_arrow_schema(
            schema.with_metadata(self._file.metadata.metadata),
            str(path),
            case_matters=options.case_matters,
            find_range=ParquetRanges(self._file).find_range,
        )
        self.fields, self.description, self.unusable = columns.fields, columns.description, columns.unusable
        self.notes = columns.notes
        self._parts = columns.parts

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        total = self.rows or 1
        needed = self._parts.list_file_columns(columns)
        first = 1
        for group in range(self._file.num_row_groups):
            metadata = self._file.metadata.row_group(group)
            size = count_block_rows(metadata.total_byte_size / max(metadata.num_rows, 1))
            try:
                for batch in self._file.iter_batches(size, [group], needed):
                    done = first + batch.num_rows
                    part = self._parts.take_columns(batch, columns)
                    yield RowBlock(part, number_rows_from(first), (done - 1) / total)
                    first = done
            except pa.ArrowMemoryError:
                raise
            except (pa.ArrowException, OSError) as error:
                raise ReadError(f"{self.path} is broken in or after row {first}: {error}") from error
        if first - 1 != self.rows:
            raise ReadError(f"{self.path} has {first - 1} rows, but its footer declares {self.rows}")
