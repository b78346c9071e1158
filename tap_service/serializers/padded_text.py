"""Widths of text columns in formats that pad all cells of a column to the longest."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

#: A column is padded only if it grows at most by this factor, or to this size: otherwise one long cell among short ones
#: would make the result thousands of times larger.
_MAX_GROWTH = 4
_MAX_PADDED_SIZE = 1 << 20


@dataclass(slots=True)
class Widths:
    """The longest and the total size of a column's cells, in bytes or characters."""

    longest: int = 0
    total: int = 0

    def observe_sizes(self, sizes: pa.Array) -> None:
        if len(sizes):
            self.longest = max(self.longest, pc.max(sizes).as_py())
            self.total += pc.sum(sizes).as_py()

    def can_pad(self, rows: int) -> bool:
        return self.longest * rows <= max(_MAX_GROWTH * self.total, _MAX_PADDED_SIZE)
