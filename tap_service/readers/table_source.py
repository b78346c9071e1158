"""What every reader gives: fields with their metadata, and the rows in pieces of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from clickhouse_schema.datatypes import Field

#: Rows of a piece where rows are narrow, and bytes of a piece where they are wide: small enough that no table's width
#: makes the loader grow, large enough that numpy and Arrow work on whole vectors.
MAX_BLOCK_ROWS = 65536
MAX_BLOCK_BYTES = 16 << 20

#: What no good file goes beyond, so that a bad one is known before it fills the memory: the columns of a table, the
#: bytes of one row or one value, and those of the description of a table above its rows.
MAX_FILE_COLUMNS = 5000
MAX_ROW_BYTES = 64 << 20
MAX_HEADER_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Fault:
    """One bad row. ``where`` is its 1-based row in the file (line, in text files); ``column`` '' is the whole row."""

    where: int
    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows in the order of the file.

    ``where(i)`` is the number of row ``i`` of the batch for messages. ``faults`` are rows that could not be split into
    columns and are not in the batch. ``fraction`` of the file is read when the piece is done.
    """

    batch: pa.RecordBatch
    where: Callable[[int], int]
    fraction: float
    faults: tuple[Fault, ...] = ()


class Source(Protocol):
    """One table in a file. Pieces are the same each time the same file is read."""

    path: Path
    #: What a fault's ``where`` counts: "row" or "line".
    unit: str
    #: Whether the format's own mark of a missing number is NaN.
    nan_is_null: bool
    fields: tuple[Field, ...]
    #: Columns that no type of Skyhouse carries, each with the reason.
    unusable: dict[str, str]
    description: str
    #: None where only reading the whole file would tell.
    rows: int | None

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        """The rows, with at least the named columns in each batch."""


def count_block_rows(row_bytes: float) -> int:
    """Rows of a piece when a row takes about ``row_bytes`` in memory."""
    return max(1, min(MAX_BLOCK_ROWS, int(MAX_BLOCK_BYTES / max(row_bytes, 1))))


def number_rows_from(first: int) -> Callable[[int], int]:
    """``where`` for a piece whose first row has the number ``first``."""
    return lambda row: first + row
