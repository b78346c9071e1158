"""The interface of all readers: fields with their metadata, and the rows in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.models.read_options import ReadOptions

#: Limits of a row block, by rows for narrow tables and by bytes for wide ones: small enough to limit the memory of the
#: loader, large enough for vectorised work in numpy and Arrow.
MAX_BLOCK_ROWS = 65536
MAX_BLOCK_BYTES = 16 << 20

#: Limits of a file, which reject a bad file before it fills the memory: columns of a table, bytes of a row or a value,
#: and bytes of the header above the rows.
MAX_FILE_COLUMNS = 5000
MAX_ROW_BYTES = 64 << 20
MAX_HEADER_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that does not fit.

    Attributes
    ----------
    where : int
        The 1-based number of the row in the file; in text files, of the line.
    column : str
        The bad column; '' if the entire row is bad.
    value : str
        The bad value, shortened; '' if there is none.
    reason : str
        The cause, as the end of a sentence.
    """

    where: int
    column: str
    value: str
    reason: str


class TypeNote(str):
    """A note on the type that a reader has chosen for ``column``. It is void if the table has another type."""

    column: str

    def __new__(cls, text: str, column: str = "") -> Self:
        """Return a note; a copy has its column from the attributes of the original."""
        note = super().__new__(cls, text)
        note.column = column
        return note


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Consecutive rows of a file.

    Attributes
    ----------
    batch : RecordBatch
        The rows, in the order of the file.
    where : callable
        Maps the index of a row in the batch to its number in the file, for messages.
    fraction : float
        The fraction of the file that is read at the end of the block, 0 to 1.
    rejects : tuple of RejectedRow
        Rows that could not be split into columns; they are not in the batch.
    """

    batch: pa.RecordBatch
    where: Callable[[int], int]
    fraction: float
    rejects: tuple[RejectedRow, ...] = ()


class TableHeader(Protocol):
    """The description of a table in a file.

    Attributes
    ----------
    path : Path or str
        The file; for a file on another machine, its address.
    fields : tuple of Field
        The columns that can be stored, with their metadata.
    unusable : dict of str to str
        The columns that cannot be stored, each with the reason.
    description : str
        The description of the table; '' if there is none.
    form : str
        What the reader has recognised in addition to the format, for messages; '' for nothing.
    notes : tuple of str
        What a sender should know about how the file is read: other tables in it, chosen types.
    options : ReadOptions
        How the file is read: the choices of the sender, and the NULL tokens that were recognised.
    """

    @property
    def path(self) -> Path | str: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...
    @property
    def unusable(self) -> dict[str, str]: ...
    @property
    def description(self) -> str: ...
    @property
    def form(self) -> str: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def options(self) -> ReadOptions: ...


class Source(TableHeader, Protocol):
    """A table in a file.

    Attributes
    ----------
    unit : str
        The unit of ``RejectedRow.where``: "row" or "line".
    nan_is_null : bool
        Whether the format marks a missing number by NaN.
    rows : int or None
        The number of rows; None if the header does not contain it.
    """

    @property
    def unit(self) -> str: ...
    @property
    def nan_is_null(self) -> bool: ...
    @property
    def rows(self) -> int | None: ...

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        """Read the rows in blocks, which are the same each time the same file is read.

        Parameters
        ----------
        columns : tuple of str
            The names of the columns that each batch must contain.

        Yields
        ------
        RowBlock
            Consecutive rows of the file.

        Raises
        ------
        ReadError
            The file is broken or exceeds a limit.
        """


def count_block_rows(row_bytes: float) -> int:
    """Return the number of rows of a block.

    Parameters
    ----------
    row_bytes : float
        The approximate size of a row in memory.

    Returns
    -------
    int
        At least 1; otherwise at most 65,536 rows that take about 16 MiB.
    """
    return max(1, min(MAX_BLOCK_ROWS, int(MAX_BLOCK_BYTES / max(row_bytes, 1))))


def number_rows_from(first: int) -> Callable[[int], int]:
    """Return a ``RowBlock.where`` for consecutive rows.

    Parameters
    ----------
    first : int
        The number in the file of the first row of the block.
    """
    return lambda row: first + row
