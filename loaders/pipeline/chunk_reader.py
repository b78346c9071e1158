"""Reads the rows of files as numbered chunks, always the same chunks for the same files and table."""

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

#: A chunk, which becomes one INSERT and one part, is complete when it has this number of rows or bytes.
CHUNK_ROWS = 1 << 20
CHUNK_BYTES = 64 << 20

#: Number of partitions that are read at a time (reading is mostly waiting for their storage), and of row blocks of each
#: that may wait: together with the columns of a row group, which a reader holds, a few hundred MB
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
        """Yield the numbers of the rows of ``batch``, possibly followed by others."""
        numbers = (number for number in map(self.get_number, count()) if number not in self.bad)
        return numbers if self.kept is None else compress(numbers, self.kept.to_pylist())

    def filter(self, choose_rows: ChooseRows) -> _GoodRows:
        kept = choose_rows(self.batch)
        return replace(self, batch=self.batch.filter(kept), kept=kept)


@dataclass(frozen=True, slots=True)
class Chunk:
    """At least one good row. ``number`` counts from 1; ``fraction``: the part of all input read up to this chunk."""

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
        """Return the columns in which a row has NULL."""
        return {name for name in columns if any(block.batch.column(name).null_count for block in self.blocks)}

    def find_origins(self, rows: Sequence[int]) -> Iterator[tuple[Source, int]]:
        """Yield the file and the row number of rows of the chunk, whose indexes from 0 are ascending."""
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
    """Yield the chunks of files. All files count equally in ``fraction``.

    Parameters
    ----------
    table : Table
        The columns to which the rows are conformed.
    sources : list of Source
        The files.
    rejects : RejectsFile
        Receives the bad rows.
    first : int, optional
        The number of the first chunk.
    choose_rows : ChooseRows, optional
        Returns which good rows of a block are wanted.

    Yields
    ------
    Chunk
        Chunks with ascending numbers.

    Raises
    ------
    ReadError
        A file cannot be read.
    LoadError
        There are too many bad rows.
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
    """Return the plan of the chunks; None if the files must be read to know the ends of the chunks."""
    partitions = [source for source in sources if isinstance(source, PartitionSource)]
    return ChunkPlan(partitions, CHUNK_ROWS, CHUNK_BYTES) if len(partitions) == len(sources) else None


def read_planned_chunks(table: Table, plan: ChunkPlan, stored: Set[int], rejects: RejectsFile) -> Iterator[Chunk]:
    """Yield the chunks of a plan that are not ``stored``; partitions with only stored chunks are not read."""
    blocks = _read_good_rows(table, list(plan.sources), rejects, plan.find_needed(stored))
    numbered = ((plan.find_number(index, block.get_number(0)), block, fraction) for index, block, fraction in blocks)
    for number, found in groupby(numbered, key=lambda item: item[0]):
        if number not in stored:
            _, rows, fractions = zip(*found, strict=True)
            yield Chunk(number, rows, fractions[-1])


def _read_good_rows(
    table: Table, sources: list[Source], rejects: RejectsFile, needed: Sequence[int] | None = None
) -> Iterator[tuple[int, _GoodRows, float]]:
    """Yield the index of the source, good rows, and the fraction of all input that is read. ``needed``: sources."""
    are_partitions = any(isinstance(source, PartitionSource) for source in sources)
    indexes = range(len(sources)) if needed is None else needed
    readers = [partial(_conform_blocks, table, sources[index], index, rejects) for index in indexes]
    blocks = (
        read_in_parallel(readers, _PARTITIONS_AT_ONCE, _BLOCKS_AHEAD)
        if are_partitions
        else chain.from_iterable(reader() for reader in readers)
    )
    for index, row_block, batch, errors in blocks:
        source = sources[index]
        rejects.add_errors(source.path, source.unit, errors)
        if batch.num_rows:
            bad = frozenset(error.where for error in errors)
            fraction = (index + row_block.fraction) / len(sources)
            yield index, _GoodRows(batch, source, row_block.where, bad), fraction


def _conform_blocks(
    table: Table, source: Source, index: int, rejects: RejectsFile
) -> Iterator[tuple[int, RowBlock, pa.RecordBatch, list[RejectedRow]]]:
    """Yield the row blocks of the source with an index, each with its good rows and its rejected rows."""
    conformer = Conformer(table, source)
    for row_block in source.read_blocks(conformer.source_names):
        yield index, row_block, *conformer.conform_block(row_block)
    rejects.add_cut_times(conformer.cut_times)


def reject_orphans(chunk: Chunk, orphans: list[Orphan], rejects: RejectsFile) -> None:
    """Write the orphans of a chunk to the rejects file, with their files and row numbers."""
    origins = chunk.find_origins([orphan.row for orphan in orphans])
    for orphan, (source, number) in zip(orphans, origins, strict=True):
        error = RejectedRow(number, orphan.column, orphan.value, orphan.reason)
        rejects.add_errors(source.path, source.unit, [error])
