"""An attached table: a HATS catalogue whose files are read where they are, as the catalogue in the engine describes it.

Queries read the files by number through a gateway of the service (``tap_service.hats.gateway``), so that SQL names
neither addresses nor credentials. Each file is pinned to the version that it had when it was attached.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import ORDER, index_sql
from clickhouse_schema.quoting import quote_identifier, quote_string

#: Name of the index in stored tables
_HPX29 = "hpx29"

#: Column of the rows with the name of their file: its number and ``FILE_SUFFIX``
FILE_COLUMN = "__file"
FILE_SUFFIX = ".parquet"

#: How ClickHouse reads the files. The gateway itself repeats requests and waits for its storage. A missing file is an
#: error, and so is a NULL in a column without NULLs. (No file lacks a column: each file is the version that was checked
#: when the table was attached.) Columns less than 128 kB apart are read together, because a request costs as much
_SETTINGS = {
    "http_skip_not_found_url_for_globs": 0,
    "http_max_tries": 2,
    "http_retry_initial_backoff_ms": 20,
    "http_receive_timeout": 180,
    "glob_expansion_max_elements": 4_000_000,
    "input_format_null_as_default": 0,
    "remote_read_min_bytes_for_seek": 128 << 10,
}

_FLOAT_LISTS = {f"Array({item})": f"Array(Nullable({item}))" for item in ("Float32", "Float64")}


def to_ranges(cells: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Return ranges of cells as an array.

    Parameters
    ----------
    cells : iterable of tuple of int
        First cell and the cell after the last one, of order 29.

    Returns
    -------
    NDArray[np.int64]
        Half-open ranges in the same order, shape (n, 2).
    """
    return np.array([*cells], dtype=np.int64).reshape(-1, 2)


class AttachedFile(NamedTuple):
    """A file of a partition. ``path``: below ``Attachment.address``; ``tag``: its ETag or its modification time."""

    pixel: HatsPixel
    path: str
    size: int
    tag: str
    rows: int


class PinnedFile(NamedTuple):
    """Another file of the catalogue, with attributes as in ``AttachedFile``."""

    path: str
    size: int
    tag: str


@dataclass(frozen=True, slots=True)
class AttachedColumn:
    """A column of the table.

    Attributes
    ----------
    file_name
        Its name in the files.
    type
        Its type in ClickHouse.
    read_type
        The type in which ClickHouse reads it from the files.
    width
        Mean bytes of a value in the files.
    """

    name: str
    file_name: str
    type: str
    read_type: str
    width: float

    @property
    def sql(self) -> str:
        """The SQL of the value in the type of the table; it fails for a value that cannot be converted."""
        read = quote_identifier(self.file_name)
        if self.type == self.read_type:
            return read
        if _FLOAT_LISTS.get(self.type) == self.read_type:  # as when rows are loaded
            return f"arrayMap(element -> ifNull(element, nan), {read})"
        return f"accurateCast({read}, {quote_string(self.type)})"


