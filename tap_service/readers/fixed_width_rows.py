"""Rows of fixed width: lines as a matrix of bytes, columns as slices of it.

A line is rejected if it has text beyond its last column, ends before a column that is never blank, or has text where
the header has none. The contents of columns are checked when the values are cast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tap_service.readers.table_source import RejectedRow, count_block_rows
from tap_service.readers.text_lines import LineBlock
from tap_service.readers.text_values import trim_values

_BLANK = 32
_MAX_SHOWN = 200

Matrix = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class FixedColumn:
    """The bytes of a column in each line.

    Attributes
    ----------
    name : str
        The name of the column.
    start, end : int
        The first byte from 0, and the byte after the last.
    nulls : tuple of str
        The tokens of missing values.
    is_number : bool
        Whether its values are numbers.
    is_required : bool
        Whether its values are never blank.
    """

    name: str
    start: int
    end: int
    nulls: tuple[str, ...] = ()
    is_number: bool = False
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class FixedRows:
    """The good lines of a block as a matrix, one row each, their numbers in the file, and the rejected lines."""

    matrix: Matrix
    lines: npt.NDArray[np.int64]
    rejects: tuple[RejectedRow, ...]

    def find_line(self, row: int) -> int:
        return int(self.lines[row])

    def slice_column(self, column: FixedColumn) -> pa.Array:
        """Return the values of a column."""
        return trim_values(self.slice_text(column), column.nulls, is_number=column.is_number)

    def slice_text(self, column: FixedColumn) -> pa.Array:
        """Return the bytes of a column as they are in the lines."""
        part = np.ascontiguousarray(self.matrix[:, column.start : column.end])
        rows, width = part.shape
        offsets = np.arange(0, rows * width + 1, width, dtype=np.int32)
        return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(part)])


class FixedLayout:
    """The layout of the lines.

    Parameters
    ----------
    columns : iterable of FixedColumn
        The columns.
    width : int
        The bytes of a line; bytes beyond must be blank.
    source : str
        The origin of the layout, for messages: 'the ReadMe'.
    blanks : tuple of int
        The bytes that must be blank in each line.
    """

    def __init__(self, columns: Iterable[FixedColumn], width: int, source: str, blanks: tuple[int, ...] = ()) -> None:
        self.columns = {column.name: column for column in columns}
        self._width = width
        self._source = source
        self._blanks = np.array(blanks, np.int64)
        self._edges = list(_list_edges(self.columns.values(), width)) if not blanks else []
        self._last = max(
            (column for column in self.columns.values() if column.is_required),
            key=lambda column: column.start,
            default=None,
        )

    def split_block(self, block: LineBlock) -> Iterator[FixedRows]:
        """Yield the lines of a block that are not blank, at most ``count_block_rows`` at once."""
        lines = block.text.split(b"\n")[:-1]
        step = count_block_rows(self._width)
        for start in range(0, len(lines), step):
            yield self._split_lines(lines[start : start + step], block.line + start)

    def _split_lines(self, texts: list[bytes], first: int) -> FixedRows:
        lines = _Lines(texts, self._width)
        reasons: dict[int, str] = {}
        for find in (self._find_long, self._find_short, self._find_misplaced, self._find_cut_numbers):
            for row, reason in find(lines):
                reasons.setdefault(row, reason)
        keep = (lines.matrix != _BLANK).any(axis=1)
        keep[list(reasons)] = False
        rejects = tuple(RejectedRow(first + row, "", _show(texts[row]), reasons[row]) for row in sorted(reasons))
        if keep.all():
            return FixedRows(lines.matrix, np.arange(first, first + len(texts)), rejects)
        return FixedRows(lines.matrix[keep], first + np.flatnonzero(keep), rejects)

    def _find_long(self, lines: _Lines) -> Iterator[tuple[int, str]]:
        for row in np.flatnonzero(lines.lengths > self._width).tolist():
            if lines.texts[row][self._width :].strip():
                yield row, f"has text beyond byte {self._width}, where the lines end according to {self._source}"

    def _find_short(self, lines: _Lines) -> Iterator[tuple[int, str]]:
        if self._last is None:
            return
        for row in np.flatnonzero(lines.lengths <= self._last.start).tolist():
            if lines.texts[row].strip():
                start = f"byte {self._last.start + 1} according to {self._source}"
                yield row, f"has only {lines.lengths[row]} bytes; the column {self._last.name} starts at {start}"

    def _find_misplaced(self, lines: _Lines) -> Iterator[tuple[int, str]]:
        if not len(self._blanks):
            return
        misplaced = lines.matrix[:, self._blanks] != _BLANK
        for row in np.flatnonzero(misplaced.any(axis=1)).tolist():
            byte = int(self._blanks[misplaced[row].argmax()])
            found = chr(lines.matrix[row, byte])
            yield row, f"has {found!r} in byte {byte + 1}, between the columns of {self._source}"

    def _find_cut_numbers(self, lines: _Lines) -> Iterator[tuple[int, str]]:
        for name, inside, outside in self._edges:
            is_cut = _is_digit(lines.matrix[:, inside]) & _is_digit(lines.matrix[:, outside])
            for row in np.flatnonzero(is_cut).tolist():
                yield (
                    row,
                    f"has a number in {name} that extends beyond its column into byte {outside + 1}",
                )


class _Lines:
    """Lines as texts, with their lengths, and as a matrix of bytes, cut or padded with blanks to a width."""

    def __init__(self, texts: list[bytes], width: int) -> None:
        self.texts = texts
        self.lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.matrix: Matrix = self._build_matrix(width)

    def _build_matrix(self, width: int) -> Matrix:
        length = int(self.lengths[0])
        if length < width or (self.lengths != length).any():
            text = b"".join([text[:width].ljust(width) for text in self.texts])
            return np.frombuffer(text, np.uint8).reshape(-1, width)
        return np.frombuffer(b"".join(self.texts), np.uint8).reshape(-1, length)[:, :width]


def _list_edges(columns: Iterable[FixedColumn], width: int) -> Iterator[tuple[str, int, int]]:
    """Yield the numeric columns with their first or last byte, and the adjacent byte that is in no column."""
    columns = list(columns)
    inside = {byte for column in columns for byte in (column.start, column.end - 1)}
    for column in columns:
        if column.is_number and column.start > 0 and column.start - 1 not in inside:
            yield column.name, column.start, column.start - 1
        if column.is_number and column.end < width and column.end not in inside:
            yield column.name, column.end - 1, column.end


def _is_digit(bytes_: Matrix) -> npt.NDArray[np.bool_]:
    return np.asarray((bytes_ - np.uint8(48)) < 10)


def _show(line: bytes) -> str:
    return line[:_MAX_SHOWN].decode(errors="backslashreplace")
