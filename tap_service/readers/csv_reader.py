"""Reader of CSV and TSV: the first line that is not a comment names the columns; types are guessed from the first rows.

The text is cut into blocks at row ends. Arrow parses each block into binary columns, so that a bad value or a broken
line costs one row. An empty field is NULL; a quoted empty field ("") is an empty text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from clickhouse_schema.datatypes import DOUBLE, UNICODE, ColumnType, Field, arrow_to_column_type
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_HEADER_BYTES, MAX_ROW_BYTES, Fault, RowBlock

_BLOCK_BYTES = 4 << 20

_MAX_SHOWN = 200

_NUMBER = r"^ *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *$"

#: The fraction of numbers among the values of a text column above which it probably should be numeric
_MIN_NUMBER_SHARE = 0.5


@dataclass(frozen=True)
class Dialect:
    """The syntax of the rows: the delimiter, the column names in order, and the line of the first row."""

    delimiter: str
    names: tuple[str, ...]
    first_line: int


class CsvSource:
    """A CSV file. ``dialect`` and ``fields`` are detected unless given (ECSV).

    ``delimiters``: the candidates; the first one that occurs in the header line is used.
    """

    unit = "line"
    nan_is_null = False
    delimiters: tuple[str, ...] = (",", "\t", ";", "|")
    rows: int | None = None
    description = ""

    def __init__(
        self,
        path: Path,
        options: ReadOptions = AS_DETECTED,
        dialect: Dialect | None = None,
        fields: tuple[Field, ...] = (),
        description: str = "",
    ) -> None:
        self.path = path
        self.nulls = options.nulls
        self.notes: tuple[str, ...] = ()
        self.unusable: dict[str, str] = {}
        self.description = description
        self._dialect = dialect or _detect_dialect(path, self.delimiters)
        self._is_guessed = not fields
        self.fields = fields or tuple(self._guess_fields())

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        for block in self._read_text_blocks():
            faults: list[Fault] = []
            broken: list[int] = []

            def skip(row: pacsv.InvalidRow, faults: list[Fault] = faults, broken: list[int] = broken) -> str:
                broken.append(row.number - 1)
                reason = f"has {row.actual_columns} fields for {row.expected_columns} columns"
                faults.append(Fault(row.number - 1, "", row.text[:_MAX_SHOWN], reason))
                return "skip"

            table = self._parse_block(block.text, dict.fromkeys(columns, pa.binary()), skip)
            lines = _LineNumbers(block, tuple(broken))
            located = tuple(replace(fault, where=lines.find_line(fault.where)) for fault in faults)
            selected = table.select(list(columns))
            batches = selected.combine_chunks().to_batches()
            batch = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=selected.schema)
            yield RowBlock(batch, lines.find_good_row_line, block.fraction, located)

    def widen_type(self, column: Field) -> ColumnType | None:
        """Return the next wider type for a guessed column whose values do not fit; None if it is text already."""
        if column.type == UNICODE:
            return None
        return DOUBLE if column.type.is_integer else UNICODE

    def list_misguessed(self) -> Iterator[str]:
        """Describe the columns that a few of the first values make text although most values are numbers."""
        texts = [field.name for field in self.fields if field.type == UNICODE] if self._is_guessed else []
        block = next(self._read_text_blocks(), None) if texts else None
        if block is None:
            return
        broken: list[int] = []

        def skip(row: pacsv.InvalidRow) -> str:
            broken.append(row.number - 1)
            return "skip"

        table = self._parse_block(block.text, dict.fromkeys(texts, pa.binary()), skip)
        for name in texts:
            fits = pc.match_substring_regex(table[name], _NUMBER)
            share = pc.mean(fits).as_py() or 0
            if _MIN_NUMBER_SHARE <= share < 1:
                row = pc.index(fits, False).as_py()
                value = table[name][row].as_py().decode(errors="replace")[:_MAX_SHOWN]
                line = _LineNumbers(block, tuple(broken)).find_good_row_line(row)
                why = f"because of values such as {value!r} in line {line}; most of its values are numbers"
                yield f"column {name} is read as text {why}"

    def _guess_fields(self) -> Iterator[Field]:
        block = next(self._read_text_blocks(), None)
        if block is None:
            yield from (Field(name, UNICODE) for name in self._dialect.names)
            return
        table = self._parse_block(block.text, {}, lambda _: "skip")
        for column in table.schema:
            yield Field(column.name, _guess_type(column.type))

    def _parse_block(self, text: bytes, types: dict[str, pa.DataType], skip: object) -> pa.Table:
        try:
            return pacsv.read_csv(
                pa.BufferReader(text),
                # Arrow numbers the broken rows only with one thread and one block
                read_options=pacsv.ReadOptions(
                    column_names=self._dialect.names, use_threads=False, block_size=len(text) + 1
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self._dialect.delimiter, newlines_in_values=True, invalid_row_handler=skip
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise ReadError(f"{self.path} cannot be read as delimited text: {error}") from error

    def _read_text_blocks(self) -> Iterator[_Block]:
        with ByteStream(self.path) as stream:
            line = 1
            while line < self._dialect.first_line:
                stream.readline()
                line += 1
            rest = b""
            while True:
                read = stream.read(_BLOCK_BYTES)
                rest += read
                cut = _find_last_row_end(rest) if read else len(rest)
                if cut:
                    block, rest = _Block(rest[:cut], line, stream.fraction_read), rest[cut:]
                    line += block.text.count(b"\n")
                    yield block
                elif len(rest) > MAX_ROW_BYTES:
                    raise ReadError(
                        f"{self.path}: a row has more than {MAX_ROW_BYTES} bytes; "
                        f"a quotation mark opened in or after line {line} may be unclosed"
                    )
                if not read:
                    return


class TsvSource(CsvSource):
    delimiters = ("\t",)


@dataclass(frozen=True)
class _Block:
    """Complete rows; the first begins in ``line`` of the file."""

    text: bytes
    line: int
    fraction: float


class _LineNumbers:
    """The line of each row of a block, computed on demand: rows may contain line ends, and blank lines are not rows."""

    def __init__(self, block: _Block, broken: tuple[int, ...]) -> None:
        self._block = block
        self._broken = broken

    def find_line(self, row: int) -> int:
        return int(self._line_ends[min(row, len(self._line_ends) - 1)])

    def find_good_row_line(self, row: int) -> int:
        good = np.arange(row + len(self._broken) + 1)
        broken = [number for number in self._broken if number < len(good)]
        return self.find_line(int(np.delete(good, broken)[row]))

    @cached_property
    def _line_ends(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        lines = []
        is_quoted = False
        for line, text in enumerate(self._block.text.split(b"\n"), self._block.line):
            if not is_quoted and text.rstrip(b"\r"):
                lines.append(line)
            is_quoted ^= text.count(b'"') % 2 == 1
        return np.array(lines or [self._block.line], np.int64)


def _find_last_row_end(text: bytes) -> int:
    """Return the offset after the last line end outside quotation marks; 0 if there is none."""
    last = text.rfind(b"\n") + 1
    if text.count(b'"', 0, last) % 2 == 0:
        return last
    found = start = 0
    for number, part in enumerate(text.split(b'"')):
        is_quoted = number % 2 == 1
        if not is_quoted:
            found = text.rfind(b"\n", start, start + len(part)) + 1 or found
        start += len(part) + 1
    return found


def _detect_dialect(path: Path, delimiters: tuple[str, ...]) -> Dialect:
    with ByteStream(path) as stream:
        line = 1
        header = stream.readline(MAX_HEADER_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
        while header.startswith(b"#") or header == b"\n" or header == b"\r\n":
            header = stream.readline(MAX_HEADER_BYTES + 1)
            line += 1
    if len(header) > MAX_HEADER_BYTES:
        raise ReadError(f"{path}: the column names in line {line} take more than {MAX_HEADER_BYTES} bytes")
    try:
        text = header.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: the column names in line {line} are not UTF-8") from error
    if not text:
        raise ReadError(f"{path} has no header line with column names")
    delimiter = next((mark for mark in delimiters if mark in text), delimiters[0])
    try:
        names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter)))
    except csv.Error as error:
        raise ReadError(
            f"{path}: the column names in line {line} cannot be read ({error}); "
            "rows must end with a line feed, and quotation marks must be closed"
        ) from error
    if len(names) > MAX_FILE_COLUMNS:
        raise ReadError(f"{path}: line {line} names {len(names)} columns; the limit is {MAX_FILE_COLUMNS}")
    if "" in names:
        raise ReadError(f"{path}: column {names.index('') + 1} has no name in line {line}")
    if all(_is_number(name) for name in names):
        raise ReadError(f"{path}: line {line} has numbers instead of column names; add a header line")
    return Dialect(delimiter, names, line + 1)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _guess_type(arrow: pa.DataType) -> ColumnType:
    """Return the type that Arrow guesses; text if ADQL lacks it or all values are missing."""
    unsupported = (pa.types.is_time, pa.types.is_null, pa.types.is_binary, pa.types.is_duration)
    return UNICODE if any(test(arrow) for test in unsupported) else arrow_to_column_type(arrow)
