"""The plan of the chunks of partitions, from their footers, before any row is read.

A resumed load therefore does not fetch rows again that are stored already.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set

from tap_service.hats.reading.partition_source import PartitionSource


class ChunkPlan:
    """The chunks of partitions. A chunk ends after the row block that reaches ``max_rows`` or about ``max_bytes``.

    Attributes
    ----------
    sources
        The partitions, in the order of their rows.
    rows
        The number of rows of each chunk, if no row is bad.
    """

    def __init__(self, sources: Sequence[PartitionSource], max_rows: int, max_bytes: int) -> None:
        self.sources = sources
        self.rows: dict[int, int] = {}
        #: For each source, the first rows of its parts in different chunks, and the numbers of these chunks
        self._parts: list[tuple[list[int], list[int]]] = []
        number, size = 1, 0.0
        for source in sources:
            first = 1
            starts: list[int] = []
            numbers: list[int] = []
            for rows, block_size in source.list_blocks():
                if self.rows.get(number, 0) >= max_rows or size >= max_bytes:
                    number, size = number + 1, 0.0
                if not numbers or numbers[-1] != number:
                    starts.append(first)
                    numbers.append(number)
                self.rows[number] = self.rows.get(number, 0) + rows
                size += block_size
                first += rows
            self._parts.append((starts, numbers))

    def find_number(self, source: int, row: int) -> int:
        """Return the number of the chunk with the 1-based ``row`` of the source with an index."""
        starts, numbers = self._parts[source]
        return numbers[bisect_right(starts, row) - 1]

    def find_stored(self, stored_rows: Mapping[int, int]) -> set[int]:
        """Return the chunks that are complete in ``stored_rows``."""
        return {number for number, rows in self.rows.items() if stored_rows.get(number) == rows}

    def find_needed(self, stored: Set[int]) -> list[int]:
        """Return the indexes of the sources that have rows of chunks that are not ``stored``."""
        return [index for index, (_, numbers) in enumerate(self._parts) if not stored >= {*numbers}]
