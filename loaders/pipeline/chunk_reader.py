"""The rows of the files as numbered chunks, the same chunks each time the same files are loaded into the same table."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice

import pyarrow as pa

from clickhouse_schema.schema_model import Table
from loaders.pipeline.rejects_file import Rejects
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import Source

#: A chunk is closed when it has this many rows or bytes, whatever comes first: one INSERT, one part.
CHUNK_ROWS = 1 << 20
CHUNK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class _Part:
    """The good rows of one piece of a file; ``number`` counts all of its rows, those that were ``bad`` too."""

    batch: pa.RecordBatch
    source: Source
    number: Callable[[int], int]
    bad: frozenset[int]

    def numbers(self) -> Iterator[int]:
        """Of the rows of ``batch``, without end."""
        return (number for number in map(self.number, count()) if number not in self.bad)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Good rows, at least one. ``number`` counts from 1; ``fraction`` of all the input is read when it is done."""

    number: int
    parts: tuple[_Part, ...]
    fraction: float

    @property
    def batches(self) -> list[pa.RecordBatch]:
        return [part.batch for part in self.parts]

    @property
    def rows(self) -> int:
        return sum(part.batch.num_rows for part in self.parts)

    def origins(self, rows: Sequence[int]) -> Iterator[tuple[Source, int]]:
        """The file of each of these rows of the chunk, which count from 0 and ascend, and the row's number in it."""
        left = deque(rows)
        first = 0
        for part in self.parts:
            end = first + part.batch.num_rows
            if left and left[0] < end:
                for row, number in enumerate(islice(part.numbers(), part.batch.num_rows), first):
                    if left and row == left[0]:
                        left.popleft()
                        yield part.source, number
            first = end


def chunks(table: Table, sources: list[Source], rejects: Rejects) -> Iterator[Chunk]:
    """Bad rows go to ``rejects`` on the way; the files count equally long in ``fraction``."""
    number = 1
    parts: list[_Part] = []
    rows = size = 0
    fraction = 0.0
    for part, fraction in _good_rows(table, sources, rejects):
        parts.append(part)
        rows += part.batch.num_rows
        size += part.batch.nbytes
        if rows >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield Chunk(number, tuple(parts), fraction)
            number, parts, rows, size = number + 1, [], 0, 0
    if rows:
        yield Chunk(number, tuple(parts), fraction)


def _good_rows(table: Table, sources: list[Source], rejects: Rejects) -> Iterator[tuple[_Part, float]]:
    for position, source in enumerate(sources):
        conformer = Conformer(table, source)
        for piece in source.read_blocks(conformer.source_names):
            batch, faults = conformer.conform_block(piece)
            rejects.add(source.path, source.unit, faults)
            if batch.num_rows:
                part = _Part(batch, source, piece.where, frozenset(fault.where for fault in faults))
                yield part, (position + piece.fraction) / len(sources)


@contextmanager
def ahead(items: Iterator[Chunk]) -> Iterator[Iterator[Chunk]]:
    """The items made in a thread of their own, one in advance, so that reading and inserting overlap.

    An error in the making is raised where the item would have come; leaving the context ends the thread.
    """
    made: queue.Queue[Chunk | BaseException | None] = queue.Queue(maxsize=1)
    left = threading.Event()

    def hand_over(item: Chunk | BaseException | None) -> None:
        while not left.is_set():
            try:
                made.put(item, timeout=0.1)
            except queue.Full:
                continue
            return

    def make() -> None:
        try:
            for item in items:
                hand_over(item)
                if left.is_set():
                    return
        except BaseException as error:
            hand_over(error)
        hand_over(None)

    def taken() -> Iterator[Chunk]:
        while (item := made.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    thread = threading.Thread(target=make, name="reading ahead", daemon=True)
    thread.start()
    try:
        yield taken()
    finally:
        left.set()
        thread.join()
