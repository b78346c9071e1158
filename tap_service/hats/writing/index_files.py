"""The index of a catalogue: for each id the partition with its row, in files sorted by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.hats.hats_pixel import DATASET, HatsPixel
from tap_service.hats.writing.catalogue_files import Collection
from tap_service.hats.writing.partition_files import DISK_SORT_SETTINGS, RowCounter, write_parquet
from tap_service.storage.engine.engine import Engine, Settings

#: rows of a file
FILE_ROWS = 5_000_000

_BATCH_ROWS = 65536

_INDEX_FILE = re.compile(rf"{DATASET}/index/part\.\d+\.parquet", re.ASCII)

#: gives the path of a new file by its name below the folder of the index; the file is complete at the context's end
FileCreator = Callable[[str], AbstractContextManager[Path]]


def name_index_file(number: int) -> str:
    """Return the path of a file below the folder of the index."""
    return f"{DATASET}/index/part.{number}.parquet"


def is_index_file(path: str) -> bool:
    """Return whether ``path`` is a path that ``name_index_file`` returns."""
    return _INDEX_FILE.fullmatch(path) is not None


def write_index(
    engine: Engine,
    collection: Collection,
    create_file: FileCreator,
    *,
    settings: Settings | None = None,
    on_rows: RowCounter = lambda _: None,
) -> dict[str, pq.FileMetaData]:
    """Write the files of an index.

    Parameters
    ----------
    engine : Engine
        The engine.
    collection : Collection
        A collection that has an index.
    create_file : FileCreator
        Gives the path of a new file.
    settings : Settings | None
        Settings of the engine for the query that reads the rows.
    on_rows : RowCounter
        Called with the number of rows after each batch; may raise to stop.

    Returns
    -------
    dict[str, pyarrow.parquet.FileMetaData]
        The footers of the files by their names.

    Raises
    ------
    EngineError, SerializationError, OSError
        The rows cannot be read, or the files cannot be written.
    """
    rows = collection.rows
    finder = _PartitionFinder(collection.plan.partitions)
    sorting = DISK_SORT_SETTINGS | dict(settings or {})
    footers = {}
    with engine.stream_batches(rows.index_sql(), settings=sorting, batch_rows=_BATCH_ROWS) as batches:
        for number, part in enumerate(_divide_batches(batches)):
            name = name_index_file(number)
            with create_file(name) as path:
                footers[name] = write_parquet(
                    path,
                    rows.index_fields,
                    rows.index_schema,
                    map(finder.add_pixels, part),
                    sorted_by=rows.id_column,
                    on_rows=on_rows,
                )
    return footers


class _PartitionFinder:
    """Finds the partitions of rows."""

    def __init__(self, partitions: Iterable[HatsPixel]) -> None:
        pixels = list(partitions)
        self._first_cells = np.array([pixel.first_cell for pixel in pixels], np.int64)
        self._orders = np.array([pixel.order for pixel in pixels], np.uint8)
        self._numbers = np.array([pixel.number for pixel in pixels], np.int64)

    def add_pixels(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Add order and number of the pixel to the columns id and cell."""
        indexes = np.searchsorted(self._first_cells, batch.column(1).to_numpy(), side="right") - 1
        columns = [*batch.columns, pa.array(self._orders[indexes]), pa.array(self._numbers[indexes])]
        return pa.record_batch(columns, names=["key", "cell", "order", "pixel"])


def _divide_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[Iterator[pa.RecordBatch]]:
    """Divide a stream into streams of ``FILE_ROWS`` rows, at least one; read each before the next."""
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
