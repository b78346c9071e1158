"""The rows of the files as numbered chunks: always the same chunks for the same files and the same table."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice

import pyarrow as pa

from clickhouse_schema.schema_model import Table
from loaders.pipeline.rejects_file import RejectsFile
from loaders.storage.gateway_table import Orphan
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import Fault, Source

#: A chunk is closed when it has this many rows or bytes, whichever comes first: one INSERT, one part.
CHUNK_ROWS = 1 << 20
CHUNK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class _GoodRows:
    """The good rows of one row block; ``get_number`` numbers all its rows, including the ``bad`` ones."""

    batch: pa.RecordBatch
    source: Source
    get_number: Callable[[int], int]
    bad: frozenset[int]

    def iterate_numbers(self) -> Iterator[int]:
        """Yield the numbers of the rows of ``batch``; endless."""
        return (number for number in map(self.get_number, count()) if number not in self.bad)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Good rows, at least one. ``number`` counts from 1; ``fraction`` of all input is read after this chunk."""

    number: int
    blocks: tuple[_GoodRows, ...]
    fraction: float

    @property
    def batches(self) -> list[pa.RecordBatch]:
        return [block.batch for block in self.blocks]

    @property
    def rows(self) -> int:
        return sum(block.batch.num_rows for block in self.blocks)

    def find_nulls(self, columns: Collection[str]) -> set[str]:
        """Return those of these columns in which a row has NULL."""
        return {name for name in columns if any(block.batch.column(name).null_count for block in self.blocks)}

    def find_origins(self, rows: Sequence[int]) -> Iterator[tuple[Source, int]]:
        """Yield file and row number of rows of the chunk, given by ascending index from 0."""
        remaining = deque(rows)
        first = 0
        for block in self.blocks:
            end = first + block.batch.num_rows
            if remaining and remaining[0] < end:
                for row, number in enumerate(islice(block.iterate_numbers(), block.batch.num_rows), first):
                    if remaining and row == remaining[0]:
                        remaining.popleft()
                        yield block.source, number
            first = end


def read_chunks(table: Table, sources: list[Source], rejects: RejectsFile) -> Iterator[Chunk]:
    """Yield the chunks; bad rows go to ``rejects``. All files count equally in ``fraction``."""
    number = 1
    blocks: list[_GoodRows] = []
    rows = size = 0
    fraction = 0.0
    for block, fraction in _read_good_rows(table, sources, rejects):
        blocks.append(block)
        rows += block.batch.num_rows
        size += block.batch.nbytes
        if rows >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield Chunk(number, tuple(blocks), fraction)
            number, blocks, rows, size = number + 1, [], 0, 0
    if rows:
        yield Chunk(number, tuple(blocks), fraction)


def _read_good_rows(table: Table, sources: list[Source], rejects: RejectsFile) -> Iterator[tuple[_GoodRows, float]]:
    for i, source in enumerate(sources):
        conformer = Conformer(table, source)
        for row_block in source.read_blocks(conformer.source_names):
            batch, faults = conformer.conform_block(row_block)
            rejects.add_faults(source.path, source.unit, faults)
            if batch.num_rows:
                bad = frozenset(fault.where for fault in faults)
                yield _GoodRows(batch, source, row_block.where, bad), (i + row_block.fraction) / len(sources)


def reject_orphans(chunk: Chunk, orphans: list[Orphan], rejects: RejectsFile) -> None:
    origins = chunk.find_origins([orphan.row for orphan in orphans])
    for orphan, (source, number) in zip(orphans, origins, strict=True):
        fault = Fault(number, orphan.column, orphan.value, orphan.reason)
        rejects.add_faults(source.path, source.unit, [fault])


@contextmanager
def read_ahead(chunks: Iterator[Chunk]) -> Iterator[Iterator[Chunk]]:
    """Read one chunk in advance in a thread, so that reading and inserting overlap.

    An error of the reader is raised where its chunk would have come. Leaving the context ends the thread.
    """
    results: queue.Queue[Chunk | BaseException | None] = queue.Queue(maxsize=1)
    is_left = threading.Event()

    def put_result(result: Chunk | BaseException | None) -> None:
        while not is_left.is_set():
            try:
                results.put(result, timeout=0.1)
            except queue.Full:
                continue
            return

    def read_all() -> None:
        try:
            for chunk in chunks:
                put_result(chunk)
                if is_left.is_set():
                    return
        except BaseException as error:
            put_result(error)
        put_result(None)

    def take_results() -> Iterator[Chunk]:
        while (result := results.get()) is not None:
            if isinstance(result, BaseException):
                raise result
            yield result

    thread = threading.Thread(target=read_all, name="reading ahead", daemon=True)
    thread.start()
    try:
        yield take_results()
    finally:
        is_left.set()
        thread.join()
