"""The index of a catalogue: for each id the partition that has its row, in files sorted by id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import LONG, ColumnType, Field
from clickhouse_schema.hats.hats_pixel import DATASET
from tap_service.hats.writing.catalogue_files import Collection
from tap_service.hats.writing.partition_files import RowCounter, write_parquet
from tap_service.serializers.arrow_serializer import arrow_schema
from tap_service.storage.engine.engine import Engine, Settings

#: Rows of a file
FILE_ROWS = 5_000_000

_BATCH_ROWS = 65536

#: The engine sorts all ids; from so many bytes on it does so on disk
_SORT_SETTINGS: Settings = {"max_bytes_before_external_sort": 1 << 30, "max_bytes_ratio_before_external_sort": 0}

_PLACE_FIELDS = (
    Field("Norder", ColumnType("unsignedByte"), description="Order of the partition's pixel", nullable=False),
    Field("Npix", LONG, description="Number of the partition's pixel", nullable=False),
)


def name_index_file(number: int) -> str:
    """Return the path of a file below the folder of the index."""
    return f"{DATASET}/index/part.{number}.parquet"


class IndexWriter:
    """Writes the index of ``collection``, which has one, into a folder."""

    def __init__(self, engine: Engine, collection: Collection) -> None:
        self._engine = engine
        self._collection = collection
        pixels = list(collection.plan.partitions)
        self._first_cells = np.array([pixel.first_cell for pixel in pixels], np.int64)
        self._orders = np.array([pixel.order for pixel in pixels], np.uint8)
        self._numbers = np.array([pixel.number for pixel in pixels], np.int64)
        column = collection.rows.id_column
        described = next(field for field in collection.rows.fields if field.name == column)
        self._fields = (described, collection.rows.fields[0], *_PLACE_FIELDS)
        self.schema = arrow_schema(self._fields)

    def write_files(
        self, folder: Path, *, settings: Settings | None = None, on_rows: RowCounter = lambda _: None
    ) -> dict[str, pq.FileMetaData]:
        """Write all files; return their footers by their paths below ``folder``, the folder of the index.

        Raises
        ------
        EngineError, SerializationError, OSError
        """
        sql = self._collection.rows.index_sql()
        footers = {}
        (folder / DATASET / "index").mkdir(parents=True, exist_ok=True)
        with self._engine.stream_batches(
            sql, settings={**_SORT_SETTINGS, **(settings or {})}, batch_rows=_BATCH_ROWS
        ) as batches:
            for number, part in enumerate(_divide_batches(batches)):
                path = name_index_file(number)
                footers[path] = write_parquet(
                    folder / path,
                    self._fields,
                    self.schema,
                    map(self._add_places, part),
                    sorted_by=self._fields[0].name,
                    on_rows=on_rows,
                )
        return footers

    def _add_places(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        cells = batch.column(1).to_numpy()
        places = np.searchsorted(self._first_cells, cells, side="right") - 1
        columns = [*batch.columns, pa.array(self._orders[places]), pa.array(self._numbers[places])]
        return pa.record_batch(columns, names=[field.name for field in self._fields])


def _divide_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[Iterator[pa.RecordBatch]]:
    """Divide a stream into streams of ``FILE_ROWS`` rows; read each before the next. There is one at least."""
    rest: list[pa.RecordBatch] = []

    def take_rows() -> Iterator[pa.RecordBatch]:
        left = FILE_ROWS
        while left and (batch := rest.pop() if rest else next(batches, None)) is not None:
            if batch.num_rows > left:
                rest.append(batch.slice(left))
            taken = batch.slice(0, left)
            left -= taken.num_rows
            yield taken

    yield take_rows()
    while rest or (batch := next(batches, None)) is not None:
        if not rest:
            rest.append(batch)
        yield take_rows()
