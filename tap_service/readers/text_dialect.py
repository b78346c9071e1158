"""The dialect of delimited text: its delimiter, header and quotation marks, detected from the first lines.

A first line that looks like the rows below it is refused, unless the sender says what it is: as column names, it would
be a row lost silently.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tap_service.models.read_options import ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_HEADER_BYTES
from tap_service.readers.unique_names import name_columns

#: any number of blanks and tabs between two fields
BLANKS = " "

#: names of delimiters in messages
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", BLANKS: "blanks"}

_COMMENT = "#"

_NUMBER = re.compile(r" *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)? *")

_WORD = re.compile(r"\w+")

#: number of lines below the first that are compared with it
_MAX_SAMPLE_LINES = 20
_MAX_SAMPLE_BYTES = 1 << 20
_MAX_SHOWN = 60

_UTF16 = (b"\xff\xfe", b"\xfe\xff")

#: a quotation mark after a backslash that ends no field, as MySQL writes it
_ESCAPED_QUOTE = re.compile(r'\\"(?!["\r\n]|$)')


@dataclass(frozen=True)
class Dialect:
    """The syntax of the rows.

    Attributes
    ----------
    delimiter : str
        The character between fields; ``BLANKS`` for any number of blanks.
    names : tuple of str
        The names of the columns, in their order.
    first_line : int
        The line of the first row.
    header_line : int
        The line that names the columns; 0 if there is none.
    comment : str
        The character that starts a comment line among the rows; '' for none.
    has_escapes : bool
        Whether quotation marks inside quoted fields are written as ``\\"`` instead of ``""``.
    notes : tuple of str
        What a sender should know about the names.
    """

    delimiter: str
    names: tuple[str, ...]
    first_line: int
    header_line: int = 0
    comment: str = ""
    has_escapes: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Top:
    """The first lines of a file: ``comment``, the last comment above ``lines``, the first of which is ``line``."""

    comment: str
    line: int
    lines: tuple[str, ...]


def detect_dialect(path: Path, delimiters: Sequence[str], options: ReadOptions) -> Dialect:
    """Return the dialect of a text file.

    Parameters
    ----------
    path : Path
        The file.
    delimiters : sequence of str
        The candidates in order of preference.
    options : ReadOptions
        What the sender says about delimiter, header, columns and comments.

    Returns
    -------
    Dialect
        The dialect.

    Raises
    ------
    ReadError
        The first line cannot be read, or may be a row.
    """
    top = _read_top(path, options.comment or _COMMENT)
    if not top.lines:
        raise ReadError(f"{path} has no header line with column names")
    delimiter = options.delimiter or _find_delimiter(top.lines, delimiters)
    has_escapes = any(is_escaped(line, delimiter) for line in top.lines)
    first = _split_line(path, top, delimiter)
    if not options.delimiter and len(first) == 1:
        _refuse_blanks(path, top)
    rows = [fields for line in top.lines[1:] if (fields := _try_split(line, delimiter)) is not None]
    header, header_line = _find_header(path, top, first, rows, delimiter, options)
    if header is None:
        header = _name_headless_columns(path, top.line, len(first), options.columns)
    if not any(header):
        raise ReadError(f"{path}: there is no name in line {top.line}")
    names, notes = name_columns(header, case_matters=options.case_matters)
    if len(names) > MAX_FILE_COLUMNS:
        raise ReadError(f"{path}: line {top.line} names {len(names)} columns; the limit is {MAX_FILE_COLUMNS}")
    first_line = top.line + (header_line == top.line)
    return Dialect(delimiter, names, first_line, header_line, options.comment, has_escapes, notes)


def is_escaped(line: str, delimiter: str) -> bool:
    """Return whether the line has a quotation mark after a backslash inside a quoted field."""
    return any(line[found.end() : found.end() + 1] != delimiter for found in _ESCAPED_QUOTE.finditer(line))


def _read_top(path: Path, comment: str) -> _Top:
    last_comment, number, lines = "", 0, list[str]()
    size = 0
    with ByteStream(path) as stream:
        line = stream.readline(MAX_HEADER_BYTES + 1)
        if line.startswith(_UTF16):
            raise ReadError(f"{path} is UTF-16: convert it to UTF-8, such as with iconv -f UTF-16 -t UTF-8")
        line = line.removeprefix(b"\xef\xbb\xbf")
        while line and not lines:
            number += 1
            text = _decode_line(path, line, number)
            if text.startswith(comment):
                last_comment = text.removeprefix(comment).strip()
            elif text:
                lines.append(text)
            line = stream.readline(MAX_HEADER_BYTES + 1)
        while line and len(lines) <= _MAX_SAMPLE_LINES and size + len(line) <= _MAX_SAMPLE_BYTES:
            size += len(line)
            lines.append(_decode_line(path, line, number + len(lines)))
            line = stream.readline(_MAX_SAMPLE_BYTES)
    return _Top(last_comment, number, tuple(lines))


def _decode_line(path: Path, line: bytes, number: int) -> str:
    if len(line) > MAX_HEADER_BYTES:
        raise ReadError(f"{path}: the column names in line {number} take more than {MAX_HEADER_BYTES} bytes")
    text = line.strip(b"\r\n")
    if b"\r" in text and number == 1 and b'"' not in text:
        raise ReadError(
            f"{path}: its lines end with carriage returns only: use line feeds, such as with tr '\\r' '\\n'"
        )
    return text.decode("utf-8", "surrogateescape")


def _find_delimiter(lines: Sequence[str], delimiters: Sequence[str]) -> str:
    """Return the first candidate in the first line that divides the other lines equally; else the first in the line."""
    found = [mark for mark in delimiters if mark in lines[0]]
    for mark in found:
        counts = {len(fields) for line in lines if line and (fields := _try_split(line, mark)) is not None}
        if len(counts) == 1:
            return mark
    return found[0] if found else delimiters[0]


def _try_split(line: str, delimiter: str) -> list[str] | None:
    """Return the fields of a line; None if its quotation marks do not close, as in a field with a line end."""
    try:
        if delimiter == BLANKS:
            line = " ".join(line.split())
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def _split_line(path: Path, top: _Top, delimiter: str) -> list[str]:
    """Return the fields of the first line. Raise ``ReadError`` if it cannot be split."""
    try:
        top.lines[0].encode()
    except UnicodeEncodeError as error:
        raise ReadError(f"{path}: line {top.line} is not UTF-8: convert the file, such as with iconv") from error
    if "\0" in top.lines[0]:
        raise ReadError(f"{path}: line {top.line} has NUL bytes: the file is not text, or is UTF-16 without its mark")
    text = " ".join(top.lines[0].split()) if delimiter == BLANKS else top.lines[0]
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]
    except csv.Error as error:
        raise ReadError(
            f"{path}: the column names in line {top.line} cannot be read ({error}); "
            "rows must end with a line feed, and quotation marks must be closed"
        ) from error


def _find_header(
    path: Path, top: _Top, first: list[str], rows: list[list[str]], delimiter: str, options: ReadOptions
) -> tuple[Sequence[str] | None, int]:
    """Return the names in the file and their line; None and 0 if it has none. Raise ``ReadError``."""
    if options.header is False:
        return None, 0
    commented = [name.strip() for name in _try_split(top.comment, delimiter) or []]
    has_names = len(commented) == len(first) > 1 and all(commented) and not any(map(is_number, commented))
    is_row = looks_like_row(first, rows)
    may_be_row = has_names and all(map(_WORD.fullmatch, commented)) and not _has_numbers(rows)
    if options.header or not (is_row or may_be_row):
        return first, top.line
    if has_names and is_row:
        return commented, top.line - 1
    reason = (
        "looks like a row, not like the names of columns" if is_row else "may be a row below the names in a comment"
    )
    raise ReadError(
        f"{path}: line {top.line} ({_show_line(top)}) {reason}. If it is a row, "
        "say --no-header, with a --schema whose columns are in the order of the file, or add a line with their names; "
        "if it has the names, say --header"
    )


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return any(is_number(value) for row in rows for value in row)


def _refuse_blanks(path: Path, top: _Top) -> None:
    """Raise ``ReadError`` if lines without a delimiter are divided by blanks into rows of several fields."""
    first, *below = (line.split() for line in top.lines)
    is_table = len(first) > 2 and any(below) and all(len(row) in (0, len(first)) for row in below)
    if '"' in top.lines[0] or not (is_table or (len(first) > 1 and looks_like_row(first, below))):
        return
    raise ReadError(
        f"{path}: line {top.line} ({_show_line(top)}) has no delimiter, and {len(first)} fields between blanks. "
        "Say --delimiter blanks, or --delimiter , if each line is one field"
    )


def _show_line(top: _Top) -> str:
    return top.lines[0] if len(top.lines[0]) <= _MAX_SHOWN else top.lines[0][:_MAX_SHOWN] + "..."


def looks_like_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a line looks like a row, not like column names.

    It does if it has a number where the rows below have numbers or no values, or a text that they repeat. Without any
    lines below, it does if all its fields are numbers.
    """
    below = [row for row in rows if len(row) == len(first)]
    if not below:
        return all(is_number(field) for field in first)
    for index, field in enumerate(first):
        values = [value for row in below if (value := row[index].strip())]
        if is_number(field) and (not values or any(is_number(value) for value in values)):
            return True
        if field and not is_number(field) and field in values:
            return True
    return False


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _name_headless_columns(path: Path, line: int, count: int, columns: tuple[str, ...]) -> tuple[str, ...]:
    if not columns:
        return tuple(f"col{number}" for number in range(1, count + 1))
    if len(columns) != count:
        raise ReadError(
            f"{path}: line {line} has {count} fields, but the schema file has {len(columns)} columns: "
            "a file without a header needs all of them, in its order"
        )
    return columns
