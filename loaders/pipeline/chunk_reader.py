"""The rows of the files as numbered chunks: always the same chunks for the same files and the same table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, count, groupby, islice

import pyarrow as pa

from clickhouse_schema.schema_model import Table
from loaders.pipeline.chunk_plan import ChunkPlan
from loaders.pipeline.read_ahead import read_in_parallel
from loaders.pipeline.rejects_file import RejectsFile
from loaders.storage.gateway_table import Orphan
from tap_service.hats.reading.partition_source import PartitionSource
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import RejectedRow, RowBlock, Source

#: A chunk is closed when it has this many rows or bytes, whichever comes first: one INSERT, one part.
CHUNK_ROWS = 1 << 20
CHUNK_BYTES = 64 << 20

#: Partitions of a catalogue that are read at a time, which is mostly waiting for their storage, and row blocks of each
#: that may wait for their turn: with the columns of a row group, which a reader holds, a few hundred MB
_PARTITIONS_AT_ONCE = 4
_BLOCKS_AHEAD = 4

ChooseRows = Callable[[pa.RecordBatch], pa.BooleanArray]


@dataclass(frozen=True, slots=True)
class _GoodRows:
    """The good rows of one row block; ``get_number`` numbers all its rows, including the ``bad`` ones.

    ``kept``: which good rows are in ``batch``; None if all are.
    """

    batch: pa.RecordBatch
    source: Source
    get_number: Callable[[int], int]
    bad: frozenset[int]
    kept: pa.BooleanArray | None = None

    def iterate_numbers(self) -> Iterator[int]:
        """Yield the numbers of the rows of ``batch`` first; others may follow."""
        numbers = (number for number in map(self.get_number, count()) if number not in self.bad)
        return numbers if self.kept is None else compress(numbers, self.kept.to_pylist())

    def filter(self, choose_rows: ChooseRows) -> _GoodRows:
        kept = choose_rows(self.batch)
        return replace(self, batch=self.batch.filter(kept), kept=kept)


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


def read_chunks(
    table: Table, sources: list[Source], rejects: RejectsFile, first: int = 1, choose_rows: ChooseRows | None = None
) -> Iterator[Chunk]:
    """Yield the chunks; bad rows go to ``rejects``. All files count equally in ``fraction``.

    Parameters
    ----------
    first
        The number of the first chunk.
    choose_rows
        Returns which of the good rows of a block are wanted.
    """
    number = first
    blocks: list[_GoodRows] = []
    rows = size = 0
    fraction = 0.0
    for _, good, fraction in _read_good_rows(table, sources, rejects):
        block = good if choose_rows is None else good.filter(choose_rows)
        blocks.append(block)
        rows += block.batch.num_rows
        size += block.batch.nbytes
        if rows >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield Chunk(number, tuple(blocks), fraction)
            number, blocks, rows, size = number + 1, [], 0, 0
    if rows:
        yield Chunk(number, tuple(blocks), fraction)


def plan_chunks(sources: list[Source]) -> ChunkPlan | None:
    """Return the plan of the chunks; None if only reading the files shows where chunks end."""
    partitions = [source for source in sources if isinstance(source, PartitionSource)]
    return ChunkPlan(partitions, CHUNK_ROWS, CHUNK_BYTES) if len(partitions) == len(sources) else None


def read_planned_chunks(table: Table, plan: ChunkPlan, stored: Set[int], rejects: RejectsFile) -> Iterator[Chunk]:
    """Yield the chunks of a plan except those that are ``stored``; partitions of those alone are not read."""
    blocks = _read_good_rows(table, list(plan.sources), rejects, plan.find_needed(stored))
    numbered = ((plan.find_number(place, block.get_number(0)), block, fraction) for place, block, fraction in blocks)
    for number, found in groupby(numbered, key=lambda item: item[0]):
        if number not in stored:
            _, rows, fractions = zip(*found, strict=True)
            yield Chunk(number, rows, fractions[-1])


def _read_good_rows(
    table: Table, sources: list[Source], rejects: RejectsFile, needed: Sequence[int] | None = None
) -> Iterator[tuple[int, _GoodRows, float]]:
    """Yield position of the source, good rows, fraction of all input that is read. ``needed``: only these sources."""
    are_partitions = any(isinstance(source, PartitionSource) for source in sources)
    places = range(len(sources)) if needed is None else needed
    readers = [partial(_conform_blocks, table, sources[place], place, rejects) for place in places]
    blocks = (
        read_in_parallel(readers, _PARTITIONS_AT_ONCE, _BLOCKS_AHEAD)
        if are_partitions
        else chain.from_iterable(reader() for reader in readers)
    )
    for place, row_block, batch, errors in blocks:
        source = sources[place]
        rejects.add_errors(source.path, source.unit, errors)
        if batch.num_rows:
            bad = frozenset(error.where for error in errors)
            fraction = (place + row_block.fraction) / len(sources)
            yield place, _GoodRows(batch, source, row_block.where, bad), fraction


def _conform_blocks(
    table: Table, source: Source, place: int, rejects: RejectsFile
) -> Iterator[tuple[int, RowBlock, pa.RecordBatch, list[RejectedRow]]]:
    """Yield the row blocks of the source at ``place``, each with its good rows and its faults."""
    conformer = Conformer(table, source)
    for row_block in source.read_blocks(conformer.source_names):
        yield place, row_block, *conformer.conform_block(row_block)
    rejects.add_cut_times(conformer.cut_times)


def reject_orphans(chunk: Chunk, orphans: list[Orphan], rejects: RejectsFile) -> None:
    origins = chunk.find_origins([orphan.row for orphan in orphans])
    for orphan, (source, number) in zip(orphans, origins, strict=True):
        error = RejectedRow(number, orphan.column, orphan.value, orphan.reason)
        rejects.add_errors(source.path, source.unit, [error])
