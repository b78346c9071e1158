"""Which rows of partitions come into which chunk: known by their footers, before any row is read.

So a load that goes on does not read again, perhaps from far away, what it has stored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set

from tap_service.hats.reading.partition_source import PartitionSource


class ChunkPlan:
    """The chunks of partitions: of ``max_rows`` rows or about ``max_bytes`` at most, beyond one row block.

    Attributes
    ----------
    sources
        The partitions, in the order of their rows.
    rows
        The rows of each chunk, if none of them is bad.
    """

    def __init__(self, sources: Sequence[PartitionSource], max_rows: int, max_bytes: int) -> None:
        self.sources = sources
        self.rows: dict[int, int] = {}
        #: of each source, the first rows of its parts in different chunks, and the numbers of those
        self._parts: list[tuple[list[int], list[int]]] = []
        number, size = 1, 0.0
        for source in sources:
            first = 1
            begins: list[int] = []
            numbers: list[int] = []
            for rows, block_size in source.list_blocks():
                if self.rows.get(number, 0) >= max_rows or size >= max_bytes:
                    number, size = number + 1, 0.0
                if not numbers or numbers[-1] != number:
                    begins.append(first)
                    numbers.append(number)
                self.rows[number] = self.rows.get(number, 0) + rows
                size += block_size
                first += rows
            self._parts.append((begins, numbers))

    def find_number(self, source: int, row: int) -> int:
        """Return the number of the chunk with the 1-based ``row`` of a source, given by its position."""
        begins, numbers = self._parts[source]
        return numbers[bisect_right(begins, row) - 1]

    def find_stored(self, stored_rows: Mapping[int, int]) -> set[int]:
        """Return the chunks of which ``stored_rows`` has all rows."""
        return {number for number, rows in self.rows.items() if stored_rows.get(number) == rows}

    def find_needed(self, stored: Set[int]) -> list[int]:
        """Return the positions of the sources with rows of other chunks than ``stored``."""
        return [place for place, (_, numbers) in enumerate(self._parts) if not stored >= {*numbers}]