@dataclass(frozen=True, slots=True)
class Attachment:
    """The files and columns of an attached table.

    Attributes
    ----------
    address
        The folder that was attached.
    columns
        The columns of the table, in order.
    index_column
        The column of the files with the HEALPix index of order 29; '' if it is computed from the position.
    position
        Names of the table's longitude and latitude; None if it has no position and thus no index.
    files
        In their order on the sky; pixels do not overlap.
    properties_file
        The properties of the catalogue, which are rewritten when it changes; None if they are unknown.
    """

    address: str
    columns: tuple[AttachedColumn, ...]
    index_column: str
    position: tuple[str, str] | None
    files: tuple[AttachedFile, ...]
    properties_file: PinnedFile | None = None
    _borders: NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        borders = to_ranges((file.pixel.first_cell, file.pixel.end_cell) for file in self.files)
        object.__setattr__(self, "_borders", borders)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def widths(self) -> Mapping[str, float]:
        """Mean bytes of a value, by column."""
        return {column.name: column.width for column in self.columns}

    @property
    def index_sql(self) -> str:
        """The SQL of the index of order 29; '' if the table has no position."""
        if self.position is None:
            return ""
        if self.index_column:
            return quote_identifier(self.index_column)
        sql = {column.name: column.sql for column in self.columns}
        lon, lat = self.position
        return index_sql(sql[lon], sql[lat])

    @property
    def key(self) -> str:
        """A text that changes with every file, column and address."""
        return hashlib.sha256(self.to_document().encode()).hexdigest()[:32]

    def find_files(self, ranges: NDArray[np.int64]) -> tuple[int, ...]:
        """Return the files that may have rows in given ranges.

        Parameters
        ----------
        ranges : NDArray[np.int64]
            Half-open ranges of indexes of order 29, ascending and disjoint, shape (n, 2).

        Returns
        -------
        tuple of int
            Ascending indexes in ``files``, from 0.
        """
        if not len(ranges):
            return ()
        first = np.searchsorted(ranges[:, 1], self._borders[:, 0], side="right")
        is_before = first < len(ranges)
        starts = ranges[np.minimum(first, len(ranges) - 1), 0]
        return tuple(np.flatnonzero(is_before & (starts < self._borders[:, 1])).tolist())

    def find_file_borders(self, cells: Iterable[int]) -> tuple[int, ...]:
        """Return the first cells of the files that start at given cells or are the next to start after them.

        Parameters
        ----------
        cells : iterable of int
            Cells of order 29, ascending.

        Returns
        -------
        tuple of int
            Without duplicates. There is no cell for ``cells`` after the start of the last file.
        """
        begins = self._borders[:, 0]
        begin_indexes = np.unique(np.searchsorted(begins, np.fromiter(cells, np.int64)))  # the first of equal cells
        return tuple(begins[begin_indexes[begin_indexes < len(begins)]].tolist())

    def list_borders(self) -> tuple[int, list[list[int]]]:
        """Return the order of the smallest pixel, and the first and end cells of all files at this order."""
        order = max(file.pixel.order for file in self.files)
        return order, (self._borders.T >> 2 * (ORDER - order)).tolist()

    def to_document(self) -> str:
        """Return the JSON document for the catalogue log."""
        content = {
            "address": self.address,
            "columns": [asdict(column) for column in self.columns],
            "index_column": self.index_column,
            "position": self.position,
            "files": [[*file.pixel, *file[1:]] for file in self.files],
            "properties_file": self.properties_file,
        }
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_document(cls, document: str) -> Attachment:
        """Return the attachment that ``to_document`` has written.

        Parameters
        ----------
        document : str
            JSON from the catalogue log.

        Returns
        -------
        Attachment
            The attachment.
        """
        found = json.loads(document)
        return cls(
            found["address"],
            tuple(AttachedColumn(**column) for column in found["columns"]),
            found["index_column"],
            tuple(found["position"]) if found["position"] else None,
            tuple(AttachedFile(HatsPixel(*file[:2]), *file[2:]) for file in found["files"]),
            PinnedFile(*pinned) if (pinned := found.get("properties_file")) else None,
        )


@dataclass(frozen=True, slots=True)
class AttachedRows:
    """The rows of an attached table that a query reads.

    Attributes
    ----------
    attachment
        The files and columns of the table.
    root
        The address from which the engine reads the files: file ``n`` is at ``root/n.parquet``.
    numbers
        The files to read; None for all.
    """

    attachment: Attachment
    root: str = "http://gateway.invalid"
    numbers: tuple[int, ...] | None = None

    def choose_files(self, ranges: NDArray[np.int64]) -> AttachedRows:
        """Return only the rows of the files that may have rows in given ranges.

        Parameters
        ----------
        ranges : NDArray[np.int64]
            As for ``Attachment.find_files``.

        Returns
        -------
        AttachedRows
            A copy that reads the files that this one reads and that may have such rows; possibly none.
        """
        found = self.attachment.find_files(ranges)
        if self.numbers is not None:
            found = tuple(sorted({*found} & {*self.numbers}))
        return replace(self, numbers=found)

    @property
    def sql(self) -> str:
        """A query in parentheses: the table's columns, and the index."""
        columns = [f"{column.sql} AS {quote_identifier(column.name)}" for column in self.attachment.columns]
        if index := self.attachment.index_sql:
            columns.append(f"{index} AS {_HPX29}")
        columns.append(f"{'_file' if self._numbers else quote_string('')} AS {FILE_COLUMN}")
        settings = ", ".join(f"{name} = {value}" for name, value in _SETTINGS.items())
        return f"(SELECT {', '.join(columns)} FROM {self._files_sql} SETTINGS {settings})"

    @property
    def _numbers(self) -> Sequence[int]:
        return range(len(self.attachment.files)) if self.numbers is None else self.numbers

    @property
    def _files_sql(self) -> str:
        read = {column.file_name: column.read_type for column in self.attachment.columns}
        if self.attachment.index_column:
            read[self.attachment.index_column] = "UInt64"
        structure = quote_string(", ".join(f"{quote_identifier(name)} {kind}" for name, kind in read.items()))
        numbers = self._numbers
        if not numbers:
            return f"null({structure})"
        return f"url({quote_string(f'{self.root}/{_name_numbers(numbers)}{FILE_SUFFIX}')}, 'Parquet', {structure})"


def _name_numbers(numbers: Sequence[int]) -> str:
    """Return ClickHouse's glob pattern for ascending numbers; a list in it cannot contain ranges."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return str(first)
    is_range = last - first == len(numbers) - 1
    return f"{{{first}..{last}}}" if is_range else f"{{{','.join(map(str, numbers))}}}"
