"""The header of IPAC tables (IRSA, NED): ``\\`` keywords and comments, and lines of names, types, units and nulls.

https://irsa.ipac.caltech.edu/applications/DDGEN/Doc/ipac_tbl.html: a ``|`` above each side of a column marks its bytes.
IRSA describes columns in comments: ``\\ name (unit)`` and below ``\\ ___ description``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, pairwise, takewhile

from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_HEADER_BYTES
from tap_service.readers.text_lines import MAX_LINE_BYTES, Start, decode_text

_MAX_COLUMN_LINES = 4
_BAR = ord("|")

_KEYWORD = re.compile(r"\\\s*(\w+)\s*=\s*(.*)")
_COMMENT = re.compile(rb"\\(\s|\w+\s*=|$)")
_COLUMN_COMMENT = re.compile(r"\\\s+([^\s(]+)(?:\s+\(.*\))?\s*")
_DESCRIPTION_COMMENT = re.compile(r"\\\s+___\s*(.*\S)\s*")

#: types, each of which may be abbreviated to its first letters; ``d`` is double, so they are in the standard's order
_TYPES = ("int", "integer", "long", "double", "float", "real", "char", "date")

#: keywords that describe the table
_TITLES = ("title", "description", "table_desc", "catalog", "table")


@dataclass(frozen=True, slots=True)
class IpacColumn:
    """A column of the header; ``start`` and ``end`` as in ``FixedColumn``, ``type`` '' if there is no line of types."""

    name: str
    start: int
    end: int
    type: str = ""
    unit: str = ""
    null: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class IpacHeader:
    """The columns, the description of the table, the start of the rows, and the bytes of the ``|``."""

    columns: tuple[IpacColumn, ...]
    description: str
    rows: Start
    bars: tuple[int, ...]
    has_types: bool
    has_nulls: bool


def is_ipac_start(start: bytes) -> bool:
    """Return whether a file with this start is an IPAC table: its lines of columns start and end with ``|``.

    Text that is separated by ``|`` has more than four such lines, or none, or no types in the second.
    """
    lines = start.splitlines()
    rest = list(dropwhile(lambda line: line.startswith(b"\\"), lines))
    if not rest:
        return bool(lines) and all(_COMMENT.match(line) for line in lines)
    header = list(takewhile(_is_column_line, rest))
    if not 0 < len(header) <= _MAX_COLUMN_LINES:
        return False
    return len(header) == 1 or all(find_ipac_type(cell) is not None for cell in _split_cells(header[1]))


def find_ipac_type(word: str) -> str | None:
    """Return the type that a word of the second line abbreviates, '' for no word, None for no type."""
    if not word:
        return ""
    return next((name for name in _TYPES if name.startswith(word)), None)


def _is_column_line(line: bytes) -> bool:
    stripped = line.rstrip()
    return len(stripped) > 2 and stripped.startswith(b"|") and stripped.endswith(b"|")


def _split_cells(line: bytes) -> list[str]:
    return [decode_text(cell).strip(" -").lower() for cell in line.rstrip()[1:-1].split(b"|")]


def parse_ipac_header(path: object, text: bytes) -> IpacHeader:
    """Parse the header of an IPAC table.

    Parameters
    ----------
    path : Path
        The file, for messages.
    text : bytes
        The start of the file, at least its header.

    Returns
    -------
    IpacHeader
        The columns and the start of the rows.

    Raises
    ------
    ReadError
        There are no columns, the lines contradict each other, or a limit is exceeded.
    """
    comments: list[str] = []
    lines: list[bytes] = []
    offset = number = 0
    while offset < len(text) and text[offset : offset + 1] in (b"\\", b"|", b"\n", b"\r"):
        end = text.find(b"\n", offset) + 1 or len(text)
        line = text[offset:end].rstrip()
        number += 1
        offset = end
        if line.startswith(b"|"):
            _check_column_line(path, line, lines, number)
            lines.append(line)
        elif line:
            comments.append(decode_text(line))
    if not lines:
        raise ReadError(f"{path} has no line that starts and ends with | and names the columns of an IPAC table")
    if offset >= MAX_HEADER_BYTES:
        raise ReadError(f"{path} has a header of more than {MAX_HEADER_BYTES} bytes")
    bars = _find_bars(lines[0])
    if len(bars) - 1 > MAX_FILE_COLUMNS:
        raise ReadError(f"{path} has {len(bars) - 1} columns; the limit is {MAX_FILE_COLUMNS}")
    if bars[-1] > MAX_LINE_BYTES:
        raise ReadError(f"{path}: the names of the columns take more than {MAX_LINE_BYTES} bytes")
    descriptions = dict(_list_descriptions(comments))
    columns = tuple(_list_columns(lines, bars, descriptions))
    start = Start(offset, number + 1)
    return IpacHeader(columns, _find_title(comments), start, tuple(bars), len(lines) > 1, len(lines) > 3)


def _check_column_line(path: object, line: bytes, before: list[bytes], number: int) -> None:
    if not _is_column_line(line):
        raise ReadError(f"{path}: line {number} starts with | but does not end with it: close its last column")
    if len(before) == _MAX_COLUMN_LINES:
        raise ReadError(
            f"{path}: line {number} is a fifth line with |; an IPAC table has names, types, units and nulls. "
            "Read text separated by | with --format CSV"
        )
    if before and _find_bars(line) != _find_bars(before[0]):
        raise ReadError(
            f"{path}: the | of line {number} are not below the | of the names; "
            "they mark the bytes of each column: align them"
        )


def _find_bars(line: bytes) -> list[int]:
    return [index for index, byte in enumerate(line) if byte == _BAR]


def _list_columns(lines: list[bytes], bars: list[int], descriptions: dict[str, str]) -> Iterator[IpacColumn]:
    for left, right in pairwise(bars):
        name, type_, unit, null = (*(decode_text(line[left + 1 : right]) for line in lines), "", "", "")[:4]
        name = name.strip(" -")
        description = descriptions.get(name.lower(), "")
        yield IpacColumn(name, left + 1, right, type_.strip(" -").lower(), unit.strip(), null.strip(), description)


def _list_descriptions(comments: list[str]) -> Iterator[tuple[str, str]]:
    for above, below in pairwise(comments):
        name, text = _COLUMN_COMMENT.fullmatch(above), _DESCRIPTION_COMMENT.fullmatch(below)
        if name and text:
            yield name[1].lower(), text[1]


def _find_title(comments: list[str]) -> str:
    keywords: dict[str, str] = {}
    for comment in comments:
        if found := _KEYWORD.fullmatch(comment):
            keywords.setdefault(found[1].lower(), found[2].strip().strip("'\"").strip())
    return next((keywords[key] for key in _TITLES if keywords.get(key)), "")
