"""Columns of text as wide as their longest cell: for formats that align or count them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

#: Text is padded while that makes it no more than so many times larger, or costs less than the bytes below: one long
#: cell in a column of short ones would make a result thousands of times larger than its rows.
_FACTOR = 4
_SMALL = 1 << 20


@dataclass(slots=True)
class Widths:
    """Of the cells of a column seen so far: the longest, and all together; in bytes or characters."""

    longest: int = 0
    total: int = 0

    def observe_sizes(self, sizes: pa.Array) -> None:
        if len(sizes):
            self.longest = max(self.longest, pc.max(sizes).as_py())
            self.total += pc.sum(sizes).as_py()

    def may_pad(self, rows: int) -> bool:
        return self.longest * rows <= max(_FACTOR * self.total, _SMALL)
