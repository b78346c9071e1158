"""The texts in which VizieR writes tables (``asu-tsv``): comments, then names, units, dashes, and rows.

An output has several tables: each starts with ``#Table`` and ends with an empty line. ``#Column`` lines have the name,
the FORTRAN format, the explanation and the UCD of a column, separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS
from tap_service.readers.text_lines import MAX_LINE_BYTES, LineBlock, Start, decode_text, read_line_blocks

_MAX_TABLES = 1000
_FILE_START = Start(0, 1)
_DELIMITERS = ("\t", ";", "|")

_MARKUP = re.compile(r"\\\w+\{[^{}]*\}")
_DASHES = re.compile(rb"[ \t;|]*-[-\t;| ]*\r?")
_KEY = re.compile(r"#(?P<key>Table|Name|Title|RESOURCE|Column)\b\s*[:=]?\s*(?P<text>.*)")
_COLUMN = re.compile(r"(?P<name>[^\t]*)\t\((?P<format>[^)\t]*)\)\t(?P<text>[^\t]*)(?:\t\[ucd=(?P<ucd>[^\]\t]*)\])?")


@dataclass(frozen=True, slots=True)
class VizierColumn:
    """A ``#Column`` line."""

    name: str
    format: str
    explanation: str
    ucd: str


@dataclass(slots=True)
class VizierTable:
    """A table: its identifier and name, such as ``I_239_hip_main`` and ``I/239/hip_main``, and the start of its rows.

    ``has_rows``: whether there are any. ``names`` and ``units``: the lines above the dashes.
    """

    identifier: str = ""
    name: str = ""
    title: str = ""
    columns: dict[str, VizierColumn] = field(default_factory=dict)
    delimiter: str = "\t"
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    rows: Start = _FILE_START
    has_rows: bool = False

    def list_names(self) -> set[str]:
        return {self.identifier, self.name} - {""}


def is_vizier_start(start: bytes) -> bool:
    """Return whether a file with this start is VizieR's: it says so, or dashes follow names and units of columns."""
    lines = start.replace(b"\r\n", b"\n").split(b"\n")
    comments = [line for line in lines if line.startswith(b"#")]
    if any(line.startswith((b"#Column\t", b"#RESOURCE=")) or b"VizieR Astronomical" in line for line in comments):
        return True
    texts = [line for line in lines[:1000] if line and not line.startswith(b"#")][:3]
    return len(texts) == 3 and _is_dashes(texts[2], texts[0])


def _is_dashes(line: bytes, names: bytes) -> bool:
    """Return whether a line has only dashes, in as many columns as there are names."""
    if not _DASHES.fullmatch(line):
        return False
    delimiter = _find_delimiter(names)
    cells = line.split(delimiter)
    return len(cells) == len(names.split(delimiter)) and all(cell.strip() for cell in cells)


def _find_delimiter(names: bytes) -> bytes:
    return next((mark.encode() for mark in _DELIMITERS if mark.encode() in names), b"\t")


def list_vizier_tables(stream: ByteStream) -> list[VizierTable]:
    """Return the tables of an output, also tables without rows.

    Parameters
    ----------
    stream : ByteStream
        The file, which is read to its end.

    Returns
    -------
    list of VizierTable
        At least one table.

    Raises
    ------
    ReadError
        There is no table, or a limit is exceeded.
    """
    scan = _Scan(stream)
    for block in read_line_blocks(stream, _FILE_START, keeps_returns=True):
        scan.add_block(block)
    scan.finish()
    tables = [table for table in scan.tables if table.names or table.identifier or table.columns]
    if not any(table.names for table in tables):
        raise ReadError(f"{stream.path} has no rows: no line of dashes follows the names and units of columns")
    return tables


class _Scan:
    """The state between the lines of a file."""

    def __init__(self, stream: ByteStream) -> None:
        self._path = stream.path
        self._offset = 0
        self._header: list[tuple[bytes, int, int]] = []
        self._in_rows = False
        self.tables = [VizierTable()]

    def add_block(self, block: LineBlock) -> None:
        if self._in_rows and not re.search(rb"(?m)^(?:#|\r?$)", block.text[:-1]):
            self.tables[-1].has_rows = True
            self._offset += len(block.text)
            return
        for number, line in enumerate(block.text.split(b"\n")[:-1], block.line):
            self._offset += len(line) + 1
            self._add_line(line.removesuffix(b"\r"), number)

    def _add_line(self, line: bytes, number: int) -> None:
        if line.startswith(b"#") or not line:
            self._in_rows = False
            self.finish()
            if line.startswith(b"#"):
                self._add_comment(decode_text(line.rstrip()))
        elif self._in_rows:
            self.tables[-1].has_rows = True
        else:
            self._header.append((line, number, self._offset))
            if len(self._header) == 3:
                self._start_rows()

    def finish(self) -> None:
        """Raise ``ReadError`` if there are remaining lines that start no table."""
        if self._header:
            number = self._header[0][1]
            raise ReadError(
                f"{self._path}: line {number} starts neither a table (names, units, dashes) nor a comment; "
                "an empty line ends the rows of a table"
            )

    def _add_comment(self, line: str) -> None:
        found = _KEY.fullmatch(line)
        if found is None:
            return
        key, text = found["key"], _MARKUP.sub("", found["text"]).strip()
        if key in ("Table", "RESOURCE"):
            self._add_table(VizierTable(identifier=text.rstrip(":") if key == "Table" else ""))
        elif self.tables[-1].names:
            self._add_table(VizierTable())
        table = self.tables[-1]
        if key == "Name":
            table.name = text
        elif key == "Title":
            table.title = text
        elif key == "Column" and (column := _COLUMN.fullmatch(found["text"].strip())):
            if len(table.columns) == MAX_FILE_COLUMNS:
                raise ReadError(f"{self._path} has a table with more than {MAX_FILE_COLUMNS} columns")
            name = column["name"].strip()
            table.columns.setdefault(
                name, VizierColumn(name, column["format"], column["text"].strip(), column["ucd"] or "")
            )

    def _add_table(self, table: VizierTable) -> None:
        last = self.tables[-1]
        if not (last.names or last.identifier or last.columns):
            self.tables.pop()
        if len(self.tables) == _MAX_TABLES:
            raise ReadError(f"{self._path} has more than {_MAX_TABLES} tables")
        self.tables.append(table)

    def _start_rows(self) -> None:
        (names, number, _), (units, _, _), (dashes, last, end) = self._header
        self._header.clear()
        if not _is_dashes(dashes, names):
            raise ReadError(
                f"{self._path}: line {last} should have dashes in as many columns as line {number} has names, "
                "below the names and the units"
            )
        if self.tables[-1].names:
            self._add_table(VizierTable())
        table = self.tables[-1]
        delimiter = _find_delimiter(names)
        table.delimiter = delimiter.decode()
        table.names = tuple(decode_text(name).strip() for name in names.split(delimiter))
        cells = [decode_text(unit).strip().strip('"') for unit in units.split(delimiter)]
        table.units = tuple([*cells, *([""] * len(table.names))][: len(table.names)])
        table.rows = Start(end, last + 1)
        if len(table.names) > MAX_FILE_COLUMNS or len(names) > MAX_LINE_BYTES:
            count = len(table.names)
            raise ReadError(f"{self._path}: line {number} names {count} columns; the limit is {MAX_FILE_COLUMNS}")
        self._in_rows = True


def describe_tables(tables: list[VizierTable]) -> Iterator[str]:
    """Yield the number and the name of each table."""
    for number, table in enumerate(tables, 1):
        yield f"{number} ({table.name or table.identifier or 'without a name'})"
